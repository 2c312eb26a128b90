// Tries the plugin block_tridiagonal against a dense solve: solutions, gradients by all operands, batches, one kernel
// in lanes, and what it refuses.
// block_tridiagonal_test PLUGIN [--device cpu|cuda] [--config KEY=VALUE]... [--small]
// With --small, for slow devices, it solves once and takes the gradients of one batch.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ricci/emit.hpp>
#include <ricci/lax.hpp>
#include <ricci/ricci.hpp>

#include "../add_device.h"

using ricci::Array, ricci::Value;

namespace {

constexpr int64_t kRows = 4, kSize = 3, kColumns = 2, kBatch = 5;
int faults = 0;

void Expect(bool holds, const std::string& what) {
  std::printf("%s: %s\n", holds ? "ok" : "WRONG", what.c_str());
  faults += !holds;
}
void ExpectClose(const std::string& what, const Array& got, const Array& expected) {
  const auto a = got.to_vector<double>(), b = expected.to_vector<double>();
  double worst = a.size() == b.size() && !a.empty() ? 0 : INFINITY;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (!(std::fabs(a[i] - b[i]) <= worst)) worst = std::fabs(a[i] - b[i]);
  }
  Expect(worst <= 1e-12, what + ", largest error " + std::to_string(worst * 1e15) + "e-15");
}

// ---- the solver, and the same by a dense matrix ----
Value Solve(Value l, Value d, Value u, Value b) { return ricci::Emit1("block_tridiagonal.solve", {l, d, u, b}); }

Value DenseSolve(Value l, Value d, Value u, Value b) {
  const Value zero = d[0] * 0.0;
  ricci::Values rows;
  for (int64_t i = 0; i < kRows; ++i) {
    ricci::Values row(kRows, zero);
    row[static_cast<size_t>(i)] = d[i];
    if (i > 0) row[static_cast<size_t>(i - 1)] = l[i];
    if (i + 1 < kRows) row[static_cast<size_t>(i + 1)] = u[i];
    rows.push_back(ricci::lax::concatenate(row, 1));
  }
  const Value right = reshape(b, {kRows * kSize, kColumns});
  return reshape(ricci::linalg::solve(ricci::lax::concatenate(rows, 0), right), {kRows, kSize, kColumns});
}

// A number that depends on every element of the solution by a weight of its own.
Value Loss(Value l, Value d, Value u, Value b, Value weights) { return sum(sin(Solve(l, d, u, b)) * weights); }
Value DenseLoss(Value l, Value d, Value u, Value b, Value weights) {
  return sum(sin(DenseSolve(l, d, u, b)) * weights);
}

// ---- data ----
// Numbers in -0.9..0.9 that repeat nowhere. In blocks on the diagonal the largest element of each column is below or
// above it, so that rows must change places.
Array Numbers(const ricci::Context& ctx, const ricci::Shape& shape, int seed, bool is_diagonal = false) {
  std::vector<double> v(static_cast<size_t>(ricci::ElementCount(shape)));
  for (size_t i = 0; i < v.size(); ++i) {
    v[i] = 0.9 * std::sin(12.9898 * static_cast<double>(i + 1) + seed);
    const size_t row = i / kSize % kSize, column = i % kSize;
    if (is_diagonal && column == (row + 1) % kSize) v[i] += 4;
  }
  return Array(ctx, v, shape);
}
struct Data {
  explicit Data(const ricci::Context& ctx, ricci::Shape batch = {}) {
    const auto with = [&](int64_t columns) {
      ricci::Shape shape = batch;
      shape.insert(shape.end(), {kRows, kSize, columns});
      return shape;
    };
    l = Numbers(ctx, with(kSize), 1), d = Numbers(ctx, with(kSize), 2, true), u = Numbers(ctx, with(kSize), 3);
    b = Numbers(ctx, with(kColumns), 4), weights = Numbers(ctx, with(kColumns), 5);
  }
  // The same for the dense solve, which runs on the CPU wherever the solver runs.
  Data OnCpu() const {
    Data out = *this;
    for (Array* a : {&out.l, &out.d, &out.u, &out.b, &out.weights}) {
      *a = ricci::device_put(*a, ricci::Context(a->context()).device("cpu"));
    }
    return out;
  }
  Array l, d, u, b, weights;
};

// ---- tests ----
void TestSolution(const ricci::Context& ctx) {
  const Data a(ctx), c = a.OnCpu();
  ExpectClose("solution", ricci::jit(Solve)(a.l, a.d, a.u, a.b), ricci::jit(DenseSolve)(c.l, c.d, c.u, c.b));
}
void TestGradients(const ricci::Context& ctx) {
  const Data a(ctx), c = a.OnCpu();
  const auto [l, d, u, b] = ricci::jit(ricci::grad<0, 1, 2, 3>(Loss))(a.l, a.d, a.u, a.b, a.weights);
  const auto [dl, dd, du, db] = ricci::jit(ricci::grad<0, 1, 2, 3>(DenseLoss))(c.l, c.d, c.u, c.b, c.weights);
  ExpectClose("gradient by the blocks left of the diagonal", l, dl);
  ExpectClose("gradient by the diagonal", d, dd);
  ExpectClose("gradient by the blocks right of it", u, du);
  ExpectClose("gradient by the right-hand sides", b, db);
}

