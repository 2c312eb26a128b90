// A thread, or a team of threads, computes a point at a time. Instruction 12 becomes the variable v12; what has one use
// and no side effect could stand in its place, which compilers do anyway.
#include "kernel_text.h"

#include <algorithm>
#include <vector>

#include "codegen/analysis.h"
#include "codegen/identity.h"
#include "codegen/updates.h"
#include "index_ranges.h"
#include "ricci/float_format.h"
#include "team.h"
#include "types.h"

namespace ricci::cuda {
namespace {

constexpr int64_t kMostLanes = 1024;
// The function that makes an update of integers at once, of those that every device has.
std::string_view AtomicName(uint32_t combiner, uint32_t dtype) {
  if (dtype == RICCI_BOOL || IsFloat(dtype) || BitsOf(dtype) < 32) return {};
  switch (combiner) {
    case RICCI_S_ADD:
      return "atomicAdd";
    case RICCI_S_MAX:
      return "atomicMax";
    case RICCI_S_MIN:
      return "atomicMin";
    default:
      return {};
  }
}

constexpr int64_t kMostLocalBytes = 256 << 10;  // of the private arrays of a thread; the hardware has 512 KB

Launch LaunchOf(const ricci_kernel_table& k, const codegen::Blocks& blocks, int64_t team) {
  Launch launch{.points = 1, .team = team};
  std::vector<uint32_t> dims(k.domain_rank);
  bool ordered = false;
  for (uint32_t d = 0; d < k.domain_rank; ++d) launch.points *= k.domain[d];
  for (uint32_t i = 1; i < k.n_insts; ++i) {
    const ricci_inst& q = k.insts[i];
    if (q.op == RICCI_K_DOMAIN) dims[static_cast<size_t>(q.imm)] = i;
    ordered |= q.op == RICCI_K_COMBINE && AtomicName(RICCI_COMBINER_OF(q.imm), k.insts[q.b].dtype).empty();
  }
  if (!ordered || launch.points == 0) return launch;
  const std::optional<codegen::Updates> updates = codegen::FindUpdates(k, blocks, dims);
  launch.groups = 1;
  for (uint32_t d = 0; d < updates->apart; ++d) launch.groups *= k.domain[d];
  launch.loop = updates->loop;
  if (launch.loop != 0) launch.lanes = std::clamp<int64_t>(codegen::TripsOf(k, launch.loop).value_or(1), 1, kMostLanes);
  return launch;
}

class Printer {
 public:
  Printer(const ricci_kernel_table& k, DeviceText& device)
      : k_(k),
        device_(device),
        blocks_(k),
        ranges_(k),
        team_(TeamOf(k, blocks_)),
        launch_(LaunchOf(k, blocks_, team_.size)) {}

  bool Print(const std::string& name);
  const std::string& text() const { return text_; }
  const std::string& error() const { return error_; }
  const Launch& launch() const { return launch_; }

 private:
  const ricci_inst& At(uint32_t i) const { return k_.insts[i]; }
  static std::string V(uint32_t i) { return "v" + std::to_string(i); }
  // Indices that fit into 32 bits are i32.
  uint32_t DTypeOf(uint32_t i) const { return ranges_.IsShort(i) ? uint32_t{RICCI_I32} : At(i).dtype; }
  std::string Type(uint32_t i) const { return std::string(TypeName(DTypeOf(i))); }
  void Line(const std::string& text) { text_ += std::string(2 * depth_, ' ') + text + "\n"; }
  void Open(const std::string& text) {
    Line(text.empty() ? "{" : text + " {");
    ++depth_;
  }
  void Close() {
    --depth_;
    Line("}");
  }
  void Let(uint32_t i, const std::string& expression) {
    Line("const " + Type(i) + " " + V(i) + " = " + expression + ";");
  }
  bool Fail(const std::string& what) {
    error_ = "cuda: kernel " + std::string(k_.name.ptr, k_.name.len) + ": " + what;
    return false;
  }

  void Signature(const std::string& name);
  void Points();
  void Groups(const std::string& type, const std::string& thread, const std::string& threads);
  void Update(uint32_t i);
  void Body(uint32_t first, uint32_t last);
  void Instruction(uint32_t i);
  void Scalar(uint32_t i);
  bool IsPlainQuotient(const ricci_inst& q) const;
  std::string Combined(uint32_t combiner, uint32_t dtype, const std::string& a, const std::string& b);
  std::string Identity(uint32_t combiner, uint32_t dtype);
  void Loop(uint32_t i);
  void AcrossTeam(uint32_t combiner, uint32_t dtype, const std::string& value);
  void Reduce(uint32_t i);
  void Yield(uint32_t i);
  void Scan(uint32_t i);
  void Prefixes(uint32_t i);

