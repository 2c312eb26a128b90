// Matrix products of the CPU backend: the tiles of each instruction set against sums in double, and dot_general in all
// layouts against the interpreter.
#include "cpu/tiles/gemm_tile.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <random>

#include "instruction_sets.h"
#include "ricci/float_format.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

using cpu::GemmType;

// ---- tiles ----
size_t SizeOf(GemmType t) { return t == GemmType::kF64 ? 8 : t == GemmType::kF32 ? 4 : 2; }

// Small integers are the same in all types, and so are their sums while they are small.
uint64_t BitsOf(GemmType t, int v) {
  constexpr uint32_t kDTypes[] = {RICCI_F32, RICCI_F64, RICCI_F16, RICCI_BF16};
  return ricci_float_encode(ricci_float_format_of(kDTypes[static_cast<size_t>(t)]), v);
}

// A matrix [outer, k] of small integers at some strides, with its values. In layouts 3 to 6 rows, steps or both are at
// no single stride, so that a table holds their offsets; in 7 steps and in 8 rows are in contiguous runs, as in
// convolutions.
struct Matrix {
  static constexpr int kLayouts = 9;

  Matrix(GemmType type, int64_t outer, int64_t k, int layout, std::mt19937& random) : type(type), k(k) {
    const bool adjacent_k = layout == 0 || layout == 3, adjacent_rows = layout == 1 || layout == 4;
    outer_stride = adjacent_k ? k : adjacent_rows ? 1 : 2 * k + 3;
    k_stride = adjacent_k ? 1 : adjacent_rows ? outer : 2;
    if (layout == 3 || layout >= 5) outer_at = Shuffled(outer, outer_stride, random);
    if (layout == 4 || layout == 6) k_at = Shuffled(k, k_stride, random);
    if (layout == 7) {
      k_at = InRuns(k, random);
      outer_stride = k_at.back() + 1;
    }
    if (layout == 8) {
      outer_at = InRuns(outer, random);
      k_stride = outer_at.back() + 1;
    }
    outer_runs = layout == 8, k_runs = layout == 7;
    const auto last = [](const std::vector<int64_t>& at, int64_t n, int64_t stride) {
      return at.empty() ? (n - 1) * stride : *std::max_element(at.begin(), at.end());
    };
    bytes.resize(static_cast<size_t>(last(outer_at, outer, outer_stride) + last(k_at, k, k_stride) + 1) * SizeOf(type));
    for (int64_t i = 0; i < outer * k; ++i) {
      values.push_back(static_cast<int>(random() % 5) - 2);
      const uint64_t bits = BitsOf(type, values.back());
      const int64_t row = outer_at.empty() ? i / k * outer_stride : outer_at[static_cast<size_t>(i / k)],
                    step = k_at.empty() ? i % k * k_stride : k_at[static_cast<size_t>(i % k)];
      std::memcpy(&bytes[static_cast<size_t>(row + step) * SizeOf(type)], &bits, SizeOf(type));
    }
  }
  static std::vector<int64_t> Shuffled(int64_t n, int64_t stride, std::mt19937& random) {
    std::vector<int64_t> at;
    for (int64_t i = 0; i < n; ++i) at.push_back(i * stride);
    std::shuffle(at.begin(), at.end(), random);
    return at;
  }
  // Offsets that increase by 1, or sometimes by more.
  static std::vector<int64_t> InRuns(int64_t n, std::mt19937& random) {
    std::vector<int64_t> at = {0};
    const unsigned run = 1 + random() % 40;
    for (int64_t i = 1; i < n; ++i) at.push_back(at.back() + (random() % run == 0 ? 4 : 1));
    return at;
  }
  cpu::GemmMatrix View() const {
    return {bytes.data(),
            outer_stride,
            k_stride,
            outer_at.empty() ? nullptr : outer_at.data(),
            k_at.empty() ? nullptr : k_at.data(),
            type,
            /*shared=*/false,
            outer_runs,
            k_runs};
  }
  GemmType type;
  int64_t k, outer_stride, k_stride;
  std::vector<int64_t> outer_at, k_at;
  bool outer_runs = false, k_runs = false;
  std::vector<int> values;
  std::vector<char> bytes;
};

