// Values of indexing, sorting and random rows in edge cases: bounds, duplicates, NaN, bits as in JAX.
#include "support/program_runner.h"

namespace ricci::testing { namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

class IndexingValues : public ::testing::Test {
 protected:
  // Result 0 of the program without parameters that has this body, as program text.
  Numbers Value(const std::string& body) {
    const Program p = runner_.Parse("program p() { " + body + " }");
    if (p == nullptr) return {};
    return runner_.Run(p, {}).at(0);
  }
  static void ExpectSame(const Numbers& got, const Numbers& want) {
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      const bool same =
          std::isnan(want[i]) ? std::isnan(got[i]) : got[i] == want[i] && std::signbit(got[i]) == std::signbit(want[i]);
      EXPECT_TRUE(same) << "element " << i << " is " << got[i] << ", not " << want[i];
    }
  }
  ProgramRunner runner_;
};

TEST_F(IndexingValues, GatherModes) {
  const auto gather = [&](const std::string& mode) {
    return Value(
        "%x: f32[3] = constant [10, 20, 30] %i: i32[5,1] = constant [-1, 0, 2, 3, 9] "
        "%y: f32[5] = gather(%x, %i) offset_dims=[] collapsed_slice_dims=[0] start_index_map=[0] slice_sizes=[1] " +
        mode + " return %y");
  };
  ExpectSame(gather("mode=\"clip\""), {10, 10, 30, 30, 30});
  ExpectSame(gather("mode=\"promise_in_bounds\""), {10, 10, 30, 30, 30});
  ExpectSame(gather("mode=\"fill\" fill_value=-1.0"), {-1, 10, 30, -1, -1});
  ExpectSame(gather("mode=\"fill\""), {kNan, 10, 30, kNan, kNan});
}

TEST_F(IndexingValues, IndicesOfEveryWidth) {
  for (const char* dtype : {"u8", "i8", "u32", "i64", "u64"}) {
    const std::string big = dtype == std::string("u64") ? "18446744073709551615" : "127";
    ExpectSame(Value("%x: f32[3] = constant [10, 20, 30] %i: " + std::string(dtype) + "[2,1] = constant [1, " + big +
                     "] %y: f32[2] = gather(%x, %i) offset_dims=[] collapsed_slice_dims=[0] start_index_map=[0] "
                     "slice_sizes=[1] mode=\"clip\" return %y"),
               {20, 30});
  }
}

TEST_F(IndexingValues, ScatterOrderAndBounds) {
  const auto scatter = [&](const std::string& primitive, const std::string& mode) {
    return Value(
        "%x: f32[4] = constant [1, 2, 3, 4] %i: i32[5,1] = constant [1, -1, 3, 1, 4] "
        "%u: f32[5] = constant [10, 20, 30, 40, 50] %y: f32[4] = " +
        primitive +
        "(%x, %i, %u) update_window_dims=[] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] mode=\"" + mode +
        "\" return %y");
  };
  ExpectSame(scatter("scatter", "fill"), {1, 40, 3, 30});
  ExpectSame(scatter("scatter", "clip"), {20, 40, 3, 50});
  ExpectSame(scatter("scatter-add", "fill"), {1, 52, 3, 34});
  ExpectSame(scatter("scatter-sub", "promise_in_bounds"), {1, -48, 3, -26});
  ExpectSame(scatter("scatter-mul", "fill"), {1, 800, 3, 120});
  ExpectSame(scatter("scatter-min", "clip"), {1, 2, 3, 4});
  ExpectSame(scatter("scatter-max", "clip"), {20, 40, 3, 50});
}

// A window that does not lie inside is dropped as a whole.
TEST_F(IndexingValues, ScatterDropsWholeWindows) {
  ExpectSame(Value("%x: f32[4] = constant 0.0 %i: i32[2,1] = constant [3, 1] %u: f32[2,2] = constant [1, 2, 3, 4] "
                   "%y: f32[4] = scatter(%x, %i, %u) update_window_dims=[1] inserted_window_dims=[] "
                   "scatter_dims_to_operand_dims=[0] mode=\"fill\" return %y"),
             {0, 3, 4, 0});
}

