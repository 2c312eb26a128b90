/* Tries the plugin spline: values against SciPy, gradients against differences, kernels against the same formula in
 * built-in operations, and what it refuses. spline_test PLUGIN [--device cpu|cuda] [--config KEY=VALUE]...
 */
#include "../sample_checks.h"

enum { kKnots = 6, kPoints = 11 };
static double knots[kKnots] = {0.0, 1.0, 0.5, -1.0, 2.0, 0.25};
static double points[kPoints] = {-7.3, -0.4, 0.0, 0.25, 1.5, 2.75, 3.0, 4.9, 5.5, 6.1, 13.2};
/* c = scipy.interpolate.CubicSpline(range(7), [*knots, knots[0]], bc_type="periodic"); c(points, order); SciPy 1.17. */
static const double expected[3][kPoints] = {
    {0.9912999999999997, -0.23359999999999984, 0.0, 0.25234375, 1.08125, -1.0492187500000003, -1.0, 0.47089999999999965,
     -0.23749999999999996, 0.09504999999999965, 1.0951999999999997},
    {-2.7079999999999993, 0.17199999999999915, 0.8999999999999999, 1.0906249999999997, -0.41250000000000003,
     -0.8093750000000002, 1.35, -2.3919999999999977, -0.10000000000000003, 0.9964999999999996, 0.2880000000000015},
    {0.020000000000004903, 2.540000000000001, 1.1, 0.42500000000000016, -2.6500000000000004, 6.875000000000001,
     10.399999999999999, 3.1400000000000077, 2.8999999999999995, 0.8300000000000011, -2.0199999999999987}};
/* c(range(6), 2) */
static const double expected_moments[kKnots] = {
    1.1, -1.6000000000000005, -3.7, 10.399999999999999, -10.899999999999999, 4.699999999999999};

static void test_values(ricci_ctx* ctx) {
  double moments[kKnots], y[kPoints];
  run_once(ctx, parsed(ctx, "program f(%v: f64[6]) { %m: f64[6] = spline.moments(%v) return %m }"),
           (void*[]){knots, moments});
  expect_close("moments as SciPy's", moments, expected_moments, kKnots, 1e-13);
  run_once(ctx, parsed(ctx, "program f(%v: f64[6], %x: f64[11]) { %y: f64[11] = spline.periodic(%v, %x) return %y }"),
           (void*[]){knots, points, y});
  expect_close("values as SciPy's", y, expected[0], kPoints, 1e-13);
  for (int order = 1; order < 3; ++order) {
    char text[400];
    snprintf(
        text, sizeof text,
        "program f(%%v: f64[6], %%x: f64[11]) { %%m: f64[6] = spline.moments(%%v)"
        "  %%a: f64[11] = spline.blend(%%v, %%x) order=%d"
        "  %%b: f64[11] = spline.blend(%%m, %%x) order=%d of_moments=true  %%y: f64[11] = add(%%a, %%b)  return %%y }",
        order, order);
    run_once(ctx, parsed(ctx, text), (void*[]){knots, points, y});
    expect_close("derivatives as SciPy's", y, expected[order], kPoints, 1e-12);
  }
}

/* Without points there is nothing to add. */
static void test_no_points(ricci_ctx* ctx) {
  double none[1] = {0}, kept[kKnots];
  run_once(
      ctx,
      parsed(ctx, "program f(%a: f64[6], %c: f64[0], %x: f64[0]) { %b: f64[6] = spline.spread(%a, %c, %x) return %b }"),
      (void*[]){knots, none, none, kept});
  expect_close("no points", kept, knots, kKnots, 0);
}

static const char kLoss[] =
    "program loss(%v: f64[6], %x: f64[11]) {"
    "  %y: f64[11] = spline.periodic(%v, %x)  %s: f64[11] = sin(%y)  %l: f64[] = reduce_sum(%s) axes=[0]  return %l }";
static double loss_at(ricci_ctx* ctx, const double* v) {
  double out;
  run_once(ctx, parsed(ctx, kLoss), (void*[]){(void*)v, points, &out});
  return out;
}
/* The gradient by the values: through the solve and the blend, transposed. */
static void test_gradient(ricci_ctx* ctx) {
  double got[kKnots], differences[kKnots];
  run_once(ctx, grad_of(parsed(ctx, kLoss), 0), (void*[]){knots, points, got});
  for (int i = 0; i < kKnots; ++i) {
    double v[kKnots];
    memcpy(v, knots, sizeof v);
    v[i] = knots[i] + 1e-5;
    differences[i] = loss_at(ctx, v);
    v[i] = knots[i] - 1e-5;
    differences[i] = (differences[i] - loss_at(ctx, v)) / 2e-5;
  }
  expect_close("gradient by the values", got, differences, kKnots, 1e-8);
}

/* A particle's force in a periodic potential of which values and moments are given: x sin(y(x)), in a larger function.
 */
