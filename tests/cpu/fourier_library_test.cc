// Fourier transforms by lines: every instruction set, radix, kind and place in memory against sums of their definition,
// and programs against the interpreter.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>

#include "instruction_sets.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

Numbers Random(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> some(-1, 1);
  Numbers x(n);
  for (double& v : x) v = some(random);
  return x;
}

// ---- programs ----
bool IsLibrary(ProgramRunner& r, const Program& f) {
  return r.Dump(f, "plan", "cpu").find("library") != std::string::npos;
}

struct Shaped {
  std::vector<int64_t> batch, lengths, trailing;
  bool library;
};
std::string TextOf(const std::vector<int64_t>& dims) {
  std::string text;
  for (const int64_t d : dims) text += (text.empty() ? "[" : ",") + std::to_string(d);
  return text.empty() ? "[]" : text + "]";
}
std::vector<int64_t> Dims(const Shaped& s, bool half) {
  std::vector<int64_t> dims = s.batch;
  dims.insert(dims.end(), s.lengths.begin(), s.lengths.end());
  if (half) dims.back() = dims.back() / 2 + 1;
  dims.insert(dims.end(), s.trailing.begin(), s.trailing.end());
  return dims;
}
// Of the parts of x, and giving those of its transform.
std::string ProgramOf(const std::string& part, const std::string& kind, const Shaped& s) {
  const std::string number = part == "f64" ? "c128" : "c64";
  const std::string in = TextOf(Dims(s, kind == "IRFFT")), out = TextOf(Dims(s, kind == "RFFT"));
  const std::string attrs =
      " fft_type=\"" + kind + "\" fft_lengths=" + TextOf(s.lengths) + " trailing=" + std::to_string(s.trailing.size());
  std::string text = "program f(%x: " + part + in + ", %y: " + part + in + ") { ";
  if (kind != "RFFT") text += "%z: " + number + in + " = complex(%x, %y) ";
  text += "%t: " + (kind == "IRFFT" ? part : number) + out + " = fft(" + (kind == "RFFT" ? "%x)" : "%z)") + attrs;
  if (kind == "IRFFT") return text + " return %t }";
  return text + " %u: " + part + out + " = real(%t) %v: " + part + out + " = imag(%t) return %u, %v }";
}
size_t Elements(const std::vector<int64_t>& dims) {
  size_t n = 1;
  for (const int64_t d : dims) n *= static_cast<size_t>(d);
  return n;
}

