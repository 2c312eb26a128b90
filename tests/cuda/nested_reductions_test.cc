// Reductions over several dimensions: elements in order are one loop, long rows a loop of warps over rows, and the rest
// one loop by division. The bytes are those of `ref`.
#include <gtest/gtest.h>

#include "cuda/gpu_program.h"
#include "cuda/of_standin.h"
#include "cuda/same_bytes.h"

namespace ricci::testing { namespace {

constexpr std::string_view kInOrder = "trips, of elements in order", kRows = " rows of ",
                           kDivision = "finds its indices by division", kParts = "first of two launches";

class NestedReductions : public SameBytes {
 protected:
  // `body` has equations from the parameters to %s.
  Program Of(const std::string& parameters, const std::string& body) {
    return runner_.Parse("program f(" + parameters + ") {\n" + body + "  return %s\n}");
  }
  // One reduction of %x: `dtype` and dimensions.
  Program Reduced(const std::string& reduce, const std::string& dtype, const std::string& shape,
                  const std::string& result, const std::string& axes) {
    return Of("%x: " + dtype + "[" + shape + "]",
              "  %s: " + dtype + "[" + result + "] = " + reduce + "(%x) axes=[" + axes + "]\n");
  }
  void ExpectWritten(const Program& f, std::string_view as, bool in_parts) {
    const std::string text = runner_.Dump(f, "source", "cuda");
    EXPECT_NE(text.find(as), text.npos) << "not `" << as << "`: " << text;
    EXPECT_EQ(text.find(kParts) != text.npos, in_parts) << text;
  }
  void ExpectSameAt(const Program& f, std::initializer_list<uint64_t> shifts = {0, 1}) {
    for (const uint64_t shift : shifts) ExpectSameBytes(f, {.shift = shift});
  }
};

// ---- forms ----
struct Case {
  const char *shape, *result, *axes;
  std::string_view written;
  bool in_parts;
};

TEST_F(NestedReductions, OfAllElements) {
  constexpr Case kCases[] = {{"96,128", "", "0,1", kInOrder, true},        {"97,131", "", "0,1", kInOrder, true},
                             {"3,11,7,5", "", "0,1,2,3", kInOrder, false}, {"5,9", "", "0,1", kInOrder, false},
                             {"20,30,21", "20", "1,2", kInOrder, false},   {"300,5,9", "300", "1,2", kInOrder, false},
                             {"2,91,128", "2", "1,2", kInOrder, true}};
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.shape);
    for (const char* reduce : {"reduce_sum", "reduce_max"}) {
      const Program f = Reduced(reduce, "f32", c.shape, c.result, c.axes);
      ExpectWritten(f, c.written, c.in_parts);
      ExpectSameAt(f);
    }
  }
}

// Statistics of channels and the like: rows lie apart.
TEST_F(NestedReductions, OfRows) {
  constexpr Case kCases[] = {{"16,3,24,24", "3", "0,2,3", kRows, true}, {"5,2,23,24", "2", "0,2,3", kRows, false},
                             {"9,300,514", "300", "0,2", kRows, false}, {"4,2,3,515", "2", "0,2,3", kRows, false},
                             {"5,2,64,64", "2", "0,2,3", kRows, true},  {"4,3,2,6,512", "3,6", "0,2,4", kRows, false},
                             {"40,3,600", "", "0,1,2", kRows, true}};
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.shape);
    const Program f = Reduced("reduce_sum", "f32", c.shape, c.result, c.axes);
    ExpectWritten(f, c.written, c.in_parts);
    ExpectSameAt(f);
  }
}

TEST_F(NestedReductions, OfShortRows) {
  constexpr Case kCases[] = {
      {"40,5,7,7", "5", "0,2,3", kDivision, false}, {"40,5,8,8", "5", "0,2,3", kDivision, false},
      {"200,2,64", "2", "0,2", kDivision, true},    {"9,3,5", "3", "0,2", kDivision, false},
      {"40,8,70", "70", "0,1", kInOrder, false},    {"40,3,20,70", "3,70", "0,2", kDivision, false}};
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.shape);
    const Program f = Reduced("reduce_sum", "f32", c.shape, c.result, c.axes);
    ExpectWritten(f, c.written, c.in_parts);
    ExpectSameAt(f);
  }
}

// Few trips, which threads do not share, stay as they are.
TEST_F(NestedReductions, OfWindowsAreLeft) {
  const Program f = Reduced("reduce_sum", "f32", "40,3,50,3", "40,50", "1,3");
  EXPECT_EQ(runner_.Dump(f, "source", "cuda").find("within each other"), std::string::npos);
  ExpectSameAt(f);
}

