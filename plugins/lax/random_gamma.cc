// random_gamma: samples of the gamma distribution of shape `a`, or their logarithms, by the method of Marsaglia and
// Tsang
// ("A simple method for generating gamma variables", 2000).
//
// The keys that an element uses up, and the order in which it does, are those of jax.random.gamma, so that samples
// agree with JAX up to rounding. Each element draws for as long as it needs. As in JAX everything is computed in the
// dtype of `a`: computed in another one, a sample could be accepted that JAX rejects.
#include "element_loops.hpp"
#include "scalar_math.hpp"
#include "threefry.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"log_space", AttrKind::kBool, "false"}};
bool InLogSpace(const Eqn& e) { return e.flag("log_space", false); }

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(2);
  const ArrayType keys = e.in(0), a = e.in(1);
  if (keys.dtype() != DType::kKey) e.Fail("operand 0 is ", keys, "; it must be a key");
  rules::WantDType(e, 1, kFloats & ~SetOf(DType::kF4E2M1FN));
  const auto n_keys = static_cast<size_t>(keys.rank());
  const bool fits = keys.rank() <= a.rank() && SameDims(keys.shape(), a.shape().first(n_keys));
  if (!fits) e.Fail("keys ", keys, " must have the shape of the first dimensions of ", a);
  return a;
}

// ---- a stream of random numbers in a kernel ----
struct Key {
  Scalar first, second;
  Key Child(int64_t i) const {
    const auto [a, b] = Threefry(first, second, Like(first, 0), Like(first, i));
    return {a, b};
  }
};
// A key that changes in a loop.
struct KeyVariable {
  KeyVariable(const Work& w, Key key) : first(w.New(key.first)), second(w.New(key.second)) {}
  void operator=(Key key) const {
    first = key.first;
    second = key.second;
  }
  operator Key() const { return {first, second}; }
  Variable first, second;
};

// In [low, 1): a random mantissa under the exponent of 1 gives [1, 2).
Scalar Uniform(const Key& key, DType dtype, double low) {
  const int64_t bits = BitsOf(dtype), mantissa = InfoOf(dtype).mantissa_bits;
  const DType word = bits == 64 ? DType::kU64 : bits == 32 ? DType::kU32 : bits == 16 ? DType::kU16 : DType::kU8;
  const bool from_byte = mantissa < 8;  // as in JAX
  const auto [high, low_word] = Threefry(key.first, key.second, Like(key.first, 0), Like(key.first, 0));
  const Scalar drawn = Convert(BitsOfWords({high, low_word}, from_byte ? DType::kU8 : word), word);
  const Scalar shifted = ShiftRightLogical(drawn, Like(drawn, (from_byte ? 8 : bits) - mantissa));
  const Scalar one = Constant(drawn.kernel, dtype, 1.0);
  const Scalar unit = Bitcast(shifted | Bitcast(one, word), dtype) - 1.0, from = Like(unit, low);
  return Max(unit * (Like(unit, 1.0) - from) + from, from);
}
Scalar Normal(const Key& key, DType dtype) {
  return std::numbers::sqrt2 * scalar::ErfInv(Uniform(key, dtype, -1.0 + InfoOf(dtype).epsilon / 2));
}

// The cube of 1 + x c for a normal x, accepted with the probability that makes d times it a sample of shape d + 1/3.
Scalar AcceptedCube(const Work& w, const Key& first_key, Scalar d) {
  const DType dtype = d.dtype();
  const Scalar c = Like(d, 1.0 / 3) / scalar::Sqrt(d);
  const KeyVariable key(w, first_key), normal_key(w, first_key);
  const Variable x = w.New(Like(d, 0.0)), v = w.New(Like(d, -1.0));
  const Variable square = w.New(Like(d, 0.0)), cube = w.New(Like(d, 1.0)), u = w.New(Like(d, 2.0));
  const auto rejected = [&] {
    const Scalar logs = Scalar(square) * 0.5 + d * (1.0 - Scalar(cube) + scalar::Log(cube));
    return (u >= 1.0 - 0.0331 * (Scalar(square) * Scalar(square))) & (scalar::Log(u) >= logs);
  };
  w.k.While(rejected, [&] {
    const Key now = key;
    key = now.Child(0);
    normal_key = now.Child(1);
    v = Like(d, -1.0);
    w.k.While([&] { return v <= 0.0; },
              [&] {
                const Key before = normal_key;
                normal_key = before.Child(0);
                x = Normal(before.Child(1), dtype);
                v = 1.0 + Scalar(x) * c;
              });
    square = Scalar(x) * Scalar(x);
    cube = Scalar(v) * Scalar(v) * Scalar(v);
    u = Uniform(now.Child(2), dtype, 0);
  });
  return cube;
}

