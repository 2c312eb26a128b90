/* Tries the plugin repeat: values and derivatives against loops of C, and that jvp and batches of a repeat are repeats.
 * repeat_test PLUGIN [--device cpu|cuda] [--config KEY=VALUE]...
 */
#include "../sample_checks.h"

static const char kText[] =
    "program f(%c: f64[], %x: f64[]) {"
    "  %y: f64[] = demo.repeat(%c, %x) n=5 body=program(%c: f64[], %x: f64[]) {"
    "    %p: f64[] = mul(%c, %x)  %s: f64[] = sin(%p)  return %s }"
    "  return %y }";
enum { kCount = 4 };

/* x after five trips, and its derivatives by c and x. */
static void by_hand(double c, double x, double* y, double* by_c, double* by_x) {
  *by_c = 0, *by_x = 1;
  for (int i = 0; i < 5; ++i) {
    const double slope = cos(c * x);
    *by_c = slope * (x + c * *by_c);
    *by_x = slope * c * *by_x;
    x = sin(c * x);
  }
  *y = x;
}

static void test_numbers(ricci_ctx* ctx) {
  double c = 0.7, x[kCount] = {0.3, 0.9, -1.2, 2.0}, y[kCount], slope[kCount], by_c, by_x, expected[3][kCount];
  for (int i = 0; i < kCount; ++i) by_hand(c, x[i], &expected[0][i], &expected[1][i], &expected[2][i]);
  run_once(ctx, mapped_over_last(parsed(ctx, kText), kCount), (void*[]){&c, x, y});
  expect_close("values under vmap", y, expected[0], kCount, 1e-14);
  run_once(ctx, mapped_over_last(grad_of(parsed(ctx, kText), 0), kCount), (void*[]){&c, x, slope});
  expect_close("reverse mode by what stays, under vmap", slope, expected[1], kCount, 1e-14);
  run_once(ctx, grad_of(parsed(ctx, kText), 1), (void*[]){&c, x, &by_x});
  expect_close("reverse mode by what is carried", &by_x, expected[2], 1, 1e-14);

  ricci_program* forward;
  double one = 1, value;
  const uint8_t by[] = {1, 0};
  ricci_program* const f = parsed(ctx, kText);
  check(ricci_jvp(f, by, 2, &forward));
  run_once(ctx, forward, (void*[]){&c, x, &one, &value, &by_c});
  expect_close("forward mode", &by_c, expected[1], 1, 1e-14);
  ricci_program_release(f);
}

/* ---- structure ---- */
typedef struct words {
  int repeat, scan;
} words;
static void look(void* sink, const char* p, size_t n) {
  words* const found = sink;
  for (size_t i = 0; i + 4 < n; ++i) {
    found->repeat |= n - i >= 11 && memcmp(p + i, "demo.repeat", 11) == 0;
    found->scan |= memcmp(p + i, "scan(", 5) == 0;
  }
}
/* Takes f over. */
static void expect_repeat(const char* what, ricci_program* f) {
  words found = {0, 0};
  check(ricci_program_print(f, &found, look));
  expect(found.repeat && !found.scan, what);
  ricci_program_release(f);
}
static void test_structure(ricci_ctx* ctx) {
  ricci_program *out, *const f = parsed(ctx, kText);
  const uint8_t both[] = {1, 1}, last[] = {0, 1};
  uint8_t batched[] = {0};
  check(ricci_jvp(f, both, 2, &out));
  expect_repeat("a jvp is a repeat", out);
  check(ricci_batch(f, last, 2, 8, NULL, batched, &out));
  expect(batched[0], "a batch of what is carried is a batch of the result");
  expect_repeat("a batch is a repeat", out);
  ricci_program_release(f);
  const kernel_text t = kernels_of(mapped_over_last(grad_of(parsed(ctx, kText), 0), 4096), NULL);
  expect(t.kernels == 1, "its gradient under vmap is one kernel");
}

