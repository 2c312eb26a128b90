// The laws over every form of window access (gather and scatter), longer sorts, empty views and random keys.
#include "lax/laws.h"

namespace ricci::testing {
namespace {

constexpr DType kReal = DType::kF64, kIndex = DType::kI32;

Case On(std::string name, std::vector<Shape> shapes, Function f) {
  Case c{std::move(name), {}, std::move(f)};
  for (Shape& s : shapes) c.inputs.push_back({kReal, std::move(s)});
  return c;
}
// The inputs from number `first` on are indices, drawn from 0 to 3.
Case Indexed(std::string name, std::vector<Shape> shapes, size_t first, Function f) {
  Case c = On(std::move(name), std::move(shapes), std::move(f));
  for (size_t i = first; i < c.inputs.size(); ++i) c.inputs[i].first = kIndex;
  c.low = -4;
  c.high = 4;
  return c;
}

std::vector<Case> Views() {
  const auto one = [](auto f) { return [f](const Values& in) { return Values{f(in[0])}; }; };
  return {
      On("slice_empty", {{4}}, one([](const Value& x) { return lax::slice(x, Shape{2}, Shape{2}, Shape{2}); })),
      On("concatenate_empty", {{0, 3}, {2, 3}}, [](const Values& in) { return Values{lax::concatenate(in, 0)}; }),
      On("optimization_barrier", {{2}, {3}}, [](const Values& in) { return EmitN(2, "optimization_barrier", in); }),
  };
}

// `sizes` etc. for the same access in gather and scatter.
struct Access {
  std::string name;
  Shape x, indices, windows;
  lax::GatherDims dims;
  Shape sizes;
};
std::vector<Access> Accesses() {
  return {
      {"rows", {4, 3}, {5, 1}, {5, 3}, {{1}, {0}, {0}}, {1, 3}},
      {"elements", {3, 4}, {2, 3, 2}, {2, 3}, {{}, {0, 1}, {0, 1}}, {1, 1}},
      {"swapped", {4, 3}, {5, 2}, {5}, {{}, {0, 1}, {1, 0}}, {1, 1}},
      {"windows", {5, 4}, {3, 2}, {2, 3, 2}, {{0, 2}, {}, {0, 1}}, {2, 2}},
      {"one", {5, 2}, {1}, {2}, {{0}, {0}, {0}}, {1, 2}},
      {"batched", {3, 4, 2}, {2, 3, 1}, {2, 3, 2}, {{2}, {1}, {1}, {0}, {1}}, {1, 1, 2}},
  };
}
lax::ScatterDims Inverse(const lax::GatherDims& d) {
  return {d.offset_dims, d.collapsed_slice_dims, d.start_index_map, d.operand_batching_dims,
          d.start_indices_batching_dims};
}

std::vector<Case> Gathers() {
  std::vector<Case> out;
  for (const Access& a : Accesses()) {
    for (const char* mode : {"clip", "fill"}) {
      out.push_back(Indexed("gather_" + a.name + "_" + mode, {a.x, a.indices}, 1, [a, mode](const Values& in) {
        return Values{lax::gather(in[0], in[1], a.dims, a.sizes, mode)};
      }));
    }
  }
  return out;
}

std::vector<Case> Scatters() {
  std::vector<Case> out;
  const auto add = [&](const Access& a, const std::string& primitive, const char* mode) {
    std::string name = primitive + "_" + a.name + "_" + mode;
    std::replace(name.begin(), name.end(), '-', '_');
    out.push_back(Indexed(name, {a.x, a.windows, a.indices}, 2, [a, primitive, mode](const Values& in) {
      return Values{lax::scatter_named(primitive, in[0], in[2], in[1], Inverse(a.dims), mode)};
    }));
  };
  for (const Access& a : Accesses()) {
    for (const char* mode : {"clip", "fill"}) {
      add(a, "scatter", mode);
      add(a, "scatter-add", mode);
    }
    add(a, "scatter-sub", "fill");
  }
  return out;
}

// Positions that differ from each other, for what JAX differentiates only then.
std::vector<Case> UniqueScatters() {
  std::vector<Case> out;
  for (const char* primitive : {"scatter", "scatter-mul"}) {
    out.push_back(On(std::string(primitive) == "scatter" ? "scatter_unique" : "scatter_mul_unique", {{4, 3}, {2, 3}},
                     [primitive](const Values& in) {
                       const int64_t n[] = {2};
                       const Value rows = lax::iota(in[0].builder, kIndex, n, 0);
                       return Values{lax::scatter_named(primitive, in[0], lax::expand_dims(rows, Shape{1}), in[1],
                                                        {{1}, {0}, {0}}, "fill", true, true)};
                     }));
  }
  for (const char* primitive : {"scatter-min", "scatter-max"}) {
    out.push_back(
        Indexed(std::string("scatter_") + (primitive + 8), {{4, 3}, {5, 3}, {5, 1}}, 2, [primitive](const Values& in) {
          return Values{lax::scatter_named(primitive, in[0], in[2], in[1], {{1}, {0}, {0}}, "clip")};
        }));
  }
  return out;
}

Values Sorted(const Values& in, int64_t dimension, int64_t keys) {
  return EmitN(static_cast<uint32_t>(in.size()), "sort", in,
               {{"dimension", dimension}, {"is_stable", true}, {"num_keys", keys}});
}

std::vector<Case> Sorts() {
  return {
      On("sort", {{2, 7}}, [](const Values& in) { return Sorted(in, 1, 1); }),
      On("sort_first_dimension", {{7, 2}}, [](const Values& in) { return Sorted(in, 0, 1); }),
      On("sort_long", {{60}},
         [](const Values& in) {  // the steps keep the keys apart
           const int64_t n[] = {60};
           const Value i = lax::iota(in[0].builder, kReal, n, 0);
           const Value steps = lax::rem(lax::mul(i, 37.0), lax::full_like(i, 60));
           return Sorted({lax::add(in[0], lax::mul(steps, 5.0))}, 0, 1);
         }),
      On("sort_pairs", {{2, 5}, {2, 5}}, [](const Values& in) { return Sorted(in, 1, 1); }),
      Indexed("sort_integer_key", {{9}, {9}}, 1,
              [](const Values& in) {
                return Sorted({in[1], in[0]}, 0, 1);
              }),
      Indexed("sort_two_keys", {{9}, {9}}, 1,
              [](const Values& in) {
                return Sorted({in[1], in[0]}, 0, 2);
              }),
      On("top_k", {{3, 6}},
         [](const Values& in) {
           return EmitN(2, "top_k", in, {{"k", 2}, {"axis", 1}});
         }),
  };
}

Case Random(std::string name, std::vector<Shape> shapes, Function f) {
  Case c{std::move(name), {}, std::move(f), 0, 1000, /*differentiable=*/false};
  for (Shape& s : shapes) c.inputs.push_back({DType::kU32, std::move(s)});
  return c;
}
std::vector<Case> Randoms() {
  const auto key = [](const Value& seed) { return Emit1("random_seed", {seed}); };
  const auto words = [](const Value& keys) { return Values{Emit1("random_unwrap", {keys})}; };
  return {
      Random("threefry2x32", {{}, {}, {4}, {4}},
             [](const Values& in) { return lax::threefry2x32(in[0], in[1], in[2], in[3]); }),
      Random("random_seed", {{3}}, [=](const Values& in) { return words(key(in[0])); }),
      Random("random_wrap", {{3, 2}}, [=](const Values& in) { return words(Emit1("random_wrap", {in[0]})); }),
      Random("random_split", {{2}},
             [=](const Values& in) {
               return words(Emit1("random_split", {key(in[0])}, {{"shape", Shape{2, 3}}}));
             }),
      Random("random_fold_in", {{2}, {2}},
             [=](const Values& in) {
               return words(Emit1("random_fold_in", {key(in[0]), in[1]}));
             }),
      Random("random_bits", {{2}},
             [=](const Values& in) {
               return Values{Emit1("random_bits", {key(in[0])}, {{"bit_width", 32}, {"shape", Shape{5}}})};
             }),
  };
}

class WindowLaws : public ::testing::TestWithParam<Case> {};
TEST_P(WindowLaws, Hold) { Laws(GetParam()).CheckAll(); }
std::string NameOfCase(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Views, WindowLaws, ::testing::ValuesIn(Views()), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Gathers, WindowLaws, ::testing::ValuesIn(Gathers()), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Scatters, WindowLaws, ::testing::ValuesIn(Scatters()), NameOfCase);
INSTANTIATE_TEST_SUITE_P(UniqueScatters, WindowLaws, ::testing::ValuesIn(UniqueScatters()), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Sorts, WindowLaws, ::testing::ValuesIn(Sorts()), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Randoms, WindowLaws, ::testing::ValuesIn(Randoms()), NameOfCase);

}  // namespace
}  // namespace ricci::testing
