// Runs of a point's accesses (runs.h): a loop over the points with vectors, then one without, for addresses that are
// not aligned, and for points whose quotients need care (shared_divisors.h).
#include "cuda/print/kernel_printer.h"

namespace ricci::cuda {

bool KernelPrinter::IsStraight() const {
  return !tile_->IsUsed() && !transposed_.IsUsed() && team_.size == 1 && vector_.size == 1 && phases_.parts == 0 &&
         launch_.groups == 0 && launch_.points > 0;
}

void KernelPrinter::PointsWithRuns(const std::string& type, const std::string& thread, const std::string& threads) {
  if (divisors_.IsUsed()) return PointsByInverses(type, thread, threads);
  const std::string points = std::to_string(launch_.points);
  Decide("a point has neighbours to itself: " + std::to_string(runs_.bytes) + " bytes at once of " +
         BufferNames(runs_.buffers));
  Line("const bool aligned = " + AreAligned(runs_.buffers, runs_.bytes) + ";");
  Line("#pragma unroll 1");
  Open("for (" + type + " p = " + thread + "; aligned && p < " + points + "; p += " + threads + ")");
  Coordinates();
  in_runs_ = true;
  Body(1, k_.n_insts);
  in_runs_ = false;
  Close();
  source_line_.clear();
  Line("#pragma unroll 1");
  Open("for (" + type + " p = aligned ? " + points + " : " + thread + "; p < " + points + "; p += " + threads + ")");
}

// Points up to the first one with a quotient that an inverse does not give; the loop that is then open goes on there.
void KernelPrinter::PointsByInverses(const std::string& type, const std::string& thread, const std::string& threads) {
  const std::string points = std::to_string(launch_.points);
  Decide("a point has neighbours to itself: " + std::to_string(runs_.bytes) + " bytes at once of " +
         BufferNames(runs_.buffers));
  Decide("divides by inverses of divisors that quotients share, as long as these are exact");
  Line("const bool aligned = " + AreAligned(runs_.buffers, runs_.bytes) + ";");
  Line(type + " first = " + thread + ";");
  Line("#pragma unroll 1");
  Open("for (; aligned && first < " + points + "; first += " + threads + ")");
  Line("const " + type + " p = first;");
  Line("bool exact = true;");
  Coordinates();
  in_runs_ = true;
  for (const bool stores : {false, true}) {
    if (stores) Line("if (!exact) break;");
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      if ((At(i).op == RICCI_K_STORE) == stores) Instruction(i);
    }
  }
  in_runs_ = false;
  Close();
  source_line_.clear();
  Line("#pragma unroll 1");
  Open("for (" + type + " p = first; p < " + points + "; p += " + threads + ")");
}

void KernelPrinter::Quotient(uint32_t i) {
  const ricci_inst& q = At(i);
  const std::string inverse = "inverse" + std::to_string(q.b);
  if (divisors_.loop != 0) {
    const std::string quotient = QuotientOrZeroOfF32(device_, V(q.a), V(q.b), inverse);
    return Let(i, "aligned ? " + quotient + " : " + V(q.a) + " / " + V(q.b));
  }
  if (divisors_.first[i] != 0) Line("const f32 " + inverse + " = " + InverseOfF32(device_, V(q.b)) + ";");
  Let(i, QuotientOfF32(device_, V(q.a), V(q.b), inverse));
}

// The begin of the run that the access `i` is in.
std::string KernelPrinter::AddressOfRun(uint32_t i) {
  const int64_t number = runs_.number[i];
  return "(" + Address(i) + (number == 0 ? "" : " - " + std::to_string(number)) + ")";
}

void KernelPrinter::LoadOfRun(uint32_t i) {
  const Run& run = runs_.Of(i);
  const std::string name = "x" + std::to_string(run.first), type = VectorType(i, run.size);
  if (i == run.first) Line("const " + type + " " + name + " = *(const " + type + "*)" + AddressOfRun(i) + ";");
  Let(i, name + ".at[" + std::to_string(runs_.number[i]) + "]");
}

void KernelPrinter::StoreOfRun(uint32_t i) {
  const Run& run = runs_.Of(i);
  const std::string name = "y" + std::to_string(run.first), type = VectorType(i, run.size);
  if (i == run.first) Line(type + " " + name + ";");
  Line(name + ".at[" + std::to_string(runs_.number[i]) + "] = " + V(At(i).b) + ";");
  if (i == run.last) Line("*(" + type + "*)" + AddressOfRun(i) + " = " + name + ";");
}

}  // namespace ricci::cuda
