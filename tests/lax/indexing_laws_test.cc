// The laws over slices, pads, concatenations, gathers, scatters and sorts.
#include "lax/laws.h"

namespace ricci::testing {
namespace {

constexpr DType kReal = DType::kF64, kIndex = DType::kI32;

Case Of(std::string name, std::vector<Shape> shapes, Function f) {
  Case c{std::move(name), {}, std::move(f)};
  for (Shape& s : shapes) c.inputs.push_back({kReal, std::move(s)});
  return c;
}

std::vector<Case> Views() {
  return {
      Of("slice", {{4, 5}},
         [](const Values& in) {
           return Values{lax::slice(in[0], Shape{1, 0}, Shape{3, 4})};
         }),
      Of("slice_strided", {{7, 5}},
         [](const Values& in) {
           return Values{lax::slice(in[0], Shape{1, 0}, Shape{7, 5}, Shape{3, 2})};
         }),
      Of("pad", {{2, 3}, {}},
         [](const Values& in) {
           return Values{lax::pad(in[0], in[1], Shape{1, 0}, Shape{2, 1}, Shape{0, 0})};
         }),
      Of("pad_interior_negative", {{3, 4}, {}},
         [](const Values& in) {
           return Values{lax::pad(in[0], in[1], Shape{2, -1}, Shape{0, -2}, Shape{1, 2})};
         }),
      Of("concatenate", {{2, 3}, {1, 3}, {4, 3}}, [](const Values& in) { return Values{lax::concatenate(in, 0)}; }),
      Of("stack", {{2, 3}, {2, 3}},
         [](const Values& in) {
           return Values{Emit1("stack", in, {{"axis", 1}})};
         }),
      Of("split", {{2, 6}},
         [](const Values& in) {
           return EmitN(3, "split", in, {{"sizes", Shape{1, 3, 2}}, {"axis", 1}});
         }),
      Of("unstack", {{3, 2}},
         [](const Values& in) {
           return EmitN(3, "unstack", in, {{"axis", 0}});
         }),
      Of("tile", {{2, 3}},
         [](const Values& in) {
           return Values{Emit1("tile", in, {{"reps", Shape{3, 2}}})};
         }),
      Of("rev", {{2, 3, 4}},
         [](const Values& in) {
           return Values{lax::rev(in[0], Shape{0, 2})};
         }),
      Of("squeeze", {{1, 3, 1}},
         [](const Values& in) {
           return Values{lax::squeeze(in[0], Shape{2, 0})};
         }),
      Of("expand_dims", {{2, 3}},
         [](const Values& in) {
           return Values{lax::expand_dims(in[0], Shape{1, 3})};
         }),
  };
}

Case Indexed(std::string name, Shape operand, Shape indices, Function f, std::vector<Shape> more = {}) {
  Case c{std::move(name), {{kReal, std::move(operand)}, {kIndex, std::move(indices)}}, std::move(f), -5.9, 5.9};
  for (Shape& s : more) c.inputs.push_back({kReal, std::move(s)});
  return c;
}

// Rows of an operand [4, 3] at indices [5, 1]; indices reach from 0 to 5.
const lax::GatherDims kRows = {{1}, {0}, {0}};
const lax::ScatterDims kIntoRows = {{1}, {0}, {0}};

Function GatherRows(const char* mode) {
  return [mode](const Values& in) { return Values{lax::gather(in[0], in[1], kRows, Shape{1, 3}, mode)}; };
}
Function ScatterRows(const char* name, const char* mode, bool unique) {
  return [=](const Values& in) {
    return Values{lax::scatter_named(name, in[0], in[1], in[2], kIntoRows, mode, false, unique)};
  };
}

std::vector<Case> Indexing() {
  const auto dynamic_slice = [](const Values& in) {
    const Value starts[] = {in[1], in[2]};
    return Values{lax::dynamic_slice(in[0], starts, Shape{2, 3})};
  };
  const auto dynamic_update_slice = [](const Values& in) {
    const Value starts[] = {in[2], in[3]};
    return Values{lax::dynamic_update_slice(in[0], in[1], starts)};
  };
  // Distinct rows: index i is the row, whatever the random input.
  const auto distinct = [](const Values& in) {
    const Value rows = lax::reshape(lax::iota(in[0].builder, kIndex, Shape{3}, 0), Shape{3, 1});
    return Values{lax::scatter(in[0], rows, in[1], kIntoRows, "clip", true, true)};
  };
  const auto batched_gather = [](const Values& in) {
    return Values{lax::gather(in[0], in[1], {{}, {1}, {1}, {0}, {0}}, Shape{1, 1}, "clip")};
  };
  const auto batched_scatter = [](const Values& in) {
    return Values{lax::scatter_add(in[0], in[1], in[2], {{}, {1}, {1}, {0}, {0}}, "fill")};
  };
  return {
      {"dynamic_slice", {{kReal, {4, 5}}, {kIndex, {}}, {kIndex, {}}}, dynamic_slice, -5.9, 5.9},
      {"dynamic_update_slice",
       {{kReal, {4, 5}}, {kReal, {2, 3}}, {kIndex, {}}, {kIndex, {}}},
       dynamic_update_slice,
       -5.9,
       5.9},
      Indexed("gather_fill", {4, 3}, {5, 1}, GatherRows("fill")),
      Indexed("gather_clip", {4, 3}, {5, 1}, GatherRows("clip")),
      Indexed("gather_promise", {6, 3}, {5, 1}, GatherRows("promise_in_bounds")),
      Indexed("gather_batched", {3, 4}, {3, 2, 1}, batched_gather),
      Indexed("scatter_add_fill", {4, 3}, {5, 1}, ScatterRows("scatter-add", "fill", false), {{5, 3}}),
      Indexed("scatter_add_clip", {4, 3}, {5, 1}, ScatterRows("scatter-add", "clip", false), {{5, 3}}),
      Indexed("scatter_add_batched", {3, 4}, {3, 2, 1}, batched_scatter, {{3, 2}}),
      Indexed("scatter_sub", {4, 3}, {5, 1}, ScatterRows("scatter-sub", "fill", false), {{5, 3}}),
      Of("scatter_distinct", {{4, 3}, {3, 3}}, distinct),
      Indexed("scatter_one", {4, 3}, {1, 1}, ScatterRows("scatter", "fill", false), {{1, 3}}),
      Indexed("scatter_mul_one", {4, 3}, {1, 1}, ScatterRows("scatter-mul", "fill", true), {{1, 3}}),
  };
}

std::vector<Case> Orders() {
  const auto sort = [](uint32_t n, int64_t dimension, int64_t keys) {
    return [=](const Values& in) {
      return EmitN(n, "sort", in, {{"dimension", dimension}, {"is_stable", true}, {"num_keys", keys}});
    };
  };
  const auto top_k = [](const Values& in) { return EmitN(2, "top_k", in, {{"k", 2}, {"axis", 1}}); };
  return {
      Of("sort", {{2, 5}}, sort(1, 1, 1)),
      Of("sort_pairs", {{5, 2}, {5, 2}}, sort(2, 0, 1)),
      Of("sort_two_keys", {{3, 4}, {3, 4}, {3, 4}}, sort(3, 1, 2)),
      Of("top_k", {{2, 5}}, top_k),
  };
}

class IndexingLaws : public ::testing::TestWithParam<Case> {};
TEST_P(IndexingLaws, Hold) { Laws(GetParam()).CheckAll(); }
std::string NameOfCase(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Views, IndexingLaws, ::testing::ValuesIn(Views()), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Indexing, IndexingLaws, ::testing::ValuesIn(Indexing()), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Orders, IndexingLaws, ::testing::ValuesIn(Orders()), NameOfCase);

}  // namespace
}  // namespace ricci::testing
