// Lines of a kernel's text, and what was decided about it.
#include "cuda/print/kernel_printer.h"

namespace ricci::cuda {

void KernelPrinter::Line(const std::string& text) { text_ += std::string(2 * depth_, ' ') + text + "\n"; }

void KernelPrinter::Open(const std::string& text) {
  Line(text.empty() ? "{" : text + " {");
  ++depth_;
}

void KernelPrinter::Close() {
  --depth_;
  Line("}");
}

void KernelPrinter::Else() {
  --depth_;
  Line("} else {");
  ++depth_;
}

std::string KernelPrinter::Variable(uint32_t i) const {
  return "v" + std::to_string(joined_.Name(i)) + (IsTwice(i) ? "_" + std::to_string(half_) : "");
}

void KernelPrinter::Let(uint32_t i, const std::string& expression) {
  if (IsPair(i)) return LetHalf(i, expression);
  Line("const " + Type(i) + " " + Variable(i) + " = " + expression + ";");
}

std::string KernelPrinter::Within(size_t depth, const std::function<void()>& write) {
  std::string before = std::exchange(text_, {});
  const size_t outside = std::exchange(depth_, depth);
  write();
  depth_ = outside;
  return std::exchange(text_, std::move(before));
}

void KernelPrinter::Decide(const std::string& what) {
  Line("// " + what);
  Note(what);
}

void KernelPrinter::Note(const std::string& what) {
  if (!is_again_) (in_parts_ ? launch_.decisions_of_parts : launch_.decisions).push_back(what);
}

bool KernelPrinter::Fail(const std::string& what) {
  error_ = "cuda: kernel " + std::string(k_.name.ptr, k_.name.len) + ": " + what;
  return false;
}

}  // namespace ricci::cuda
