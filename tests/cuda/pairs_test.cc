// Floats of 16 bits that are computed two at a time (plugins/cuda/device/device_pairs.cc): the same bits as `ref`, by
// the instructions and by what takes their place.
#include <gtest/gtest.h>

#include "cuda/same_bytes.h"

namespace ricci::testing { namespace {

class Pairs : public SameBytes {
 protected:
  // With T for the type and N for `n`.
  Program Of(std::string text, const std::string& type, int64_t n) {
    const auto put = [&](char letter, const std::string& value) {
      for (size_t at; (at = text.find(letter)) != text.npos;) text.replace(at, 1, value);
    };
    put('T', type), put('N', std::to_string(n));
    return runner_.Parse(text);
  }
  bool HasPairs(const Program& f) { return runner_.Dump(f, "source", "cuda").find("e += 2") != std::string::npos; }
  void ExpectPairs(const Program& f) {
    EXPECT_TRUE(HasPairs(f)) << runner_.Dump(f, "source", "cuda");
    ExpectSameBytes(f);
    ExpectSameBytes(f, {.shift = 1});
  }
};

// All operations on 512 x 512 pairs of numbers: of every sign and exponent, with mantissas that follow from `mantissa`.
// Results as bits, with one NaN for all.
std::string Everywhere(const std::string& type, int mantissa) {
  const int digits = type == "bf16" ? 7 : 10;
  std::string text = "program f() {\n", results;
  const auto line = [&](const std::string& name, const std::string& t, const std::string& rest) {
    text += "  %" + name + ": " + t + " = " + rest + "\n";
  };
  const auto constant = [&](const std::string& name, int v) {
    line(name, "u16[512]", "constant " + std::to_string(v));
  };
  line("i", "u16[512]", "iota() dtype=u16 shape=[512] dimension=0");
  constant("low", (1 << digits) - 1);
  constant("scale", 1 << digits);
  constant("mx", mantissa);
  constant("my", mantissa * 5 + 3);
  for (const std::string side : {"x", "y"}) {  // i * 2^digits wraps around where there are fewer exponents than i
    line("p" + side, "u16[512]", "mul(%i, %m" + side + ")");
    line("q" + side, "u16[512]", "and(%p" + side + ", %low)");
    line("r" + side, "u16[512]", "mul(%i, %scale)");
    line("b" + side, "u16[512]", "or(%q" + side + ", %r" + side + ")");
    line("n" + side, type + "[512]", "bitcast_convert_type(%b" + side + ") new_dtype=" + type);
    line(side, type + "[512,512]",
         "broadcast_in_dim(%n" + side + ") shape=[512,512] broadcast_dimensions=[" + (side == "x" ? "0" : "1") + "]");
  }
  line("nan", "u16[512,512]", std::string("constant ") + (type == "bf16" ? "32704" : "32256"));
  for (const std::string op : {"add", "sub", "mul", "max", "min", "neg", "abs"}) {
    line(op, type + "[512,512]", op + (op == "neg" || op == "abs" ? "(%x)" : "(%x, %y)"));
    line("is_" + op, "bool[512,512]", "ne(%" + op + ", %" + op + ")");
    line("bits_" + op, "u16[512,512]", "bitcast_convert_type(%" + op + ") new_dtype=u16");
    line("of_" + op, "u16[512,512]", "select_n(%is_" + op + ", %bits_" + op + ", %nan)");
    results += (results.empty() ? "%of_" : ", %of_") + op;
  }
  return text + "  return " + results + "\n}";
}

TEST_F(Pairs, BitsOfAllExponents) {
  for (const std::string type : {"bf16", "f16"}) {
    for (const int mantissa : {0, 1, 31, 63, 255}) {
      const Program f = runner_.Parse(Everywhere(type, mantissa));
      EXPECT_TRUE(HasPairs(f));
      ExpectSameBytes(f);
    }
  }
}

TEST_F(Pairs, BitsOfInstructions) {
  const auto evaluated = [] { return OfStandin<uint64_t()>("ricci_standin_evaluated")(); };
  OfStandin<void(int)>("ricci_standin_ptx")(1);
  for (const std::string type : {"bf16", "f16"}) {
    for (const int mantissa : {0, 31, 63}) {
      const uint64_t before = evaluated();
      ExpectSameBytes(runner_.Parse(Everywhere(type, mantissa)));
      EXPECT_GE(evaluated() - before, uint64_t{5} * 512 * 512 / 2);
    }
  }
  OfStandin<void(int)>("ricci_standin_ptx")(0);
  EXPECT_EQ(OfStandin<const char*()>("ricci_standin_complaints")(), std::string());
}

TEST_F(Pairs, SizesAndAddresses) {
  for (const char* type : {"bf16", "f16"}) {
    for (const int64_t n : {1 << 17, (1 << 17) + 5, (1 << 18) + 7}) {
      const Program f = Of(R"(program f(%x: T[N], %y: T[N]) {
  %half: T[N] = constant 0.5
  %a: T[N] = mul(%x, %half)
  %b: T[N] = add(%a, %y)
  return %b
})",
                           type, n);
      ExpectPairs(f);
      ExpectSameBytes(f, {.donate = true});
    }
  }
}

