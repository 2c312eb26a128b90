/* The scenarios of bindings/julia/test/runtests.jl as calls of C, on memory by columns, on a library that is loaded as
 * Julia loads it: julia_sequences PATH_OF_THE_CPU_PLUGIN
 *
 * tests/julia/julia_calls.py checks that every function that the package calls is called here or in julia_host.h.
 */
#define _GNU_SOURCE /* memmem */
#include "julia_host.h"

static ricci_device* g_device;

static ricci_ctx* new_context(const char* plugin) {
  ricci_ctx* c = NULL;
  EXPECT(ricci_abi_version() == (RICCI_ABI_MAJOR << 16 | RICCI_ABI_MINOR), "another version\n");
  check(ricci_context_create(NULL, &c));
  check(ricci_context_add_plugin(c, ricci_plugin_query_lax));
  check(ricci_context_add_plugin(c, ricci_plugin_query_nn));
  check(ricci_context_config(c, "threads", 7, "1", 1));
  check(ricci_context_load_plugin(c, plugin, strlen(plugin)));
  ricci_device_desc info;
  memset(&info, 0, sizeof info);
  info.hdr.size = sizeof info;
  g_device = ricci_device_get(c, 0);
  ricci_device_info(g_device, &info);
  EXPECT(info.host_memory == 1, "the memory of device 0 is not the host's\n");
  EXPECT(ricci_device_find(c, "cpu", 3) == g_device, "the processor is not device 0\n");
  return c;
}

static ricci_val product(julia_builder* b, ricci_val x, ricci_val y) {
  const int64_t last = 1, first = 0;
  const ricci_attr attrs[] = {ricci_attr_ints("lhs_contract", &last, 1), ricci_attr_ints("rhs_contract", &first, 1)};
  const ricci_val in[] = {x, y};
  return emit(b, "dot_general", attrs, 2, in, 2);
}
static ricci_val total(julia_builder* b, ricci_val x, uint32_t rank) {
  const int64_t axes[] = {0, 1};
  const ricci_attr all = ricci_attr_ints("axes", axes, rank);
  return emit(b, "reduce_sum", &all, 1, &x, 1);
}

/* x is 2, w is 3 x 2: sum(sin.(w * x) .^ 2) */
static ricci_program* energy(ricci_ctx* c) {
  const julia_type types[] = {type_f32(1, 2, 0), type_f32(2, 3, 2)};
  julia_builder b = new_program(c, NULL, "jit", types, 2);
  const ricci_val y = unary(&b, "square", unary(&b, "sin", product(&b, b.params[1], b.params[0])));
  const ricci_val out = total(&b, y, 1);
  return finish(&b, &out, 1);
}
static float g_x[2] = {0.1f, 0.2f}, g_w[6] = {1, 3, 5, 2, 4, 6}; /* [1 2; 3 4; 5 6] by columns */

static void functions_and_gradients(ricci_ctx* c) {
  float value = 0, wanted = 0, slope[6], wanted_slope[6];
  for (int i = 0; i < 3; ++i) {
    const float y = g_w[i] * g_x[0] + g_w[i + 3] * g_x[1];
    wanted += sinf(y) * sinf(y);
    for (int j = 0; j < 2; ++j) wanted_slope[i + 3 * j] = 2 * sinf(y) * cosf(y) * g_x[j];
  }
  ricci_program *f = energy(c), *df = NULL;
  const uint32_t argument = 1;
  check(ricci_grad(f, &argument, 1, 0, &df));
  void* const of_value[] = {g_x, g_w, &value};
  run_once(c, f, g_device, of_value, 3);
  expect_near("a value", &value, &wanted, 1);
  void* const of_slope[] = {g_x, g_w, slope};
  run_once(c, df, g_device, of_slope, 3);
  expect_near("a gradient by columns", slope, wanted_slope, 6);
}