struct Shape {
  int64_t m, n, k;
};

// Runs one tile in a result with a column and a row to spare, which must stay as they are. To subtract from are threes.
void CheckTile(const InstructionSet& set, const Shape& s, const Matrix& a, const Matrix& b, GemmType c_type,
               bool subtract) {
  const int64_t stride = s.n + 1;
  const GemmType sum = c_type == GemmType::kF64 ? GemmType::kF64 : GemmType::kF32;
  std::vector<char> c(static_cast<size_t>((s.m + 1) * stride) * SizeOf(c_type), 0x55);
  const uint64_t three = BitsOf(c_type, 3);
  for (int64_t i = 0; subtract && i < s.m * s.n; ++i) {
    std::memcpy(&c[static_cast<size_t>(i / s.n * stride + i % s.n) * SizeOf(c_type)], &three, SizeOf(c_type));
  }
  const auto elements = [&](int64_t n) { return static_cast<size_t>(n) * SizeOf(sum) / sizeof(double) + 8; };
  std::vector<double> pa(elements(cpu::GemmPacked(s.m))), sums(elements(s.m * s.n)), pb(elements(cpu::GemmPacked(s.n)));
  set.tile({a.View(), b.View(), c.data(), stride, c_type, sum, s.m, s.n, s.k, subtract},
           {pa.data(), pb.data(), sums.data()});
  for (int64_t i = 0; i < (s.m + 1) * stride; ++i) {
    const int64_t row = i / stride, column = i % stride;
    uint64_t want = 0x5555555555555555, got = 0;
    if (row < s.m && column < s.n) {
      int total = 0;
      for (int64_t k = 0; k < s.k; ++k) {
        total += a.values[static_cast<size_t>(row * s.k + k)] * b.values[static_cast<size_t>(column * s.k + k)];
      }
      want = BitsOf(c_type, subtract ? 3 - total : total);
    }
    std::memcpy(&got, &c[static_cast<size_t>(i) * SizeOf(c_type)], SizeOf(c_type));
    want &= ~uint64_t{0} >> (64 - 8 * SizeOf(c_type));
    ASSERT_EQ(got, want) << set.name << " [" << s.m << "," << s.n << "," << s.k << "] at " << row << "," << column;
  }
}

TEST(GemmTile, AnyShapeLayoutAndType) {
  std::mt19937 random(3);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  constexpr GemmType types[] = {GemmType::kF32, GemmType::kF64, GemmType::kF16, GemmType::kBF16};
  for (int trial = 0; trial < 250; ++trial) {
    // Sums of 60 products are below 256 and exact in all types.
    const GemmType c_type = types[below(4)];
    const bool wide = c_type == GemmType::kF32 || c_type == GemmType::kF64;
    const Shape s{1 + below(trial % 3 == 0 ? 90 : 16), 1 + below(trial % 3 == 1 ? 200 : 40),
                  1 + below(wide && trial % 2 == 0 ? 700 : 60)};
    const GemmType a_type = types[below(4)], b_type = types[below(4)];
    const Matrix a(a_type, s.m, s.k, static_cast<int>(below(Matrix::kLayouts)), random),
        b(b_type, s.n, s.k, static_cast<int>(below(Matrix::kLayouts)), random);
    for (const InstructionSet& set : InstructionSets()) {
      CheckTile(set, s, a, b, c_type, /*subtract=*/false);
      if (wide) CheckTile(set, s, a, b, c_type, /*subtract=*/true);
      if (HasFatalFailure()) return;
    }
  }
}

