// Wrong operands and attributes of the rows, with the exact message.
#include "lax/wrong_operands.h"

namespace ricci::testing { namespace {

std::vector<Wrong> Elementwise() {
  return {
      {{{kF32, {2, 3}}, {kF32, {3, 2}}},
       [](const Values& in) { return One(lax::add(in[0], in[1])); },
       "add: operands 0 and 1 are f32[2,3] and f32[3,2]; they must have one type"},
      {{{kF32, {2}}, {kI32, {2}}},
       [](const Values& in) { return One(lax::mul(in[0], in[1])); },
       "mul: operands 0 and 1 are f32[2] and i32[2]; they must have one type"},
      {{{kBool, {2}}, {kBool, {2}}},
       [](const Values& in) { return One(lax::add(in[0], in[1])); },
       "add: operand 0 is bool[2]; it takes integer, floating and complex dtypes"},
      {{{kF32, {2}}, {kF64, {2}}},
       [](const Values& in) { return One(lax::igamma(in[0], in[1])); },
       "igamma: operands 0 and 1 are f32[2] and f64[2]; they must have one type"},
      {{{kC64, {2}}},
       [](const Values& in) { return One(lax::bessel_i0e(in[0])); },
       "bessel_i0e: operand 0 is c64[2]; it takes floating dtypes"},
      {{{kF32, {2}}, {kF32, {2}}, {kF32, {}}},
       [](const Values& in) { return One(lax::betainc(in[0], in[1], in[2])); },
       "regularized_incomplete_beta: operands 0 and 2 are f32[2] and f32[]; they must have one type"},
      {{{kI32, {2}}},
       [](const Values& in) { return One(lax::sin(in[0])); },
       "sin: operand 0 is i32[2]; it takes floating and complex dtypes"},
      {{{DType::kU32, {2}}},
       [](const Values& in) { return One(lax::abs(in[0])); },
       "abs: operand 0 is u32[2]; it takes signed, floating and complex dtypes"},
      {{{kF32, {2}}, {kF32, {2}}},
       [](const Values& in) { return One(lax::bitwise_and(in[0], in[1])); },
       "and: operand 0 is f32[2]; it takes bool and integer dtypes"},
      {{{kF32, {2}}},
       [](const Values& in) { return One(Emit1("add", {in[0]})); },
       "add: takes 2 operands (x, y), not 1"},
      {{{kF32, {2}}, {kI32, {3}}},
       [](const Values& in) { return One(lax::pow(in[0], in[1])); },
       "pow: operands 0 and 1 are f32[2] and i32[3]; they must have one shape"},
      {{{kI32, {2}}},
       [](const Values& in) { return One(lax::integer_pow(in[0], -1)); },
       "integer_pow: exponent -1 of an integer base i32[2] must not be negative"},
      {{{kF32, {2}}},
       [](const Values& in) { return One(lax::round(in[0], 2)); },
       "round: rounding_method 2 must be 0 (away from zero) or 1 (to nearest even)"},
      {{{kF32, {2}}, {kF32, {2}}},
       [](const Values& in) {
         return One(lax::select_n(in[0], {in[0], in[1]}));
       },
       "select_n: the selector is f32[2]; it takes bool or i32"},
      {{{kBool, {3}}, {kF32, {2}}},
       [](const Values& in) {
         return One(lax::select_n(in[0], {in[1], in[1]}));
       },
       "select_n: the selector is bool[3]; it must be a scalar or have the shape of the cases, f32[2]"},
      {{{kF32, {2}}, {kF32, {3}}},
       [](const Values& in) { return One(lax::clamp(in[0], in[1], in[1])); },
       "clamp: operand 0 is f32[2]; it must have the dtype of operand 1, f32[3], and its shape or none"},
      {{{kF32, {3}}},
       [](const Values& in) { return One(lax::bitcast_convert_type(in[0], DType::kF64)); },
       "bitcast_convert_type: operand f32[3] must have a last dimension of 2 to become f64"},
  };
}

std::vector<Wrong> Structured() {
  return {
      {{{kF32, {2, 3}}, {kF32, {4, 5}}},
       [](const Values& in) {
         return One(lax::dot_general(in[0], in[1], {{1}, {0}, {}, {}}));
       },
       "dot_general: contracting sizes 3 and 4 differ; operands are f32[2,3] and f32[4,5]"},
      {{{kF32, {2, 3}}, {kF32, {3, 5}}},
       [](const Values& in) {
         return One(lax::dot_general(in[0], in[1], {{2}, {0}, {}, {}}));
       },
       "dot_general: lhs_contract [2] is out of range for operand 0 of f32[2,3]"},
      {{{kF32, {2, 3}}, {kF32, {3, 5}}},
       [](const Values& in) {
         return One(lax::dot_general(in[0], in[1], {{1}, {}, {}, {}}));
       },
       "dot_general: lhs has 1 contracting dimension and rhs 0"},
      {{{kF32, {2}}, {DType::kF64, {2}}},
       [](const Values& in) {
         return One(lax::dot_general(in[0], in[1], {{0}, {0}, {}, {}}));
       },
       "dot_general: operands are f32[2] and f64[2]; they must have one dtype or preferred_element_type be given"},
      {{{kF32, {2, 3}}},
       [](const Values& in) { return One(lax::reduce_sum(in[0], Shape{2})); },
       "reduce_sum: axes [2] is out of range for operand 0 of f32[2,3]"},
      {{{kF32, {2, 3}}},
       [](const Values& in) {
         return One(lax::reduce_max(in[0], Shape{1, 1}));
       },
       "reduce_max: axes [1,1] names dimension 1 twice"},
      {{{kF32, {2, 0}}},
       [](const Values& in) { return One(lax::argmax(in[0], 1, kI32)); },
       "argmax: dimension 1 of f32[2,0] is empty and has no extremum"},
      {{{kF32, {2, 3}}},
       [](const Values& in) { return One(lax::cumsum(in[0], 2)); },
       "cumsum: axis 2 is out of range for f32[2,3]"},
      {{{kF32, {2, 3}}},
       [](const Values& in) { return One(lax::reshape(in[0], Shape{4})); },
       "reshape: new_sizes [4] holds 4 elements, f32[2,3] holds 6"},
      {{{kF32, {2, 3}}},
       [](const Values& in) {
         return One(lax::transpose(in[0], Shape{1, 1}));
       },
       "transpose: permutation [1,1] names dimension 1 twice"},
      {{{kF32, {2}}},
       [](const Values& in) {
         return One(lax::broadcast_in_dim(in[0], Shape{3, 4}, Shape{0}));
       },
       "broadcast_in_dim: dimension 0 of f32[2] cannot become 3 of shape [3,4]"},
      {{{kF32, {2, 3}}},
       [](const Values& in) {
         return One(lax::broadcast_in_dim(in[0], Shape{3, 2}, Shape{1, 0}));
       },
       "broadcast_in_dim: broadcast_dimensions [1,0] must increase and lie inside shape [3,2]"},
      {{{kF32, {2}}},
       [](const Values& in) { return One(lax::iota(in[0].builder, kBool, Shape{2}, 0)); },
       "iota: dtype bool must be an integer, floating or complex dtype"},
      {{{kF32, {2}}},
       [](const Values& in) { return One(Emit1("reduce_sum", {in[0]})); },
       "reduce_sum: attribute axes (ints) is missing"},
      {{{kF32, {2}}},
       [](const Values& in) { return One(Emit1("sine", {in[0]})); },
       "sine: no such primitive; did you mean sin?"},
  };
}

std::vector<Wrong> ComplexNumbers() {
  const auto one = [](Value (*f)(const Value&)) { return [f](const Values& in) { return One(f(in[0])); }; };
  const auto two = [](Value (*f)(const Value&, const Value&)) {
    return [f](const Values& in) { return One(f(in[0], in[1])); };
  };
  return {
      {{{kF16, {2}}, {kF16, {2}}}, two(lax::complex), "complex: operand 0 is f16[2]; it takes f32 and f64"},
      {{{kF32, {2}}, {kF64, {2}}},
       two(lax::complex),
       "complex: operands 0 and 1 are f32[2] and f64[2]; they must have one type"},
      {{{kF32, {2}}}, one(lax::real), "real: operand 0 is f32[2]; it takes complex dtypes"},
      {{{DType::kBool, {2}}},
       one(lax::sign),
       "sign: operand 0 is bool[2]; it takes integer, floating and complex dtypes"},
      {{{kC64, {2}}, {kC64, {2}}}, two(lax::lt), "lt: operand 0 is c64[2]; it takes bool, integer and floating dtypes"},
      {{{kC64, {2}}},
       [](const Values& in) { return One(lax::argmax(in[0], 0, DType::kI32)); },
       "argmax: operand 0 is c64[2]; it takes bool, integer and floating dtypes"},
      {{{kC64, {2}}},
       [](const Values& in) { return One(lax::bitcast_convert_type(in[0], kF32)); },
       "bitcast_convert_type: operand 0 is c64[2]; it takes integer and floating dtypes"},
      {{{DType::kF4E2M1FN, {2}}},
       [](const Values& in) { return One(lax::bitcast_convert_type(in[0], DType::kU8)); },
       "bitcast_convert_type: operand is f4e2m1fn[2] and new_dtype u8; f4e2m1fn alone has four bits: convert it to "
       "f8e4m3fn"},
  };
}

std::vector<Wrong> RandomNumbers() {
  const auto bits = [](DType dtype, int64_t algorithm, const Shape& shape) {
    return [=](const Values& in) {
      return lax::rng_bit_generator(in[0], shape, dtype, static_cast<lax::RandomAlgorithm>(algorithm));
    };
  };
  const auto gamma = [](const Values& in) { return One(lax::random_gamma(in[0], in[1])); };
  return {
      {{{DType::kU32, {2}}, {kF32, {2}}}, gamma, "random_gamma: operand 0 is u32[2]; it must be a key"},
      {{{DType::kKey, {}}, {kI32, {2}}},
       gamma,
       "random_gamma: operand 1 is i32[2]; it takes f16, bf16, f32, f64, f8e4m3fn, f8e5m2 and f8e8m0fnu"},
      {{{DType::kKey, {3}}, {kF32, {2, 3}}},
       gamma,
       "random_gamma: keys key[3] must have the shape of the first dimensions of f32[2,3]"},
      {{{DType::kKey, {3, 2}}, {kF32, {3}}},
       gamma,
       "random_gamma: keys key[3,2] must have the shape of the first dimensions of f32[3]"},
      {{{DType::kU32, {2}}},
       bits(DType::kU32, 0, {3}),
       "rng_bit_generator: operand 0 is u32[2]; it takes u32[..., 4] or u64[..., 2]"},
      {{{DType::kU64, {}}},
       bits(DType::kU32, 0, {3}),
       "rng_bit_generator: operand 0 is u64[]; it takes u32[..., 4] or u64[..., 2]"},
      {{{DType::kU32, {4}}}, bits(kI32, 0, {3}), "rng_bit_generator: dtype i32 must be u8, u16, u32 or u64"},
      {{{DType::kU32, {4}}},
       bits(DType::kU8, 3, {3}),
       "rng_bit_generator: algorithm 3 must be 0 (the default), 1 (Threefry) or 2 (Philox)"},
      {{{DType::kU32, {4}}}, bits(DType::kU8, 1, {3, -1}), "rng_bit_generator: shape [3,-1] must not be negative"},
  };
}

TEST(RowErrors, Elementwise) { ExpectMessages(Elementwise()); }
TEST(RowErrors, Structured) { ExpectMessages(Structured()); }
TEST(RowErrors, ComplexNumbers) { ExpectMessages(ComplexNumbers()); }

TEST(RowErrors, RandomNumbers) { ExpectMessages(RandomNumbers()); }

// These have a derivative with respect to the last operand only.
TEST(RowErrors, NoDerivativeByAnOrder) {
  const Bench bench;
  for (const std::string name : {"polygamma", "zeta", "igamma_grad_a", "random_gamma_grad"}) {
    const ArrayType x = bench.Type(DType::kF64, {2});
    const auto f = bench.Trace({x, x}, [&](const Values& in) { return Values{Emit1(name, {in[0], in[1]})}; });
    for (const uint8_t by_order : {0, 1}) {
      const uint8_t active[] = {by_order, 1};
      ricci_program* jvp = nullptr;
      ricci_status* s = ricci_jvp(f.get(), active, 2, &jvp);
      EXPECT_EQ(ricci_status_code(s), by_order != 0 ? uint32_t{RICCI_UNIMPLEMENTED} : 0u);
      if (by_order != 0) {
        ricci_str text;
        ricci_status_message(s, &text);
        EXPECT_EQ(std::string(text.ptr, text.len), name + ": it has no derivative with respect to operand 0");
      }
      ricci_status_free(s);
      ricci_program_release(jvp);
    }
  }
}

TEST(RowErrors, SiteNamesPrimitiveAndRule) {
  const Bench bench;
  const Function f = [](const Values& in) {
    SetLocation(in[0].builder, {"host.cc", 7, "main"});
    return Values{lax::sin(in[0])};
  };
  try {
    bench.Trace({bench.Type(kI32, {2})}, f);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "host.cc:7: sin: operand 0 is i32[2]; it takes floating and complex dtypes");
    EXPECT_EQ(e.code(), static_cast<uint32_t>(RICCI_INVALID_ARGUMENT));
    EXPECT_EQ(e.primitive(), "sin");
    EXPECT_EQ(e.rule(), "abstract_eval");
    EXPECT_EQ(e.file(), "host.cc");
    EXPECT_EQ(e.line(), 7u);
  }
}

}  // namespace
}  // namespace ricci::testing