/* jvp: sum(x .* x) at x along dx; both are 2 x 2 */
static void pushed_forward(ricci_ctx* c) {
  const julia_type square = type_f32(2, 2, 2);
  julia_builder b = new_program(c, NULL, "f", &square, 1);
  const ricci_val y = binary(&b, "mul", b.params[0], b.params[0]);
  ricci_program *f = finish(&b, &y, 1), *pushed = NULL;
  const uint8_t active = 1;
  check(ricci_jvp(f, &active, 1, &pushed));
  float x[] = {1, 2, 3, 4}, dx[] = {1, 0, 0, 1}, out[4], change[4];
  void* const pointers[] = {x, dx, out, change};
  run_once(c, pushed, g_device, pointers, 4);
  expect_near("values", out, (const float[]){1, 4, 9, 16}, 4);
  expect_near("changes", change, (const float[]){2, 0, 0, 8}, 4);
  ricci_program_release(f);
}

static void sink(void* to, const char* p, size_t n) { strncat(to, p, n); }

/* 2 .* w of a 3 x 2 matrix: both transposes are strides, so one kernel reads and writes memory in order. */
static void nothing_is_copied(ricci_ctx* c) {
  const julia_type t = type_f32(2, 3, 2);
  julia_builder b = new_program(c, NULL, "jit", &t, 1);
  const int64_t dims[] = {3, 2};
  const ricci_attr shape[] = {ricci_attr_ints("shape", dims, 2), ricci_attr_ints("broadcast_dimensions", NULL, 0)};
  const ricci_val two = splat(&b, type_f32(0, 0, 0), 2);
  const ricci_val y = binary(&b, "mul", emit(&b, "broadcast_in_dim", shape, 2, &two, 1), b.params[0]);
  ricci_program* f = finish(&b, &y, 1);
  const julia_code code = compile(c, f, g_device);
  static char plan[1 << 16];
  check(ricci_executable_dump(code.raw, "plan", 4, plan, sink));
  EXPECT(strstr(plan, "copy") == NULL, "a transpose is a copy:\n%s\n", plan);
  ricci_executable_stats stats;
  memset(&stats, 0, sizeof stats);
  stats.hdr.size = sizeof stats;
  ricci_executable_info(code.raw, &stats);
  EXPECT(stats.kernels == 1 && stats.arena_bytes == 0, "%u kernels and %u bytes instead of one kernel:\n%s\n",
         stats.kernels, (unsigned)stats.arena_bytes, plan);
  float out[6];
  void* const pointers[] = {g_w, out};
  run_bound(code, pointers, 2);
  expect_near("2 .* w", out, (const float[]){2, 6, 10, 4, 8, 12}, 6);
  drop(code);
  ricci_program_release(f);
}

/* vmap(x -> sum(x) * k) over the columns of w; k is captured, so it is a parameter after the function's own. */
static void mapped_over_columns(ricci_ctx* c) {
  const julia_type types[] = {type_f32(2, 3, 2), type_f32(0, 0, 0)}, column = type_f32(1, 3, 0);
  julia_builder b = new_program(c, NULL, "jit", types, 2);
  julia_builder element = new_program(c, &b, "element", &column, 1);
  ricci_val captured = 0;
  check(ricci_builder_param(element.raw, type_id(c, types[1]), &captured));
  const ricci_val y = binary(&element, "mul", total(&element, element.params[0], 1), captured);
  ricci_program *f = finish(&element, &y, 1), *batched = NULL;
  const int32_t in_axes[] = {1, -1}, out_axis = 0;
  check(ricci_vmap(f, in_axes, 2, &out_axis, 1, 2, NULL, &batched));
  ricci_val out = 0;
  inline_program(&b, batched, b.params, 2, &out);
  float k = 10, sums[2];
  void* const pointers[] = {g_w, &k, sums};
  run_once(c, finish(&b, &out, 1), g_device, pointers, 3);
  expect_near("sums of columns", sums, (const float[]){90, 120}, 2);
  ricci_program_release(f);
  ricci_program_release(batched);
}

