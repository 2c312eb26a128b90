// Prefix scans: of one thread, element after element, or of a team, as many elements at a time as it has threads.
//
// A team scans in log2(size) steps of exchange with the lane whose number differs in one bit (Hillis and Steele, "Data
// parallel algorithms", 1986, with the totals of both halves known to all, so that nothing needs to be handed back).
// What is combined with what depends on shapes alone.
//
// Any combiner works, of any number of states, with what the kernel computes before and after the scan.
//
// Not there yet: a long line is scanned by one block if its kernel does more than scans (a reduction before it, results
// of the point beside it).
#include "cuda/print/kernel_printer.h"

namespace ricci::cuda {

bool KernelPrinter::IsInCutScan(uint32_t i) const {
  for (uint32_t block = blocks_.parent[i]; block != 0; block = blocks_.parent[block]) {
    if (IsCutScan(block)) return true;
  }
  return false;
}

// One for each state of the scan whose first PREFIX is `prefix`.
KernelPrinter::Names KernelPrinter::NamesOf(const std::string& begin, uint32_t prefix) const {
  const uint32_t scan = blocks_.parent[prefix];
  Names out;
  for (int64_t s = 0; s < At(scan).imm; ++s) out.push_back(begin + std::to_string(scan) + "_" + std::to_string(s));
  return out;
}

// to = left combined with right; a name may be on both sides.
void KernelPrinter::Combine(uint32_t scan, const Names& left, const Names& right, const Names& to) {
  const codegen::ScanParts parts(k_, blocks_, scan);
  for (uint32_t s = 0; s < parts.states; ++s) {
    Let(parts.left + s, left[s]);
    Let(parts.right + s, right[s]);
  }
  for (uint32_t c = parts.combiner; c < parts.combined; ++c) Instruction(c);
  for (uint32_t s = 0; s < parts.states; ++s) Line(to[s] + " = " + V(At(parts.combined + s).a) + ";");
}

// States begin as identities; each trip's element is combined with what was before.
void KernelPrinter::Scan(uint32_t i) {
  const codegen::ScanParts parts(k_, blocks_, i);
  const Names states = NamesOf("state", parts.prefix);
  for (uint32_t s = 0; s < parts.states; ++s) {
    Line(Type(parts.left + s) + " " + states[s] + " = " + V(At(parts.left + s).a) + ";");
  }
  if (phases_.of_scans && !in_parts_) PartsBefore(i);
  IsScanOfTeam(i) ? TripsOfScan(i) : Loop(i);
}

// All threads make equally many trips, since they meet in each: those beyond the last one repeat it.
void KernelPrinter::TripsOfScan(uint32_t i) {
  const auto [begin, end] = BoundsOf(i);
  const std::string type = Type(i), at = "t" + std::to_string(i), own = at + " + (" + type + ")lane";
  Open("for (" + type + " " + at + " = " + begin + "; " + at + " < " + end + "; " + at +
       " += " + std::to_string(team_.size) + ")");
  if (!IsCutScan(i)) return Let(i, own);
  Line("const bool is_trip = " + own + " < " + end + ";");
  Let(i, "is_trip ? " + own + " : " + end + " - 1");
}

void KernelPrinter::Prefixes(uint32_t i) {
  const uint32_t states = codegen::ScanParts(k_, blocks_, blocks_.parent[i]).states;
  for (uint32_t s = 0; s < states && !in_parts_; ++s) Line(Type(i + s) + " " + V(i + s) + ";");
  Open("");
  IsScanOfTeam(blocks_.parent[i]) ? PrefixesOfTeam(i) : OwnPrefixes(i);
  Close();
}

void KernelPrinter::OwnPrefixes(uint32_t i) {
  const Names states = NamesOf("state", i);
  Names elements;
  for (uint32_t s = 0; s < states.size(); ++s) elements.push_back(V(At(i + s).a));
  Combine(blocks_.parent[i], states, elements, states);
  for (uint32_t s = 0; s < states.size(); ++s) Line(V(i + s) + " = " + states[s] + ";");
}

// `upto`: the elements up to this lane's, combined; `all`: of all lanes. A lane without a trip holds an identity. Parts
// of a scan need `all` alone.
void KernelPrinter::PrefixesOfTeam(uint32_t i) {
  const uint32_t scan = blocks_.parent[i];
  const codegen::ScanParts parts(k_, blocks_, scan);
  const Names states = NamesOf("state", i), upto = NamesOf("upto_", i), all = NamesOf("all_", i);
  Names prefixes;
  for (uint32_t s = 0; s < parts.states; ++s) {
    const std::string element = V(At(i + s).a);
    Line(Type(i + s) + " " + all[s] + " = " +
         (IsCutScan(scan) ? "is_trip ? " + element + " : " + V(At(parts.left + s).a) : element) +
         (in_parts_ ? "" : ", " + upto[s] + " = " + all[s]) + ";");
    prefixes.push_back(V(i + s));
  }
  TotalOfTeam(i, /*with_prefixes=*/!in_parts_);
  if (!in_parts_) {
    Open("");
    Combine(scan, states, upto, prefixes);
    Close();
  }
  Open("");
  Combine(scan, states, all, states);
  Close();
}

void KernelPrinter::TotalOfTeam(uint32_t i, bool with_prefixes) {
  UpToLane(i, with_prefixes);
  if (team_.size != kWarp) UpToWarp(i, with_prefixes);
}

// Within a warp: groups of lanes join in pairs.
void KernelPrinter::UpToLane(uint32_t i, bool with_prefixes) {
  const uint32_t scan = blocks_.parent[i];
  const Names upto = NamesOf("upto_", i), all = NamesOf("all_", i), other = NamesOf("other_", i);
  Names first, second;
  Open("for (u32 step = 1; step < 32; step *= 2)");
  Line("const bool is_second = (lane & step) != 0;");
  for (uint32_t s = 0; s < all.size(); ++s) {
    const uint32_t dtype = DTypeOf(i + s);
    Line("const " + Type(i + s) + " " + other[s] + " = (" + Type(i + s) + ")__shfl_xor_sync(4294967295u, " +
         (BitsOf(dtype) < 32 ? "(i32)" : "") + all[s] + ", step);");
    first.push_back("is_second ? " + other[s] + " : " + all[s]);
    second.push_back("is_second ? " + all[s] + " : " + other[s]);
  }
  if (with_prefixes) {
    Open("if (is_second)");
    Combine(scan, other, upto, upto);
    Close();
  }
  Combine(scan, first, second, all);
  Close();
}

// Over the warps of a block, through shared memory.
void KernelPrinter::UpToWarp(uint32_t i, bool with_prefixes) {
  const uint32_t scan = blocks_.parent[i];
  const codegen::ScanParts parts(k_, blocks_, scan);
  const std::string warps = std::to_string(team_.size / kWarp);
  const Names upto = NamesOf("upto_", i), all = NamesOf("all_", i), of_warp = NamesOf("of_warp_", i);
  Names next;
  for (uint32_t s = 0; s < parts.states; ++s) {
    Line("__shared__ " + Type(i + s) + " " + of_warp[s] + "[" + warps + "];");
    Line("if (lane % 32 == 0) " + of_warp[s] + "[lane / 32] = " + all[s] + ";");
    next.push_back(of_warp[s] + "[warp]");
  }
  Line("__syncthreads();");
  for (uint32_t s = 0; s < parts.states; ++s) Line(all[s] + " = " + V(At(parts.left + s).a) + ";");
  Open("for (u32 warp = 0; warp < " + warps + "; ++warp)");
  if (with_prefixes) {
    Open("if (warp == lane / 32)");
    Combine(scan, all, upto, upto);
    Close();
  }
  Combine(scan, all, next, all);
  Close();
  Line("__syncthreads();");
}

}  // namespace ricci::cuda