// Every bit pattern of a 16-bit type times one is itself, except that NaN may be another NaN.
void CheckIdentity(const InstructionSet& set, GemmType type, uint16_t one, uint16_t infinity) {
  std::vector<uint16_t> x(65536), y(65536);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint16_t>(i);
  std::vector<double> pa(static_cast<size_t>(cpu::GemmPacked(65536))), pb(static_cast<size_t>(cpu::GemmPacked(1))),
      sums(40000);
  set.tile({{x.data(), 1, 1, nullptr, nullptr, type},
            {&one, 1, 1, nullptr, nullptr, type},
            y.data(),
            1,
            type,
            GemmType::kF32,
            65536,
            1,
            1},
           {pa.data(), pb.data(), sums.data()});
  for (size_t i = 0; i < x.size(); ++i) {
    const bool nan = (x[i] & 0x7fff) > infinity;
    if (nan) {
      EXPECT_GT(y[i] & 0x7fff, infinity) << set.name << " " << i;
    } else if ((x[i] & 0x7fff) != 0) {
      EXPECT_EQ(y[i], x[i]) << set.name;
    }
  }
}
// Runs of `length` elements, each at the end of a page after which nothing may be read.
template <typename T>
class FencedRuns {
 public:
  FencedRuns(int64_t runs, int64_t length) : length_(length), bytes_(static_cast<size_t>(runs) * 2 * Page()) {
    pages_ = static_cast<char*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (int64_t i = 0; i < runs; ++i) mprotect(pages_ + (2 * i + 1) * Page(), Page(), PROT_NONE);
  }
  ~FencedRuns() { munmap(pages_, bytes_); }
  FencedRuns(const FencedRuns&) = delete;
  FencedRuns& operator=(const FencedRuns&) = delete;

  static int64_t Page() { return sysconf(_SC_PAGESIZE); }
  static int64_t stride() { return 2 * Page() / static_cast<int64_t>(sizeof(T)); }
  T* data() { return reinterpret_cast<T*>(pages_ + Page()) - length_; }
  T& at(int64_t run, int64_t i) { return data()[run * stride() + i]; }

 private:
  int64_t length_;
  size_t bytes_;
  char* pages_;
};

// One operand is shared: its rows (columns of the right one), or its steps, are the runs.
template <typename T>
void CheckShared(cpu::GemmTileFn tile, GemmType type, int64_t n, int64_t k, bool right, bool by_steps) {
  FencedRuns<T> shared(by_steps ? k : n, by_steps ? n : k);
  const int64_t m = 5, stride = FencedRuns<T>::stride();
  std::vector<T> other(static_cast<size_t>(m * k)), c(static_cast<size_t>(m * n));
  const auto value = [](int64_t i, int64_t step) { return static_cast<T>((3 * i + 5 * step) % 7 - 3); };
  for (int64_t step = 0; step < k; ++step) {
    for (int64_t i = 0; i < n; ++i) (by_steps ? shared.at(step, i) : shared.at(i, step)) = value(i, step);
    for (int64_t i = 0; i < m; ++i) other[static_cast<size_t>(i * k + step)] = value(i, step + 2);
  }
  const cpu::GemmMatrix x{shared.data(), by_steps ? 1 : stride, by_steps ? stride : 1, nullptr, nullptr, type, true};
  const cpu::GemmMatrix y{other.data(), k, 1, nullptr, nullptr, type};
  AlignedElements<T> a(cpu::GemmPacked(std::max(m, n))), b(cpu::GemmPacked(std::max(m, n)));
  tile({right ? y : x, right ? x : y, c.data(), right ? n : m, type, type, right ? m : n, right ? n : m, k},
       {a.data(), b.data(), nullptr});
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      T sum = 0;
      for (int64_t step = 0; step < k; ++step) sum += value(i, step) * value(j, step + 2);
      ASSERT_EQ(c[static_cast<size_t>(right ? j * n + i : i * m + j)], sum) << i << ", " << j;
    }
  }
}

TEST(GemmTile, NothingBesideASharedOperandIsRead) {
  for (const InstructionSet& set : InstructionSets()) {
    for (int64_t n : {1, 3, 7, 8, 15, 16, 17, 31, 32, 33, 48, 63, 64, 70, 130}) {
      for (int64_t k : {1, 9, 64}) {
        for (int way = 0; way < 4; ++way) {
          SCOPED_TRACE(set.name + " " + std::to_string(n) + ", " + std::to_string(k) + " way " + std::to_string(way));
          CheckShared<double>(set.tile, GemmType::kF64, n, k, (way & 1) != 0, (way & 2) != 0);
          CheckShared<float>(set.tile, GemmType::kF32, n, k, (way & 1) != 0, (way & 2) != 0);
        }
      }
    }
  }
}

