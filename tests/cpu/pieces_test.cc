// Kernels whose domain is cut where the pieces of an array change: concatenations, paddings, shifts and stacks, alone
// and within expressions, against the reference.
#include <gtest/gtest.h>

#include <random>

#include "support/program_runner.h"

namespace ricci::testing { namespace {

std::string List(const std::vector<int64_t>& v) {
  std::string text = "[";
  for (size_t i = 0; i < v.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(v[i]);
  return text + "]";
}
int64_t Elements(const std::vector<int64_t>& shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

void ExpectSame(const std::string& text, const std::vector<std::vector<int64_t>>& shapes) {
  ProgramRunner runner;
  std::vector<Numbers> in;
  for (const auto& shape : shapes) {
    Numbers& v = in.emplace_back();
    for (int64_t i = 0; i < Elements(shape); ++i)
      v.push_back(std::sin(0.37 * static_cast<double>(i) + static_cast<double>(in.size())));
  }
  EXPECT_FALSE(runner.RunEverywhere(runner.Parse(text), in, 1e-6).empty()) << text;
}

// A concatenation of arrays of the given `sizes` along dimension `along`; each is the result of a small computation.
void ExpectConcatenates(const std::string& dtype, std::vector<int64_t> shape, size_t along,
                        const std::vector<int64_t>& sizes) {
  std::string parameters, equations, operands;
  std::vector<std::vector<int64_t>> shapes;
  int64_t sum = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    shape[along] = sizes[i];
    sum += sizes[i];
    const std::string t = dtype + List(shape), n = std::to_string(i), comma = i == 0 ? "" : ", ";
    parameters += comma + "%x" + n + ": " + t;
    equations += "%y" + n + ": " + t + (i % 2 == 0 ? " = neg(%x" : " = square(%x") + n + ") ";
    operands += comma + "%y" + n;
    shapes.push_back(shape);
  }
  shape[along] = sum;
  const std::string t = dtype + List(shape);
  ExpectSame("program f(" + parameters + ") { " + equations + "%c: " + t + " = concatenate(" + operands +
                 ") dimension=" + std::to_string(along) + " %n: " + t + " = neg(%c) return %n }",
             shapes);
}

TEST(Pieces, ConcatenationsOfEveryDimension) {
  for (const char* dtype : {"f32", "f64", "i32"}) {
    ExpectConcatenates(dtype, {0}, 0, {1000, 1024});
    ExpectConcatenates(dtype, {0}, 0, {777, 1, 1301, 64});
    ExpectConcatenates(dtype, {0, 137}, 0, {3, 1, 5});
    ExpectConcatenates(dtype, {19, 0}, 1, {100, 200, 33});
    ExpectConcatenates(dtype, {3, 0, 70}, 1, {2, 4, 1});
    ExpectConcatenates(dtype, {2, 3, 0}, 2, {130, 127});
    ExpectConcatenates(dtype, {2, 0, 2, 60}, 1, {1, 1, 1, 1, 1});
  }
}

TEST(Pieces, ShortPiecesStayTogether) {
  ExpectConcatenates("f32", {1000, 0}, 1, {1, 2});
  ExpectConcatenates("f32", {7, 0}, 1, std::vector<int64_t>(30, 3));
  ExpectConcatenates("f32", {0}, 0, std::vector<int64_t>(100, 33));
}

TEST(Pieces, TasksOfSeveralThreads) {
  ExpectConcatenates("f32", {0}, 0, {200001, 1, 99999});
  ExpectConcatenates("f32", {3000, 0}, 1, {65, 130});
}

TEST(Pieces, PaddingsInsideAndOutside) {
  for (const char* attrs : {"low=[5,7] high=[5,3] interior=[0,0]", "low=[-2,3] high=[4,-60] interior=[0,0]",
                            "low=[0,2] high=[1,0] interior=[1,2]", "low=[-1,-1] high=[-1,-1] interior=[0,1]"}) {
    int64_t a[6];
    ASSERT_EQ(
        std::sscanf(attrs, "low=[%ld,%ld] high=[%ld,%ld] interior=[%ld,%ld]", a, a + 1, a + 2, a + 3, a + 4, a + 5), 6);
    const std::vector<int64_t> in = {20, 150};
    std::vector<int64_t> out;
    for (size_t d = 0; d < 2; ++d) out.push_back(in[d] + a[d] + a[d + 2] + (in[d] - 1) * a[d + 4]);
    ExpectSame("program f(%x: f32" + List(in) + ", %v: f32[]) { %s: f32" + List(in) + " = sin(%x) %z: f32" + List(out) +
                   " = pad(%s, %v) " + attrs + " return %z }",
               {in, {}});
  }
}

// Shifts along two axes of a torus, and results computed from them, stacked.
TEST(Pieces, ShiftsOfAPeriodicGrid) {
  const auto shift = [](const std::string& to, const std::string& from, int axis) {
    const std::string rest = axis == 0 ? "69,90" : "70,89", one = axis == 0 ? "1,90" : "70,1";
    const std::string at = axis == 0 ? "1,0" : "0,1", end = axis == 0 ? "1,90" : "70,1";
    return "%a" + to + ": f32[" + rest + "] = slice(%" + from + ") start_indices=[" + at +
           "] limit_indices=[70,90] %b" + to + ": f32[" + one + "] = slice(%" + from +
           ") start_indices=[0,0] limit_indices=[" + end + "] %" + to + ": f32[70,90] = concatenate(%a" + to + ", %b" +
           to + ") dimension=" + std::to_string(axis) + "\n";
  };
  const std::string whole = "f32[70,90]", row = "f32[1,70,90]";
  ExpectSame("program f(%x: f32[70,90]) {\n" + shift("p", "x", 0) + shift("q", "p", 1) + shift("r", "x", 1) +
                 "%u: " + whole + " = sub(%q, %r) %v: " + whole + " = mul(%q, %x) %w: " + row +
                 " = reshape(%u) new_sizes=[1,70,90] %t: " + row + " = reshape(%v) new_sizes=[1,70,90] %o: " + row +
                 " = reshape(%p) new_sizes=[1,70,90]\n" +
                 "%z: f32[3,70,90] = concatenate(%w, %t, %o) dimension=0 return %z }",
             {{70, 90}});
}

// Rows that are rotated by halves and then normalised: the seam lies inside a loop over the row.
TEST(Pieces, SeamsWithinRows) {
  for (const int64_t half : {8, 64, 333}) {
    const std::string h = "f32[40," + std::to_string(half) + "]", w = std::to_string(2 * half),
                      whole = "f32[40," + w + "]";
    ExpectSame("program f(%x: " + whole + ") { %a: " + h + " = slice(%x) start_indices=[0,0] limit_indices=[40," +
                   std::to_string(half) + "] %b: " + h + " = slice(%x) start_indices=[0," + std::to_string(half) +
                   "] limit_indices=[40," + w + "] %n: " + h + " = neg(%b) %r: " + whole +
                   " = concatenate(%n, %a) dimension=1 %e: " + whole +
                   " = exp(%r) %s: f32[40] = reduce_sum(%e) axes=[1] %t: " + whole +
                   " = broadcast_in_dim(%s) shape=[40," + w + "] broadcast_dimensions=[0] %y: " + whole +
                   " = div(%e, %t) %z: " + whole + " = concatenate(%n, %a) dimension=1 %q: " + whole +
                   " = mul(%y, %z) return %q, %s }",
               {{40, 2 * half}});
  }
}

// Random programs of views and arithmetic.
TEST(Pieces, RandomChainsOfViews) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    std::vector<int64_t> shape = {static_cast<int64_t>(random() % 5 + 1), static_cast<int64_t>(random() % 200 + 60)};
    const std::vector<int64_t> start = shape;
    std::string text = "program f(%v0: f32" + List(shape) + ") {\n", last = "%v0";
    for (int i = 1; i <= 6; ++i) {
      const std::string name = "%v" + std::to_string(i), before = "f32" + List(shape);
      const size_t axis = random() % 2;
      const auto extent = shape[axis];
      const auto fit = [&](int64_t low, int64_t high) {
        std::vector<int64_t> lows(2, 0), highs(2, 0);
        lows[axis] = low, highs[axis] = high;
        shape[axis] += low + high;
        return "pad(" + last + ", %zero" + std::to_string(i) + ") low=" + List(lows) + " high=" + List(highs) +
               " interior=[0,0]";
      };
      std::string call;
      switch (random() % 4) {
        case 0:
          shape[axis] *= 2;
          call = "concatenate(" + last + ", " + last + ") dimension=" + std::to_string(axis);
          break;
        case 1:
          text += "%zero" + std::to_string(i) + ": f32[] = constant 0.5\n";
          call = fit(static_cast<int64_t>(random() % 7), extent > 4 ? -static_cast<int64_t>(random() % 3) : 1);
          break;
        case 2: {
          std::vector<int64_t> from(2, 0), to = shape;
          from[axis] = extent / 4;
          shape[axis] -= from[axis];
          call = "slice(" + last + ") start_indices=" + List(from) + " limit_indices=" + List(to);
          break;
        }
        default:
          call =
              random() % 2 == 0 ? "rev(" + last + ") dimensions=[" + std::to_string(axis) + "]" : "sin(" + last + ")";
      }
      if (Elements(shape) > 20000) break;
      text += name + ": f32" + List(shape) + " = " + call + "\n";
      last = name;
    }
    text += " return " + last + " }";
    ExpectSame(text, {start});
  }
}

}  // namespace
}  // namespace ricci::testing
