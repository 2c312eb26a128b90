// random_seed, random_wrap, random_unwrap, random_split, random_fold_in, random_bits: keys and what is made from them.
//
// Equal bit for bit to JAX's default generator, Threefry in partitionable form: element i of any shape depends only on
// the key and on i (64 bits), so that shards and lanes compute their own part.
#include "threefry.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kSplitAttrs[] = {{"shape", AttrKind::kInts}};
constexpr AttrSpec kBitsAttrs[] = {{"bit_width", AttrKind::kInt}, {"shape", AttrKind::kInts}};

void WantKeys(const Eqn& e) {
  if (e.in(0).dtype() != DType::kKey) e.Fail("operand 0 is ", e.in(0), "; it must be a key");
}
// The batch of operand 0 stays where it is: its dimensions come first in the result.
Batched KeepDim(const Eqn& e, const Batched& x) { return {e.Emit({x.value}), x.dim}; }

// ---- random_seed: integers to keys ----
ArrayTypes SeedType(const Eqn& e) {
  e.WantOperands(1);
  rules::WantDType(e, 0, kInts);
  return e.in(0).WithDType(DType::kKey);
}
Scalar SeedScalar(KernelBuilder& k, const Eqn&, std::span<const Scalar> in) {
  const Scalar low = Convert(in[0], DType::kU32);
  if (BitsOf(in[0].dtype()) < 64) return MakeKey(k.Constant(DType::kU32, 0), low);
  return MakeKey(Convert(ShiftRightLogical(in[0], Like(in[0], 32)), DType::kU32), low);
}

// ---- random_wrap, random_unwrap: keys from and to their two words ----
ArrayTypes WrapType(const Eqn& e) {
  e.WantOperands(1);
  const ArrayType x = e.in(0);
  const int64_t rank = x.rank();
  if (x.dtype() != DType::kU32 || rank == 0 || x.dim(rank - 1) != 2) e.Fail("takes u32[..., 2], not ", x);
  return e.Type(DType::kKey, x.shape().first(static_cast<size_t>(rank - 1)));
}
Scalar WrapIndex(KernelBuilder& k, const Eqn&, uint32_t, std::span<const Scalar> at) {
  Index from(at.begin(), at.end());
  from.push_back(k.At(0));
  const Scalar first = k.Operand(0).Load(from);
  from.back() = k.At(1);
  return MakeKey(first, k.Operand(0).Load(from));
}
Batched WrapBatch(const Eqn& e, const Batched& x) { return {e.Emit({rules::MoveDim(x.value, x.dim, 0)}), 0}; }
std::string WrapFactors(const Eqn& e) {
  const int64_t rank = e.out().rank();
  return rules::Letters(rules::Range(rank + 1)) + " -> " + rules::Letters(rules::Range(rank)) + "; whole " +
         rules::Letter(rank);
}

ArrayTypes UnwrapType(const Eqn& e) {
  e.WantOperands(1);
  WantKeys(e);
  Shape shape(e.in(0).shape().begin(), e.in(0).shape().end());
  shape.push_back(2);
  return e.Type(DType::kU32, shape);
}
Scalar UnwrapIndex(KernelBuilder& k, const Eqn&, uint32_t, std::span<const Scalar> at) {
  const auto [first, second] = WordsOf(k.Operand(0).Load(at.first(at.size() - 1)));
  return Select(at.back() == 0, first, second);
}
std::string UnwrapFactors(const Eqn& e) {
  const int64_t rank = e.in(0).rank();
  return rules::Letters(rules::Range(rank)) + " -> " + rules::Letters(rules::Range(rank + 1)) + "; whole " +
         rules::Letter(rank);
}

// ---- random_split, random_bits: [keys..., shape...] from keys ----
ArrayType Expanded(const Eqn& e, DType dtype) {
  e.WantOperands(1);
  WantKeys(e);
  Shape shape(e.in(0).shape().begin(), e.in(0).shape().end());
  for (int64_t d : e.ints("shape")) {
    if (d < 0) e.Fail("shape ", e.ints("shape"), " must not be negative");
    shape.push_back(d);
  }
  return e.Type(dtype, shape);
}
// The words of element `at`: the key of its leading dimensions, the counter of its position in `shape`.
std::pair<Scalar, Scalar> WordsAt(KernelBuilder& k, const Eqn& e, std::span<const Scalar> at) {
  const auto n_keys = static_cast<size_t>(e.in(0).rank());
  return ThreefryAt(k, k.Operand(0).Load(at.first(n_keys)), e.out().shape().subspan(n_keys), at.subspan(n_keys));
}
// Every word depends on its position in `shape`.
std::string ExpandedFactors(const Eqn& e) {
  const Shape keys = rules::Range(e.in(0).rank());
  const std::string text = Text(rules::Letters(keys), " -> ", rules::Letters(rules::Range(e.out().rank())));
  if (e.ints("shape").empty()) return text;
  return Text(text, "; indexed ", rules::Letters(rules::Complement(keys, e.out().rank())));
}

ArrayTypes SplitType(const Eqn& e) { return Expanded(e, DType::kKey); }
Scalar SplitIndex(KernelBuilder& k, const Eqn& e, uint32_t, std::span<const Scalar> at) {
  const auto [first, second] = WordsAt(k, e, at);
  return MakeKey(first, second);
}

