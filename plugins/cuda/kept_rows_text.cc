// Rows that threads keep in registers (kept_rows.h): loops that are written out, with arrays of constant indices, which
// compilers put into registers.
#include "kernel_printer.h"

namespace ricci::cuda {

void KernelPrinter::RowFunction(const std::string& name) {
  ForBothAlignments(name, "rows", IsAligned(), "", [this] {
    Points();
    Body(1, k_.n_insts);
  });
}

// Trips, or groups of them, that a thread has at most.
int64_t KernelPrinter::GroupsOfThread(uint32_t loop) const {
  const int64_t step = TripsAtOnce(loop) * team_.size;
  return (*codegen::TripsOf(k_, loop) + step - 1) / step;
}
// The last ones are not all threads'.
bool KernelPrinter::IsCutRow(uint32_t loop) const {
  return IsWrittenOut(loop) && *codegen::TripsOf(k_, loop) % (TripsAtOnce(loop) * team_.size) != 0;
}

// The element of the array in which `kept` leaves its values, for the value `i` of a loop.
std::string KernelPrinter::KeptPlace(uint32_t i, uint32_t kept) const {
  const uint32_t loop = blocks_.parent[i];
  const std::string group = "g" + std::to_string(loop);
  std::string number = group;
  if (IsPair(i)) {
    number += " * " + std::to_string(vector_.size / 2) + " + e / 2";
  } else if (in_group_) {
    number += " * " + std::to_string(vector_.size) + " + " + NumberOfGroup();
  }
  return "kept" + std::to_string(kept) + "[" + number + "]";
}

void KernelPrinter::WrittenOutLoop(uint32_t i) {
  const int64_t n = TripsAtOnce(i), groups = GroupsOfThread(i);
  for (uint32_t v = i + 1; v < blocks_.close[i]; ++v) {
    if (rows_.keeps[v] == 0) continue;
    const bool are_pairs = HoldsPairs(v);
    Line((are_pairs ? "u32" : Type(v)) + " kept" + std::to_string(v) + "[" +
         std::to_string(are_pairs ? n / 2 * groups : n * groups) + "];");
  }
  const std::string group = "g" + std::to_string(i), trip = IsGrouped(i) ? "i" + std::to_string(i) : V(i);
  Line("#pragma unroll");
  Open("for (" + Type(i) + " " + group + " = 0, " + trip + " = " +
       Sum(V(At(i).a), n == 1 ? "lane" : std::to_string(n) + " * lane") + "; " + group + " < " +
       std::to_string(groups) + "; ++" + group + ", " + trip + " += " + std::to_string(n * team_.size) + ")");
  if (IsCutRow(i)) Open("if (" + trip + " < " + V(At(i).b) + ")");
  if (IsGrouped(i)) Group(i, i + 1, blocks_.close[i]);
}

void KernelPrinter::CloseBlock(uint32_t end) {
  Close();
  for (uint32_t i = 1; rows_.IsUsed() && i < end; ++i) {
    if (rows_.loops[i] != 0 && blocks_.close[i] == end && IsCutRow(i)) Close();
  }
}

}  // namespace ricci::cuda
