#include "trace/normal_attrs.h"

#include "absl/strings/str_join.h"
#include "base/abi_text.h"
#include "ir/program.h"

namespace ricci { inline namespace v0 { namespace trace {
namespace {

using base::View;

constexpr std::string_view kAttrKinds[] = {"none",   "int",  "float",  "bool",    "dtype",
                                           "string", "ints", "floats", "program", "programs"};
static_assert(std::size(kAttrKinds) == RICCI_ATTR_PROGRAMS + 1);
std::string_view AttrKindName(uint32_t kind) { return kAttrKinds[kind < std::size(kAttrKinds) ? kind : 0]; }

// Makes `a` an attribute of `kind` if that loses nothing: 1 -> 1.0, [] of any element.
bool Coerce(ricci_attr& a, uint32_t kind) {
  if (a.kind == kind) return true;
  if (a.kind == RICCI_ATTR_INT && kind == RICCI_ATTR_FLOAT) {
    a.f = static_cast<double>(a.i);
    a.i = 0;
  } else if (!(a.count == 0 && (kind == RICCI_ATTR_INTS || kind == RICCI_ATTR_FLOATS || kind == RICCI_ATTR_PROGRAMS) &&
               (a.kind == RICCI_ATTR_INTS || a.kind == RICCI_ATTR_FLOATS || a.kind == RICCI_ATTR_PROGRAMS))) {
    return false;
  }
  a.kind = kind;
  return true;
}

// `a` with the fields that its kind does not use cleared, since hosts may leave anything there: so equal attributes are
// equal in every field.
ricci_attr Canonical(const ricci_attr& a) {
  ricci_attr out{a.name, a.kind, a.count, 0, 0.0, a.data};
  if (a.kind >= RICCI_ATTR_STRING) return out;
  out.count = 1;
  out.data = nullptr;
  if (a.kind == RICCI_ATTR_FLOAT) {
    out.f = a.f;
  } else {
    out.i = a.kind == RICCI_ATTR_BOOL ? a.i != 0 : a.i;
  }
  return out;
}

// An unknown name is reported before a missing attribute, since it is probably that one, misspelt.
absl::Status WantKnownAttrs(const prim::Row& row, std::span<const ricci_attr> attrs) {
  for (const ricci_attr& a : attrs) {
    const auto same = [&](const ricci_attr_spec& spec) { return View(spec.name) == View(a.name); };
    if (std::any_of(row.attr_specs.begin(), row.attr_specs.end(), same)) continue;
    std::vector<std::string> known;
    for (const ricci_attr_spec& spec : row.attr_specs) known.emplace_back(View(spec.name));
    return base::InvalidArgument(row.name, ": unknown attribute ", View(a.name), "; ",
                                 known.empty() ? "it takes none" : "known: " + absl::StrJoin(known, ", "));
  }
  return absl::OkStatus();
}

// Converts `a`, which is given for `spec`, to the kind of `spec`.
absl::Status ToKind(const prim::Row& row, const ricci_attr_spec& spec, ricci_attr& a) {
  if (!Coerce(a, spec.kind)) {
    return base::InvalidArgument(row.name, ": attribute ", View(spec.name), " must be ", AttrKindName(spec.kind),
                                 ", not ", AttrKindName(a.kind));
  }
  if (a.kind == RICCI_ATTR_PROGRAM && a.count != 1) {
    return base::InvalidArgument(row.name, ": attribute ", View(spec.name), " holds ", base::Count(a.count, "program"),
                                 ", not one");
  }
  if (a.kind == RICCI_ATTR_DTYPE && (a.i <= 0 || a.i > RICCI_KEY)) {
    return base::InvalidArgument(row.name, ": attribute ", View(spec.name), ": ", a.i, " is not a dtype");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status NormalizeAttrs(const prim::Row& row, std::span<const ricci_attr> given, std::vector<ricci_attr>& out) {
  out.clear();
  RICCI_TRY(WantKnownAttrs(row, given));
  for (const ricci_attr_spec& spec : row.attr_specs) {
    const ricci_attr* found = ir::FindAttr(given, View(spec.name));
    if (found == nullptr) {
      if (spec.flags & RICCI_ATTR_OPTIONAL) continue;
      return base::InvalidArgument(row.name, ": attribute ", View(spec.name), " (", AttrKindName(spec.kind),
                                   ") is missing");
    }
    ricci_attr a = *found;
    a.name = spec.name;
    RICCI_TRY(ToKind(row, spec, a));
    out.push_back(Canonical(a));
  }
  if (out.size() == given.size()) return absl::OkStatus();
  const auto again =
      std::ranges::find_if(given, [&](const ricci_attr& a) { return ir::FindAttr(given, View(a.name)) != &a; });
  return base::InvalidArgument(row.name, ": attribute ", View(again->name), " is given twice");
}

}}}  // namespace ricci::v0::trace