// ---- floats of 8 bits, of which vectors are widened two at a time ----
// Each of these types, of an argument; with `one_nan` zeros in place of NaN.
std::string Widened(const std::string& type, const std::vector<std::string>& to, bool one_nan) {
  const std::string shape = "[" + std::to_string((1 << 17) + 3) + "]";
  std::string text = "program f(%x: " + type + shape + ") {\n", results;
  const auto line = [&](const std::string& name, const std::string& t, const std::string& rest) {
    text += "  %" + name + ": " + t + shape + " = " + rest + "\n";
  };
  for (const std::string& t : to) {
    line("w" + t, t, "convert_element_type(%x) new_dtype=" + t);
    line("zero" + t, t, "constant 0");
    line("is" + t, "bool", "ne(%w" + t + ", %w" + t + ")");
    line("of" + t, t, "select_n(%is" + t + ", %w" + t + ", %zero" + t + ")");
    results += (results.empty() ? "%" : ", %") + std::string(one_nan ? "of" : "w") + t;
  }
  return text + "  return " + results + "\n}";
}

class FloatsOf8Bits : public Pairs {
 protected:
  FloatsOf8Bits() { all_f8_ = true; }
  void ExpectAll(bool one_nan) {
    for (const std::string type : {"f8e4m3fn", "f8e5m2"}) {
      for (const std::vector<std::string>& to : {std::vector<std::string>{"f32"}, {"bf16"}, {"f16", "f32"}, {"f64"}}) {
        const Program f = runner_.Parse(Widened(type, to, one_nan));
        EXPECT_NE(runner_.Dump(f, "source", "cuda").find("(*(const u16*)(x"), std::string::npos)
            << runner_.Dump(f, "source", "cuda");
        ExpectSameBytes(f);
      }
    }
  }
};

TEST_F(FloatsOf8Bits, ByArithmetic) { ExpectAll(/*one_nan=*/false); }
TEST_F(FloatsOf8Bits, ByInstructions) {
  OfStandin<void(int)>("ricci_standin_ptx")(1);
  ExpectAll(/*one_nan=*/true);
  OfStandin<void(int)>("ricci_standin_ptx")(0);
}
// What reads them besides, and one value for all of a vector.
TEST_F(FloatsOf8Bits, BesideOtherReaders) {
  ExpectSameBytes(runner_.Parse(R"(program f(%x: f8e4m3fn[256,1024], %y: f8e5m2[256]) {
  %a: f32[256,1024] = convert_element_type(%x) new_dtype=f32
  %n: f8e4m3fn[256,1024] = neg(%x)
  %b: f8e5m2[256,1024] = broadcast_in_dim(%y) shape=[256,1024] broadcast_dimensions=[0]
  %c: bf16[256,1024] = convert_element_type(%b) new_dtype=bf16
  %u: u8[256,1024] = bitcast_convert_type(%x) new_dtype=u8
  return %a, %n, %c, %u
})"));
}

