// Groups that a thread computes at once (vector.h). Of points: a loop over groups, with vectors, then one over the
// points that are left: those after the last group, or all if an address is not aligned, since hosts may bind any. Of
// trips: one loop, so that sums do not depend on addresses; only the accesses differ.
#include "cuda/print/kernel_printer.h"
#include "cuda/schedule/store_needs.h"

namespace ricci::cuda {

std::string KernelPrinter::VectorType(uint32_t i, int64_t n) {
  const ricci_inst& q = At(i);
  if (IsPairAccess(i)) return device_.Vector("u32", n / 2);
  return device_.Vector(std::string(TypeName(q.op == RICCI_K_LOAD ? q.dtype : At(q.b).dtype)), n);
}

std::string KernelPrinter::AreAligned(const std::vector<uint8_t>& buffers, int64_t bytes) const {
  std::string addresses;
  for (uint32_t b = 0; b < k_.n_buffers; ++b) {
    if (buffers[b] != 0) addresses += (addresses.empty() ? "(u64)b" : " | (u64)b") + std::to_string(b);
  }
  return addresses.empty() ? "true" : "(" + addresses + ") % " + std::to_string(bytes) + " == 0";
}

// Whether all that is accessed in vectors is aligned.
std::string KernelPrinter::IsAligned() const {
  std::vector<uint8_t> together(k_.n_buffers);
  for (uint32_t i = 1; i < k_.n_insts; ++i) {
    if (vector_.together[i] != 0) together[RICCI_BUFFER_OF(At(i).imm)] = 1;
  }
  return AreAligned(together, vector_.bytes);
}

void KernelPrinter::GroupedPoints(const std::string& type, const std::string& thread, const std::string& threads) {
  const std::string n = std::to_string(vector_.size);
  const std::string whole = std::to_string(launch_.points - launch_.points % vector_.size);
  Decide(n + " points for a thread: " + std::to_string(vector_.bytes) + " bytes at once of " + vector_.buffers);
  Line("const " + type + " thread = " + thread + ", threads = " + threads + ";");
  Line(type + " first = 0;");
  Open("if (" + IsAligned() + ")");
  Line("first = " + whole + ";");
  Line("#pragma unroll 1");
  Open("for (" + type + " p = " + n + " * thread; p < " + whole + "; p += " + n + " * threads)");
  Coordinates();
  Group(0);
  Close();
  Close();
  Line("#pragma unroll 1");
  Open("for (" + type + " p = first + thread; p < " + std::to_string(launch_.points) + "; p += threads)");
}

bool KernelPrinter::HasGroupedTrips() const {
  if (vector_.size == 1 || vector_.of_points) return false;
  for (uint32_t i = 1; i < k_.n_insts; ++i) {
    if (IsGrouped(i) && in_parts_ == IsInParts(HolderOf(i))) return true;
  }
  return false;
}

std::string KernelPrinter::FirstOfGroup(uint32_t loop) {
  const bool is_type = loop == 8 || loop == 16 || loop == 32 || loop == 64;
  return "i" + std::to_string(loop) + (is_type ? "_" : "");
}

// Trip `i7` and those after it are a group.
void KernelPrinter::GroupedTrips(uint32_t i) {
  const std::string n = std::to_string(vector_.size), first = FirstOfGroup(i);
  const auto [begin, end] = BoundsOf(i);
  Open("for (" + Type(i) + " " + first + " = " + Sum(begin, n + " * " + LaneOf(i)) + "; " + first + " < " + end + "; " +
       first + " += " + std::to_string(vector_.size * team_.LanesOf(i)) + ")");
  Group(i);
}

std::string KernelPrinter::Address(uint32_t i) {
  return "b" + std::to_string(RICCI_BUFFER_OF(At(i).imm)) + " + " + V(At(i).a);
}

std::string KernelPrinter::LoadTogether(uint32_t i, int64_t n) {
  const bool are_pairs = IsPairAccess(i);
  const std::string type = VectorType(i, n), element(TypeName(At(i).dtype)),
                    name = "ricci_dev_load_" + type + (are_pairs ? "_of_pairs" : "");
  device_.Function(name, [&] {
    const std::string one = are_pairs ? PairOfBits(device_, "p[2 * e]", "p[2 * e + 1]") : "p[e]";
    return type + " " + name + "(const " + element + "* p, bool aligned) {\n  if (aligned) return *(const " + type +
           "*)p;\n  " + type + " x;\n  for (i32 e = 0; e < " + std::to_string(are_pairs ? n / 2 : n) +
           "; ++e) x.at[e] = " + one + ";\n  return x;\n}";
  });
  return name + "(" + Address(i) + ", aligned)";
}

std::string KernelPrinter::StoreTogether(uint32_t i, int64_t n, const std::string& value) {
  const bool are_pairs = IsPairAccess(i);
  const std::string type = VectorType(i, n), element(TypeName(At(At(i).b).dtype)),
                    name = "ricci_dev_store_" + type + (are_pairs ? "_of_pairs" : "");
  device_.Function(name, [&] {
    const std::string one = are_pairs ? "p[e] = " + HalfOfPair("(x.at[e / 2] >> 16 * (e % 2))", 0) : "p[e] = x.at[e]";
    return "void " + name + "(" + element + "* p, " + type + " x, bool aligned) {\n  if (aligned) {\n    *(" + type +
           "*)p = x;\n    return;\n  }\n  for (i32 e = 0; e < " + std::to_string(n) + "; ++e) " + one + ";\n}";
  });
  return name + "(" + Address(i) + ", " + value + ", aligned)";
}

std::string KernelPrinter::Loaded(uint32_t i) {
  if (!vector_.of_points) return LoadTogether(i, vector_.size);
  return "*(const " + VectorType(i, vector_.size) + "*)(" + Address(i) + ")";
}

std::string KernelPrinter::GroupToStore(uint32_t i) const {
  const std::string name = "y" + std::to_string(i);
  return IsStoredLater(i) ? name + "[g" + std::to_string(divisors_.loop) + "]" : name;
}

std::string KernelPrinter::Stored(uint32_t i) {
  const std::string value = GroupToStore(i);
  if (!vector_.of_points) return StoreTogether(i, vector_.size, value);
  return "*(" + VectorType(i, vector_.size) + "*)(" + Address(i) + ") = " + value;
}

// What a group reads, each of its points or trips, what it writes.
void KernelPrinter::Group(uint32_t loop) {
  const uint32_t last = loop == 0 ? k_.n_insts : blocks_.close[loop];
  std::vector<uint8_t> needed(k_.n_insts, 1);  // addresses of what is stored later are found then
  if (IsByInverses(loop)) needed = NeededByStores(k_, blocks_, rows_, loop, Need::kValues);
  if (rows_.IsUsed() && rows_.bare[loop] != 0) needed[loop] = 0;
  for (const uint32_t one : joined_.All(loop)) BeforeGroup(one, needed);
  Line("#pragma unroll");
  Open("for (i32 e = 0; e < " + std::to_string(vector_.size) + (vector_.pairs ? "; e += 2)" : "; ++e)"));
  in_group_ = true;
  for (const uint32_t one : joined_.All(loop)) EachOfGroup(one, needed);
  in_group_ = false;
  Close();
  for (uint32_t i = loop + 1; i < last; ++i) {
    if (vector_.together[i] != 0 && At(i).op == RICCI_K_STORE && !IsStoredLater(i)) Line(Stored(i) + ";");
  }
}

void KernelPrinter::BeforeGroup(uint32_t loop, const std::vector<uint8_t>& needed) {
  const uint32_t last = loop == 0 ? k_.n_insts : blocks_.close[loop];
  if (joined_.Has(loop)) Body(HolderOf(loop) + 1, loop);  // what it computes of a row, and its leader does not
  const bool is_numbered = loop != 0 && needed[loop] != 0 && joined_.Name(loop) == loop;
  if (is_numbered && vector_.once[loop] != 0) Let(loop, FirstOfGroup(joined_.LeaderOf(loop)));
  for (uint32_t i = loop + 1; i < last && error_.empty(); ++i) {
    if (vector_.once[i] != 0 && needed[i] != 0) Instruction(i);
    if (vector_.together[i] == 0 || vector_.each[i] == 0 || !rows_.IsComputed(i) || joined_.Name(i) != i) continue;
    SourceLine(i);
    const std::string number = std::to_string(i), type = VectorType(i, vector_.size);
    if (At(i).op != RICCI_K_STORE) {
      Line("const " + type + " x" + number + " = " + Loaded(i) + ";");
    } else if (!IsStoredLater(i)) {
      Line(type + " y" + number + ";");
    }
  }
}

void KernelPrinter::EachOfGroup(uint32_t loop, const std::vector<uint8_t>& needed) {
  const uint32_t last = loop == 0 ? k_.n_insts : blocks_.close[loop];
  if (loop != 0 && needed[loop] != 0 && joined_.Name(loop) == loop && vector_.each[loop] != 0) {
    ForHalves([&] { Let(loop, FirstOfGroup(joined_.LeaderOf(loop)) + " + " + NumberOfGroup()); });
  }
  for (uint32_t i = loop + 1; i < last && error_.empty(); ++i) {
    if (vector_.each[i] != 0) Instruction(i);
  }
  if (loop != 0 && At(loop).op == RICCI_K_REDUCE) ForHalves([&] { Accumulate(last); });
}

}  // namespace ricci::cuda