ArrayTypes BitsType(const Eqn& e) {
  switch (const int64_t width = e.integer("bit_width")) {
    case 8:
      return Expanded(e, DType::kU8);
    case 16:
      return Expanded(e, DType::kU16);
    case 32:
      return Expanded(e, DType::kU32);
    case 64:
      return Expanded(e, DType::kU64);
    default:
      e.Fail("bit_width ", width, " must be 8, 16, 32 or 64");
  }
}
Scalar BitsIndex(KernelBuilder& k, const Eqn& e, uint32_t, std::span<const Scalar> at) {
  return BitsOfWords(WordsAt(k, e, at), e.out().dtype());
}

// ---- random_fold_in: a key and a number to a key ----
ArrayTypes FoldInType(const Eqn& e) {
  e.WantOperands(2);
  WantKeys(e);
  const ArrayType keys = e.in(0), numbers = e.in(1);
  rules::WantDType(e, 1, SetOf(DType::kU32));
  const bool fits = keys.rank() == 0 || numbers.rank() == 0 || SameDims(keys.shape(), numbers.shape());
  if (!fits) e.Fail("keys ", keys, " and numbers ", numbers, " must have one shape, or be scalars");
  return keys.rank() == 0 ? numbers.WithDType(DType::kKey) : keys;
}
Scalar FoldInScalar(KernelBuilder& k, const Eqn&, std::span<const Scalar> in) {
  const auto [k0, k1] = WordsOf(in[0]);
  const auto [first, second] = Threefry(k0, k1, k.Constant(DType::kU32, 0), in[1]);
  return MakeKey(first, second);
}

constexpr std::string_view kNoDerivative = "transpose: keys and bits have no derivative";

constexpr Row kRows[] = {
    {.name = "random_seed",
     .doc = "key = random_seed(seed): keys from integers, as jax.random.key makes them",
     .type = SeedType,
     .jvp = rules::ZeroTangent,
     .batch = rules::kElementwise,
     .factors_of = rules::ElementwiseFactors,
     .lowerings = lower::Scalar<SeedScalar>,
     .missing = kNoDerivative,
     .examples =
         "program (%s: u32[3] in 0..1000) { %k: key[3] = random_seed(%s) %w: u32[3,2] = random_unwrap(%k) return %w }"},
    {.name = "random_wrap",
     .doc = "key = random_wrap(words): keys from their words, u32[..., 2]",
     .type = WrapType,
     .jvp = rules::ZeroTangent,
     .batch = rules::BatchFirstOperand<WrapBatch>,
     .factors_of = WrapFactors,
     .lowerings = lower::Index<WrapIndex>,
     .missing = kNoDerivative,
     .examples = "program (%s: u32[3,2] in 0..1000) { %k: key[3] = random_wrap(%s) %w: u32[3,2] = random_unwrap(%k) "
                 "return %w }"},
    {.name = "random_unwrap",
     .doc = "words = random_unwrap(key): the words of keys, u32[..., 2]",
     .type = UnwrapType,
     .jvp = rules::ZeroTangent,
     .batch = rules::BatchFirstOperand<KeepDim>,
     .factors_of = UnwrapFactors,
     .lowerings = lower::Index<UnwrapIndex>,
     .missing = kNoDerivative,
     .examples = "program (%s: u32[2,3] in 0..1000) { %k: key[2,3] = random_seed(%s) %w: u32[2,3,2] = "
                 "random_unwrap(%k) return %w }"},
    {.name = "random_split",
     .doc = "keys = random_split(key): `shape` new keys from each key",
     .attrs = kSplitAttrs,
     .flags = RICCI_PRIM_TRANSCENDENTAL,
     .type = SplitType,
     .jvp = rules::ZeroTangent,
     .batch = rules::BatchFirstOperand<KeepDim>,
     .factors_of = ExpandedFactors,
     .lowerings = lower::Index<SplitIndex>,
     .missing = kNoDerivative,
     .examples = "program (%s: u32[2] in 0..1000) { %k: key[2] = random_seed(%s) %n: key[2,2,3] = random_split(%k) "
                 "shape=[2,3] %w: u32[2,2,3,2] = random_unwrap(%n) return %w }"},
    {.name = "random_bits",
     .doc = "bits = random_bits(key): `shape` random integers of `bit_width` bits from each key",
     .attrs = kBitsAttrs,
     .flags = RICCI_PRIM_TRANSCENDENTAL,
     .type = BitsType,
     .jvp = rules::ZeroTangent,
     .batch = rules::BatchFirstOperand<KeepDim>,
     .factors_of = ExpandedFactors,
     .lowerings = lower::Index<BitsIndex>,
     .missing = kNoDerivative,
     .examples = "program (%s: u32[2] in 0..1000) { %k: key[2] = random_seed(%s) %b: u32[2,5] = random_bits(%k) "
                 "bit_width=32 shape=[5] return %b }"},
    {.name = "random_fold_in",
     .doc = "new_key = random_fold_in(key, data): a new key from a key and an integer",
     .flags = RICCI_PRIM_TRANSCENDENTAL,
     .type = FoldInType,
     .jvp = rules::ZeroTangent,
     .batch = rules::kElementwise,
     .factors_of = rules::ElementwiseFactors,
     .lowerings = lower::Scalar<FoldInScalar>,
     .missing = kNoDerivative,
     .examples = "program (%s: u32[2] in 0..1000, %d: u32[2] in 0..1000) { %k: key[2] = random_seed(%s) %n: key[2] = "
                 "random_fold_in(%k, %d) %w: u32[2,2] = random_unwrap(%n) return %w }"},
};

}  // namespace

RowList random_keys_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
