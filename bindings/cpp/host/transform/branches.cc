// cond with n branches over lists of leaves.
#include "ricci/branches.hpp"

#include "host/core/numpy_steps.h"

namespace ricci { inline namespace v0 {

Value IndexOfPredicate(const CallSite& site, const Operand& pred) {
  const Value flag = ToBool(site.Lift(pred, DType::kBool));
  if (flag.rank() != 0) site.Fail("the predicate is ", flag.type(), ", not a scalar");
  return lax::convert_element_type(flag, DType::kI32);
}
Value IndexOfBranch(const CallSite& site, const Operand& index) {
  const Value i = site.Lift(index, kDefaultInt);
  if (i.rank() != 0 || !IsInt(i.dtype())) site.Fail("the index is ", i.type(), ", not an integer scalar");
  return lax::convert_element_type(i, DType::kI32);
}

namespace {

// The branches over `n_args` parameters and then the union of all captures, which is appended to `operands`.
std::vector<Program> SameOperands(const CallSite& site, const std::vector<Closed<Value>>& branches, Values& operands) {
  const size_t n_args = operands.size();
  std::vector<std::vector<size_t>> positions;  // of each branch's captures among the operands
  for (const Closed<Value>& b : branches) {
    positions.emplace_back();
    for (const Value& v : b.captured) {
      size_t at = n_args;
      while (at < operands.size() && (operands[at].builder != v.builder || operands[at].id != v.id)) ++at;
      if (at == operands.size()) operands.push_back(v);
      positions.back().push_back(at);
    }
  }
  const std::vector<ricci_type> types = TypesOf(operands);
  std::vector<Program> out;
  for (size_t i = 0; i < branches.size(); ++i) {
    auto wrapped = [&](const CallSite& inside, const Values& params) {
      Values in = Part(params, 0, n_args);
      for (size_t at : positions[i]) in.push_back(params[at]);
      return Apply(inside, branches[i].program, in);
    };
    out.push_back(Wrapped(site, types, wrapped));
  }
  return out;
}
// The name of a branch in messages.
std::string NameOf(Branching kind, size_t branch) {
  if (kind == Branching::kSwitch) return Text("branch ", branch);
  return branch == 0 ? "the false branch" : "the true branch";
}
void WantSameResults(const CallSite& site, Branching kind, const Program& first, const Program& other, size_t number) {
  const auto a = first.results(), b = other.results();
  const std::string first_name = NameOf(kind, 0), name = NameOf(kind, number);
  if (a.size() != b.size())
    site.Fail(first_name, " gives ", Count(a.size(), "result"), " and ", name, " gives ", b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    site.Fail("result ", i, " of ", first_name, " is ", ArrayType(site.context(), a[i]), " and of ", name, " ",
              ArrayType(site.context(), b[i]));
  }
}

}  // namespace

void FailOnBranch(const CallSite& site, Branching kind, size_t branch) {
  site.Fail(NameOf(kind, 0), " and ", NameOf(kind, branch),
            " give other sizes, keys or numbers in their trees; keep what differs in a Value");
}

Values ChooseLeaves(const CallSite& site, Branching kind, const Value& index, std::span<const LeafFunction> branches,
                    const Values& operands) {
  std::vector<Closed<Value>> closed;
  for (const LeafFunction& f : branches) {
    closed.push_back(Close(site, f, TypesOf(operands)));
    WantSameResults(site, kind, closed[0].program, closed.back().program, closed.size() - 1);
  }
  Values in = operands;
  const std::vector<Program> programs = SameOperands(site, closed, in);
  std::vector<ricci_program*> handles;
  for (const Program& f : programs) handles.push_back(f.handle());
  in.insert(in.begin(), index);
  const Operands all(in);
  SetLocation(all.builder, site.at);
  return EmitN(static_cast<uint32_t>(programs[0].results().size()), "cond", in,
               {{"branches", std::span<ricci_program* const>(handles)}});
}

}}  // namespace ricci::v0