static const char kWithRow[] =
    "program f(%v: f64[16], %m: f64[16], %x: f64[]) {"
    "  %a: f64[] = spline.blend(%v, %x)  %b: f64[] = spline.blend(%m, %x) of_moments=true  %y: f64[] = add(%a, %b)"
    "  %s: f64[] = sin(%y)  %r: f64[] = mul(%s, %x)  return %r }";
#define GATHER "collapsed_slice_dims=[0] offset_dims=[] start_index_map=[0] slice_sizes=[1] mode=\"promise_in_bounds\" "
static const char kByHand[] =
    "program f(%v: f64[16], %m: f64[16], %x: f64[]) {"
    "  %one: f64[] = constant 1.0  %six: f64[] = constant 0.16666666666666666"
    "  %zero: i64[] = constant 0  %step: i64[] = constant 1  %n: i64[] = constant 16"
    "  %f: f64[] = floor(%x)  %t: f64[] = sub(%x, %f)  %u: f64[] = sub(%one, %t)"
    "  %i: i64[] = convert_element_type(%f) new_dtype=i64  %r: i64[] = rem(%i, %n)  %lt: bool[] = lt(%r, %zero)"
    "  %w: i64[] = add(%r, %n)  %k: i64[] = select_n(%lt, %r, %w)  %next: i64[] = add(%k, %step)"
    "  %end: bool[] = eq(%next, %n)  %l: i64[] = select_n(%end, %next, %zero)"
    "  %k1: i64[1] = reshape(%k) new_sizes=[1]  %l1: i64[1] = reshape(%l) new_sizes=[1]"
    "  %v0: f64[] = gather(%v, %k1) " GATHER "  %v1: f64[] = gather(%v, %l1) " GATHER
    "  %m0: f64[] = gather(%m, %k1) " GATHER "  %m1: f64[] = gather(%m, %l1) " GATHER
    "  %uu: f64[] = mul(%u, %u)  %u1: f64[] = sub(%uu, %one)  %u2: f64[] = mul(%u, %u1)  %u3: f64[] = mul(%u2, %six)"
    "  %tt: f64[] = mul(%t, %t)  %t1: f64[] = sub(%tt, %one)  %t2: f64[] = mul(%t, %t1)  %t3: f64[] = mul(%t2, %six)"
    "  %a0: f64[] = mul(%u, %v0)  %a1: f64[] = mul(%t, %v1)  %a: f64[] = add(%a0, %a1)"
    "  %b0: f64[] = mul(%u3, %m0)  %b1: f64[] = mul(%t3, %m1)  %b: f64[] = add(%b0, %b1)"
    "  %y: f64[] = add(%a, %b)  %s: f64[] = sin(%y)  %z: f64[] = mul(%s, %x)  return %z }";
static void test_kernels(ricci_ctx* ctx) {
  expect_as_by_hand("vmap", mapped_over_last(parsed(ctx, kWithRow), 4096),
                    mapped_over_last(parsed(ctx, kByHand), 4096));
  expect_as_by_hand("vmap of grad", mapped_over_last(grad_of(parsed(ctx, kWithRow), 2), 4096),
                    mapped_over_last(grad_of(parsed(ctx, kByHand), 2), 4096));
}

static void test_refusals(ricci_ctx* ctx) {
  expect_refused(
      ctx, "program f(%v: f64[2,5], %x: f64[3]) { %y: f64[3] = spline.blend(%v, %x) return %y }",
      "spline.blend: operands 0 and 1 are f64[2,5] and f64[3]; the dimensions before the knots must also be the "
      "first ones of the points");
  expect_refused(ctx, "program f(%v: f64[5], %x: f32[3]) { %y: f32[3] = spline.periodic(%v, %x) return %y }",
                 "spline.periodic: operands 0 and 1 are f64[5] and f32[3]; they must have one dtype");
  expect_refused(ctx, "program f(%v: i32[5]) { %y: i32[5] = spline.moments(%v) return %y }",
                 "spline.moments: operand 0 is i32[5]; it must be f32 or f64");
  expect_refused(ctx, "program f(%v: f64[0]) { %y: f64[0] = spline.moments(%v) return %y }",
                 "spline.moments: operand 0 is f64[0]; its last dimension must be knots, at least 1");
  expect_refused(ctx, "program f(%v: f64[5], %x: f64[3]) { %y: f64[3] = spline.blend(%v, %x) order=4 return %y }",
                 "spline.blend: order is 4; it must be 0, 1, 2 or 3");
  expect_refused(ctx,
                 "program f(%v: f64[5], %c: f64[3], %x: f64[4]) { %y: f64[5] = spline.spread(%v, %c, %x) return %y }",
                 "spline.spread: operands 1 and 2 are f64[3] and f64[4]; they must have one type");
}

int main(int argc, char** argv) {
  ricci_ctx* const ctx = context_of(argc, argv, /*with_plugin=*/1);
  test_values(ctx);
  test_no_points(ctx);
  test_gradient(ctx);
  test_kernels(ctx);
  test_refusals(ctx);
  ricci_context_release(ctx);
  return sample_faults != 0;
}
