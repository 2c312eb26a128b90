// Calls of functions of the host (host_calls.h).
//
// A share of the programs has them, because kernels end where they are. Operands of one call have one shape, so that
// its batch is a call too. Functions of the host have no derivative: half of the operands have no tangent, as in all
// smooth programs. An ordered call is not drawn where it would be batched, which is refused.
#include "fuzz/generators.h"
#include "fuzz/host_calls.h"

namespace ricci::testing {
namespace {

constexpr int64_t kMostElements = 64;
constexpr DTypeSet kResults = kInts | SetOf(DType::kF32) | SetOf(DType::kF64) | kBools;

Value WithoutTangent(Draft& d, const Value& x) {
  if (!IsFloat(x.dtype()) || d.dice().Chance(0.5)) return x;
  const Values stopped = d.Emit("stop_gradient", {x});
  return stopped.empty() ? x : stopped[0];
}
// One to three operands of one shape; in smooth programs no floats, whose derivative is not zero.
Values Operands(Draft& d, bool differentiated) {
  const DTypeSet set = differentiated && d.palette().smooth ? kInts | kBools : kOrdered;
  Value first = d.Find(set, [](const ArrayType& t) { return t.elements() <= kMostElements; });
  if (first.is_none()) first = d.Fresh(d.Type(d.SomeDType(set), d.SomeShape(1)));
  const Shape shape(first.shape().begin(), first.shape().end());
  Values in = {first};
  for (int64_t n = d.dice().Below(3); n > 0; --n) in.push_back(d.Of(d.SomeDType(set), shape));
  for (Value& x : in) {
    if (differentiated) x = WithoutTangent(d, x);
  }
  return in;
}
// A number of this call, so that calls are told apart.
Value Site(Draft& d, const Value& like) {
  const ArrayType type = like.type().WithDType(DType::kI32);
  const Element e = Encode(DType::kI32, d.dice().Below(1000));
  std::vector<std::byte> bytes;
  for (uint32_t k = 0; k < e.size; ++k) bytes.push_back(static_cast<std::byte>(e.bytes[k]));
  return d.ConstantOf(type, bytes);
}
// The types of one or two results of this shape, as text.
std::string ResultTypes(Draft& d, const ArrayType& like) {
  std::string text;
  for (int64_t n = d.dice().Between(1, 2); n > 0; --n)
    text += Text(text.empty() ? "" : ", ", like.WithDType(d.SomeDType(kResults)));
  return text;
}

void Pure(Draft& d) {
  constexpr std::string_view kMethods[] = {"sequential", "expand_dims", "broadcast_all"};
  const Values in = Operands(d, /*differentiated=*/true);
  const std::string results = ResultTypes(d, in[0].type());
  std::vector<ricci_attr> attrs = {Attr("callback", "fuzz.mix"), Attr("results", std::string_view(results)),
                                   Attr("vmap_method", d.dice().Pick(kMethods))};
  if (!d.palette().batched && d.dice().Chance(0.1)) attrs.pop_back();
  d.Emit("pure_callback", in, attrs);
}
void Io(Draft& d) {
  Values in = Operands(d, /*differentiated=*/true);
  const std::string results = ResultTypes(d, in[0].type());
  in.insert(in.begin(), Site(d, in[0]));
  const bool ordered = !d.palette().batched && d.dice().Chance(0.3);
  d.Emit("io_callback", in, {{"callback", "fuzz.note"}, {"results", std::string_view(results)}, {"ordered", ordered}});
}
void Debug(Draft& d) {
  Values in = Operands(d, /*differentiated=*/false);
  in.insert(in.begin(), Site(d, in[0]));
  d.Emit("debug_callback", in, {{"callback", "fuzz.note"}});
}
void Print(Draft& d) {
  const Values in = Operands(d, /*differentiated=*/false);
  std::string format = Text(kPrintPrefix, d.dice().Below(1000), ":");
  for (size_t i = 0; i < in.size(); ++i) format += d.dice().Chance(0.2) ? " {{{}}}" : " {}";
  d.Emit("debug_print", in, {{"fmt", std::string_view(format)}});
}

constexpr Generator kGenerators[] = {{3, true, Pure}, {2, true, Io}, {2, true, Debug}, {1, true, Print}};

}  // namespace

std::span<const Generator> HostCallGenerators() { return kGenerators; }

}  // namespace ricci::testing