// Shapes below 1 are drawn as a + 1, and the sample is multiplied by u^(1/a) for a uniform u.
Scalar Sample(const Work& w, const Key& key, Scalar a, bool log_space) {
  const Scalar is_large = a >= 1.0, d = Select(is_large, a, a + 1.0) - 1.0 / 3, power = 1.0 / a;
  const Scalar cube = AcceptedCube(w, key.Child(0), d), u = Uniform(key.Child(1), a.dtype(), 0);
  if (!log_space) return d * cube * Select(is_large, Like(a, 1.0), scalar::Pow(1.0 - u, power));
  const Scalar log_u = scalar::Log1p(-u);
  const Scalar factor = Select(is_large | (log_u == 0.0), Like(a, 0.0), log_u * power);
  return scalar::Log(d) + scalar::Log(cube) + factor;
}

void Loops(KernelBuilder& k, const Eqn& e) {
  const auto n_keys = static_cast<size_t>(e.in(0).rank());
  k.Parallel(e.out().shape(), [&](const Index& at) {
    const std::span<const Scalar> all(at);
    const Scalar keys = k.Operand(0).Load(all.first(n_keys));
    const auto [first, second] = ThreefryAt(k, keys, e.out().shape().subspan(n_keys), all.subspan(n_keys));
    k.Result().Store(at, Sample({k, e}, {first, second}, k.Operand(1).Load(at), InLogSpace(e)));
  });
}

// ---- derivative by the shape, as in jax.random ----
Value ByShape(const Eqn& e, const Value& t, std::span<const Value> in, const Value& y) {
  if (!InLogSpace(e)) return mul(t, random_gamma_grad(in[1], y));
  const Value sample = exp(y);
  const Value least = full_like(y, InfoOf(y.dtype()).tiny);
  const Value positive = select(eq(sample, zeros_like(sample)), least, sample);
  return mul(t, div(random_gamma_grad(in[1], positive), positive));
}

Values OfBatch(const Eqn& e, std::span<const Value> in, int64_t) { return e.EmitN(in); }
std::string Factors(const Eqn& e) {
  const Shape keys = rules::Range(e.in(0).rank());
  const std::string all = rules::Letters(rules::Range(e.out().rank()));
  const std::string text = Text(rules::Letters(keys), ", ", all, " -> ", all);
  if (e.in(0).rank() == e.out().rank()) return text;
  return Text(text, "; indexed ", rules::Letters(rules::Complement(keys, e.out().rank())));
}

constexpr std::string_view kExamples =
    "order=0 program (%s: u32[2] in 0..1000, %a: f64[2,3] in 0.3..4) { %k: key[2] = random_seed(%s) "
    "%y: f64[2,3] = random_gamma(%k, %a) return %y }; "
    "order=0 program (%s: u32[2] in 0..1000, %a: f64[2] in 0.3..4) { %k: key[2] = random_seed(%s) "
    "%y: f64[2] = random_gamma(%k, %a) log_space=true return %y }";

constexpr Row kRows[] = {{.name = "random_gamma",
                          .doc = "y = random_gamma(key, a): samples of the gamma distribution of shape a, or their "
                                 "logarithms if `log_space`",
                          .attrs = kAttrs,
                          .flags = RICCI_PRIM_EXPENSIVE,
                          .type = Type,
                          .jvp = rules::Terms<nullptr, ByShape>,
                          .batch = rules::BatchAllFirst<OfBatch>,
                          .factors_of = Factors,
                          .lowerings = lower::Loops<Loops>,
                          .missing = rules::kNotLinear,
                          .examples = kExamples}};

}  // namespace

RowList random_gamma_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