/* scan((carry, x) -> (carry + x, carry * k), 0, w) over the columns of w; k is captured and so moves to the front. */
static void scanned(ricci_ctx* c) {
  const julia_type types[] = {type_f32(2, 3, 2), type_f32(0, 0, 0)}, column = type_f32(1, 3, 0);
  const julia_type own[] = {column, column}, all[] = {types[1], column, column};
  julia_builder b = new_program(c, NULL, "jit", types, 2), body = new_program(c, &b, "body", own, 2);
  ricci_val k = 0, results[2], again[2], order[3];
  check(ricci_builder_param(body.raw, type_id(c, types[1]), &k));
  const int64_t three = 3;
  const ricci_attr shape[] = {ricci_attr_ints("shape", &three, 1), ricci_attr_ints("broadcast_dimensions", NULL, 0)};
  results[0] = binary(&body, "add", body.params[0], body.params[1]);
  results[1] = binary(&body, "mul", body.params[0], emit(&body, "broadcast_in_dim", shape, 2, &k, 1));
  ricci_program* f = finish(&body, results, 2);
  julia_builder front = new_program(c, &b, "body", all, 3);
  order[0] = front.params[1], order[1] = front.params[2], order[2] = front.params[0];
  inline_program(&front, f, order, 3, again);
  ricci_program* first = finish(&front, again, 2);
  const int64_t to_front[] = {1, 0};
  const ricci_attr attrs[] = {ricci_attr_program("body", &first), ricci_attr_int("length", 2),
                              ricci_attr_bool("reverse", 0), ricci_attr_int("num_consts", 1),
                              ricci_attr_int("num_carry", 1)};
  const ricci_val zero = splat(&b, column, 0);
  const ricci_val operands[] = {b.params[1], zero, transposed(&b, b.params[0], to_front, 2)};
  ricci_val out[2];
  check(try_emit(&b, "scan", attrs, 5, operands, 3, out, 2));
  out[1] = transposed(&b, out[1], to_front, 2);
  float factor = 10, last[3], seen[6];
  void* const pointers[] = {g_w, &factor, last, seen};
  run_once(c, finish(&b, out, 2), g_device, pointers, 4);
  expect_near("the last carry", last, (const float[]){3, 7, 11}, 3);
  expect_near("carries before columns", seen, (const float[]){0, 0, 0, 10, 30, 50}, 6);
  ricci_program_release(f);
  ricci_program_release(first);
}

static ricci_program* one_argument(ricci_ctx* c, julia_builder* outer, const char* operation, float with) {
  const julia_type t = type_f32(0, 0, 0);
  julia_builder b = new_program(c, outer, operation, &t, 1);
  const ricci_val y = binary(&b, operation, b.params[0], splat(&b, t, with));
  return finish(&b, &y, 1);
}

/* while_loop(v -> v > 1, v -> v / 2, x), then cond(x > 0, v -> v * 2, v -> v - 1, x) */
static void loops_and_branches(ricci_ctx* c) {
  const julia_type t = type_f32(0, 0, 0);
  julia_builder b = new_program(c, NULL, "jit", &t, 1);
  ricci_program* const test = one_argument(c, &b, "gt", 1);
  ricci_program* const step = one_argument(c, &b, "div", 2);
  const ricci_attr attrs[] = {ricci_attr_program("cond", &test), ricci_attr_program("body", &step),
                              ricci_attr_int("cond_nconsts", 0), ricci_attr_int("body_nconsts", 0)};
  const ricci_val halved = emit(&b, "while", attrs, 4, b.params, 1);
  ricci_program* const branches[] = {one_argument(c, &b, "sub", 1), one_argument(c, &b, "mul", 2)};
  const ricci_attr both = ricci_attr_programs("branches", branches, 2);
  const ricci_attr to = ricci_attr_dtype("new_dtype", RICCI_I32);
  const ricci_val positive = binary(&b, "gt", b.params[0], splat(&b, t, 0));
  const ricci_val operands[] = {emit(&b, "convert_element_type", &to, 1, &positive, 1), halved};
  const ricci_val out = emit(&b, "cond", &both, 1, operands, 2);
  float x = 10, y = 0;
  void* const pointers[] = {&x, &y};
  run_once(c, finish(&b, &out, 1), g_device, pointers, 2);
  expect_near("a branch after a loop", &y, (const float[]){1.25f}, 1);
  ricci_program_release(test), ricci_program_release(step);
  ricci_program_release(branches[0]), ricci_program_release(branches[1]);
}