TEST(GemmTile, SixteenBitFloatsKeepTheirValues) {
  for (const InstructionSet& set : InstructionSets()) {
    CheckIdentity(set, GemmType::kF16, 0x3c00, 0x7c00);
    CheckIdentity(set, GemmType::kBF16, 0x3f80, 0x7f80);
  }
}

// ---- bf16 in pairs ----
// [outer, k] at strides in one of three layouts, of magnitudes from 2^-17 to 2^-2.
struct WideMatrix {
  WideMatrix(int64_t outer, int64_t k, int64_t layout, std::mt19937& random)
      : outer_stride(layout == 0   ? k + 1
                     : layout == 1 ? 1
                                   : 2 * k + 3),
        k_stride(layout == 0   ? 1
                 : layout == 1 ? outer
                               : 2) {
    bits.resize(static_cast<size_t>((outer - 1) * outer_stride + (k - 1) * k_stride + 1));
    for (uint16_t& b : bits) b = static_cast<uint16_t>((random() & 0x807f) | (110 + random() % 16) << 7);
  }
  cpu::GemmMatrix View() const { return {bits.data(), outer_stride, k_stride, nullptr, nullptr, GemmType::kBF16}; }
  int64_t outer_stride, k_stride;
  std::vector<uint16_t> bits;
};
std::vector<char> TileOf(cpu::GemmTileFn tile, const Shape& s, const WideMatrix& a, const WideMatrix& b,
                         GemmType c_type) {
  std::vector<char> c(static_cast<size_t>(s.m * s.n) * SizeOf(c_type));
  AlignedElements<float> pa(cpu::GemmPacked(s.m)), pb(cpu::GemmPacked(s.n)), sums(s.m * s.n);
  tile({a.View(), b.View(), c.data(), s.n, c_type, GemmType::kF32, s.m, s.n, s.k}, {pa.data(), pb.data(), sums.data()});
  return c;
}

// Sums have the bits of single steps, also where an operand is below the least normal number.
TEST(GemmTile, PairsOfStepsHaveTheBitsOfSingleSteps) {
  if (InstructionSets().back().name != "avx512_bf16") GTEST_SKIP() << "the processor multiplies no pairs";
  std::mt19937 random(5);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  for (int64_t trial = 0; trial < 300; ++trial) {
    const Shape s{1 + below(trial % 3 == 0 ? 230 : 40), 1 + below(trial % 3 == 1 ? 100 : 40),
                  1 + below(trial % 2 == 0 ? 700 : 40)};
    WideMatrix a(s.m, s.k, below(3), random), b(s.n, s.k, below(3), random);
    if (trial % 4 == 3) {
      WideMatrix& one = trial % 8 == 3 ? a : b;
      one.bits[static_cast<size_t>(below(static_cast<int64_t>(one.bits.size())))] = 0x8003;
    }
    for (GemmType c_type : {GemmType::kF32, GemmType::kBF16}) {
      ASSERT_EQ(TileOf(cpu::GemmTileAvx512Bf16, s, a, b, c_type), TileOf(cpu::GemmTileAvx512, s, a, b, c_type))
          << "[" << s.m << "," << s.n << "," << s.k << "]";
    }
  }
}

// ---- dot_general ----
Numbers Sequence(int64_t n) {
  Numbers x(static_cast<size_t>(n));
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i)) / 4;
  return x;
}

