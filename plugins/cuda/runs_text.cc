// Runs of a point's accesses (runs.h): a loop over the points with vectors, then one without, for addresses that are
// not aligned.
#include "kernel_printer.h"

namespace ricci::cuda {

void KernelPrinter::PointsWithRuns(const std::string& type, const std::string& thread, const std::string& threads) {
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
  place_.clear();
  Line("#pragma unroll 1");
  Open("for (" + type + " p = aligned ? " + points + " : " + thread + "; p < " + points + "; p += " + threads + ")");
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