/* DeviceArray: x * x of a 2 x 2 matrix that stays on the device. */
static void on_the_device(ricci_ctx* c) {
  const julia_type t = type_f32(2, 2, 2);
  julia_builder b = new_program(c, NULL, "jit", &t, 1);
  const ricci_val y = product(&b, b.params[0], b.params[0]);
  ricci_program* f = finish(&b, &y, 1);
  const julia_code code = compile(c, f, g_device);
  const float x[] = {1, 3, 2, 4}; /* [1 2; 3 4] */
  ricci_array *in = NULL, *out = NULL;
  check(ricci_array_from_host(g_device, type_id(c, flipped(t)), x, NULL, &in));
  check(ricci_executable_run(code.raw, &in, 1, &out, 1, NULL));
  float got[4];
  check(ricci_array_copy_to_host(out, got, sizeof got));
  expect_near("a square by columns", got, (const float[]){7, 15, 10, 22}, 4);
  ricci_array_release(in), ricci_array_release(out);
  drop(code);
  ricci_program_release(f);
}

/* A mistake is a status with code, operation, file and line; the builder is abandoned. */
static void mistakes(ricci_ctx* c) {
  const julia_type types[] = {type_f32(1, 3, 0), type_f32(1, 4, 0)};
  julia_builder b = new_program(c, NULL, "f", types, 2);
  ricci_val out = 0;
  ricci_status* s = try_emit(&b, "add", NULL, 0, b.params, 2, &out, 1);
  ricci_str message, operation, file, name;
  uint32_t line = 0;
  EXPECT(s != NULL && ricci_status_code(s) == RICCI_INVALID_ARGUMENT, "f32[3] + f32[4] is not refused\n");
  ricci_status_message(s, &message);
  ricci_status_site(s, &operation, NULL, &file, &line);
  EXPECT(operation.len == 3 && memcmp(operation.ptr, "add", 3) == 0, "the operation is not named\n");
  EXPECT(file.len == 11 && line == 7 && memcmp(message.ptr, "runtests.jl:7", 13) == 0, "the place is not named: %.*s\n",
         (int)message.len, message.ptr);
  ricci_status_free(s);
  ricci_builder_abandon(b.raw);
  ricci_dtype_name(RICCI_BF16, &name);
  EXPECT(name.len == 4 && memcmp(name.ptr, "bf16", 4) == 0, "bf16 has no name\n");
}

/* Programs as text, and back. */
static void text_of_programs(ricci_ctx* c) {
  static char text[1 << 14];
  ricci_program *f = energy(c), *again = NULL;
  check(ricci_program_print(f, text, sink));
  check(ricci_program_parse(c, text, strlen(text), "", 0, &again));
  EXPECT(ricci_program_equal(f, again) && ricci_program_hash(f) == ricci_program_hash(again), "the text differs\n");
  ricci_program_release(f), ricci_program_release(again);
}

/* ---- rows.jl: cube(x) = x * x * x, and a primitive whose rule throws ---- */
typedef struct julia_row {
  const char *name, *doc;
  int refuses;
} julia_row;

