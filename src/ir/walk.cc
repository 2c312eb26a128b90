#include "ir/walk.h"

#include "base/hash_map.h"

namespace ricci { inline namespace v0 { namespace ir {

std::vector<const Program*> NestedFirst(const Program& p) {
  struct Frame {
    const Program* program;
    size_t next = 0;  // of program->nested
  };
  std::vector<const Program*> out;
  base::HashSet<const Program*> seen{&p};
  std::vector<Frame> stack{{&p}};
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.next == top.program->nested.size()) {
      out.push_back(top.program);
      stack.pop_back();
      continue;
    }
    const Program* inner = top.program->nested[top.next++].get();
    if (seen.insert(inner).second) stack.push_back({inner});
  }
  return out;
}

std::vector<Statement> Statements(const Program& p) {
  std::vector<Statement> out;
  out.reserve(p.constants.size() + p.equations.size());
  size_t c = 0;
  for (const Equation& e : p.equations) {
    while (e.n_results != 0 && c < p.constants.size() && p.constants[c].value < e.first_result) {
      out.push_back({&p.constants[c++], nullptr});
    }
    // An equation without results has no value that orders it: the constants that it uses come before it.
    for (ValueId v : e.operands) {
      while (c < p.constants.size() && p.constants[c].value <= v && p.constant(v) != nullptr) {
        out.push_back({&p.constants[c++], nullptr});
      }
    }
    out.push_back({nullptr, &e});
  }
  while (c < p.constants.size()) out.push_back({&p.constants[c++], nullptr});
  return out;
}

}}}  // namespace ricci::v0::ir