// Values computed individually between pairs: in f32, conditions, other types, numbers of elements.
TEST_F(Pairs, BesideOtherOperations) {
  for (const char* type : {"bf16", "f16"}) {
    ExpectPairs(Of(R"(program f(%x: T[N], %y: T[N], %p: bool[N], %z: f32[N], %i: i32[N]) {
  %a: T[N] = add(%x, %y)
  %two: T[N] = constant 2.0
  %d: T[N] = div(%a, %two)
  %c: T[N] = convert_element_type(%z) new_dtype=T
  %s: T[N] = select_n(%p, %d, %c)
  %q: bool[N] = gt(%s, %x)
  %t: T[N] = select_n(%q, %s, %y)
  %k: T[N] = convert_element_type(%i) new_dtype=T
  %j: i32[N] = iota() dtype=i32 shape=[N] dimension=0
  %m: i32[N] = and(%j, %i)
  %l: T[N] = convert_element_type(%m) new_dtype=T
  %u: T[N] = max(%t, %k)
  %v: T[N] = mul(%u, %l)
  %w: f32[N] = convert_element_type(%u) new_dtype=f32
  return %v, %w, %q
})",
                   type, (1 << 17) + 3));
  }
  ExpectPairs(Of(R"(program f(%x: bf16[N], %y: bf16[N]) {
  %a: bf16[N] = sub(%x, %y)
  %g: f8e5m2[N] = convert_element_type(%a) new_dtype=f8e5m2
  return %g
})",
                 "", (1 << 18) + 1));
  ExpectPairs(Of(R"(program f(%x: bf16[N], %y: f16[N]) {
  %a: bf16[N] = add(%x, %x)
  %b: f16[N] = mul(%y, %y)
  %c: f16[N] = convert_element_type(%a) new_dtype=f16
  %d: f16[N] = sub(%b, %c)
  return %d, %a
})",
                 "", 1 << 17));
}

// One value for all of a group, and elements that are not adjacent.
TEST_F(Pairs, OtherOperands) {
  for (const char* type : {"bf16", "f16"}) {
    ExpectPairs(Of(R"(program f(%x: T[1024,N], %c: T[N], %r: T[1024], %s: T[], %z: T[1024,N]) {
  %a: T[1024,N] = broadcast_in_dim(%c) shape=[1024,N] broadcast_dimensions=[1]
  %b: T[1024,N] = broadcast_in_dim(%r) shape=[1024,N] broadcast_dimensions=[0]
  %d: T[1024,N] = broadcast_in_dim(%s) shape=[1024,N] broadcast_dimensions=[]
  %o: T[1024,N] = rev(%z) dimensions=[1]
  %e: T[1024,N] = sub(%x, %a)
  %g: T[1024,N] = add(%e, %b)
  %h: T[1024,N] = mul(%g, %d)
  %k: T[1024,N] = min(%h, %o)
  return %k
})",
                   type, 256));
    ExpectPairs(Of(R"(program f(%x: T[1024,N], %c: T[N]) {
  %a: T[1024,N] = broadcast_in_dim(%c) shape=[1024,N] broadcast_dimensions=[1]
  %e: T[1024,N] = sub(%x, %a)
  return %e
})",
                   type, 257));
  }
}

// Trips of a team, which keep pairs too.
TEST_F(Pairs, RowsOfTeams) {
  for (const char* type : {"bf16", "f16"}) {
    for (const int64_t n : {256, 1000, 1024, 1026}) {
      const Program f = Of(R"(program f(%x: T[40,N], %y: T[40,N]) {
  %a: T[40,N] = add(%x, %y)
  %m: T[40] = reduce_max(%a) axes=[1]
  %b: T[40,N] = broadcast_in_dim(%m) shape=[40,N] broadcast_dimensions=[0]
  %d: T[40,N] = sub(%a, %b)
  %w: f32[40,N] = convert_element_type(%d) new_dtype=f32
  %s: f32[40] = reduce_sum(%w) axes=[1]
  return %d, %s
})",
                           type, n);
      ExpectPairs(f);
      EXPECT_NE(runner_.Dump(f, "source", "cuda").find("a row is read once"), std::string::npos) << n;
    }
  }
}

}}  // namespace ricci::testing
