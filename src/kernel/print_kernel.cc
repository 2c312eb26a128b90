// Text of kernels and plans. Constants are written where they are used, all other values as the number of their
// instruction, which error messages use too.
#include <charconv>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/abi_text.h"
#include "base/status.h"
#include "kernel/block_ops.h"
#include "kernel/kernel.h"
#include "kernel/scalar/scalar_eval.h"
#include "kernel/scalar/scalar_float.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

template <typename T>
std::string Shortest(T v) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof(text), v).ptr;
  std::string s(text, end);
  const bool plain = s.find_first_not_of("-0123456789") == std::string::npos;
  return plain ? s + ".0" : s;
}

std::string ElementText(uint32_t dtype, uint64_t bits) {
  if (dtype == RICCI_BOOL) return bits ? "true" : "false";
  if (dtype == RICCI_U64 || dtype == RICCI_KEY) return absl::StrCat(bits);
  if (!types::IsFloating(dtype)) return absl::StrCat(DecodeInteger(dtype, bits));
  const double v = DecodeFloat(dtype, bits);
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  return dtype == RICCI_F64 ? Shortest(v) : Shortest(static_cast<float>(v));
}

std::string_view AccessName(uint32_t access) {
  return access == RICCI_ACCESS_READ ? "read" : access == RICCI_ACCESS_WRITE ? "write" : "read_write";
}

class KernelPrinter {
 public:
  explicit KernelPrinter(const ricci_kernel_table& k) : k_(k) {}

  std::string Run() {
    text_ = base::Cat("kernel ", base::View(k_.name), "(");
    for (uint32_t i = 0; i < k_.n_buffers; ++i) {
      const ricci_kernel_buffer& b = k_.buffers[i];
      text_ += base::Cat(i ? ", " : "", "b", i, ": ", Name(b.dtype), "[", b.elements, "] ", AccessName(b.access));
    }
    text_ += ")";
    for (uint32_t i = 0; i < k_.domain_rank; ++i) text_ += base::Cat(i ? ", " : " domain [", k_.domain[i]);
    text_ += k_.domain_rank ? "] {\n" : " {\n";
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      if (k_.insts[i].op != RICCI_K_CONST) Line(i);
    }
    return text_ + "}\n";
  }

 private:
  static std::string_view Name(uint32_t dtype) { return types::Info(dtype).name; }

  std::string Use(uint32_t v) const {
    if (v < k_.n_insts && k_.insts[v].op == RICCI_K_CONST) {
      return ElementText(k_.insts[v].dtype, static_cast<uint64_t>(k_.insts[v].imm));
    }
    return absl::StrCat("%", v);
  }

  void Line(uint32_t i) {
    const ricci_inst& inst = k_.insts[i];
    if (ClosesBlock(inst.op)) --depth_;
    const bool middle = inst.op == RICCI_K_ELSE || inst.op == RICCI_K_COND;
    text_.append(2 * (depth_ - (middle ? 1 : 0)), ' ');
    text_ += base::Cat(IsScalar(inst.op) ? ScalarText(i) : OtherText(i), "\n");
    if (OpensBlock(inst.op)) ++depth_;
  }

  std::string Value(uint32_t i) const { return base::Cat("%", i, ": ", Name(k_.insts[i].dtype), " = "); }

  std::string ScalarText(uint32_t i) const {
    const ricci_inst& inst = k_.insts[i];
    std::string s = base::Cat(Value(i), InfoOf(inst.op).name, " ", Use(inst.a));
    if (inst.b) s += ", " + Use(inst.b);
    if (inst.c) s += ", " + Use(inst.c);
    return s;
  }

  std::string OtherText(uint32_t i) const {
    const ricci_inst& inst = k_.insts[i];
    const std::string range = inst.a && inst.b ? Use(inst.a) + ".." + Use(inst.b) : "";
    switch (inst.op) {
      case RICCI_K_DOMAIN:
        return base::Cat(Value(i), "domain ", inst.imm);
      case RICCI_K_LOAD:
        return base::Cat(Value(i), "load b", inst.imm, "[", Use(inst.a), "]");
      case RICCI_K_STORE:
        return base::Cat("store b", inst.imm, "[", Use(inst.a), "] = ", Use(inst.b));
      case RICCI_K_COMBINE:
        return base::Cat(InfoOf(RICCI_COMBINER_OF(inst.imm)).name, " b", RICCI_BUFFER_OF(inst.imm), "[", Use(inst.a),
                         "] with ", Use(inst.b));
      case RICCI_K_LOCAL:
        return base::Cat("%", i, " = local ", Name(inst.dtype), "[", inst.imm, "]");
      case RICCI_K_GET:
        return base::Cat(Value(i), "get ", Use(inst.a), "[", Use(inst.b), "]");
      case RICCI_K_SET:
        return base::Cat("set ", Use(inst.a), "[", Use(inst.b), "] = ", Use(inst.c));
      case RICCI_K_FOR:
        return base::Cat("for %", i, " in ", range, inst.imm ? " parallel {" : " {");
      case RICCI_K_WHILE:
        return "while {";
      case RICCI_K_COND:
        return base::Cat("} holds ", Use(inst.a), " {");
      case RICCI_K_IF:
        return base::Cat("if ", Use(inst.a), " {");
      case RICCI_K_ELSE:
        return "} else {";
      case RICCI_K_END:
        return "}";
      case RICCI_K_REDUCE:
        return base::Cat("reduce ", InfoOf(static_cast<uint32_t>(inst.imm)).name, " %", i, " in ", range, " {");
      case RICCI_K_YIELD:
        return base::Cat("} ", Value(i), inst.imm != 0 ? "yield fused " : "yield ", Use(inst.b));
      case RICCI_K_SCAN:
        return base::Cat("scan %", i, " in ", range, " {");
      case RICCI_K_LEFT:
        return base::Cat(Value(i), "left ", inst.imm, " from ", Use(inst.a));
      case RICCI_K_RIGHT:
        return base::Cat(Value(i), "right ", inst.imm);
      case RICCI_K_COMBINED:
        return base::Cat("combined ", inst.imm, " = ", Use(inst.a));
      case RICCI_K_PREFIX:
        return base::Cat(Value(i), "prefix ", inst.imm, " with ", Use(inst.a));
      case RICCI_K_ASSUME_LESS:
        return base::Cat("assume ", Use(inst.a), " < ", inst.imm);
      case RICCI_K_CHECK:
        return base::Cat("check ", inst.imm, ": ", Use(inst.a));
      default:
        return base::Cat("operation ", inst.op);
    }
  }

  const ricci_kernel_table& k_;
  std::string text_;
  size_t depth_ = 1;
};

