/* hello [--device cpu|cuda] [--config KEY=VALUE]...: the whole way from a program to numbers through the C ABI.
 *
 * Builds f(x) = sum(x * sin(x)) for x: f32[4], asks for its gradient, compiles both for the device and prints them.
 * Every call that can fail returns a status; the sample stops at the first one that is not NULL.
 */
#include <stdio.h>
#include <stdlib.h>

#include "add_device.h"
#include "ricci/ricci.h"
#include "ricci/writer.h"

static void check(ricci_status* status) {
  if (status == NULL) return;
  ricci_str message;
  ricci_status_message(status, &message);
  fprintf(stderr, "%.*s\n", (int)message.len, message.ptr);
  ricci_status_free(status);
  exit(1);
}

/* A writer keeps the first error, so that equations are written as expressions and checked once. */
static ricci_program* build(ricci_ctx* ctx, ricci_type vector) {
  ricci_builder* b;
  ricci_val x, sum;
  check(ricci_builder_create(ctx, "hello", 5, &vector, 1, &b, &x));
  ricci_writer w = ricci_writer_of_program(b, NULL);
  const ricci_val y = ricci_write_emit2(&w, "mul", x, ricci_write_emit1(&w, "sin", x));
  const int64_t axis = 0;
  const ricci_attr axes = ricci_attr_ints("axes", &axis, 1);
  ricci_write_emit(&w, "reduce_sum", &axes, 1, &y, 1, &sum, 1);
  check(ricci_writer_finish(&w));
  ricci_program* f;
  check(ricci_builder_finish(b, &sum, 1, &f));
  return f;
}

static void write_text(void* file, const char* text, size_t n) { fwrite(text, 1, n, (FILE*)file); }

static void print_array(const char* what, ricci_array* a) { /* of four numbers at most */
  float data[4];
  check(ricci_array_copy_to_host(a, data, ricci_array_bytes(a)));
  printf("%s", what);
  for (uint64_t i = 0; i < ricci_array_bytes(a) / sizeof(float); ++i) printf(" %.6f", data[i]);
  printf("\n");
}

int main(int argc, char** argv) {
  ricci_ctx* ctx;
  check(ricci_context_create(NULL, &ctx));
  check(ricci_context_add_plugin(ctx, ricci_plugin_query_lax));
  check(add_device(ctx, &argc, argv)); /* the backend of that device */

  const int64_t dims = 4;
  const ricci_type_desc of_four = ricci_type_desc_of(RICCI_F32, 1, &dims);
  ricci_type vector;
  check(ricci_type_make(ctx, &of_four, &vector));
  ricci_program* f = build(ctx, vector);
  const uint32_t by_first = 0;
  ricci_program* value_and_grad;
  check(ricci_grad(f, &by_first, 1, /*with_value=*/1, &value_and_grad));
  check(ricci_program_print(value_and_grad, stdout, write_text));

  ricci_executable* run; /* on device 0 */
  check(ricci_compile(value_and_grad, NULL, &run));
  const float data[4] = {0.0f, 0.5f, 1.0f, 1.5f};
  ricci_array *x, *out[2];
  check(ricci_array_from_host(ricci_device_get(ctx, 0), vector, data, NULL, &x));
  check(ricci_executable_run(run, &x, 1, out, 2, NULL));
  print_array("x        ", x);
  print_array("f(x)     ", out[0]);
  print_array("grad f(x)", out[1]);

  for (int i = 0; i < 2; ++i) ricci_array_release(out[i]);
  ricci_array_release(x);
  ricci_executable_release(run);
  ricci_program_release(value_and_grad);
  ricci_program_release(f);
  ricci_context_release(ctx);
  return 0;
}