void ExpectAgreement(const Shaped& s, std::initializer_list<const char*> kinds) {
  ProgramRunner r;
  for (const std::string kind : kinds) {
    for (const std::string part : {"f64", "f32"}) {
      SCOPED_TRACE(kind + " " + part + TextOf(s.batch) + TextOf(s.lengths) + TextOf(s.trailing));
      const Program f = r.Parse(ProgramOf(part, kind, s));
      EXPECT_EQ(IsLibrary(r, f), s.library);
      const size_t n = Elements(Dims(s, kind == "IRFFT"));
      r.RunEverywhere(f, {Random(n, 1), Random(n, 2)}, part == "f64" ? 1e-12 : 3e-4);
    }
  }
}
TEST(Fourier, ProgramsAgreeWithTheInterpreter) {
  for (const Shaped& s :
       {Shaped{{5}, {64}, {}, true}, {{3}, {96}, {7}, true},    {{}, {60}, {33}, true},
        {{2, 9}, {34}, {}, true},                                                           // prime factors above 7
        {{5}, {22}, {3}, true},      {{9}, {74}, {}, true},     {{2, 3}, {134}, {}, true},  // above 61: convolutions
        {{}, {268}, {5}, true},      {{3}, {30}, {}, false},                                // too few lines
        {{}, {64}, {3}, false},      {{}, {64}, {}, true},                                  // lines that are alone
        {{3}, {420}, {}, true},      {{2}, {8192}, {}, true},   {{}, {16, 16}, {}, true},
        {{3}, {20, 64}, {}, true},   {{}, {32, 42}, {}, true},  {{2}, {2, 128}, {}, true},
        {{2}, {128, 4}, {}, true},   {{2}, {8, 8}, {}, true},   {{2}, {26, 22}, {}, true},
        {{2}, {67, 8}, {}, true},    {{2}, {8, 134}, {}, true}, {{}, {4, 8}, {}, false}}) {  // too small
    ExpectAgreement(s, {"FFT", "IFFT", "RFFT", "IRFFT"});
  }
  // Real ones of odd lengths: lines, planes, a convolution, one that is alone.
  for (const Shaped& s : {Shaped{{}, {32, 27}, {}, true},
                          {{}, {11, 11}, {}, true},
                          {{2}, {8, 67}, {}, true},
                          {{33}, {45}, {}, true},
                          {{2}, {17}, {16}, true},
                          {{2}, {25}, {3}, false},
                          {{16}, {67}, {}, true},
                          {{}, {67}, {}, true},  // by a convolution, whose transforms are calls
                          {{}, {45}, {}, true},
                          {{}, {31}, {}, false}}) {
    ExpectAgreement(s, {"FFT", "IFFT", "RFFT", "IRFFT"});
  }
}
TEST(Fourier, OtherTransformsAreByDimensions) {
  for (const Shaped& s : {Shaped{{}, {6, 32, 24}, {}, true},  // three dimensions
                          {{}, {256, 256}, {}, true},         // so many elements that threads share them
                          {{}, {20, 64}, {3}, true}}) {
    ExpectAgreement(s, {"FFT", "IRFFT"});
  }
  ExpectAgreement({{4}, {2062}, {}, true}, {"FFT", "RFFT"});  // a prime factor too large for one call
}
// Each transform is a call, so what a program transforms again and again needs no code of its own.
TEST(Fourier, TransformsNeedNoKernels) {
  ProgramRunner r;
  std::string text = "program f(%x0: f32[64,64]) {";
  for (int i = 0; i < 12; ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    text += " %s" + n + ": f32[64,64] = sin(%x" + n + ") %z" + n + ": c64[64,33] = fft(%s" + n +
            ") fft_type=\"RFFT\" fft_lengths=[64,64] %x" + next + ": f32[64,64] = fft(%z" + n +
            ") fft_type=\"IRFFT\" fft_lengths=[64,64]";
  }
  const std::string plan = r.Dump(r.Parse(text + " return %x12 }"), "plan", "cpu");
  const auto count = [&](std::string_view word) {
    int n = 0;
    for (size_t at = plan.find(word); at != std::string::npos; at = plan.find(word, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("  library "), 24);
  EXPECT_EQ(count("  kernel "), 12);
}
// Rows that are next to one of NaN or of large numbers are what they are alone.
TEST(Fourier, LinesDoNotMix) {
  ProgramRunner r;
  const Program f = r.Parse(ProgramOf("f32", "RFFT", {{6}, {64}, {}, true}));
  Numbers x = Random(6 * 64, 1);
  const auto clean = r.Run(f, {x, x}, "cpu");
  x[64] = std::nan("");
  x[5 * 64 + 3] = 1e30;
  const auto mixed = r.Run(f, {x, x}, "cpu");
  for (size_t row : {0, 2, 3, 4}) {
    for (size_t i = row * 33; i < (row + 1) * 33; ++i) {
      EXPECT_EQ(mixed[0][i], clean[0][i]);
      EXPECT_EQ(mixed[1][i], clean[1][i]);
    }
  }
}

// ---- lines ----
using Complex = std::complex<double>;
Complex Turn(int64_t j, int64_t n) {
  return std::polar(1.0, -6.283185307179586 * static_cast<double>(j % n) / static_cast<double>(n));
}

// A length as the plan would have it, with radices in this order.
template <typename T>
struct Table {
  explicit Table(const std::vector<int>& radices) {
    for (const int r : radices) length.n *= r;
    int64_t rest = length.n;
    for (const int r : radices) {
      length.radix[length.n_passes++] = r;
      for (int64_t j = 0; j < r && r > cpu::kFftOwnRadix; ++j) Add(Turn(j, r), rotations);
      for (int64_t p = 0; p < rest / r; ++p) {
        for (int k = 1; k < r; ++k) Add(Turn(p * k, rest), rotations);
      }
      rest /= r;
    }
    SetTurns(length.n);
    length.rotations = rotations.data();
  }
  // Of n elements, by a convolution of the length of `radices`.
  Table(int64_t n, const std::vector<int>& radices) : Table(radices) {
    const auto m = static_cast<size_t>(length.n);
    std::vector<Complex> conjugates(m);
    for (int64_t j = 0; j < n; ++j) {
      const Complex turn = Turn(j * j % (2 * n), 2 * n);
      Add(turn, chirp_turns);
      conjugates[static_cast<size_t>(j)] = conjugates[(m - static_cast<size_t>(j)) % m] = std::conj(turn);
    }
    for (size_t k = 0; k < m; ++k) {
      Complex sum = 0;
      for (size_t j = 0; j < m; ++j) sum += conjugates[j] * Turn(static_cast<int64_t>(j * k), length.n);
      Add(sum / static_cast<double>(m), filter);
    }
    chirp = {n, chirp_turns.data(), filter.data()};
    SetTurns(n);
  }
  void SetTurns(int64_t n) {
    turns.clear();
    for (int64_t k = 0; k <= n / 2; ++k) Add(Turn(k, 2 * n), turns);
  }
  static void Add(Complex z, std::vector<T>& to) {
    to.push_back(static_cast<T>(z.real()));
    to.push_back(static_cast<T>(z.imag()));
  }
  int64_t n() const { return chirp.n == 0 ? length.n : chirp.n; }

  cpu::FftLength length;
  cpu::FftChirp chirp;
  std::vector<T> rotations, turns, chirp_turns, filter;
};

// Parts of lines, of `elements` each, interleaved (`adjacent`) or concatenated.
struct Place {
  int64_t parts, elements, lines;
  bool adjacent;
  int64_t size() const { return parts * elements * lines; }
  int64_t at(int64_t line, int64_t element) const {
    return parts * (adjacent ? element * lines + line : line * elements + element);
  }
  cpu::FftArray array(void* data) const {
    return adjacent ? cpu::FftArray{data, parts, parts * lines} : cpu::FftArray{data, parts * elements, parts};
  }
};

std::vector<Complex> TurnsOf(int64_t n, bool inverse) {
  std::vector<Complex> turns;
  for (int64_t j = 0; j < n; ++j) turns.push_back(inverse ? std::conj(Turn(j, n)) : Turn(j, n));
  return turns;
}
// Element k of the transform of the complex elements `x`.
Complex Transformed(const std::vector<Complex>& x, int64_t k, const std::vector<Complex>& turns) {
  Complex sum = 0;
  for (size_t j = 0; j < x.size(); ++j) sum += x[j] * turns[j * static_cast<size_t>(k) % x.size()];
  return sum;
}
// A line, as all the complex elements that it stands for.
template <typename T>
std::vector<Complex> LineOf(const std::vector<T>& data, const Place& p, int64_t line, int64_t n) {
  std::vector<Complex> x;
  for (int64_t j = 0; j < n; ++j) {
    const bool mirrored = j >= p.elements;
    const auto at = static_cast<size_t>(p.at(line, mirrored ? n - j : j));
    const bool real_end = p.parts == 2 && p.elements < n && (j == 0 || 2 * j == n);
    const double im = p.parts == 1 || real_end ? 0 : static_cast<double>(data[at + 1]);
    x.emplace_back(static_cast<double>(data[at]), mirrored ? -im : im);
  }
  return x;
}

template <typename T>
void ExpectLines(const InstructionSet& set, const Table<T>& table, cpu::FftKind kind, bool inverse, int64_t lines,
                 bool in_adjacent, bool out_adjacent) {
  const int64_t half = table.n(), n = kind == cpu::FftKind::kComplex ? half : 2 * half;
  const auto place = [&](bool real, bool spectrum, bool adjacent) {
    return Place{real ? 1 : 2, spectrum ? half + 1 : n, lines, adjacent};
  };
  const Place in = place(kind == cpu::FftKind::kFromReal, kind == cpu::FftKind::kToReal, in_adjacent);
  const Place out = place(kind == cpu::FftKind::kToReal, kind == cpu::FftKind::kFromReal, out_adjacent);
  const Numbers random = Random(static_cast<size_t>(in.size()), static_cast<unsigned>(n));
  std::vector<T> x(random.begin(), random.end()), y(static_cast<size_t>(out.size()), T{-7});
  AlignedElements<T> scratch(cpu::FftScratch(table.length.n));
  cpu::FftLines f;
  f.length = table.length;
  f.chirp = table.chirp;
  f.kind = kind;
  f.inverse = inverse;
  f.f64 = sizeof(T) == 8;
  f.scale = 0.5;
  f.in = in.array(x.data());
  f.out = out.array(y.data());
  f.lines = lines;
  f.turns = table.turns.data();
  f.scratch = scratch.data();
  set.lines(f);
  const double tolerance = static_cast<double>(n) * (sizeof(T) == 8 ? 1e-15 : 1e-6);
  const std::vector<Complex> turns = TurnsOf(n, inverse);
  for (int64_t i = 0; i < lines; ++i) {
    const std::vector<Complex> line = LineOf(x, in, i, n);
    for (int64_t k = 0; k < out.elements; ++k) {
      const Complex want = Transformed(line, k, turns) * 0.5;
      const auto at = static_cast<size_t>(out.at(i, k));
      ASSERT_NEAR(static_cast<double>(y[at]), want.real(), tolerance) << "line " << i << " element " << k;
      if (out.parts == 2) {
        ASSERT_NEAR(static_cast<double>(y[at + 1]), want.imag(), tolerance) << "line " << i << " element " << k;
      }
    }
  }
}

template <typename T>
void ExpectEveryKind(const InstructionSet& set, const Table<T>& table) {
  for (const int64_t lines : {1, 5, 16, 19}) {
    for (int way = 0; way < 4; ++way) {
      SCOPED_TRACE(set.name + " first " + std::to_string(table.length.radix[0]) + " of " +
                   std::to_string(table.length.n_passes) + ", " + std::to_string(table.n()) + " elements, " +
                   std::to_string(lines) + " lines, way " + std::to_string(way));
      const bool in = (way & 1) != 0, out = (way & 2) != 0;
      ExpectLines<T>(set, table, cpu::FftKind::kComplex, false, lines, in, out);
      ExpectLines<T>(set, table, cpu::FftKind::kComplex, true, lines, in, out);
      ExpectLines<T>(set, table, cpu::FftKind::kFromReal, false, lines, in, out);
      ExpectLines<T>(set, table, cpu::FftKind::kToReal, true, lines, in, out);
    }
  }
}
TEST(Fourier, LinesOfEveryRadixAndPlace) {
  for (const InstructionSet& set : InstructionSets()) {
    for (const int first : {2, 3, 4, 5, 7, 8}) {
      for (const std::vector<int>& radices : {std::vector<int>{first}, {first, 4}, {3, first}, {first, 2, 5}}) {
        ExpectEveryKind<float>(set, Table<float>(radices));
        ExpectEveryKind<double>(set, Table<double>(radices));
      }
    }
  }
}
TEST(Fourier, LinesOfPrimeRadices) {
  for (const InstructionSet& set : InstructionSets()) {
    for (const std::vector<int>& radices : {std::vector<int>{11}, {13, 4}, {3, 17}, {61}}) {
      ExpectEveryKind<float>(set, Table<float>(radices));
      ExpectEveryKind<double>(set, Table<double>(radices));
    }
  }
}
TEST(Fourier, LinesOfAnyLengthByConvolution) {
  for (const InstructionSet& set : InstructionSets()) {
    for (const auto& [n, radices] : {std::pair<int64_t, std::vector<int>>{67, {5, 3, 3, 3}}, {2, {3}}, {37, {8, 11}}}) {
      ExpectEveryKind<float>(set, Table<float>(n, radices));
      ExpectEveryKind<double>(set, Table<double>(n, radices));
    }
  }
}

}}  // namespace ricci::testing
