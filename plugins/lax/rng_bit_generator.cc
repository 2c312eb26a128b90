// rng_bit_generator: random bits from a key that is counted up, and the key from which the next ones are made.
//
// Bits and keys are those of XLA: Threefry-2x32 and Philox-4x32 (Salmon et al., SC 2011), the latter also by default,
// as on CPU. A key is u32[4] or u64[2]: 64 bits of key proper, 64 bits of counter. Philox counts in 128 bits, of which
// the key is the upper half. Threefry gives two words for each count: with 64 bits they are one number, otherwise
// neighbours along the first even dimension, or the longest one if all are odd. Narrow dtypes keep the low bits of 32.
// Keys may have leading dimensions. vmap gives each key its own bits; that of JAX takes all from the first key.
#include "threefry.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

enum Algorithm : int64_t { kDefault, kThreefry, kPhilox };
constexpr AttrSpec kAttrs[] = {
    {"shape", AttrKind::kInts}, {"dtype", AttrKind::kDType}, {"algorithm", AttrKind::kInt, "0"}};
int64_t AlgorithmOf(const Eqn& e) { return e.integer("algorithm", kDefault); }

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  const ArrayType key = e.in(0);
  const int64_t words = key.rank() == 0 ? 0 : key.dim(key.rank() - 1);
  const bool is_key = (key.dtype() == DType::kU32 && words == 4) || (key.dtype() == DType::kU64 && words == 2);
  if (!is_key) e.Fail("operand 0 is ", key, "; it takes u32[..., 4] or u64[..., 2]");
  const DType dtype = e.dtype("dtype");
  if (!In(dtype, kUnsigned)) e.Fail("dtype ", dtype, " must be u8, u16, u32 or u64");
  const int64_t algorithm = AlgorithmOf(e);
  if (algorithm < kDefault || algorithm > kPhilox) {
    e.Fail("algorithm ", algorithm, " must be 0 (the default), 1 (Threefry) or 2 (Philox)");
  }
  Shape shape(key.shape().begin(), key.shape().end() - 1);
  for (int64_t d : e.ints("shape")) {
    if (d < 0) e.Fail("shape ", e.ints("shape"), " must not be negative");
    shape.push_back(d);
  }
  return ArrayTypes{key, e.Type(dtype, shape)};
}

// The shape of the bits of one key.
Dims ShapeOf(const Eqn& e) { return e.out(1).shape().subspan(static_cast<size_t>(e.in(0).rank() - 1)); }
bool IsThreefry(const Eqn& e) { return AlgorithmOf(e) == kThreefry; }
bool IsWide(const Eqn& e) { return e.dtype("dtype") == DType::kU64; }

// The dimension along which the two words of Threefry are neighbours.
size_t PairedDimension(Dims shape) {
  size_t longest = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] % 2 == 0) return i;
    if (shape[i] > shape[longest]) longest = i;
  }
  return longest;
}
int64_t HalfUp(int64_t n) { return n / 2 + n % 2; }
// How many counts the bits of one key take.
int64_t CountsOf(const Eqn& e) {
  const Dims shape = ShapeOf(e);
  if (!IsThreefry(e)) {
    const int64_t numbers = ElementCount(shape), of_pairs = HalfUp(numbers);
    return IsWide(e) ? of_pairs : HalfUp(of_pairs);
  }
  Shape counted(shape.begin(), shape.end());
  if (!IsWide(e) && !counted.empty()) counted[PairedDimension(shape)] = HalfUp(counted[PairedDimension(shape)]);
  return ElementCount(counted);
}

Scalar Low(Scalar v) { return Convert(v, DType::kU32); }
Scalar High(Scalar v) { return Convert(ShiftRightLogical(v, Like(v, 32)), DType::kU32); }

struct State {
  Scalar key, counter;  // u64
};
// The state of the key at these leading dimensions.
State Load(KernelBuilder& k, const Eqn& e, std::span<const Scalar> at) {
  const auto word = [&](int64_t i) {
    Index from(at.begin(), at.end());
    from.push_back(k.At(i));
    return k.Operand(0).Load(from);
  };
  if (e.in(0).dtype() == DType::kU64) return {word(0), word(1)};
  const Scalar second = word(1), key = Joined(word(0), second), fourth = word(3);
  return {key, Joined(word(2), fourth)};
}

