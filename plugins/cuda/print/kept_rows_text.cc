// Rows that threads keep in registers (kept_rows.h): loops that are written out, with arrays of constant indices, which
// compilers put into registers.
#include "cuda/print/kernel_printer.h"
#include "cuda/schedule/store_needs.h"

namespace ricci::cuda {

void KernelPrinter::RowFunction(const std::string& name) {
  if (divisors_.loop != 0) return RowFunctionByInverses(name);
  ForBothAlignments(name, IsAligned(), [this] {
    Points();
    Body(1, k_.n_insts);
  });
}

// The code for aligned addresses ends at the first point with a quotient that an inverse does not give; the other code
// goes on there.
void KernelPrinter::RowFunctionByInverses(const std::string& name) {
  const std::string function = name + "_rows", type = PointType();
  std::string arguments = "first, ";
  for (uint32_t i = 0; i < k_.n_buffers; ++i) arguments += "b" + std::to_string(i) + ", ";
  Line("");
  Open("static __device__ __forceinline__ " + type + " " + function + "(bool aligned, " + type + " first, " +
       Parameters() + ")");
  Decide("divides by inverses of divisors that quotients share, as long as these are exact");
  Points();
  Body(1, k_.n_insts);
  Close();
  Line("return " + std::to_string(launch_.points) + ";");
  Close();
  Line("");
  Line("// " + Summary());
  Open("extern \"C\" __global__ void " + name + "(" + Parameters() + ")");
  Line(type + " first = (" + type + ")" +
       (team_.size == kWarp
            ? "(blockIdx.x * " + std::string(type == "i32" ? "" : "(i64)") + "blockDim.x + threadIdx.x) / 32;"
            : "blockIdx.x;"));
  Line("if (" + IsAligned() + ") first = " + function + "(true, " + arguments + "failed);");
  Line(function + "(false, " + arguments + "failed);");
  Close();
}

void KernelPrinter::BeginInverses(uint32_t loop) {
  std::string positive;
  for (uint32_t i = loop + 1; i < blocks_.close[loop]; ++i) {
    if (divisors_.first[i] != 0) positive += (positive.empty() ? "" : " && ") + V(At(i).b) + " > 0";
  }
  Line("bool exact = " + positive + ";");
  for (uint32_t i = loop + 1; i < blocks_.close[loop]; ++i) {
    const std::string number = std::to_string(i);
    if (divisors_.first[i] != 0) {
      Line("const f32 inverse" + std::to_string(At(i).b) + " = " + InverseOfF32(device_, V(At(i).b)) + ";");
    }
    if (At(i).op == RICCI_K_STORE) {
      Line(VectorType(i, vector_.size) + " y" + number + "[" + std::to_string(GroupsOfThread(loop)) + "];");
    }
  }
}

// After the loop: what it would have stored.
void KernelPrinter::StoreExact(uint32_t loop) {
  const std::string any = team_.size == kWarp ? "__ballot_sync(4294967295u, !exact) != 0u" : "__syncthreads_or(!exact)";
  const std::vector<uint8_t> needed = NeededByStores(k_, blocks_, rows_, loop, Need::kAddresses);
  Line("if (aligned && " + any + ") return p;");
  OpenWrittenOut(loop);
  if (needed[loop] != 0) Let(loop, FirstOfGroup(loop));
  for (uint32_t i = loop + 1; i < blocks_.close[loop]; ++i) {
    if (needed[i] != 0 && vector_.once[i] != 0) Instruction(i);
    if (At(i).op == RICCI_K_STORE) Line(Stored(i) + ";");
  }
  if (IsCutRow(loop)) Close();
  Close();
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
std::string KernelPrinter::KeptElement(uint32_t i, uint32_t kept) const {
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

void KernelPrinter::OpenWrittenOut(uint32_t i) {
  const int64_t n = TripsAtOnce(i), groups = GroupsOfThread(i);
  const std::string group = "g" + std::to_string(i), trip = IsGrouped(i) ? FirstOfGroup(i) : V(i);
  Line("#pragma unroll");
  Open("for (" + Type(i) + " " + group + " = 0, " + trip + " = " +
       Sum(V(At(i).a), n == 1 ? "lane" : std::to_string(n) + " * lane") + "; " + group + " < " +
       std::to_string(groups) + "; ++" + group + ", " + trip + " += " + std::to_string(n * team_.size) + ")");
  if (IsCutRow(i)) Open("if (" + trip + " < " + V(At(i).b) + ")");
}

void KernelPrinter::WrittenOutLoop(uint32_t i) {
  const int64_t n = TripsAtOnce(i), groups = GroupsOfThread(i);
  for (uint32_t v = i + 1; v < blocks_.close[i]; ++v) {
    if (rows_.keeps[v] == 0) continue;
    const bool are_pairs = HoldsPairs(v);
    Line((are_pairs ? "u32" : Type(v)) + " kept" + std::to_string(v) + "[" +
         std::to_string(are_pairs ? n / 2 * groups : n * groups) + "];");
  }
  if (IsByInverses(i)) BeginInverses(i);
  OpenWrittenOut(i);
  if (IsGrouped(i)) Group(i);
}

void KernelPrinter::CloseBlock(uint32_t end) {
  Close();
  for (uint32_t i = 1; rows_.IsUsed() && i < end; ++i) {
    if (rows_.loops[i] == 0 || blocks_.close[i] != end) continue;
    if (IsCutRow(i)) Close();
    if (IsByInverses(i)) StoreExact(i);
  }
}

}  // namespace ricci::cuda