// ---- what is read ----
TEST_F(NestedReductions, OfViews) {
  const struct {
    const char *parameters, *body;
    std::string_view written;
  } kViews[] = {
      {"%x: f32[130,70]",
       "  %t: f32[70,130] = transpose(%x) permutation=[1,0]\n  %s: f32[] = reduce_sum(%t) axes=[0,1]\n", kInOrder},
      {"%x: f32[6,31,8]",
       "  %t: f32[8,6,31] = transpose(%x) permutation=[2,0,1]\n  %s: f32[] = reduce_max(%t) axes=[0,1,2]\n", kInOrder},
      {"%x: f32[64,130]", "  %t: f32[64,130] = rev(%x) dimensions=[0,1]\n  %s: f32[] = reduce_sum(%t) axes=[0,1]\n",
       kInOrder},
      {"%x: f32[64,130]", "  %t: f32[64,130] = rev(%x) dimensions=[0]\n  %s: f32[] = reduce_sum(%t) axes=[0,1]\n",
       kInOrder},
      {"%x: f32[20,600]",
       "  %t: f32[20,600] = rev(%x) dimensions=[1]\n  %u: f32[20,600] = sub(%x, %t)\n"
       "  %s: f32[] = reduce_max(%u) axes=[0,1]\n",
       kRows},
      {"%x: f32[20,600]",
       "  %t: f32[20,516] = slice(%x) start_indices=[0,5] limit_indices=[20,521]\n"
       "  %s: f32[] = reduce_sum(%t) axes=[0,1]\n",
       kRows},
      {"%x: f32[40,601]",
       "  %t: f32[20,301] = slice(%x) start_indices=[0,0] limit_indices=[40,601] strides=[2,2]\n"
       "  %s: f32[] = reduce_sum(%t) axes=[0,1]\n",
       kDivision},
      {"%x: f32[20,60], %z: f32[]",
       "  %t: f32[23,67] = pad(%x, %z) low=[1,-2] high=[2,9] "
       "interior=[0,0]\n  %s: f32[] = reduce_sum(%t) axes=[0,1]\n",
       kDivision},
      {"%x: f32[20,600], %z: f32[]",
       "  %t: f32[41,607] = pad(%x, %z) low=[1,3] high=[1,4] "
       "interior=[1,0]\n  %s: f32[] = reduce_sum(%t) axes=[0,1]\n",
       "within each other"},
      {"%x: f32[40,70], %w: f32[70], %b: f32[40]",
       "  %u: f32[40,70] = broadcast_in_dim(%w) shape=[40,70] broadcast_dimensions=[1]\n"
       "  %v: f32[40,70] = broadcast_in_dim(%b) shape=[40,70] broadcast_dimensions=[0]\n"
       "  %m: f32[40,70] = max(%x, %u)\n  %n: f32[40,70] = sub(%m, %v)\n  %s: f32[] = reduce_sum(%n) axes=[0,1]\n",
       kDivision},
      {"%x: f32[30,600], %w: f32[600], %b: f32[30]",
       "  %u: f32[30,600] = broadcast_in_dim(%w) shape=[30,600] broadcast_dimensions=[1]\n"
       "  %v: f32[30,600] = broadcast_in_dim(%b) shape=[30,600] broadcast_dimensions=[0]\n"
       "  %m: f32[30,600] = max(%x, %u)\n  %n: f32[30,600] = sub(%m, %v)\n  %s: f32[] = reduce_sum(%n) axes=[0,1]\n",
       kRows},
      {"%x: f32[50,64], %i: i32[40,1]",
       "  %g: f32[40,64] = gather(%x, %i) offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] "
       "slice_sizes=[1,64] mode=\"clip\"\n  %s: f32[] = reduce_sum(%g) axes=[0,1]\n",
       kDivision},
      {"%x: f32[20,600]",
       "  %i: f32[20,600] = iota() shape=[20,600] dimension=0 dtype=f32\n"
       "  %m: f32[20,600] = max(%x, %i)\n  %s: f32[] = reduce_sum(%m) axes=[0,1]\n",
       kRows}};
  for (const auto& v : kViews) {
    SCOPED_TRACE(v.body);
    const Program f = Of(v.parameters, v.body);
    const std::string text = runner_.Dump(f, "source", "cuda");
    EXPECT_NE(text.find(v.written), text.npos) << text;
    ExpectSameAt(f);
  }
}