// ---- Philox, ten rounds ----
struct Four {
  Scalar word[4];
};
Four Philox(Four x, Scalar k0, Scalar k1) {
  for (int round = 0; round < 10; ++round) {
    const Scalar a = Like(k0, 0xD2511F53), b = Like(k0, 0xCD9E8D57);
    const Scalar high_a = Apply(RICCI_S_MULHI, {x.word[0], a}), high_b = Apply(RICCI_S_MULHI, {x.word[2], b});
    x = {{high_b ^ x.word[1] ^ k0, x.word[2] * b, high_a ^ x.word[3] ^ k1, x.word[0] * a}};
    k0 = k0 + Like(k0, 0x9E3779B9);
    k1 = k1 + Like(k1, 0xBB67AE85);
  }
  return x;
}
// Number `n` (i64) of the bits.
Scalar PhiloxBits(const Eqn& e, const State& s, Scalar n) {
  const int64_t numbers = IsWide(e) ? 2 : 4;
  const Scalar count = s.counter + Convert(n / numbers, DType::kU64), position = n % numbers;
  const Scalar upper = s.key + Convert(count < s.counter, DType::kU64);
  const Scalar k1 = High(s.key), k0 = Low(s.key);
  const Four words = Philox({{Low(count), High(count), Low(upper), High(upper)}}, k0, k1);
  if (IsWide(e)) {
    const Scalar later = Joined(words.word[2], words.word[3]), earlier = Joined(words.word[0], words.word[1]);
    return Select(position == 0, earlier, later);
  }
  const Scalar first = Select(position == 0, words.word[0], words.word[1]);
  const Scalar last = Select(position == 2, words.word[2], words.word[3]);
  return Select(position < 2, first, last);
}

// The number of a position in an array of this shape.
Scalar NumberOf(KernelBuilder& k, Dims shape, std::span<const Scalar> at) {
  Scalar n = k.At(0);
  for (size_t i = 0; i < shape.size(); ++i) n = n * shape[i] + at[i];
  return n;
}
Scalar ThreefryBits(KernelBuilder& k, const Eqn& e, const State& s, std::span<const Scalar> at) {
  Shape shape(ShapeOf(e).begin(), ShapeOf(e).end());
  Index position(at.begin(), at.end());
  Scalar which = k.At(0);
  if (!IsWide(e) && !shape.empty()) {
    const size_t d = PairedDimension(shape);
    shape[d] = HalfUp(shape[d]);
    which = position[d] % 2;
    position[d] = position[d] / 2;
  }
  const Scalar count = s.counter + Convert(NumberOf(k, shape, position), DType::kU64);
  const Scalar x1 = High(count), x0 = Low(count), k1 = High(s.key);
  const auto [first, second] = Threefry(Low(s.key), k1, x0, x1);
  return IsWide(e) ? Joined(first, second) : Select(which == 0, first, second);
}

Scalar NextKey(KernelBuilder& k, const Eqn& e, std::span<const Scalar> at) {
  const State s = Load(k, e, at.first(at.size() - 1));
  const Scalar word = at.back(), counter = s.counter + Like(s.counter, CountsOf(e));
  if (e.in(0).dtype() == DType::kU64) return Select(word == 0, s.key, counter);
  const auto half = [&](int64_t low_word, Scalar v) {
    const Scalar high = High(v), low = Low(v);
    return Select(word == low_word, low, high);
  };
  const Scalar of_key = half(0, s.key), of_counter = half(2, counter);
  return Select(word < 2, of_key, of_counter);
}
Scalar FromIndex(KernelBuilder& k, const Eqn& e, uint32_t result, std::span<const Scalar> at) {
  if (result == 0) return NextKey(k, e, at);
  const auto n_keys = static_cast<size_t>(e.in(0).rank() - 1);
  const State s = Load(k, e, at.first(n_keys));
  const std::span<const Scalar> position = at.subspan(n_keys);
  const Scalar bits =
      IsThreefry(e) ? ThreefryBits(k, e, s, position) : PhiloxBits(e, s, NumberOf(k, ShapeOf(e), position));
  return Convert(bits, e.out(1).dtype());
}

Values OfBatch(const Eqn& e, std::span<const Value> in, int64_t) { return e.EmitN(in); }
// The words of a key belong together, and all bits to the shape of all.
std::string Factors(const Eqn& e) {
  const int64_t n_keys = e.in(0).rank() - 1, n_bits = e.out(1).rank() - n_keys;
  const Shape keys = rules::Range(n_keys), all = rules::Range(n_keys + n_bits + 2);
  Shape in = keys, next = keys, bits = keys, whole(all.begin() + n_keys, all.end());
  in.push_back(whole[0]);
  next.push_back(whole[1]);
  bits.insert(bits.end(), whole.begin() + 2, whole.end());
  return Text(rules::Letters(in), " -> ", rules::Letters(next), ", ", rules::Letters(bits), "; whole ",
              rules::Letters(whole));
}

constexpr Row kRows[] = {
    {.name = "rng_bit_generator",
     .doc = "next_key, bits = rng_bit_generator(key): random `dtype` of `shape`, by Philox or Threefry (`algorithm`)",
     .attrs = kAttrs,
     .flags = RICCI_PRIM_TRANSCENDENTAL,
     .type = Type,
     .jvp = rules::ZeroTangent,
     .batch = rules::BatchAllFirst<OfBatch>,
     .factors_of = Factors,
     .lowerings = lower::Index<FromIndex>,
     .missing = rules::kDiscrete,
     .examples = "(u32[4] in 0..1000) shape=[3,5] dtype=u32; (u64[2,2] in 0..1000) shape=[3] dtype=u64 "
                 "algorithm=1; (u32[2,4] in 0..1000) shape=[3,4] dtype=u16 algorithm=1"}};

}  // namespace

RowList rng_bit_generator_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