static ricci_status* types_rule(void* self, ricci_builder* b, const ricci_op* op) {
  ricci_ctx* context = ricci_context_retain(op->ctx);
  ricci_status* s = NULL;
  static const char kSaid[] = "a callback in Julia failed: never";
  if (((const julia_row*)self)->refuses) {
    s = ricci_status_make(RICCI_INVALID_ARGUMENT, kSaid, strlen(kSaid));
  } else {
    const ricci_type id = type_id(context, type_of(context, op->in_types[0]));
    s = ricci_builder_set_out_types(b, &id, 1);
  }
  ricci_context_release(context); /* as the finalizer does */
  return s;
}
static ricci_status* decompose_rule(void* self, ricci_builder* raw, const ricci_op* op, const ricci_val* in,
                                    ricci_val* out) {
  (void)self;
  julia_builder b = {raw, ricci_context_retain(op->ctx), {0}};
  ricci_prim mul = 0;
  ricci_val twice = 0;
  const ricci_val pair[] = {in[0], in[0]};
  check(ricci_prim_find(b.context, "mul", 3, &mul));
  check(ricci_builder_emit(raw, mul, NULL, 0, pair, 2, &twice, 1));
  const ricci_val last[] = {twice, in[0]};
  check(ricci_builder_emit(raw, mul, NULL, 0, last, 2, out, 1));
  ricci_context_release(b.context);
  return NULL;
}
static ricci_status* attach_rows(void* self, ricci_ctx* c) {
  const julia_row* rows = self;
  for (int i = 0; i < 2; ++i) {
    ricci_lowering lowering = ricci_lowering_of(RICCI_LOWER_DECOMPOSE);
    lowering.hdr.flags = RICCI_LOWERING_TRANSFORMABLE;
    lowering.decompose = decompose_rule;
    const ricci_lowering* const lowerings[] = {&lowering};
    ricci_prim_def def = ricci_prim_def_of(rows[i].name);
    def.self = (void*)&rows[i];
    def.attr_spec_size = sizeof(ricci_attr_spec);
    def.abstract_eval = types_rule;
    def.lowerings = lowerings;
    def.n_lowerings = 1;
    def.doc = ricci_str_of(rows[i].doc);
    ricci_status* s = ricci_prim_register(c, &def, NULL);
    if (s != NULL) return s;
  }
  return NULL;
}
static julia_row g_rows[] = {{"demo.cube", "y = demo.cube(x): x^3", 0},
                             {"demo.never", "y = demo.never(x): nothing", 1}};
static ricci_plugin g_plugin;
static ricci_status* query_rows(const ricci_host_info* host, const ricci_plugin** out) {
  (void)host;
  *out = &g_plugin;
  return NULL;
}

static void rows(ricci_ctx* c) {
  memset(&g_plugin, 0, sizeof g_plugin);
  g_plugin.hdr.size = sizeof g_plugin;
  g_plugin.abi_major = RICCI_ABI_MAJOR, g_plugin.abi_minor = RICCI_ABI_MINOR;
  g_plugin.name = ricci_str_of("demo"), g_plugin.version = ricci_str_of("0.1.0");
  g_plugin.self = g_rows, g_plugin.attach = attach_rows;
  check(ricci_context_add_plugin(c, query_rows));
  const julia_type t = type_f32(1, 3, 0);
  julia_builder b = new_program(c, NULL, "f", &t, 1);
  ricci_val out = 0;
  ricci_status* s = try_emit(&b, "demo.never", NULL, 0, b.params, 1, &out, 1);
  ricci_str message, rule;
  EXPECT(s != NULL, "a rule that throws gives no status\n");
  ricci_status_message(s, &message);
  ricci_status_site(s, NULL, &rule, NULL, NULL);
  EXPECT(rule.len == 13 && memmem(message.ptr, message.len, "never", 5) != NULL, "%.*s\n", (int)message.len,
         message.ptr);
  ricci_status_free(s);
  out = total(&b, unary(&b, "demo.cube", b.params[0]), 1);
  ricci_program *f = finish(&b, &out, 1), *df = NULL;
  const uint32_t argument = 0;
  check(ricci_grad(f, &argument, 1, 0, &df));
  float x[] = {1, 2, 3}, slope[3];
  void* const pointers[] = {x, slope};
  run_once(c, df, g_device, pointers, 2);
  expect_near("the gradient of a primitive in Julia", slope, (const float[]){3, 12, 27}, 3);
  ricci_program_release(f);
}

int main(int n, char** arguments) {
  EXPECT(n == 2, "usage: julia_sequences PATH_OF_THE_CPU_PLUGIN\n");
  ricci_ctx* c = new_context(arguments[1]);
  functions_and_gradients(c);
  pushed_forward(c);
  nothing_is_copied(c);
  mapped_over_columns(c);
  scanned(c);
  loops_and_branches(c);
  on_the_device(c);
  mistakes(c);
  text_of_programs(c);
  rows(c);
  ricci_context_release(c);
  puts("ok");
  return 0;
}
