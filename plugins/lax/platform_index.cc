// platform_index: which of several groups of platforms the program is compiled for; cond then takes its branch.
//
// `platforms` lists the groups, separated by `;`, each of names separated by `,`; `*` is any other platform:
// `cpu;cuda,rocm;*`. The lowering of a target gives the number of its group, a constant, so that folding leaves only
// the branch taken. Devices that are not `cuda` run on the host or as if they did, and are `cpu`, the reference device
// too.
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"platforms", AttrKind::kString}};

// f(word) for each word of `text` between separators, until one gives true.
template <typename F>
bool AnyWord(std::string_view text, char separator, F f) {
  for (;;) {
    const size_t end = text.find(separator);
    if (f(text.substr(0, end))) return true;
    if (end == text.npos) return false;
    text.remove_prefix(end + 1);
  }
}
// The first group that has `platform` or is `*`, or -1.
int32_t GroupOf(std::string_view platforms, std::string_view platform) {
  int32_t group = -1;
  const bool found = AnyWord(platforms, ';', [&](std::string_view names) {
    ++group;
    return AnyWord(names, ',', [&](std::string_view name) { return name == platform || name == "*"; });
  });
  return found ? group : -1;
}

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(0);
  if (e.str("platforms").empty()) e.Fail("platforms is empty; give groups of names like cpu;cuda,rocm;*");
  return e.Type(DType::kI32, {});
}

template <const char* platform>
Values Decompose(const Eqn& e, std::span<const Value>) {
  const int32_t group = GroupOf(e.str("platforms"), platform);
  if (group < 0) {
    throw Error(RICCI_UNIMPLEMENTED, Text(e.name(), ": platforms ", e.str("platforms"), " have no group for ", platform,
                                          "; add it, or * for any other"));
  }
  return {full(e.builder(), e.out(), group)};
}
constexpr char kCpu[] = "cpu", kCuda[] = "cuda";
constexpr Lowering kLowerings[] = {{.decompose = Decompose<kCpu>},
                                   {.decompose = Decompose<kCuda>, .target = kCuda, .priority = 1}};

constexpr Row kRows[] = {{.name = "platform_index",
                          .doc = "i = platform_index(): the number of the group in `platforms` (cpu;cuda,rocm;*) that "
                                 "the program is compiled for",
                          .attrs = kAttrs,
                          .type = Type,
                          .jvp = rules::ZeroTangent,
                          .factors = " -> ",
                          .lowerings = kLowerings,
                          .missing = "transpose: it has no operand; batch: it has no operand",
                          // Equal on all devices: no law says that each has a group of its own.
                          .examples = "() platforms=\"rocm;cpu,cuda;*\"; () platforms=\"*\""}};

}  // namespace

RowList platform_index_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
