/* A plugin in C with one primitive: demo.smooth_abs(x) = sqrt(x^2 + eps^2), elementwise, with the attribute eps.
 *
 * What a new primitive gives the core, and what it gets for it:
 *   abstract_eval  the type of the result, with errors for what makes no sense
 *   jvp            the tangent, written with other primitives: gradients of any order follow, because those have rules
 *   batch_kind     elementwise, so vmap needs no code
 *   examples       `ricci check --plugin FILE` holds the rules against what they mean
 *   a SCALAR lowering: one expression per element, which fuses into generated code of every backend
 * The same source is linked statically or loaded at run time; see ricci_add_plugin.
 */
#include "ricci/api_table.h"

#define TEXT(s) \
  { s, sizeof(s) - 1 }
#define TRY(call)                        \
  do {                                   \
    ricci_status* status_ = (call);      \
    if (status_ != NULL) return status_; \
  } while (0)

static ricci_status* invalid(const char* message) {
  size_t length = 0;
  while (message[length] != '\0') ++length;
  return ricci_status_make(RICCI_INVALID_ARGUMENT, message, length);
}

static ricci_status* abstract_eval(void* self, ricci_builder* b, const ricci_op* op) {
  (void)self;
  uint32_t dtype;
  if (op->n_in != 1) return invalid("demo.smooth_abs: takes one operand");
  TRY(ricci_type_get(op->ctx, op->in_types[0], &dtype, NULL, NULL));
  if (dtype != RICCI_F32 && dtype != RICCI_F64) return invalid("demo.smooth_abs: the operand must be f32 or f64");
  if (!(op->attrs[0].f > 0.0)) return invalid("demo.smooth_abs: eps must be positive");
  return ricci_builder_set_out_types(b, op->in_types, 1);
}

static ricci_status* emit(ricci_builder* b, const char* name, size_t len, ricci_val x, ricci_val y, ricci_val* out) {
  ricci_prim prim;
  const ricci_val in[2] = {x, y};
  TRY(ricci_prim_find(ricci_builder_context(b), name, len, &prim));
  return ricci_builder_emit(b, prim, NULL, 0, in, 2, out, 1);
}

/* d sqrt(x^2 + eps^2) = x / sqrt(x^2 + eps^2) dx */
static ricci_status* jvp(void* self, ricci_builder* b, const ricci_op* op, const ricci_jvp_args* a) {
  (void)self;
  ricci_val slope;
  TRY(ricci_builder_emit(b, op->prim, op->attrs, op->n_attrs, a->primals, 1, a->out_primals, 1));
  if (a->tangents[0] == RICCI_VAL_ZERO) return NULL;
  TRY(emit(b, "div", 3, a->primals[0], a->out_primals[0], &slope));
  return emit(b, "mul", 3, slope, a->tangents[0], &a->out_tangents[0]);
}

/* One element: three scalar operations. The constant has the element type of the operand. */
static ricci_status* scalar(void* self, ricci_kernel_builder* k, const ricci_op* op, const ricci_sval* in,
                            ricci_sval* out) {
  (void)self;
  const double square64 = op->attrs[0].f * op->attrs[0].f;
  const float square32 = (float)square64;
  const uint32_t dtype = ricci_kernel_dtype(k, in[0]);
  const ricci_sval factors[2] = {in[0], in[0]};
  ricci_sval sum[2], radicand;
  TRY(ricci_kernel_const(k, dtype, dtype == RICCI_F32 ? (const void*)&square32 : (const void*)&square64, &sum[1]));
  TRY(ricci_kernel_scalar(k, RICCI_S_MUL, 0, factors, 2, &sum[0]));
  TRY(ricci_kernel_scalar(k, RICCI_S_ADD, 0, sum, 2, &radicand));
  return ricci_kernel_scalar(k, RICCI_S_SQRT, 0, &radicand, 1, out);
}

static ricci_status* attach(void* self, ricci_ctx* ctx) {
  (void)self;
  static const ricci_attr_spec attrs[] = {{.name = TEXT("eps"), .kind = RICCI_ATTR_FLOAT}};
  static const ricci_lowering lowering = {
      .hdr = {.size = sizeof(ricci_lowering)}, .kind = RICCI_LOWER_SCALAR, .target = TEXT("*"), .scalar = scalar};
  static const ricci_lowering* const lowerings[] = {&lowering};
  static const ricci_prim_def row = {.hdr = {.size = sizeof(ricci_prim_def)},
                                     .name = TEXT("demo.smooth_abs"),
                                     .attr_specs = attrs,
                                     .n_attr_specs = 1,
                                     .batch_kind = RICCI_BATCH_ELEMENTWISE,
                                     .abstract_eval = abstract_eval,
                                     .jvp = jvp,
                                     .missing = TEXT("transpose: not linear"),
                                     .lowerings = lowerings,
                                     .n_lowerings = 1,
                                     .examples = TEXT("(f64[2,3]) eps=0.5; (f32[5]) eps=0.25")};
  ricci_prim id;
  return ricci_prim_register(ctx, &row, &id);
}

ricci_status* ricci_plugin_query_smooth_abs(const ricci_host_info* host, const ricci_plugin** out) {
  (void)host;
  static const ricci_plugin plugin = {.hdr = {.size = sizeof(ricci_plugin)},
                                      .abi_major = RICCI_ABI_MAJOR,
                                      .abi_minor = RICCI_ABI_MINOR,
                                      .name = TEXT("smooth_abs"),
                                      .version = TEXT("0.1.0"),
                                      .attach = attach};
  *out = &plugin;
  return NULL;
}