TEST_F(NestedReductions, OfAllTypes) {
  for (const char* dtype : {"f16", "bf16", "f64", "i32", "i8", "u8", "i64", "u32"}) {
    for (const char* reduce : {"reduce_sum", "reduce_max", "reduce_min"}) {
      SCOPED_TRACE(std::string(reduce) + " " + dtype);
      ExpectSameAt(Reduced(reduce, dtype, "48,192", "", "0,1"));
      ExpectSameBytes(Reduced(reduce, dtype, "6,2,32,24", "2", "0,2,3"));
    }
  }
  for (const char* reduce : {"reduce_and", "reduce_or", "reduce_xor", "reduce_prod"}) {
    ExpectSameAt(Reduced(reduce, "u32", "48,192", "", "0,1"));
  }
  for (const char* reduce : {"reduce_and", "reduce_or", "reduce_max"}) {
    ExpectSameAt(Reduced(reduce, "bool", "48,192", "", "0,1"));
  }
  ExpectSameBytes(Reduced("reduce_sum", "c64", "48,192", "", "0,1"));
}

TEST_F(NestedReductions, OfNothing) {
  for (const char* reduce : {"reduce_sum", "reduce_max", "reduce_prod"}) {
    ExpectSameBytes(Reduced(reduce, "f32", "0,50", "", "0,1"));
    ExpectSameBytes(Reduced(reduce, "f32", "50,0", "", "0,1"));
    ExpectSameBytes(Reduced(reduce, "i32", "4,0,50", "4", "1,2"));
    ExpectSameBytes(Reduced(reduce, "f32", "50,0,50", "0", "0,2"));
  }
}

// A NaN anywhere is the result, whichever thread has it; so are infinities.
TEST_F(NestedReductions, OfNaN) {
  for (const char* reduce : {"reduce_sum", "reduce_max", "reduce_min"}) {
    const Program f = Of("%x: f32[64,130]",
                         std::string("  %i: f32[64,130] = iota() shape=[64,130] dimension=1 dtype=f32\n"
                                     "  %c: f32[] = constant 127.0\n  %d: f32[64,130] = broadcast_in_dim(%c) "
                                     "shape=[64,130] broadcast_dimensions=[]\n  %e: f32[64,130] = sub(%d, %i)\n"
                                     "  %q: f32[64,130] = sqrt(%e)\n  %r: f32[64,130] = mul(%q, %x)\n  %a: f32[] = ") +
                             reduce + "(%r) axes=[0,1]\n  %s: bool[] = ne(%a, %a)\n");
    const std::vector<Bytes> got = Run(f, "cuda", {});
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0], Bytes{1}) << reduce;
    ExpectSameBytes(f);
  }
}

// ---- what is done with them ----
TEST_F(NestedReductions, OfSeveralResults) {
  const char* const shapes[][3] = {{"64,130", "", "0,1"}, {"16,3,24,24", "3", "0,2,3"}, {"40,5,7,7", "5", "0,2,3"}};
  for (const auto& [shape, result, axes] : shapes) {
    std::string body =
        "  %q: T = mul(%x, %x)\n  %d: T = sub(%x, %y)\n  %a: R = reduce_sum(%x) axes=[A]\n"
        "  %b: R = reduce_sum(%q) axes=[A]\n  %c: R = reduce_max(%d) axes=[A]\n"
        "  %m: R = add(%a, %b)\n  return %a, %m, %c\n}";
    body = "program f(%x: T, %y: T) {\n" + body;
    for (const auto& [letter, text] :
         {std::pair("T", "f32[" + std::string(shape) + "]"), std::pair("R", "f32[" + std::string(result) + "]"),
          std::pair("A]", axes + std::string("]"))}) {
      for (size_t at; (at = body.find(letter)) != body.npos;) body.replace(at, std::string(letter).size(), text);
    }
    SCOPED_TRACE(body);
    const Program f = runner_.Parse(body);
    ExpectSameAt(f);
  }
}

// The square of a difference is contracted with the sum, as on `cpu`.
TEST_F(NestedReductions, OfSquares) {
  const Program f = Of("%x: f32[64,130], %y: f32[64,130]",
                       "  %d: f32[64,130] = sub(%x, %y)\n  %q: f32[64,130] = mul(%d, %d)\n"
                       "  %s: f32[] = reduce_sum(%q) axes=[0,1]\n");
  ExpectWritten(f, kInOrder, true);
  for (const uint64_t shift : {0, 1}) ExpectSameBytes(f, {.shift = shift, .like = "cpu"});
}