// 3, 3, 1 and 9, which is out of bounds: element 3 is doubled twice, and clamping reaches it once more.
TEST_F(IndexingValues, ScatterApplyCountsPositions) {
  const auto apply = [&](const std::string& mode, const std::string& body) {
    return Value(
        "%x: f32[4] = constant [1, 2, 3, 4] %i: i32[4,1] = constant [3, 3, 1, 9] %y: f32[4] = "
        "scatter_apply(%x, %i) update_shape=[4] update_window_dims=[] inserted_window_dims=[0] "
        "scatter_dims_to_operand_dims=[0] mode=\"" +
        mode + "\" computation=program(%a: f32[]) { " + body + " } return %y");
  };
  const std::string twice = "%b: f32[] = add(%a, %a) return %b";
  ExpectSame(apply("fill", twice), {1, 4, 3, 16});
  ExpectSame(apply("clip", twice), {1, 4, 3, 32});
  ExpectSame(apply("fill", "return %a"), {1, 2, 3, 4});
  ExpectSame(apply("fill", "%b: f32[] = constant 7.0 return %b"), {1, 7, 3, 7});
}

// Two arrays that change places, three times at element 1.
TEST_F(IndexingValues, ScatterApplyToSeveralArrays) {
  const std::string body =
      "%x: f32[3] = constant [1, 2, 3] %z: f32[3] = constant [10, 20, 30] %i: i32[4,1] = constant [1, 1, 0, 1] "
      "%y: f32[3], %w: f32[3] = scatter_apply(%x, %i, %z) update_shape=[4] update_window_dims=[] "
      "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] mode=\"fill\" "
      "computation=program(%a: f32[], %b: f32[]) { return %b, %a } return ";
  ExpectSame(Value(body + "%y"), {10, 20, 3});
  ExpectSame(Value(body + "%w"), {1, 2, 30});
}

TEST_F(IndexingValues, DynamicStartsAreClamped) {
  const auto slice = [&](const std::string& start) {
    return Value("%x: i32[5] = constant [0, 1, 2, 3, 4] %s: i32[] = constant " + start +
                 " %y: i32[2] = dynamic_slice(%x, %s) slice_sizes=[2] return %y");
  };
  ExpectSame(slice("-7"), {0, 1});
  ExpectSame(slice("2"), {2, 3});
  ExpectSame(slice("9"), {3, 4});
  ExpectSame(Value("%x: i32[3] = constant [0, 1, 2] %u: i32[2] = constant [7, 8] %s: i64[] = constant 2 "
                   "%y: i32[3] = dynamic_update_slice(%x, %u, %s) return %y"),
             {0, 7, 8});
}

TEST_F(IndexingValues, PadCutsAndSpreads) {
  ExpectSame(Value("%x: i32[3] = constant [1, 2, 3] %v: i32[] = constant 9 "
                   "%y: i32[6] = pad(%x, %v) low=[-1] high=[2] interior=[1] return %y"),
             {9, 2, 9, 3, 9, 9});
  ExpectSame(Value("%x: i32[0] = constant [] %v: i32[] = constant 9 "
                   "%y: i32[3] = pad(%x, %v) low=[1] high=[2] interior=[4] return %y"),
             {9, 9, 9});
}

TEST_F(IndexingValues, SortIsStableAndPutsNanLast) {
  const std::string body =
      "%x: f32[8] = constant [3, -0.0, nan, 1, 0.0, -inf, inf, 1] %i: i32[8] = constant [0, 1, 2, 3, 4, 5, 6, 7] "
      "%y: f32[8], %j: i32[8] = sort(%x, %i) dimension=0 num_keys=1 return ";
  ExpectSame(Value(body + "%y"), {-kInf, -0.0, 0, 1, 1, 3, kInf, kNan});
  ExpectSame(Value(body + "%j"), {5, 1, 4, 3, 7, 0, 6, 2});
}

