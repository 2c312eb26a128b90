// Prefix scans: of all lengths near those of vectors, forwards and backwards, along rows and columns, in lanes of a
// batch; with several states and a combiner whose operands may not change places.
#include "backend_with.h"
#include "ricci/plugin.hpp"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

Numbers Values(size_t n) {
  Numbers x(n);
  for (size_t i = 0; i < n; ++i) x[i] = std::round(16 * std::sin(static_cast<double>(3 * i))) / 16;
  return x;
}

// Along both axes of an array, with work before and after the scan.
std::string Cumulative(const std::string& op, const std::string& type, int64_t axis, bool reverse) {
  return "program f(%x: " + type + ") { %a: " + type + " = neg(%x) %b: " + type + " = " + op +
         "(%a) axis=" + std::to_string(axis) + " reverse=" + (reverse ? "true" : "false") + " %c: " + type +
         " = mul(%b, %x) return %c, %b }";
}

TEST(Scans, OfAllLengths) {
  for (const int64_t n : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 100, 1000}) {
    for (const std::string dtype : {"f32", "f64", "i32"}) {
      const std::string type = dtype + "[3," + std::to_string(n) + "]";
      for (const std::string op : {"cumsum", "cummax", "cummin"}) {
        ProgramRunner r;
        for (const bool reverse : {false, true}) {
          r.RunEverywhere(r.Parse(Cumulative(op, type, 1, reverse)), {Values(3 * static_cast<size_t>(n))}, 1e-4);
          r.RunEverywhere(r.Parse(Cumulative(op, type, 0, reverse)), {Values(3 * static_cast<size_t>(n))}, 1e-4);
        }
      }
    }
  }
}

TEST(Scans, NaNsAndInfinitiesGoOn) {
  Numbers x = Values(100);
  x[40] = INFINITY;
  x[70] = NAN;
  for (const std::string op : {"cumsum", "cumprod", "cummax", "cumlogsumexp"}) {
    for (const bool reverse : {false, true}) {
      ProgramRunner r;
      r.RunEverywhere(r.Parse(Cumulative(op, "f32[100]", 0, reverse)), {x}, 1e-4);
    }
  }
}

// y_i = a_i y_(i-1) + b_i along the last axis: pairs (a, b) combine to (a a', a' b + b'), in this order only.
void Recurrence(KernelBuilder& k, const Eqn& e) {
  const ArrayType a = e.in(0);
  const Shape lines(a.shape().begin(), a.shape().end() - 1);
  const DType dtype = a.dtype();
  k.Parallel(lines, [&](const Index& line) {
    const auto at = [&](Scalar i) {
      Index index = line;
      index.push_back(i);
      return index;
    };
    const Scalar identity[] = {k.Constant(dtype, 1.0), k.Constant(dtype, 0.0)};
    k.Scan(
        a.dim(a.rank() - 1), identity,
        [](const Index& l, const Index& r) {
          return Index{l[0] * r[0], l[1] * r[0] + r[1]};
        },
        [&](Scalar i) {
          return Index{k.Operand(0).Load(at(i)), k.Operand(1).Load(at(i))};
        },
        [&](Scalar i, const Index& sum) { k.Result().Store(at(i), sum[1]); });
  });
}
constexpr Row kRows[] = {{.name = "test.recurrence",
                          .type = rules::Same<2, kFloats>,
                          .lowerings = lower::Loops<Recurrence>,
                          .missing = "jvp, transpose, batch: none",
                          .examples = "(f64[2,5], f64[2,5])"}};
RowList Rows() { return kRows; }
constexpr RowList (*kTables[])() = {Rows};
ricci_status* AttachRecurrence(ricci_ctx* ctx) { return AttachRows(ctx, kTables); }