TEST_F(NestedReductions, OfArguments) {
  ExpectSameAt(Of("%x: f32[5,48,40]",
                  "  %r: f32[5,1920] = reshape(%x) new_sizes=[5,1920]\n"
                  "  %s: i32[5] = argmax(%r) axes=[1] index_dtype=i32\n"));
  ExpectSameAt(
      Of("%x: f32[48,40], %i: i32[48,40], %a: f32[], %b: i32[]",
         "  %m: f32[], %s: i32[] = reduce(%x, %i, %a, %b) dimensions=[0,1] computation=program(%a: f32[], "
         "%i: i32[], %b: f32[], %j: i32[]) {\n    %g: bool[] = ge(%a, %b)\n"
         "    %y: f32[] = select_n(%g, %b, %a)\n    %k: i32[] = select_n(%g, %j, %i)\n    return %y, %k\n  }\n"));
}

TEST_F(NestedReductions, InLoops) {
  ExpectSameAt(Of(
      "%k: i32[], %x: f32[20,30]",
      R"(  %n: i32[], %s: f32[20,30] = while(%k, %x) cond_nconsts=0 body_nconsts=0 cond=program(%k: i32[], %v: f32[20,30]) {
    %limit: i32[] = constant 3
    %less: bool[] = lt(%k, %limit)
    return %less
  } body=program(%k: i32[], %v: f32[20,30]) {
    %one: i32[] = constant 1
    %j: i32[] = add(%k, %one)
    %m: f32[] = reduce_max(%v) axes=[0,1]
    %b: f32[20,30] = broadcast_in_dim(%m) shape=[20,30] broadcast_dimensions=[]
    %next: f32[20,30] = sub(%v, %b)
    return %j, %next
  }
)"));
  ExpectSameAt(Of(
      "%c: f32[], %x: f32[4,20,30]",
      R"(  %s: f32[] = scan(%c, %x) length=4 num_consts=0 num_carry=1 reverse=false unroll=1 body=program(%c: f32[], %v: f32[20,30]) {
    %m: f32[] = reduce_sum(%v) axes=[0,1]
    %n: f32[] = max(%c, %m)
    return %n
  }
)"));
}

TEST_F(NestedReductions, UnderVmap) {
  for (const char* schedule : {"lanes", "batched"}) {
    SCOPED_TRACE(schedule);
    ExpectSameAt(
        Of("%x: f32[7,20,30]",
           R"(  %s: f32[7] = vmap(%x) size=7 in_axes=[0] out_axes=[0] axis_name="" body=program(%v: f32[20,30]) {
    %m: f32[] = reduce_max(%v) axes=[0,1]
    %b: f32[20,30] = broadcast_in_dim(%m) shape=[20,30] broadcast_dimensions=[]
    %d: f32[20,30] = sub(%v, %b)
    %t: f32[] = reduce_sum(%d) axes=[0,1]
    return %t
  } schedule=")" +
               std::string(schedule) + "\"\n"));
  }
}

// Sums that are not exact have the same bits in every order of blocks, warps and lanes.
TEST_F(NestedReductions, HaveTheSameBitsInEachRun) {
  for (const char* text :
       {"program f(%x: f32[128,256]) {\n  %s: f32[] = reduce_sum(%x) axes=[0,1]\n  return %s\n}",
        "program f(%x: f32[16,2,32,32]) {\n  %s: f32[2] = reduce_sum(%x) axes=[0,2,3]\n  return %s\n}",
        "program f(%x: f32[512,8,8]) {\n  %s: f32[8] = reduce_sum(%x) axes=[0,2]\n  return %s\n}"}) {
    GpuProgram f(GpuOf(runner_.ctx()));
    ASSERT_TRUE(Ok(f.Compile(runner_.ctx(), text)));
    Floats x(1 << 15);
    for (size_t i = 0; i < x.size(); ++i) x[i] = 1 / static_cast<float>(i % 1000 + 1);
    ASSERT_TRUE(Ok(f.Give({x})));
    std::vector<Floats> first;
    for (const uint64_t seed : {1, 2, 3}) {
      OfStandin<void(uint64_t)>("ricci_standin_seed")(seed);
      std::vector<Floats> out;
      ASSERT_TRUE(Ok(f.Enqueue()));
      ASSERT_TRUE(Ok(f.Read(out)));
      if (seed == 1) first = out;
      EXPECT_EQ(out, first);
    }
    OfStandin<void(uint64_t)>("ricci_standin_seed")(1);
  }
}

}}  // namespace ricci::testing
