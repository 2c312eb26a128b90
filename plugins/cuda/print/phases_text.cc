// Reductions and scans in two launches (phases.h): the first has a block for each part of each point and leaves what it
// holds in `parts`. In the second the trips of a reduction are the parts; of a scan it has the same blocks as the
// first.
#include "codegen/identity.h"
#include "cuda/print/kernel_printer.h"

namespace ricci::cuda {

void KernelPrinter::PointsInParts(const std::string& type) {
  const std::string parts = std::to_string(phases_.parts);
  Decide(!in_parts_
             ? "second of two launches: a block for each part, which combines those before it, then scans its own"
             : "first of two launches: " + parts + " parts of each " + (phases_.of_scans ? "scan" : "reduction") +
                   ", a block for each");
  Line(team_.columns ? "const u32 lane = threadIdx.x / 32;" : "const u32 lane = threadIdx.x;");
  Open("for (u32 group = blockIdx.x; group < " + std::to_string(BlocksOf(team_, launch_.points) * phases_.parts) +
       "; group += gridDim.x)");
  const std::string block = "(" + type + ")(group / " + parts + ")";
  if (team_.columns) {
    Line("const " + type + " first = " + block + " * 32;");
    PointOfColumns(type);
  } else if (k_.domain_rank > 0) {
    Line("const " + type + " p = " + block + ";");
  }
  Line("const " + type + " part = (" + type + ")(group % " + parts + ");");
}

std::pair<std::string, std::string> KernelPrinter::BoundsOf(uint32_t loop) {
  const ricci_inst& q = At(loop);
  if (!IsCutHere(loop)) return {V(q.a), V(q.b)};
  const std::string number = std::to_string(loop), trips = std::to_string(phases_.trips[loop]), type = Type(loop);
  const std::string part = type == PointType() ? "part" : "(" + type + ")part";
  const std::string begin = "begin" + number, end = "end" + number;
  Line("const " + type + " " + begin + " = " + Sum(V(q.a), part + " * " + trips) + ";");
  Line("const " + type + " " + end + " = " + begin + " + " + trips + " < " + V(q.b) + " ? " + begin + " + " + trips +
       " : " + V(q.b) + ";");
  return {begin, end};
}

// The offset of the result of part `number`, counted over all points.
std::string KernelPrinter::PartsOf(uint32_t i, uint32_t dtype, const std::string& number) {
  const std::string type(TypeName(dtype));
  return "((" + type + "*)(parts + " + std::to_string(phases_.offset[i]) + "))[" + number + "]";
}
std::string KernelPrinter::PartsOfReduction(uint32_t reduce, const std::string& number) {
  return PartsOf(reduce, codegen::AccumulatorDType(At(blocks_.close[reduce]).dtype), number);
}

void KernelPrinter::StorePart(uint32_t reduce) {
  const std::string number = team_.columns ? "(u32)p * " + std::to_string(phases_.parts) + " + (u32)part" : "group";
  Line((IsCut() ? "if (lane == 0 && is_point) " : "if (lane == 0) ") + PartsOfReduction(reduce, number) + " = r" +
       std::to_string(blocks_.close[reduce]) + ";");
}

// Up to the end of the loop, which YIELD closes.
void KernelPrinter::CombineParts(uint32_t reduce) {
  const std::string parts = std::to_string(phases_.parts);
  Open("for (u32 part = lane; part < " + parts + "; part += " + std::to_string(team_.size) + ")");
  for (const uint32_t one : joined_.All(reduce)) {
    const uint32_t yield = blocks_.close[one];
    const std::string sum = "r" + std::to_string(yield);
    Line(sum + " = " +
         Combined(static_cast<uint32_t>(At(one).imm), codegen::AccumulatorDType(At(yield).dtype), sum,
                  PartsOfReduction(one, "(u32)p * " + parts + " + part")) +
         ";");
  }
}

// ---- scans ----

void KernelPrinter::StoreTotals(uint32_t scan) {
  const codegen::ScanParts parts(k_, blocks_, scan);
  const Names states = NamesOf("state", parts.prefix);
  for (uint32_t s = 0; s < parts.states; ++s) {
    Line("if (lane == 0) " + PartsOf(parts.left + s, At(parts.left + s).dtype, "group") + " = " + states[s] + ";");
  }
}

// The states become what the parts before this one hold, combined in their order; as in a scan, as many at a time as
// the team has threads.
void KernelPrinter::PartsBefore(uint32_t scan) {
  const codegen::ScanParts parts(k_, blocks_, scan);
  const Names states = NamesOf("state", parts.prefix), all = NamesOf("all_", parts.prefix);
  Open("for (u32 before = 0; before < (u32)part; before += " + std::to_string(team_.size) + ")");
  for (uint32_t s = 0; s < parts.states; ++s) {
    const uint32_t left = parts.left + s;
    Line(Type(parts.prefix + s) + " " + all[s] + " = before + lane < (u32)part ? " +
         PartsOf(left, At(left).dtype, "group - (u32)part + before + lane") + " : " + V(At(left).a) + ";");
  }
  TotalOfTeam(parts.prefix, /*with_prefixes=*/false);
  Open("");
  Combine(scan, states, all, states);
  Close();
  Close();
}

}  // namespace ricci::cuda
