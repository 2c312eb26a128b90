// Reductions in two launches (phases.h): the first has a block for each part of each point and leaves what it holds in
// `parts`; in the second the trips of the loop are the parts.
#include "codegen/identity.h"
#include "kernel_printer.h"

namespace ricci::cuda {

void KernelPrinter::PointsInParts(const std::string& type) {
  const std::string parts = std::to_string(phases_.parts), points = std::to_string(launch_.points);
  Decide("first of two launches: " + parts + " parts of each reduction, a block for each");
  Line("const u32 lane = threadIdx.x;");
  Open("for (u32 group = blockIdx.x; group < " + std::to_string(launch_.points * phases_.parts) +
       "; group += gridDim.x)");
  if (k_.domain_rank > 0) Line("const " + type + " p = (" + type + ")(group / " + parts + ");");
  Line("const " + type + " part = (" + type + ")(group % " + parts + ");");
}

std::pair<std::string, std::string> KernelPrinter::BoundsOf(uint32_t loop) {
  const ricci_inst& q = At(loop);
  if (!in_parts_ || !IsInParts(loop)) return {V(q.a), V(q.b)};
  const std::string number = std::to_string(loop), trips = std::to_string(phases_.trips[loop]), type = Type(loop);
  const std::string begin = "begin" + number, end = "end" + number;
  Line("const " + type + " " + begin + " = " + Sum(V(q.a), "part * " + trips) + ";");
  Line("const " + type + " " + end + " = " + begin + " + " + trips + " < " + V(q.b) + " ? " + begin + " + " + trips +
       " : " + V(q.b) + ";");
  return {begin, end};
}

// The place of the result of part `number`, counted over all points.
std::string KernelPrinter::PartsOf(uint32_t reduce, const std::string& number) {
  const std::string type(TypeName(codegen::AccumulatorDType(At(blocks_.close[reduce]).dtype)));
  return "((" + type + "*)(parts + " + std::to_string(phases_.place[reduce]) + "))[" + number + "]";
}

void KernelPrinter::StorePart(uint32_t reduce) {
  Line("if (lane == 0) " + PartsOf(reduce, "group") + " = r" + std::to_string(blocks_.close[reduce]) + ";");
}

// Up to the end of the loop, which YIELD closes.
void KernelPrinter::CombineParts(uint32_t reduce) {
  const uint32_t yield = blocks_.close[reduce];
  const std::string sum = "r" + std::to_string(yield), parts = std::to_string(phases_.parts);
  Open("for (u32 part = lane; part < " + parts + "; part += " + std::to_string(kBlock) + ")");
  Line(sum + " = " +
       Combined(static_cast<uint32_t>(At(reduce).imm), codegen::AccumulatorDType(At(yield).dtype), sum,
                PartsOf(reduce, "(u32)p * " + parts + " + part")) +
       ";");
}

}  // namespace ricci::cuda
