#include "fuzz/kinds.h"

#include "ir/program.h"

namespace ricci::testing {
namespace {

constexpr std::string_view kHolders[] = {"scan", "while", "cond", "vmap", "checkpoint", "custom_jvp"};
constexpr size_t kDeep = 4, kLarge = 100, kManyLoops = 3;

std::string Within(std::string_view inner, std::string_view outer) { return Text(inner, " in ", outer); }
std::string AtDepth(std::string_view row) { return Text(row, " at depth ", kDeep); }
const std::string kLargeBody = Text("vmap of a body of ", kLarge, " equations with ", kManyLoops, " loops in a row");

void Collect(const ir::Program& f, std::string_view outer, size_t depth, std::set<std::string>& kinds) {
  size_t loops = 0;
  for (const ir::Equation& eqn : f.equations) {
    const std::string_view name = f.vocabulary()->PrimName(eqn.prim);
    loops += name == "while" || name == "scan";
    for (const ricci_attr& a : eqn.attrs) {
      for (ricci_program* p : ir::Programs(a)) {
        kinds.insert(Within(name, outer));
        if (depth + 1 >= kDeep) kinds.insert(AtDepth(name));
        Collect(*ir::FromAbi(p), name, depth + 1, kinds);
      }
    }
  }
  if (outer == "vmap" && f.equations.size() >= kLarge && loops >= kManyLoops) kinds.insert(kLargeBody);
}

}  // namespace

std::set<std::string> KindsOf(const Program& p) {
  std::set<std::string> kinds;
  Collect(*ir::FromAbi(p.get()), "a program", 0, kinds);
  return kinds;
}

std::vector<std::string> WantedKinds() {
  std::vector<std::string> out = {"argument next to an edge",
                                  "value beside what is computed from it",
                                  "wave shorter than a step",
                                  "check that its branch guards",
                                  "loop with run_in",
                                  "vmap with a stated schedule",
                                  "check that its loop guards",
                                  "checkpoint made to hold what holds a program",
                                  "attribute left out",
                                  "attributes in another order",
                                  "loaded from a file",
                                  "equation twice",
                                  "equation with a changed attribute",
                                  "product of the same operands",
                                  "index at the end of its dtype",
                                  "size at a limit",
                                  "constants of equal bytes",
                                  "code of short functions",
                                  "call of a function of the host",
                                  "call of the host by a device whose memory it cannot see",
                                  "donated arguments",
                                  "runs on devices with time of their own",
                                  "donated arguments of a transformed program",
                                  "result in the memory of a donated argument",
                                  "custom_jvp whose rule applies it",
                                  "custom_vjp whose rule applies it",
                                  kLargeBody};
#ifdef RICCI_TEST_CPU
  out.push_back("kept by a cache");
#endif
  for (std::string_view inner : kHolders) {
    out.push_back(AtDepth(inner));
    for (std::string_view outer : kHolders) out.push_back(Within(inner, outer));
  }
  return out;
}

}  // namespace ricci::testing