template <typename F>
Array Mapped(F f, const Data& a, ricci::Schedule schedule) {
  return ricci::jit(ricci::vmap(f, 0, {.schedule = schedule}))(a.l, a.d, a.u, a.b, a.weights);
}
void TestLanes(const ricci::Context& ctx) {
  const Data a(ctx, {kBatch});
  ExpectClose("gradients of a batch, in lanes", Mapped(ricci::grad<1>(Loss), a, ricci::Schedule::kLanes),
              Mapped(ricci::grad<1>(DenseLoss), a.OnCpu(), ricci::Schedule::kAuto));
}
void TestBatches(const ricci::Context& ctx) {
  const Data a(ctx, {kBatch}), on_cpu = a.OnCpu();
  ExpectClose("gradients of a batch, batched", Mapped(ricci::grad<1>(Loss), a, ricci::Schedule::kBatched),
              Mapped(ricci::grad<1>(DenseLoss), on_cpu, ricci::Schedule::kAuto));
  const Data one(ctx), c = one.OnCpu();
  const auto right = ricci::vmap(Solve, {ricci::kUnbatched, ricci::kUnbatched, ricci::kUnbatched, 0});
  const auto dense = ricci::vmap(DenseSolve, {ricci::kUnbatched, ricci::kUnbatched, ricci::kUnbatched, 0});
  ExpectClose("many right-hand sides of one matrix", ricci::jit(right)(one.l, one.d, one.u, a.b),
              ricci::jit(dense)(c.l, c.d, c.u, on_cpu.b));
}
void TestKernels(const ricci::Context& ctx) {
  const Data a(ctx, {kBatch});
  const auto program = ricci::make_program(ricci::vmap(ricci::grad<1>(Loss), 0, {.schedule = ricci::Schedule::kLanes}),
                                           a.l, a.d, a.u, a.b, a.weights);
  const uint32_t kernels = ricci::Executable::compile(program).stats().kernels;
  Expect(kernels == 1, "kernels of the gradient in lanes, both solves and all around them: " + std::to_string(kernels));
}

void ExpectRefused(const ricci::Context& ctx, const char* text, const std::string& message) {
  try {
    ricci::Program::parse(ctx, text);
    Expect(false, "refused: " + message);
  } catch (const ricci::Error& e) {
    const bool right = e.message().find(message) != std::string_view::npos;
    Expect(right, message);
    if (!right) std::printf("  said: %s\n", e.what());
  }
}
void TestRefusals(const ricci::Context& ctx) {
  ExpectRefused(ctx,
                "program f(%l: f64[4,2,2], %d: f64[4,2,2], %u: f64[3,2,2], %b: f64[4,2,1]) {"
                "  %x: f64[4,2,1] = block_tridiagonal.solve(%l, %d, %u, %b) return %x }",
                "block_tridiagonal.solve: operands 0 and 2 are f64[4,2,2] and f64[3,2,2]; they must have one type");
  ExpectRefused(ctx,
                "program f(%l: f64[4,2,2], %b: f64[4,3,1]) {"
                "  %x: f64[4,3,1] = block_tridiagonal.solve(%l, %l, %l, %b) return %x }",
                "block_tridiagonal.solve: operands 0 and 3 are f64[4,2,2] and f64[4,3,1]; b must have their dtype and "
                "dimensions, but for its columns");
  ExpectRefused(
      ctx,
      "program f(%l: f64[4,2,3], %b: f64[4,2,1]) {"
      "  %x: f64[4,2,1] = block_tridiagonal.solve(%l, %l, %l, %b) return %x }",
      "block_tridiagonal.solve: operand 0 is f64[4,2,3]; its last dimensions must be rows of blocks, then square "
      "blocks");
  ExpectRefused(ctx,
                "program f(%l: i32[4,2,2], %b: i32[4,2,1]) {"
                "  %x: i32[4,2,1] = block_tridiagonal.solve(%l, %l, %l, %b) return %x }",
                "block_tridiagonal.solve: operand 0 is i32[4,2,2]; it takes f32 and f64");
}

}  // namespace

int main(int argc, char** argv) try {
  ricci::Context ctx;
  if (ricci_status* failed = add_device(ctx.handle(), &argc, argv)) throw ricci::Error(failed);
  const bool is_small = argc == 3 && std::strcmp(argv[2], "--small") == 0;
  if (argc != 2 && !is_small) {
    return std::puts("usage: block_tridiagonal_test PLUGIN [--device cpu|cuda] [--config KEY=VALUE]... [--small]"), 2;
  }
  ctx.load_plugin(argv[1]);
  std::printf("device: %s\n", std::string(ctx.device().kind()).c_str());
  TestSolution(ctx);
  TestLanes(ctx);
  if (!is_small) TestKernels(ctx), TestGradients(ctx), TestBatches(ctx);
  TestRefusals(ctx);
  return faults != 0;
} catch (const ricci::Error& e) {
  std::printf("%s\n", e.what());
  return 1;
}