// Long lines are merged, short ones counted: both must give the same order.
TEST_F(IndexingValues, LongSort) {
  std::string keys = "[";
  std::vector<std::pair<int, int>> want;
  for (int i = 0; i < 1000; ++i) {
    const int key = i * 7919 % 97;
    keys += (i == 0 ? "" : ", ") + std::to_string(key);
    want.emplace_back(key, i);
  }
  std::sort(want.begin(), want.end());
  Numbers order;
  for (const auto& [key, i] : want) order.push_back(i);
  ExpectSame(Value("%k: u8[1000] = constant " + keys +
                   "] %i: i32[1000] = iota() dtype=i32 shape=[1000] dimension=0 "
                   "%y: u8[1000], %j: i32[1000] = sort(%k, %i) dimension=0 num_keys=1 return %j"),
             order);
}

TEST_F(IndexingValues, SortOfSeveralKeys) {
  ExpectSame(Value("%a: bool[4] = constant [true, false, true, false] %b: f32[4] = constant [2, 1, 1, nan] "
                   "%c: i32[4] = constant [0, 1, 2, 3] %x: bool[4], %y: f32[4], %z: i32[4] = sort(%a, %b, %c) "
                   "dimension=0 num_keys=2 return %z"),
             {1, 3, 2, 0});
}

TEST_F(IndexingValues, TopKTakesTheFirstOfEqualOnes) {
  ExpectSame(Value("%x: i32[5] = constant [1, 5, 5, -3, 2] %y: i32[3], %i: i32[3] = top_k(%x) k=3 axis=0 return %i"),
             {1, 2, 4});
  ExpectSame(Value("%x: f32[4] = constant [1, nan, -inf, 2] %y: f32[3], %i: i32[3] = top_k(%x) k=3 axis=0 return %y"),
             {kNan, 2, 1});
}

// Salmon et al. and JAX 0.10.2.
TEST_F(IndexingValues, RandomBitsAreThoseOfJax) {
  ExpectSame(Value("%a: u32[] = constant 320440878 %b: u32[] = constant 57701188 %c: u32[1] = constant [608135816] "
                   "%d: u32[1] = constant [2242054355] %x: u32[1], %y: u32[1] = threefry2x32(%a, %b, %c, %d) "
                   "%z: u32[2] = concatenate(%x, %y) dimension=0 return %z"),
             {3297917596, 1212020640});
  const std::string key = "%s: i64[] = constant 42 %k: key[] = random_seed(%s) ";
  ExpectSame(Value(key + "%w: u32[2] = random_unwrap(%k) return %w"), {0, 42});
  ExpectSame(Value("%s: i64[] = constant 1311768467463790320 %k: key[] = random_seed(%s) "
                   "%w: u32[2] = random_unwrap(%k) return %w"),
             {305419896, 2596069104});
  ExpectSame(Value(key + "%t: key[3] = random_split(%k) shape=[3] %w: u32[3,2] = random_unwrap(%t) return %w"),
             {1832780943, 270669613, 64467757, 2916123636, 2465931498, 255383827});
  ExpectSame(Value(key + "%n: u32[] = constant 7 %f: key[] = random_fold_in(%k, %n) "
                         "%w: u32[2] = random_unwrap(%f) return %w"),
             {2547012911, 1371500959});
  const auto bits = [&](const std::string& width) {
    return Value(key + "%b: u" + width + "[2,3] = random_bits(%k) bit_width=" + width + " shape=[2,3] return %b");
  };
  ExpectSame(bits("8"), {162, 217, 249, 215, 21, 216});
  ExpectSame(bits("16"), {5026, 12505, 63993, 49623, 29461, 20184});
  ExpectSame(bits("32"), {2098992034, 2919706841, 2646866425, 2409546199, 1935504149, 2516274904});
  ExpectSame(bits("64"), {7871734211187709741., 276886910877598708., 10591095138341673235., 13462782411356743825.,
                          12687676868490354166., 11878554724538143822.});
}