TEST(Scans, SeveralStatesAndOrder) {
  for (const int64_t n : {1, 2, 5, 9, 16, 17, 40, 333}) {
    for (const std::string dtype : {"f32", "f64"}) {
      ProgramRunner r;
      ASSERT_TRUE(Ok(ricci_context_add_plugin(r.ctx(), QueryPluginThat<AttachRecurrence>)));
      const std::string row = dtype + "[" + std::to_string(n) + "]", all = dtype + "[2," + std::to_string(n) + "]";
      const Numbers a = Values(2 * static_cast<size_t>(n)), b = Values(2 * static_cast<size_t>(n));
      r.RunEverywhere(r.Parse("program f(%a: " + all + ", %b: " + all + ") { %y: " + all +
                              " = test.recurrence(%a, %b) return %y }"),
                      {a, b}, 1e-5);
      const Numbers one(b.begin(), b.begin() + n);
      const std::vector<Numbers> got = r.RunEverywhere(
          r.Parse("program f(%a: " + row + ") { %y: " + row + " = test.recurrence(%a, %a) return %y }"), {one}, 1e-5);
      ASSERT_EQ(got.size(), 1u);
      double y = 0;
      for (size_t i = 0; i < one.size(); ++i) {
        y = one[i] * y + one[i];
        EXPECT_NEAR(got[0][i], y, 1e-5 * std::max(1.0, std::abs(y))) << n << " " << i;
      }
    }
  }
}

// Chunks that several threads may run; the same bits for any number of threads.
TEST(Scans, LongOnesAreChunks) {
  constexpr int64_t n = 200003;
  const std::string type = "f32[2," + std::to_string(n) + "]";
  Numbers x(2 * n);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::round(8 * std::sin(static_cast<double>(i)));  // sums are exact
  for (const std::string op : {"cumsum", "cummax", "cummin"}) {
    for (const bool reverse : {false, true}) {
      ProgramRunner r;
      const Program f = r.Parse(Cumulative(op, type, 1, reverse));
      EXPECT_NE(r.Dump(f, "native", "cpu").find("_chunks"), std::string::npos);
      r.RunEverywhere(f, {x}, 0);
    }
  }
  ProgramRunner r;
  ASSERT_TRUE(Ok(ricci_context_add_plugin(r.ctx(), QueryPluginThat<AttachRecurrence>)));
  const std::string row = "f64[" + std::to_string(n) + "]";
  const Program f = r.Parse("program f(%a: " + row + ", %b: " + row + ") { %y: " + row + " = test.recurrence(%a, %b)" +
                            " return %y }");
  EXPECT_NE(r.Dump(f, "native", "cpu").find("_chunks"), std::string::npos);
  Numbers a(n, 1.0), b(x.begin(), x.begin() + n);
  for (size_t i = 0; i < a.size(); i += 3) a[i] = -1;
  r.RunEverywhere(f, {a, b}, 0);
}

// Lanes that are switched off keep their state; the bounds of the enclosing loop differ between lanes.
TEST(Scans, InLanesWithinLoopsAndBranches) {
  ProgramRunner r;
  ASSERT_EQ(ricci_context_config(r.ctx(), "vmap", 4, "lanes", 5), nullptr);
  r.RunEverywhere(
      r.Parse("program f(%a: f32[35,20], %t: i32[35]) {\n %r: f32[35,20] = vmap(%a, %t) size=35 in_axes=[0,0]"
              " out_axes=[0] axis_name=\"\" body=program(%x: f32[20], %t: i32[]) {\n  %z: i32[] = constant 0\n"
              "  %j: i32[], %c: f32[20] = while(%t, %z, %x) cond_nconsts=1 body_nconsts=0\n"
              "   cond=program(%t: i32[], %i: i32[], %c: f32[20]) { %p: bool[] = lt(%i, %t) return %p }\n"
              "   body=program(%i: i32[], %c: f32[20]) { %o: i32[] = constant 1 %n: i32[] = add(%i, %o)"
              " %s: f32[20] = cumsum(%c) axis=0 reverse=false %q: f32[20] = sin(%s) return %n, %q }\n  return %c }\n"
              " return %r }"),
      {Values(35 * 20),
       [] {
         Numbers trips(35);
         for (size_t i = 0; i < 35; ++i) trips[i] = static_cast<double>(i * 7 % 5);
         return trips;
       }()},
      1e-4);
}

}  // namespace
}  // namespace ricci::testing
