// Convolutions by tiles and by planes: layouts, windows, groups and sizes against the interpreter, and what the
// generated loops keep.
#include <gtest/gtest.h>

#include "support/program_runner.h"

namespace ricci::testing { namespace {

// Shapes as [batch, feature, spatial...] and [output feature, input feature, window...].
struct Case {
  std::vector<int64_t> lhs, rhs;
  std::string attributes;
  bool library = true;  // takes it
};
struct Layout {
  std::vector<int64_t> lhs, rhs, out;  // specs
};

std::string List(const std::vector<int64_t>& v) {
  std::string out = "[";
  for (int64_t x : v) out += (out.size() > 1 ? "," : "") + std::to_string(x);
  return out + "]";
}
std::vector<int64_t> Placed(const std::vector<int64_t>& sizes, const std::vector<int64_t>& spec) {
  std::vector<int64_t> out(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) out[static_cast<size_t>(spec[i])] = sizes[i];
  return out;
}
int64_t Elements(const std::vector<int64_t>& v) {
  int64_t n = 1;
  for (int64_t x : v) n *= x;
  return n;
}

Numbers Sequence(int64_t n) {
  Numbers out;
  for (int64_t i = 0; i < n; ++i) out.push_back(static_cast<double>((i * 7919 + 13) % 64 - 31) / 32);
  return out;
}

// The type of the result comes from the reader of the text: it names it when another one is given.
std::string ResultOf(ProgramRunner& r, const std::string& head, const std::string& equation) {
  const std::string message = r.ParseError(head + "%z: bool[] = " + equation + " return %z }");
  const size_t from = message.find("result 0 is ") + 12;
  return message.substr(from, message.find(", the text") - from);
}

void Check(ProgramRunner& r, const std::string& dtype, const Case& c, const Layout& l) {
  const std::string head =
      "program f(%x: " + dtype + List(Placed(c.lhs, l.lhs)) + ", %w: " + dtype + List(Placed(c.rhs, l.rhs)) + ") { ";
  const std::string equation = "conv_general_dilated(%x, %w) lhs_spec=" + List(l.lhs) + " rhs_spec=" + List(l.rhs) +
                               " out_spec=" + List(l.out) + " " + c.attributes;
  const std::string result = ResultOf(r, head, equation);
  SCOPED_TRACE(head + result + equation);
  const Program f = r.Parse(head + "%z: " + result + " = " + equation + " return %z }");
  EXPECT_EQ(r.Dump(f, "plan", "cpu").find("library") != std::string::npos, c.library);
  r.RunEverywhere(f, {Sequence(Elements(c.lhs)), Sequence(Elements(c.rhs))}, dtype == "f64" ? 1e-13 : 1e-5);
}

const Layout kNchw = {{0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}}, kNhwc = {{0, 3, 1, 2}, {3, 2, 0, 1}, {0, 3, 1, 2}},
             kMixed = {{3, 0, 2, 1}, {1, 3, 2, 0}, {2, 1, 3, 0}};

TEST(TiledConvolution, LayoutsAndWindows) {
  const Case kCases[] = {{{2, 12, 9, 11}, {16, 12, 3, 3}, ""},
                         {{2, 12, 9, 11}, {16, 12, 3, 3}, "padding=[1,1,1,1]"},
                         {{3, 12, 13, 14}, {16, 12, 3, 2}, "window_strides=[2,3] rhs_dilation=[2,1]"},
                         {{2, 9, 12, 11}, {17, 9, 3, 3}, "padding=[2,0,-1,1] lhs_dilation=[2,1]"},
                         {{3, 20, 9, 6}, {33, 20, 1, 1}, ""},
                         {{2, 300, 6, 5}, {20, 300, 2, 2}, ""},
                         {{2, 24, 8, 7}, {30, 12, 3, 3}, "feature_group_count=2 padding=[1,1,0,0]"},
                         {{4, 12, 8, 9}, {30, 12, 3, 3}, "batch_group_count=2"}};
  ProgramRunner r;
  for (const Case& c : kCases) {
    for (const Layout& l : {kNchw, kNhwc, kMixed}) {
      for (const std::string dtype : {"f32", "f64"}) Check(r, dtype, c, l);
    }
  }
}

TEST(TiledConvolution, OtherRanks) {
  ProgramRunner r;
  const Layout line = {{0, 2, 1}, {2, 1, 0}, {0, 2, 1}}, none = {{0, 1}, {0, 1}, {0, 1}},
               solid = {{0, 4, 1, 2, 3}, {4, 3, 0, 1, 2}, {0, 4, 1, 2, 3}};
  Check(r, "f32", {{3, 16, 60}, {24, 16, 5}, "padding=[2,2]"}, line);
  Check(r, "f32", {{40, 30}, {24, 30}, ""}, none);
  Check(r, "f32", {{2, 9, 5, 6, 7}, {12, 9, 3, 2, 2}, "padding=[1,1,0,0,0,1]"}, solid);
  Check(r, "f32", {{8, 2, 60}, {8, 2, 9}, "window_strides=[2] rhs_dilation=[3] lhs_dilation=[5]"}, line);
  Check(r, "f32", {{4, 3, 5, 6, 7}, {6, 3, 2, 2, 2}, "lhs_dilation=[2,1,2] window_strides=[1,2,1]"}, solid);
}

// Runs over places of the result: steps, gaps and padding of every kind, few features, groups.
TEST(PlaneConvolution, Maps) {
  const Case kCases[] = {{{4, 3, 20, 21}, {5, 3, 3, 3}, "window_strides=[2,2] padding=[1,1,0,2]"},
                         {{4, 3, 21, 20}, {1, 3, 5, 4}, "window_strides=[3,1] padding=[2,2,3,-1]"},
                         {{4, 3, 12, 11}, {5, 3, 3, 4}, "lhs_dilation=[2,3] padding=[2,1,1,3]"},
                         {{8, 6, 12, 11}, {12, 6, 1, 2}, "lhs_dilation=[3,2] window_strides=[2,4] padding=[0,1,2,2]"},
                         {{3, 4, 30, 20}, {2, 4, 3, 3}, "rhs_dilation=[2,4] padding=[-1,3,4,4]"},
                         {{2, 8, 20, 20}, {8, 1, 3, 3}, "feature_group_count=8 padding=[1,1,1,1]"},
                         {{2, 8, 20, 20}, {16, 2, 3, 3}, "feature_group_count=4 lhs_dilation=[1,2]"},
                         {{6, 2, 15, 14}, {6, 2, 3, 3}, "batch_group_count=2 window_strides=[1,2] padding=[1,1,1,1]"},
                         {{2, 16, 9, 11}, {16, 1, 3, 3}, "feature_group_count=16"},
                         {{2, 64, 40, 30}, {1, 64, 3, 3}, ""}};
  ProgramRunner r;
  for (const Case& c : kCases) {
    for (const Layout& l : {kNchw, kNhwc, kMixed}) {
      for (const std::string dtype : {"f32", "f64"}) Check(r, dtype, c, l);
    }
  }
}

// Runs over a window that is an image, as in a gradient by weights.
TEST(PlaneConvolution, SumsAlongImages) {
  const Case kCases[] = {{{3, 6, 20, 21}, {5, 6, 18, 19}, ""},
                         {{1, 16, 20, 21}, {1, 16, 20, 21}, "padding=[1,2,2,1]"},
                         {{3, 6, 20, 21}, {5, 6, 9, 10}, "rhs_dilation=[2,2] padding=[1,0,-1,1]"},
                         {{3, 6, 10, 11}, {5, 6, 18, 19}, "lhs_dilation=[2,2] padding=[0,1,1,2]"},
                         {{3, 6, 10, 11}, {5, 6, 7, 9}, "lhs_dilation=[2,3] rhs_dilation=[3,2] padding=[2,1,1,2]"},
                         {{2, 9, 24, 23}, {7, 9, 16, 17}, "window_strides=[3,4] padding=[1,1,1,0]"},
                         {{8, 6, 20, 12}, {8, 6, 18, 10}, "batch_group_count=4"},
                         {{3, 12, 20, 12}, {8, 6, 18, 10}, "feature_group_count=2"}};
  ProgramRunner r;
  for (const Case& c : kCases) {
    for (const Layout& l : {kNchw, kNhwc, kMixed}) {
      for (const std::string dtype : {"f32", "f64"}) Check(r, dtype, c, l);
    }
  }
}

// What does not fit the cache is cut: images, results of sums, and the first dimension.
TEST(PlaneConvolution, LargeImagesAreCut) {
  ProgramRunner r;
  const Layout line = {{0, 1, 2}, {0, 1, 2}, {0, 1, 2}};
  Check(r, "f32", {{1, 1, 120000}, {1, 1, 3}, "padding=[1,1]"}, line);
  Check(r, "f32", {{1, 1, 60000}, {2, 1, 59997}, ""}, line);
  Check(r, "f32", {{1, 2, 300, 211}, {2, 2, 2, 2}, "window_strides=[2,1]"}, kNchw);
  Check(r, "f32", {{2, 20, 40, 41}, {3, 20, 38, 39}, ""}, kNchw);
  Check(r, "f64", {{17, 20, 11, 12}, {3, 20, 10, 11}, "padding=[0,1,1,0]"}, kNhwc);
}

// The cotangent of lhs, of a convolution with a stride, is one call: nothing is padded, and no gap is multiplied.
TEST(PlaneConvolution, PadsNothingFirst) {
  ProgramRunner r;
  const Program f = r.Parse(
      "program f(%x: f32[8,16,12,12], %w: f32[16,6,3,3]) {\n"
      "  %y: f32[8,6,24,24] = conv_general_dilated(%x, %w) rhs_spec=[1,0,2,3] lhs_dilation=[2,2] padding=[2,1,2,1]\n"
      "  return %y\n}");
  const std::string plan = r.Dump(f, "plan", "cpu");
  EXPECT_NE(plan.find("library 0"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("kernel"), std::string::npos) << plan;
}

// What is too small stays a generated loop, which fuses.
TEST(TiledConvolution, SmallOnesAreLoops) {
  const Case kCases[] = {{{1, 2, 6, 6}, {3, 2, 3, 3}, "padding=[1,1,1,1]", false},
                         {{2, 8, 9, 11}, {8, 1, 3, 3}, "feature_group_count=8", false},
                         {{0, 12, 9, 11}, {16, 12, 3, 3}, "", false},
                         {{2, 12, 9, 11}, {16, 12, 10, 3}, "", false}};
  ProgramRunner r;
  for (const Case& c : kCases) {
    for (const Layout& l : {kNchw, kNhwc}) Check(r, "f32", c, l);
  }
}

TEST(TiledConvolution, SixteenBitFloatsAreSummedInF32) {
  ProgramRunner r;
  const Program f = r.Parse(
      "program f(%x: f32[2,9,11,12], %w: f32[3,3,12,16]) {\n"
      "  %a: bf16[2,9,11,12] = convert_element_type(%x) new_dtype=bf16\n"
      "  %b: bf16[3,3,12,16] = convert_element_type(%w) new_dtype=bf16\n"
      "  %y: f32[2,7,9,16] = conv_general_dilated(%a, %b) lhs_spec=[0,3,1,2] rhs_spec=[3,2,0,1] out_spec=[0,3,1,2] "
      "preferred_element_type=f32\n"
      "  return %y\n}");
  EXPECT_NE(r.Dump(f, "plan", "cpu").find("library"), std::string::npos);
  r.RunEverywhere(f, {Sequence(2 * 9 * 11 * 12), Sequence(3 * 3 * 12 * 16)}, 1e-5);
}

}  // namespace
}  // namespace ricci::testing