// ---- plans ----
std::string BufferText(const ricci_plan& p, uint32_t i) {
  if (i >= p.n_buffers) return absl::StrCat("buffer ", i);
  const ricci_plan_buffer& b = p.buffers[i];
  const std::string size = absl::StrCat(" (", b.bytes, " B)");
  switch (b.kind) {
    case RICCI_BUFFER_INPUT:
      return absl::StrCat("in", b.index, size);
    case RICCI_BUFFER_OUTPUT:
      return absl::StrCat("out", b.index, size);
    case RICCI_BUFFER_CONSTANT:
      return absl::StrCat("const", i, size);
    default:
      return absl::StrCat("arena+0x", absl::Hex(b.offset), size);
  }
}

std::string StepName(const ricci_plan_step& s, const ricci_kernel_table* const* kernels, uint32_t n_kernels) {
  switch (s.kind) {
    case RICCI_STEP_KERNEL:
      if (s.index >= n_kernels) return absl::StrCat("kernel ", s.index);
      return base::Cat("kernel ", base::View(kernels[s.index]->name));
    case RICCI_STEP_LIBRARY:
      return absl::StrCat("library ", s.index);
    case RICCI_STEP_SOURCE:
      return absl::StrCat("source ", s.index);
    case RICCI_STEP_COPY:
      return "copy";
    case RICCI_STEP_WHILE:
      return s.index == 0 ? "while" : absl::StrCat("while trips=", s.index);
    case RICCI_STEP_COND:
      return "cond";
    case RICCI_STEP_CASE:
      return absl::StrCat("case ", s.index);
    case RICCI_STEP_NEXT:
      return "next";
    default:
      return "end";
  }
}

}  // namespace

std::string ToText(const ricci_kernel_table& k) { return KernelPrinter(k).Run(); }

std::string ToText(const ricci_plan& p, const ricci_kernel_table* const* kernels, uint32_t n_kernels) {
  std::string text =
      absl::StrCat("plan inputs ", p.n_inputs, " outputs ", p.n_outputs, " arena ", p.arena_bytes, " {\n");
  size_t depth = 1;
  for (uint32_t i = 0; i < p.n_steps; ++i) {
    const ricci_plan_step& s = p.steps[i];
    const bool opens = s.kind == RICCI_STEP_WHILE || s.kind == RICCI_STEP_CASE;
    const bool middle = s.kind == RICCI_STEP_COND || s.kind == RICCI_STEP_NEXT;
    if (s.kind == RICCI_STEP_END && depth > 1) --depth;
    text.append(2 * (depth - (middle && depth > 1 ? 1 : 0)), ' ');
    text += StepName(s, kernels, n_kernels);
    for (uint32_t a = 0; a < s.n_args; ++a) text += (a ? ", " : " ") + BufferText(p, p.args[s.args + a]);
    text += "\n";
    if (opens) ++depth;
  }
  return text + "}\n";
}

}}}  // namespace ricci::v0::kernel