TEST(Product, AllLayoutsAgreeWithTheInterpreter) {
  struct Case {
    const char *x, *y, *z, *dims;
    int64_t x_size, y_size;
  };
  constexpr Case cases[] = {
      {"f32[37,45]", "f32[45,41]", "f32[37,41]", "lhs_contract=[1] rhs_contract=[0]", 1665, 1845},
      {"f32[45,37]", "f32[41,45]", "f32[37,41]", "lhs_contract=[0] rhs_contract=[1]", 1665, 1845},
      {"f32[3,37,45]", "f32[3,45,41]", "f32[3,37,41]", "lhs_contract=[2] rhs_contract=[1] lhs_batch=[0] rhs_batch=[0]",
       4995, 5535},
      {"f32[2,40,3,30]", "f32[2,50,3,30]", "f32[2,3,40,50]",
       "lhs_contract=[3] rhs_contract=[3] lhs_batch=[0,2] rhs_batch=[0,2]", 7200, 9000},
      {"f32[40,3,30,2]", "f32[2,50,3,30]", "f32[3,2,40,50]",
       "lhs_contract=[2] rhs_contract=[3] lhs_batch=[1,3] rhs_batch=[2,0]", 7200, 9000},
      {"f32[6,7,40]", "f32[6,7,30]", "f32[40,30]", "lhs_contract=[1,0] rhs_contract=[1,0]", 1680, 1260},
      {"f32[6,7,40]", "f32[7,6,30]", "f32[40,30]", "lhs_contract=[0,1] rhs_contract=[1,0]", 1680, 1260},
      {"f32[5,8,40]", "f32[40,30]", "f32[5,8,30]", "lhs_contract=[2] rhs_contract=[0]", 1600, 1200},
      {"f32[5,40,8]", "f32[40,30]", "f32[5,8,30]", "lhs_contract=[1] rhs_contract=[0]", 1600, 1200},
      {"f32[1,30000]", "f32[30000,1]", "f32[1,1]", "lhs_contract=[1] rhs_contract=[0]", 30000, 30000},
      {"f64[37,45]", "f64[45,41]", "f64[37,41]", "lhs_contract=[1] rhs_contract=[0]", 1665, 1845},
      {"f32[37,45]", "f32[45,41]", "f64[37,41]", "lhs_contract=[1] rhs_contract=[0] preferred_element_type=f64", 1665,
       1845},
  };
  ProgramRunner r;
  for (const Case& c : cases) {
    const Program f = r.Parse(std::string("program f(%x: ") + c.x + ", %y: " + c.y + ") { %z: " + c.z +
                              " = dot_general(%x, %y) " + c.dims + "  return %z }");
    SCOPED_TRACE(c.dims);
    r.RunEverywhere(f, {Sequence(c.x_size), Sequence(c.y_size)}, c.z[1] == '6' ? 1e-12 : 1e-5);
  }
}

