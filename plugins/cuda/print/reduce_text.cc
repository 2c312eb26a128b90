// Reductions: what each thread combines, and what a team holds of it.
//
// Those that run in the loop of another one (joined_loops.h) begin with it, each of its trips is theirs too, and what a
// team holds of all of them is combined where the loop ends.
#include "codegen/identity.h"
#include "cuda/print/kernel_printer.h"
#include "ricci/float_format.h"

namespace ricci::cuda {

std::string KernelPrinter::Identity(uint32_t combiner, uint32_t dtype) {
  const double real = codegen::IdentityOf(combiner).real;
  if (dtype == RICCI_F32) return PrintConstant(device_, dtype, ricci_f32_bits(static_cast<float>(real)));
  if (dtype == RICCI_F64) return PrintConstant(device_, dtype, ricci_f64_bits(real));
  return PrintConstant(device_, dtype, codegen::IntegerIdentity(combiner, BitsOf(dtype), IsSigned(dtype)));
}

// ---- trips ----
// Narrow floats are combined in f32 and rounded once.
void KernelPrinter::Reduce(uint32_t i) {
  if (team_.OverRows(i) != 0) return Loop(i);  // the sum is that of all rows
  for (const uint32_t reduce : joined_.All(i)) {
    const uint32_t yield = blocks_.close[reduce], dtype = codegen::AccumulatorDType(At(yield).dtype);
    Line(std::string(TypeName(dtype)) + " r" + std::to_string(yield) + " = " +
         Identity(static_cast<uint32_t>(At(reduce).imm), dtype) + ";");
  }
  IsInParts(i) && !in_parts_ ? CombineParts(i) : Loop(i);
}

// A short reduction over rows, element by element: of so many trips all loads have one address with constant distances,
// which the compiler, left alone, computes for each four.
bool KernelPrinter::IsUnrolled(uint32_t loop) const {
  constexpr double kMostCost = 16;  // of a trip
  if (!team_.columns || team_.shared[loop] == 0 || At(loop).op != RICCI_K_REDUCE) return false;
  if (*codegen::TripsOf(k_, loop) % (kUnrolledTrips * team_.size) != 0) return false;
  double cost = 0;
  for (const uint32_t reduce : joined_.All(loop)) {
    for (uint32_t i = reduce + 1; i < blocks_.close[reduce]; ++i) {
      const uint16_t op = At(i).op;
      if (op != RICCI_K_LOAD && op != RICCI_K_CONST && op != RICCI_K_DOMAIN && !codegen::IsScalar(op)) return false;
      if (joined_.Name(i) == i) cost += codegen::OpCost(op);
    }
  }
  return cost <= kMostCost;
}

void KernelPrinter::UnrolledLoop(uint32_t i) {
  const auto [begin, end] = BoundsOf(i);
  const std::string type = Type(i), v = V(i), of = "of_" + v, step = std::to_string(kUnrolledTrips * team_.size);
  Line("for (" + type + " " + of + " = " + Sum(begin, "lane") + "; " + of + " < " + end + "; " + of + " += " + step +
       ")");
  Line("#pragma unroll");
  Open("for (" + type + " " + v + " = " + of + "; " + v + " < " + of + " + " + step + "; " + v +
       " += " + std::to_string(team_.size) + ")");
}

// ---- sums ----
// What the threads of a team hold is combined, in the same order in each: first within warps, then over warps; or over
// the rows of a block.
void KernelPrinter::AcrossTeam(uint32_t combiner, uint32_t dtype, const std::string& value) {
  const std::string type(TypeName(dtype));
  const auto combine = [&](const std::string& other) {
    Line(value + " = " + Combined(combiner, dtype, value, other) + ";");
  };
  if (team_.columns) {
    const std::string rows = "of_row_" + value, size = std::to_string(team_.size);
    Line("__shared__ " + type + " " + rows + "[" + size + "][32];");
    Line(rows + "[lane][threadIdx.x % 32] = " + value + ";");
    Line("__syncthreads();");
    Line(value + " = " + rows + "[0][threadIdx.x % 32];");
    Line("for (u32 row = 1; row < " + size + "; ++row)");
    ++depth_;
    combine(rows + "[row][threadIdx.x % 32]");
    --depth_;
    return Line("__syncthreads();");
  }
  // In a variable of its own, since an operation may evaluate its operands more than once, or not at all.
  Open("for (i32 step = 16; step > 0; step /= 2)");
  const bool is_narrow = BitsOf(dtype) < 32;
  Line("const " + type + " other = " + (is_narrow ? "(" + type + ")" : "") + "__shfl_xor_sync(4294967295u, " +
       (is_narrow ? "(i32)" : "") + value + ", step);");
  combine("other");
  Close();
  if (team_.size == kWarp) return;
  const std::string parts = "of_warp_" + value;
  Line("__shared__ " + type + " " + parts + "[8];");
  Line("if (lane % 32 == 0) " + parts + "[lane / 32] = " + value + ";");
  Line("__syncthreads();");
  Line(value + " = " + parts + "[0];");
  Line("for (u32 warp = 1; warp < 8; ++warp)");
  ++depth_;
  combine(parts + "[warp]");
  --depth_;
  Line("__syncthreads();");
}

std::string KernelPrinter::MultipliedAndAdded(uint32_t product, const std::string& sum) {
  const ricci_inst& q = At(product);
  const std::string in[] = {V(q.a), V(q.b), sum};
  return PrintScalar(device_, RICCI_S_FMA, q.dtype, q.dtype, in, 3);
}

void KernelPrinter::Accumulate(uint32_t yield) {
  const ricci_inst& q = At(yield);
  const uint32_t dtype = codegen::AccumulatorDType(q.dtype);
  const std::string sum = "r" + std::to_string(blocks_.close[HolderOf(q.a)]);
  // Of a product that was kept in a register its factors may be gone.
  if (q.imm != 0 && rows_.IsComputed(q.b)) return Line(sum + " = " + MultipliedAndAdded(q.b, sum) + ";");
  Line(sum + " = " +
       Combined(static_cast<uint32_t>(At(q.a).imm), dtype, sum, Convert(device_, q.dtype, dtype, V(q.b))) + ";");
}

void KernelPrinter::Yield(uint32_t i) {
  const uint32_t loop = At(i).a;
  if (!IsGrouped(loop) && !IsOverRows(loop) && (in_parts_ || !IsInParts(loop))) {
    Accumulate(i);
    for (const uint32_t follower : joined_.Following(loop)) {
      Body(HolderOf(follower) + 1, follower);  // what it computes of a row, and its leader does not
      Body(follower + 1, blocks_.close[follower]);
      Accumulate(blocks_.close[follower]);
    }
  }
  CloseBlock(i);
  if (HolderOf(loop) != loop) return;
  for (const uint32_t reduce : joined_.All(loop)) {
    const uint32_t yield = blocks_.close[reduce], dtype = codegen::AccumulatorDType(At(yield).dtype);
    const std::string sum = "r" + std::to_string(yield);
    if (team_.shared[reduce] != 0) AcrossTeam(static_cast<uint32_t>(At(reduce).imm), dtype, sum);
    in_parts_ ? StorePart(reduce) : Let(yield, Convert(device_, dtype, At(yield).dtype, sum));
  }
}

}  // namespace ricci::cuda
