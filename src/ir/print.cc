#include "ir/print.h"

#include "absl/strings/str_format.h"
#include "base/abi_text.h"
#include "base/hash_map.h"
#include "base/status.h"
#include "ir/literal.h"
#include "ir/self_reference.h"
#include "ir/structural.h"
#include "ir/text_lexer.h"
#include "ir/walk.h"

namespace ricci { inline namespace v0 { namespace ir {
namespace {

constexpr size_t kInlineBytes = 64;  // constants up to this size are written in the program itself

using base::View;

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  std::string Run(const Program& p) && {
    PrintProgram(p, /*indent=*/0);
    out_ += '\n';
    if (!options_.blobs) return std::move(out_);
    for (const ConstantData* d : blobs_) PrintBlob(*d);
    return std::move(out_);
  }

 private:
  void PrintProgram(const Program& p, int indent) {
    out_ += "program";
    if (!p.name.empty()) out_ += ' ';
    out_ += IsIdentifier(p.name) ? std::string(p.name) : p.name.empty() ? "" : Quoted(p.name);
    out_ += '(';
    for (uint32_t i = 0; i < p.n_params(); ++i) {
      if (i != 0) out_ += ", ";
      PrintTyped(p, i);
    }
    out_ += ") {\n";
    for (const Statement& s : Statements(p)) {
      out_.append(2 * (indent + 1), ' ');
      s.constant != nullptr ? PrintConstant(p, *s.constant) : PrintEquation(p, *s.equation, indent + 1);
      out_ += '\n';
    }
    out_.append(2 * (indent + 1), ' ');
    out_ += "return";
    for (uint32_t i = 0; i < p.n_results(); ++i) absl::StrAppend(&out_, i == 0 ? " %" : ", %", p.results[i]);
    out_ += '\n';
    out_.append(2 * indent, ' ');
    out_ += '}';
  }

  void PrintTyped(const Program& p, ValueId v) { absl::StrAppend(&out_, "%", v, ": ", ToText(p.type(v))); }

  void PrintConstant(const Program& p, const Constant& c) {
    PrintTyped(p, c.value);
    out_ += " = constant ";
    const uint32_t dtype = p.type(c.value).dtype;
    const size_t size = types::Info(dtype).size;
    const std::span<const std::byte> bytes = c.data->bytes;
    if (bytes.size() == size) return AppendElement(out_, dtype, bytes.data());
    if (bytes.size() > kInlineBytes) {
      if (named_.insert(c.data->hash).second) blobs_.push_back(c.data.get());
      absl::StrAppendFormat(&out_, "#%016x", c.data->hash);
      return;
    }
    out_ += '[';
    for (size_t at = 0; at < bytes.size(); at += size) {
      if (at != 0) out_ += ", ";
      AppendElement(out_, dtype, bytes.data() + at);
    }
    out_ += ']';
  }

  void PrintEquation(const Program& p, const Equation& e, int indent) {
    for (uint32_t i = 0; i < e.n_results; ++i) {
      if (i != 0) out_ += ", ";
      PrintTyped(p, e.result(i));
    }
    absl::StrAppend(&out_, e.n_results != 0 ? " = " : "", p.vocabulary()->PrimName(e.prim), "(");
    for (size_t i = 0; i < e.operands.size(); ++i) absl::StrAppend(&out_, i == 0 ? "%" : ", %", e.operands[i]);
    out_ += ')';
    const Equation* holder = Holder(e);
    around_.push_back(&e);
    for (const ricci_attr& a : e.attrs) {
      if (holder != nullptr && Shared(a, *holder)) continue;
      absl::StrAppend(&out_, " ", base::ToAbsl(View(a.name)), "=");
      PrintAttr(a, indent);
    }
    around_.pop_back();
    if (!options_.locations || e.location == 0) return;
    const Location at = p.vocabulary()->GetLocation(e.location);
    absl::StrAppend(&out_, "  // ", at.file, ":", at.line);
  }

  // The enclosing equation for which `e` stands, if that is printed too.
  const Equation* Holder(const Equation& e) const {
    int64_t level = SelfLevel(e.attrs);
    for (size_t i = around_.size(); level > 0 && i-- > 0;) {
      if (around_[i]->prim == e.prim && --level == 0) return around_[i];
    }
    return nullptr;
  }
  // Does the holder have the program `a` under the same name? Then the parser takes it from there.
  static bool Shared(const ricci_attr& a, const Equation& holder) {
    if (a.kind != RICCI_ATTR_PROGRAM) return false;
    const ricci_attr* theirs = FindAttr(holder.attrs, View(a.name));
    return theirs != nullptr && theirs->kind == a.kind &&
           Equal(*FromAbi(Programs(a)[0]), *FromAbi(Programs(*theirs)[0]));
  }

  void PrintAttr(const ricci_attr& a, int indent) {
    switch (a.kind) {
      case RICCI_ATTR_INT:
        absl::StrAppend(&out_, a.i);
        break;
      case RICCI_ATTR_FLOAT:
        PrintFloat(&a.f);
        break;
      case RICCI_ATTR_BOOL:
        out_ += a.i != 0 ? "true" : "false";
        break;
      case RICCI_ATTR_DTYPE:
        out_ += types::Info(static_cast<uint32_t>(a.i)).name;
        break;
      case RICCI_ATTR_STRING:
        out_ += Quoted({static_cast<const char*>(a.data), a.count});
        break;
      case RICCI_ATTR_INTS:
        PrintList(a.count, [&](uint32_t i) { absl::StrAppend(&out_, static_cast<const int64_t*>(a.data)[i]); });
        break;
      case RICCI_ATTR_FLOATS:
        PrintList(a.count, [&](uint32_t i) { PrintFloat(static_cast<const double*>(a.data) + i); });
        break;
      case RICCI_ATTR_PROGRAM:
        PrintProgram(*FromAbi(Programs(a)[0]), indent);
        break;
      case RICCI_ATTR_PROGRAMS:
        PrintList(
            a.count, [&](uint32_t i) { PrintProgram(*FromAbi(Programs(a)[i]), indent); }, ", ");
        break;
    }
  }

  template <typename F>
  void PrintList(uint32_t n, F&& print, std::string_view between = ",") {
    out_ += '[';
    for (uint32_t i = 0; i < n; ++i) {
      if (i != 0) out_ += between;
      print(i);
    }
    out_ += ']';
  }
  void PrintFloat(const double* v) { AppendElement(out_, RICCI_F64, reinterpret_cast<const std::byte*>(v)); }

  void PrintBlob(const ConstantData& d) {
    constexpr char kDigits[] = "0123456789abcdef";
    absl::StrAppendFormat(&out_, "blob #%016x \"", d.hash);
    for (std::byte b : d.bytes) {
      out_ += kDigits[std::to_integer<int>(b >> 4)];
      out_ += kDigits[std::to_integer<int>(b & std::byte{15})];
    }
    out_ += "\"\n";
  }

  PrintOptions options_;
  std::string out_;
  std::vector<const ConstantData*> blobs_;  // in order of first use
  base::HashSet<uint64_t> named_;
  std::vector<const Equation*> around_;  // the equations that hold the program being printed, innermost last
};

}  // namespace

std::string Print(const Program& p, const PrintOptions& options) { return Printer(options).Run(p); }

}}}  // namespace ricci::v0::ir
