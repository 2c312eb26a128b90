#include "trace/parse_program.h"

#include <deque>

#include "base/abi_text.h"
#include "ir/parse.h"
#include "ir/self_reference.h"
#include "prim/nearest_name.h"
#include "trace/attrs.h"

namespace ricci { inline namespace v0 { namespace trace {
namespace {

using ir::TextAttr;
using ir::TextFile;
using ir::TextProgram;
using ir::TextStatement;
using ir::TextType;

using base::View;

class Reader {
 public:
  Reader(prim::Registry& registry, const TextFile& file)
      : registry_(registry), file_(file), constants_(file.data.size()) {}

  absl::StatusOr<ProgramRef> Program(const TextProgram& p, uint32_t depth) {
    std::vector<TypeId> params;
    for (const TextType& t : p.params) {
      RICCI_ASSIGN(TypeId id, Type(t, t.at));
      params.push_back(id);
    }
    RICCI_ASSIGN(auto b, Builder::Create(registry_, p.name, params, depth));
    Vals values = b->params();
    for (const TextStatement& s : p.statements) {
      b->SetLocation(file_.origin, s.at.line, "");
      RICCI_TRY(s.primitive.empty() ? Constant(*b, s, values) : Equation(*b, s, values));
    }
    Vals results;
    for (uint32_t r : p.results) results.push_back(values[r]);
    return b->Finish(results);
  }

  absl::StatusOr<ProgramRef> Application() {
    const TextProgram& p = file_.program;
    const TextStatement& s = p.statements[0];
    std::vector<TypeId> params;
    for (const TextType& t : p.params) {
      RICCI_ASSIGN(TypeId id, Type(t, t.at));
      params.push_back(id);
    }
    RICCI_ASSIGN(auto b, Builder::Create(registry_, p.name, params, /*depth=*/0));
    b->SetLocation(file_.origin, s.at.line, "");
    RICCI_ASSIGN(const Vals results, Emit(*b, s, b->params()));
    return b->Finish(results);
  }

 private:
  template <typename... Args>
  absl::Status Fail(ir::TextPosition at, const Args&... what) const {
    return base::InvalidArgument(file_.origin, ":", at.line, ":", at.column, ": ", what...);
  }

  absl::StatusOr<TypeId> Type(const TextType& t, ir::TextPosition at) {
    auto id = registry_.vocabulary().types.Intern(t.dtype, t.shape);
    if (!id.ok()) return Fail(at, id.status().message());
    return id;
  }

  absl::Status Constant(Builder& b, const TextStatement& s, Vals& values) {
    RICCI_ASSIGN(TypeId type, Type(s.results[0], s.at));
    const std::vector<std::byte>& bytes = file_.data[s.data];
    std::shared_ptr<const ir::ConstantData>& data = constants_[s.data];
    if (data == nullptr) data = std::make_shared<const ir::ConstantData>(registry_.vocabulary().memory, bytes);
    const bool splat = bytes.size() == types::Info(s.results[0].dtype).size;
    RICCI_ASSIGN(Val v, b.Constant(type, splat, data));
    values.push_back(v);
    return absl::OkStatus();
  }

  absl::StatusOr<Vals> Emit(Builder& b, const TextStatement& s, const Vals& values) {
    const PrimId prim = registry_.vocabulary().FindPrim(s.primitive);
    if (prim == 0) return Fail(s.at, prim::NoSuchPrimitive(registry_, s.primitive).message());
    around_.push_back({prim, {}});
    auto status = Programs(b, s);
    const std::vector<ReadProgram> held = std::move(around_.back().programs);
    around_.pop_back();
    RICCI_TRY(status);
    std::vector<std::vector<ricci_program*>> handles(s.attrs.size());
    std::vector<ricci_attr> attrs;
    for (size_t i = 0; i < s.attrs.size(); ++i) {
      for (const ReadProgram& p : held) {
        if (p.name == s.attrs[i].name) handles[i].push_back(ir::Abi(p.program.get()));
      }
      attrs.push_back(Attr(s.attrs[i], handles[i]));
    }
    std::deque<ricci_program*> shared;
    AddShared(prim, attrs, shared);
    Vals operands;
    for (uint32_t v : s.operands) operands.push_back(values[v]);
    return b.Emit(prim, attrs, operands);
  }