/* A body whose slope by what is carried is `c`, or differs from trip to trip. */
static void test_halves(ricci_ctx* ctx) {
  static const char by_constant[] =
      "program f(%c: f64[], %x: f64[]) { %y: f64[] = demo.repeat(%c, %x) n=5 body=program(%c: f64[], %x: f64[]) {"
      "  %p: f64[] = mul(%c, %x)  %s: f64[] = add(%p, %c)  return %s } return %y }";
  const uint8_t by_x[] = {0, 1}, known[] = {1, 1, 0};
  uint8_t out_known[2];
  uint32_t n;
  ricci_program *forward, *now, *later, *f = parsed(ctx, by_constant);
  check(ricci_jvp(f, by_x, 2, &forward));
  check(ricci_partial_eval(forward, known, 3, NULL, out_known, &n, &now, &later));
  expect(n == 1 && ricci_program_result_param(now, 1) == 0, "the slope is all that is handed over");
  expect_repeat("what is known is a repeat", now);
  expect_repeat("what is not known is a repeat of its own", later);
  ricci_program_release(forward);
  /* x is known at first, and not after a trip */
  check(ricci_partial_eval(f, by_x, 2, NULL, out_known, &n, &now, &later));
  expect(!out_known[0] && n == 1, "what is carried is handed over as it begins");
  expect_repeat("all trips are not known", later);
  ricci_program_release(now), ricci_program_release(f);

  f = parsed(ctx, kText);
  check(ricci_jvp(f, by_x, 2, &forward));
  check(ricci_partial_eval(forward, known, 3, NULL, out_known, &n, &now, &later));
  words found = {0, 0};
  check(ricci_program_print(later, &found, look));
  expect(found.scan && !found.repeat, "slopes of each trip are handed over to a scan");
  ricci_program_release(now), ricci_program_release(later), ricci_program_release(forward), ricci_program_release(f);

  double c = 0.7, x = 0.3, slope, expected = 0.7 * 0.7 * 0.7 * 0.7 * 0.7, by_c = 0, value = x;
  for (int i = 0; i < 5; ++i) {
    by_c = c * by_c + value + 1;
    value = c * value + c;
  }
  run_once(ctx, grad_of(parsed(ctx, by_constant), 1), (void*[]){&c, &x, &slope});
  expect_close("reverse mode of two repeats", &slope, &expected, 1, 1e-14);
  run_once(ctx, grad_of(parsed(ctx, by_constant), 0), (void*[]){&c, &x, &slope});
  expect_close("reverse mode by the slope", &slope, &by_c, 1, 1e-14);
}

/* Of a, b, c only a is asked for, which needs b: c is dropped, and the constant that only c needs. */
static void test_dead_code(ricci_ctx* ctx) {
  const uint8_t used[] = {1, 0, 0};
  uint8_t used_params[5];
  ricci_program *smaller,
      *const f = parsed(ctx,
                        "program f(%k: f64[], %l: f64[], %a: f64[], %b: f64[], %c: f64[]) {"
                        "  %x: f64[], %y: f64[], %z: f64[] = demo.repeat(%k, %l, %a, %b, %c) n=3"
                        "    body=program(%k: f64[], %l: f64[], %a: f64[], %b: f64[], %c: f64[]) {"
                        "    %p: f64[] = mul(%k, %b)  %q: f64[] = sin(%b)  %r: f64[] = mul(%l, %c)  return %p, %q, %r }"
                        "  return %x, %y, %z }");
  check(ricci_dce(f, used, 3, used_params, &smaller));
  const uint8_t expected[] = {1, 0, 1, 1, 0};
  expect(memcmp(used_params, expected, 5) == 0, "what no used result needs is not an operand");
  double k = 0.5, l = 9, a = 1, b = 2, c = 3, x;
  run_once(ctx, smaller, (void*[]){&k, &l, &a, &b, &c, &x});
  const double by_hand_x = k * sin(sin(b));
  expect_close("what is left", &x, &by_hand_x, 1, 1e-15);
  ricci_program_release(f);
}

static void test_refusals(ricci_ctx* ctx) {
  expect_refused(
      ctx, "program f(%x: f64[]) { %y: f64[] = demo.repeat(%x) n=-1 body=program(%x: f64[]) { return %x } return %y }",
      "demo.repeat: n is -1; it must be 0 or more");
  expect_refused(
      ctx,
      "program f(%x: f64[]) { %y: f64[] = demo.repeat(%x, %x) n=2 body=program(%x: f64[]) { return %x } return %y }",
      "demo.repeat: body takes 1 values, but there are 2 operands");
  expect_refused(
      ctx,
      "program f(%x: f64[2]) { %y: f64[2] = demo.repeat(%x) n=2 body=program(%x: f64[3]) { return %x } return "
      "%y }",
      "demo.repeat: operand 0 is f64[2], parameter 0 of body is f64[3]; they must be equal");
}

int main(int argc, char** argv) {
  ricci_ctx* const ctx = context_of(argc, argv, /*with_plugin=*/1);
  test_numbers(ctx);
  test_structure(ctx);
  test_halves(ctx);
  test_dead_code(ctx);
  test_refusals(ctx);
  ricci_context_release(ctx);
  return sample_faults != 0;
}