  const ricci_kernel_table& k_;
  DeviceText& device_;
  const codegen::Blocks blocks_;
  const IndexRanges ranges_;
  const Team team_;
  const Launch launch_;
  std::string text_, error_;
  size_t depth_ = 0;
};

void Printer::Signature(const std::string& name) {
  std::string arguments;
  for (uint32_t i = 0; i < k_.n_buffers; ++i) {
    const ricci_kernel_buffer& b = k_.buffers[i];
    arguments += (b.access == RICCI_ACCESS_READ ? "const " : "") + std::string(TypeName(b.dtype)) + "* b" +
                 std::to_string(i) + ", ";
  }
  Line("");
  Open("extern \"C\" __global__ void " + name + "(" + arguments + "u32* failed)");
}

// Points that may meet, one after the other.
void Printer::Groups(const std::string& type, const std::string& thread, const std::string& threads) {
  const std::string lanes = std::to_string(launch_.lanes), inner = std::to_string(launch_.points / launch_.groups);
  Line("// in order: " + inner + " points in each of " + std::to_string(launch_.groups) + " groups");
  Open("for (" + type + " g = " + thread + "; g < " + std::to_string(launch_.threads()) + "; g += " + threads + ")");
  if (launch_.lanes > 1) Line("const u32 lane = (u32)(g % " + lanes + ");");
  Open("for (" + type + " p = g / " + lanes + " * " + inner + "; p < (g / " + lanes + " + 1) * " + inner + "; ++p)");
}

void Printer::Points() {
  const std::string end = "; p < " + std::to_string(launch_.points) + "; p += ";
  const bool is_short = launch_.points * launch_.team < IndexRanges::kShort;
  const std::string type = is_short ? "i32" : "i64", cast = "(" + type + ")";
  const std::string thread = cast + "(blockIdx.x * " + (is_short ? "" : "(i64)") + "blockDim.x + threadIdx.x)";
  const std::string threads = cast + "(gridDim.x * " + (is_short ? "" : "(i64)") + "blockDim.x)";
  if (team_.size > 1) Line("// " + std::to_string(team_.size) + " threads for a point: " + team_.reason);
  if (launch_.groups != 0) {
    Groups(type, thread, threads);
  } else if (team_.size == kBlock) {
    Line("const u32 lane = threadIdx.x;");
    Open("for (" + type + " p = blockIdx.x" + end + "gridDim.x)");
  } else if (team_.size == kWarp) {
    Line("const u32 lane = threadIdx.x % 32;");
    Open("for (" + type + " p = " + thread + " / 32" + end + threads + " / 32)");
  } else {
    Open("for (" + type + " p = " + thread + end + threads + ")");
  }
  int64_t inner = launch_.points;
  for (uint32_t d = 0; d < k_.domain_rank; ++d) {
    inner /= k_.domain[d];
    const std::string outer = inner == 1 ? "p" : "p / " + std::to_string(inner);
    Line("const " + type + " d" + std::to_string(d) + " = " + outer +
         (d == 0 ? "" : " % " + std::to_string(k_.domain[d])) + ";");
  }
}

bool Printer::Print(const std::string& name) {
  int64_t local_bytes = 0;
  for (uint32_t i = 0; i < k_.n_insts; ++i) {
    if (At(i).op == RICCI_K_LOCAL) local_bytes += At(i).imm * static_cast<int64_t>(ricci_dtype_size(At(i).dtype));
  }
  if (local_bytes > kMostLocalBytes) {
    return Fail("its private arrays take " + std::to_string(local_bytes) + " bytes; a thread has " +
                std::to_string(kMostLocalBytes));
  }
  Signature(name);
  Points();
  Body(1, k_.n_insts);
  while (depth_ > 0) Close();
  return error_.empty();
}

void Printer::Body(uint32_t first, uint32_t last) {
  for (uint32_t i = first; i < last && error_.empty(); ++i) {
    Instruction(i);
    if (At(i).op == RICCI_K_SCAN) i = codegen::ScanParts(k_, blocks_, i).body - 1;
    if (At(i).op == RICCI_K_PREFIX) i += codegen::ScanParts(k_, blocks_, blocks_.parent[i]).states - 1;
  }
}

// A quotient or remainder of indices that C gives as it is.
bool Printer::IsPlainQuotient(const ricci_inst& q) const {
  if ((q.op != RICCI_S_DIV && q.op != RICCI_S_REM) || !ranges_.Of(q.a) || !ranges_.Of(q.b)) return false;
  return ranges_.Of(q.a)->lo >= 0 && ranges_.Of(q.b)->lo > 0;
}

void Printer::Scalar(uint32_t i) {
  const ricci_inst& q = At(i);
  const uint32_t operands[] = {q.a, q.b, q.c};
  const uint32_t n = q.c != 0 ? 3 : q.b != 0 ? 2 : 1, typed = q.op == RICCI_S_SELECT ? q.b : q.a;
  std::string in[3];
  for (uint32_t o = 0; o < n; ++o) in[o] = V(operands[o]);
  if (IsPlainQuotient(q)) return Let(i, in[0] + (q.op == RICCI_S_DIV ? " / " : " % ") + in[1]);
  // Of indices in 32 bits only if no operand and no result needs more.
  uint32_t from = At(typed).dtype;
  if (from == RICCI_I64 && (q.dtype != RICCI_I64 || ranges_.IsShort(i))) {
    bool is_short = ranges_.IsShort(typed);
    for (uint32_t o = 0; o < n; ++o) is_short &= At(operands[o]).dtype != RICCI_I64 || ranges_.IsShort(operands[o]);
    if (is_short) from = RICCI_I32;
  }
  const uint32_t to =
      from == RICCI_I32 && At(typed).dtype == RICCI_I64 && q.dtype == RICCI_I64 ? uint32_t{RICCI_I32} : q.dtype;
  const std::string r = PrintScalar(device_, q.op, from, to, in, n);
  if (r.empty()) {
    Fail(OperationName(q.op) + " of " + std::string(DTypeName(At(typed).dtype)) + " is not known");
    return;
  }
  Let(i, r);
}

// Integers may be combined in any order, so their updates are atomic.
void Printer::Update(uint32_t i) {
  const ricci_inst& q = At(i);
  const uint32_t combiner = RICCI_COMBINER_OF(q.imm), dtype = At(q.b).dtype;
  const std::string place = "b" + std::to_string(RICCI_BUFFER_OF(q.imm)) + "[" + V(q.a) + "]";
  const std::string_view atomic = AtomicName(combiner, dtype);
  if (atomic.empty()) return Line(place + " = " + Combined(combiner, dtype, place, V(q.b)) + ";");
  // Sums wrap, with a sign too; there is none for i64.
  const std::string as = combiner == RICCI_S_ADD ? std::string(UnsignedName(dtype)) : Type(q.b);
  Line(std::string(atomic) + "((" + as + "*)&" + place + ", (" + as + ")" + V(q.b) + ");");
}

// `a` combined with `b`.
std::string Printer::Combined(uint32_t combiner, uint32_t dtype, const std::string& a, const std::string& b) {
  const std::string in[] = {a, b};
  return PrintScalar(device_, codegen::CombinerOf(combiner, dtype), dtype, dtype, in, 2);
}

std::string Printer::Identity(uint32_t combiner, uint32_t dtype) {
  const double real = codegen::IdentityOf(combiner).real;
  if (dtype == RICCI_F32) return PrintConstant(device_, dtype, ricci_f32_bits(static_cast<float>(real)));
  if (dtype == RICCI_F64) return PrintConstant(device_, dtype, ricci_f64_bits(real));
  return PrintConstant(device_, dtype, codegen::IntegerIdentity(combiner, BitsOf(dtype), IsSigned(dtype)));
}

// Narrow floats are combined in f32 and rounded once.
void Printer::Reduce(uint32_t i) {
  const ricci_inst& q = At(i);
  const uint32_t yield = blocks_.close[i], dtype = codegen::AccumulatorDType(At(yield).dtype);
  const auto combiner = static_cast<uint32_t>(q.imm);
  const std::string sum = "r" + std::to_string(yield);
  Line(std::string(TypeName(dtype)) + " " + sum + " = " + Identity(combiner, dtype) + ";");
  Loop(i);
}

void Printer::Loop(uint32_t i) {
  const ricci_inst& q = At(i);
  const bool by_lanes = launch_.lanes > 1 && launch_.loop == i, is_shared = by_lanes || team_.shared[i] != 0;
  Open("for (" + Type(i) + " " + V(i) + " = " + V(q.a) + (is_shared ? " + lane; " : "; ") + V(i) + " < " + V(q.b) +
       "; " + (is_shared ? V(i) + " += " + std::to_string(by_lanes ? launch_.lanes : team_.size) : "++" + V(i)) + ")");
}

// What the threads of a team hold is combined, in the same order in each: first within warps, then over warps.
void Printer::AcrossTeam(uint32_t combiner, uint32_t dtype, const std::string& value) {
  const std::string type(TypeName(dtype));
  const auto combine = [&](const std::string& other) {
    Line(value + " = " + Combined(combiner, dtype, value, other) + ";");
  };
  Line("for (i32 step = 16; step > 0; step /= 2)");
  ++depth_;
  combine("(" + type + ")__shfl_xor_sync(4294967295u, " + (BitsOf(dtype) < 32 ? "(i32)" : "") + value + ", step)");
  --depth_;
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

void Printer::Yield(uint32_t i) {
  const ricci_inst& q = At(i);
  const uint32_t dtype = codegen::AccumulatorDType(q.dtype);
  const std::string sum = "r" + std::to_string(i);
  Line(sum + " = " +
       Combined(static_cast<uint32_t>(At(q.a).imm), dtype, sum, Convert(device_, q.dtype, dtype, V(q.b))) + ";");
  Close();
  if (team_.shared[q.a] != 0) AcrossTeam(static_cast<uint32_t>(At(q.a).imm), dtype, sum);
  Let(i, Convert(device_, dtype, q.dtype, sum));
}

// States begin as identities; each trip's element is combined with what was before.
void Printer::Scan(uint32_t i) {
  const codegen::ScanParts parts(k_, blocks_, i);
  for (uint32_t s = 0; s < parts.states; ++s) {
    Line(Type(parts.left + s) + " state" + V(i) + "_" + std::to_string(s) + " = " + V(At(parts.left + s).a) + ";");
  }
  Loop(i);
}

void Printer::Prefixes(uint32_t i) {
  const uint32_t scan = blocks_.parent[i];
  const codegen::ScanParts parts(k_, blocks_, scan);
  const auto state = [&](uint32_t s) { return "state" + V(scan) + "_" + std::to_string(s); };
  for (uint32_t s = 0; s < parts.states; ++s) Line(Type(i + s) + " " + V(i + s) + ";");
  Open("");
  for (uint32_t s = 0; s < parts.states; ++s) {
    Let(parts.left + s, state(s));
    Let(parts.right + s, V(At(i + s).a));
  }
  for (uint32_t c = parts.combiner; c < parts.combined; ++c) Instruction(c);
  for (uint32_t s = 0; s < parts.states; ++s) {
    Line(state(s) + " = " + V(At(parts.combined + s).a) + ";");
    Line(V(i + s) + " = " + state(s) + ";");
  }
  Close();
}

void Printer::Instruction(uint32_t i) {
  const ricci_inst& q = At(i);
  const std::string buffer = "b" + std::to_string(RICCI_BUFFER_OF(q.imm));
  if (codegen::IsScalar(q.op)) return Scalar(i);
  switch (q.op) {
    case RICCI_K_NOP:
    case RICCI_K_ASSUME_LESS:
      return;
    case RICCI_K_CONST:
      return Let(i, PrintConstant(device_, DTypeOf(i), static_cast<uint64_t>(q.imm)));
    case RICCI_K_DOMAIN:
      return Let(i, "d" + std::to_string(q.imm));
    case RICCI_K_LOAD:
      return Let(i, buffer + "[" + V(q.a) + "]");
    case RICCI_K_STORE:
      return Line((team_.size > 1 && team_.inside[i] == 0 ? "if (lane == 0) " : "") + buffer + "[" + V(q.a) +
                  "] = " + V(q.b) + ";");
    case RICCI_K_COMBINE:
      return Update(i);
    case RICCI_K_LOCAL:
      return Line(Type(i) + " " + V(i) + "[" + std::to_string(std::max<int64_t>(q.imm, 1)) + "];");
    case RICCI_K_GET:
      return Let(i, V(q.a) + "[" + V(q.b) + "]");
    case RICCI_K_SET:
      return Line(V(q.a) + "[" + V(q.b) + "] = " + V(q.c) + ";");
    case RICCI_K_FOR:
      return Loop(i);
    case RICCI_K_WHILE:
      return Open("for (;;)");
    case RICCI_K_COND:
      return Line("if (!" + V(q.a) + ") break;");
    case RICCI_K_IF:
      return Open("if (" + V(q.a) + ")");
    case RICCI_K_ELSE:
      --depth_;
      Line("} else {");
      ++depth_;
      return;
    case RICCI_K_END:
      return Close();
    case RICCI_K_REDUCE:
      return Reduce(i);
    case RICCI_K_YIELD:
      return Yield(i);
    case RICCI_K_SCAN:
      return Scan(i);
    case RICCI_K_PREFIX:
      return Prefixes(i);
    case RICCI_K_CHECK:
      return Line("if (!" + V(q.a) + ") atomicMin(failed, " + std::to_string(q.imm) + "u);");
    default:
      Fail("instruction " + std::to_string(q.op) + " is not known");
  }
}

}  // namespace

bool PrintKernel(const ricci_kernel_table& k, const std::string& name, DeviceText& device, std::string& text,
                 Launch& launch, std::string& error) {
  Printer printer(k, device);
  if (!printer.Print(name)) {
    error = printer.error();
    return false;
  }
  text += printer.text();
  launch = printer.launch();
  return true;
}

}  // namespace ricci::cuda