  // Builds the programs of a statement in the order of the row: an equation in one of them may stand for the statement
  // only once the programs that it shares with it have been built.
  absl::Status Programs(Builder& b, const TextStatement& s) {
    std::vector<const TextAttr*> order;
    for (const TextAttr& a : s.attrs) order.push_back(&a);
    const auto& specs = registry_.Get(around_.back().prim).attr_specs;
    const auto position = [&](const TextAttr* a) {
      return std::ranges::find(specs, a->name, [](const ricci_attr_spec& spec) { return View(spec.name); }) -
             specs.begin();
    };
    std::ranges::stable_sort(order, {}, position);
    for (const TextAttr* a : order) {
      for (const auto& nested : a->programs) {
        RICCI_ASSIGN(ProgramRef p, Program(*nested, b.depth() + 1));
        around_.back().programs.push_back({a->name, std::move(p)});
      }
    }
    return absl::OkStatus();
  }

  // Adds to the attributes of an equation that stands for one around it (ir/self_reference.h) the programs that it
  // needs and that the text writes only there. `slots` holds their handles.
  void AddShared(PrimId prim, std::vector<ricci_attr>& attrs, std::deque<ricci_program*>& slots) {
    int64_t level = ir::SelfLevel(attrs);
    const auto holder = std::find_if(around_.rbegin(), around_.rend(),
                                     [&](const Around& a) { return level > 0 && a.prim == prim && --level == 0; });
    if (holder == around_.rend()) return;
    for (const ricci_attr_spec& spec : registry_.Get(prim).attr_specs) {
      const bool wanted = spec.kind == RICCI_ATTR_PROGRAM && (spec.flags & RICCI_ATTR_OPTIONAL) == 0;
      if (!wanted || ir::FindAttr(attrs, View(spec.name)) != nullptr) continue;
      const auto theirs = std::ranges::find(holder->programs, View(spec.name), &ReadProgram::name);
      if (theirs == holder->programs.end()) continue;
      attrs.push_back(ProgramAttr(View(spec.name), *theirs->program, slots.emplace_back()));
    }
  }

  absl::Status Equation(Builder& b, const TextStatement& s, Vals& values) {
    RICCI_ASSIGN(const Vals out, Emit(b, s, values));
    if (out.size() != s.results.size()) {
      return Fail(s.at, s.primitive, ": the text has ", base::Count(s.results.size(), "result"), ", the primitive ",
                  out.size());
    }
    for (size_t i = 0; i < out.size(); ++i) {
      const TextType& t = s.results[i];
      if (b.type(out[i]).dtype != t.dtype ||
          !std::equal(t.shape.begin(), t.shape.end(), b.type(out[i]).shape.begin(), b.type(out[i]).shape.end())) {
        return Fail(s.at, s.primitive, ": result ", i, " is ", ToText(b.type(out[i])), ", the text says ",
                    types::ToText(t.dtype, t.shape));
      }
      values.push_back(out[i]);
    }
    return absl::OkStatus();
  }

  // Borrows from `a` and `programs`.
  static ricci_attr Attr(const TextAttr& a, std::span<ricci_program* const> programs) {
    switch (a.kind) {
      case RICCI_ATTR_STRING:
        return StringAttr(a.name, a.text);
      case RICCI_ATTR_INTS:
        return IntsAttr(a.name, a.ints);
      case RICCI_ATTR_FLOATS:
        return AttrBase(a.name, a.kind, static_cast<uint32_t>(a.floats.size()), a.floats.data());
      case RICCI_ATTR_PROGRAM:
      case RICCI_ATTR_PROGRAMS:
        return AttrBase(a.name, a.kind, static_cast<uint32_t>(programs.size()), programs.data());
      default:
        break;
    }
    ricci_attr out = IntAttr(a.name, a.i, a.kind);
    out.f = a.f;
    return out;
  }

  struct ReadProgram {
    std::string_view name;  // of its attribute
    ProgramRef program;
  };
  struct Around {  // a statement whose programs are being read
    PrimId prim;
    std::vector<ReadProgram> programs;
  };

  prim::Registry& registry_;
  const TextFile& file_;
  std::vector<Around> around_;                                      // innermost last
  std::vector<std::shared_ptr<const ir::ConstantData>> constants_;  // those of file_.data that were used
};

}  // namespace

absl::StatusOr<ProgramRef> ParseProgram(prim::Registry& registry, std::string_view text, std::string_view origin) {
  RICCI_ASSIGN(const TextFile file, ir::ParseText(text, origin));
  return Reader(registry, file).Program(file.program, 0);
}

absl::StatusOr<ProgramRef> ParseApplication(prim::Registry& registry, std::string_view primitive, std::string_view text,
                                            std::string_view origin) {
  RICCI_ASSIGN(const TextFile file, ir::ParseApplication(primitive, text, origin));
  return Reader(registry, file).Application();
}

}}}  // namespace ricci::v0::trace