// A batch, two free and two contracted dimensions in each operand, in any order: all orders of the left operand's, each
// with a different order of the right operand's, reach the tiles.
TEST(Product, AllAxisOrders) {
  // For each kind of axis, its size in the left and in the right operand.
  constexpr int64_t left_sizes[] = {2, 4, 6, 5, 6}, right_sizes[] = {2, 3, 8, 5, 6};
  std::array<int, 5> left = {0, 1, 2, 3, 4};
  ProgramRunner r;
  int order = 0;
  do {
    std::array<int, 5> right = {0, 1, 2, 3, 4};
    for (int i = 0; i < order * 37 % 120; ++i) std::next_permutation(right.begin(), right.end());
    const auto type = [](const std::array<int, 5>& axes, const int64_t* sizes) {
      std::string text = "f32[";
      for (size_t i = 0; i < axes.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(sizes[axes[i]]);
      return text + "]";
    };
    const auto at = [](const std::array<int, 5>& axes, int kind) {
      return std::to_string(std::find(axes.begin(), axes.end(), kind) - axes.begin());
    };
    const auto free = [](const std::array<int, 5>& axes, const int64_t* sizes) {
      std::string text;
      for (int kind : axes) text += kind == 1 || kind == 2 ? "," + std::to_string(sizes[kind]) : "";
      return text;
    };
    const Program f =
        r.Parse("program f(%x: " + type(left, left_sizes) + ", %y: " + type(right, right_sizes) + ") { %z: f32[2" +
                free(left, left_sizes) + free(right, right_sizes) + "] = dot_general(%x, %y) lhs_contract=[" +
                at(left, 3) + "," + at(left, 4) + "] rhs_contract=[" + at(right, 3) + "," + at(right, 4) +
                "] lhs_batch=[" + at(left, 0) + "] rhs_batch=[" + at(right, 0) + "]  return %z }");
    SCOPED_TRACE(r.Print(f));
    r.RunEverywhere(f, {Sequence(1440), Sequence(1440)}, 1e-5);
    EXPECT_NE(r.Dump(f, "plan", "cpu").find("library"), std::string::npos);
    ++order;
  } while (std::next_permutation(left.begin(), left.end()));
  EXPECT_EQ(order, 120);
}

TEST(Product, SixteenBitResultsAreRoundedOnce) {
  ProgramRunner r;
  for (const std::string type : {"bf16", "f16"}) {
    for (const std::string& out : {type, std::string("f32")}) {
      const Program f =
          r.Parse("program f(%a: f32[40,30], %b: f32[30,40]) { %x: " + type +
                  "[40,30] = convert_element_type(%a) new_dtype=" + type + "  %y: " + type +
                  "[30,40] = convert_element_type(%b) new_dtype=" + type + "  %z: " + out +
                  "[40,40] = dot_general(%x, %y) lhs_contract=[1] rhs_contract=[0]" + " preferred_element_type=" + out +
                  "  %c: f32[40,40] = convert_element_type(%z) new_dtype=f32  return %c }");
      r.RunEverywhere(f, {Sequence(1200), Sequence(1200)}, out == "f32" ? 1e-6 : type == "f16" ? 1e-3 : 8e-3);
    }
  }
}

// A row with an infinity or NaN affects only its own results, and zeros do not hide it.
TEST(Product, InfinitiesAndNaNSpread) {
  ProgramRunner r;
  const Program f = r.Parse(
      "program f(%x: f32[33,40], %y: f32[40,35]) { %z: f32[33,35] = dot_general(%x, %y) lhs_contract=[1] "
      "rhs_contract=[0]  return %z }");
  Numbers x(33 * 40, 1), y(40 * 35, 0);
  x[5 * 40 + 7] = NAN;
  x[6 * 40 + 8] = INFINITY;
  const Numbers z = r.Run(f, {x, y}, "cpu")[0];
  for (size_t i = 0; i < z.size(); ++i) {
    const size_t row = i / 35;
    EXPECT_EQ(std::isnan(z[i]), row == 5 || row == 6) << i;
    if (row != 5 && row != 6) {
      EXPECT_EQ(z[i], 0) << i;
    }
  }
  x[5 * 40 + 7] = 1;
  y.assign(y.size(), 2);
  const Numbers w = r.Run(f, {x, y}, "cpu")[0];
  for (size_t i = 0; i < w.size(); ++i) EXPECT_EQ(w[i], i / 35 == 6 ? INFINITY : 80.0) << i;
}

TEST(Product, EmptyDimensions) {
  ProgramRunner r;
  const Program sum = r.Parse(
      "program f(%x: f32[70,0], %y: f32[0,80]) { %z: f32[70,80] = dot_general(%x, %y) lhs_contract=[1] "
      "rhs_contract=[0]  return %z }");
  EXPECT_EQ(r.Run(sum, {{}, {}}, "cpu")[0], Numbers(5600, 0));
  const Program rows = r.Parse(
      "program f(%x: f32[0,70], %y: f32[70,80]) { %z: f32[0,80] = dot_general(%x, %y) lhs_contract=[1] "
      "rhs_contract=[0]  return %z }");
  EXPECT_TRUE(r.Run(rows, {{}, Numbers(5600, 1)}, "cpu")[0].empty());
  const Program batch = r.Parse(
      "program f(%x: f32[0,70,50], %y: f32[0,50,80]) { %z: f32[0,70,80] = dot_general(%x, %y) lhs_contract=[2] "
      "rhs_contract=[1] lhs_batch=[0] rhs_batch=[0]  return %z }");
  EXPECT_TRUE(r.Run(batch, {{}, {}}, "cpu")[0].empty());
}

}  // namespace
}  // namespace ricci::testing