TEST_F(IndexingValues, MessagesNameBothSides) {
  const auto error = [&](const std::string& equation) {
    return runner_.ParseError("program p(%x: f32[3,4], %i: i32[5,1], %v: f32[]) {\n" + equation + " return %x }");
  };
  EXPECT_EQ(error("%y: f32[3,4] = slice(%x) start_indices=[0,0] limit_indices=[3,5]"),
            "test:2: slice: start_indices [0,0] and limit_indices [3,5] must be ranges inside of f32[3,4]");
  EXPECT_EQ(error("%y: f32[3,4] = pad(%x, %v) low=[0] high=[0] interior=[0]"),
            "test:2: pad: low [0], high [0] and interior [0] must have one entry for each dimension of f32[3,4]");
  EXPECT_EQ(error("%y: f32[3,4] = concatenate(%x, %v) dimension=1"),
            "test:2: concatenate: operands 0 and 1 are f32[3,4] and f32[]; they may differ in dimension 1 only");
  EXPECT_EQ(error("%y: f32[5,4] = gather(%x, %i) offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0,1] "
                  "slice_sizes=[1,4] mode=\"clip\""),
            "test:2: gather: start_index_map [0,1] has 2 entries, a position in i32[5,1] has 1");
  EXPECT_EQ(error("%y: f32[5,4] = gather(%x, %i) offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] "
                  "slice_sizes=[1,5] mode=\"clip\""),
            "test:2: gather: slice_sizes [1,5] must fit into f32[3,4] and be 1 in dimensions outside of the window");
  EXPECT_EQ(error("%y: f32[5,4] = gather(%x, %i) offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] "
                  "slice_sizes=[1,4] mode=\"wrap\""),
            "test:2: gather: mode wrap must be fill, clip or promise_in_bounds");
  EXPECT_EQ(error("%y: f32[3,4] = scatter(%x, %i, %x) update_window_dims=[1] inserted_window_dims=[0] "
                  "scatter_dims_to_operand_dims=[0] mode=\"fill\""),
            "test:2: scatter: dimension 0 of updates f32[3,4] and 0 of indices i32[5,1] differ");
  const auto apply = [&](const std::string& sizes, const std::string& body) {
    return error("%y: f32[3,4] = scatter_apply(%x, %i) update_shape=" + sizes +
                 " update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] mode=\"fill\" "
                 "computation=program" +
                 body);
  };
  const std::string same = "(%a: f32[]) { return %a }";
  EXPECT_EQ(apply("[5]", same), "test:2: scatter_apply: update_shape [5] must have rank 2");
  EXPECT_EQ(apply("[4,4]", same),
            "test:2: scatter_apply: dimension 0 of update_shape [4,4] and 0 of indices i32[5,1] differ");
  EXPECT_EQ(apply("[5,5]", same), "test:2: scatter_apply: windows [1,5] of update_shape [5,5] must fit into f32[3,4]");
  EXPECT_EQ(apply("[5,4]", "(%a: f32[], %b: f32[]) { return %a }"),
            "test:2: scatter_apply: computation takes 2 values, not 1, one for each array");
  EXPECT_EQ(apply("[5,4]", "(%a: f64[]) { return %a }"),
            "test:2: scatter_apply: computation takes f64[] as value 0, not f32[]");
  EXPECT_EQ(apply("[5,4]", "(%a: f32[]) { %b: bool[] = is_finite(%a) return %b }"),
            "test:2: scatter_apply: computation gives bool[] as value 0, not f32[]");
  EXPECT_EQ(error("%y: f32[3,4], %w: f32[] = scatter_apply(%x, %i, %v) update_shape=[5,4] update_window_dims=[1] "
                  "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] mode=\"fill\" "
                  "computation=program(%a: f32[], %b: f32[]) { return %a, %b }"),
            "test:2: scatter_apply: operands 0 and 2 are f32[3,4] and f32[]; they must have one shape");
  EXPECT_EQ(error("%y: f32[3,4] = sort(%x) dimension=2 num_keys=1"),
            "test:2: sort: dimension 2 is out of range for f32[3,4]");
}

}  // namespace
}  // namespace ricci::testing
