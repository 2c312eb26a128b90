/* Three copies of the core in one process: two_cores LIBRICCI_SO COPY_OF_IT
 *
 * This program links the archive; two shared objects with the same names in them are opened beside it. Each has its own
 * context, at the same time, and none may find another one's symbols.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ricci/ricci.h"

#define EXPECT(is, ...) ((is) ? (void)0 : (fprintf(stderr, __VA_ARGS__), exit(1)))

typedef struct core { /* the functions of one copy */
  __typeof__(&ricci_context_create) context_create;
  __typeof__(&ricci_context_add_plugin) add_plugin;
  __typeof__(&ricci_context_release) context_release;
  __typeof__(&ricci_program_parse) parse;
  __typeof__(&ricci_program_release) program_release;
  __typeof__(&ricci_grad) grad;
  __typeof__(&ricci_compile) compile;
  __typeof__(&ricci_executable_release) executable_release;
  __typeof__(&ricci_call_create) call_create;
  __typeof__(&ricci_call_bind) bind;
  __typeof__(&ricci_call_run) run;
  __typeof__(&ricci_call_release) call_release;
  __typeof__(&ricci_plugin_query_lax) query_lax;
  ricci_ctx* ctx;
  ricci_call* call;
  float x, slope;
} core;

static const char kText[] = "program f(%x: f32[]) { %0: f32[] = sin(%x)  %1: f32[] = mul(%0, %x)  return %1 }";

static core linked(void) {
  const core c = {ricci_context_create,
                  ricci_context_add_plugin,
                  ricci_context_release,
                  ricci_program_parse,
                  ricci_program_release,
                  ricci_grad,
                  ricci_compile,
                  ricci_executable_release,
                  ricci_call_create,
                  ricci_call_bind,
                  ricci_call_run,
                  ricci_call_release,
                  ricci_plugin_query_lax,
                  NULL,
                  NULL,
                  0,
                  0};
  return c;
}

static void* found(void* library, const char* name) {
  void* symbol = dlsym(library, name);
  EXPECT(symbol != NULL, "%s is not exported\n", name);
  return symbol;
}

static core opened(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  EXPECT(library != NULL, "%s\n", dlerror());
  static const char* const names[] = {"ricci_context_create",  "ricci_context_add_plugin", "ricci_context_release",
                                      "ricci_program_parse",   "ricci_program_release",    "ricci_grad",
                                      "ricci_compile",         "ricci_executable_release", "ricci_call_create",
                                      "ricci_call_bind",       "ricci_call_run",           "ricci_call_release",
                                      "ricci_plugin_query_lax"};
  core c = linked();
  void* slots[sizeof names / sizeof names[0]];
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) slots[i] = found(library, names[i]);
  memcpy(&c, slots, sizeof slots); /* the functions are its first members */
  return c;
}

static void check(ricci_status* s) { EXPECT(s == NULL, "a call failed\n"); }

static void begin(core* c, float x) {
  const uint32_t argument = 0;
  ricci_program *f = NULL, *df = NULL;
  ricci_executable* code = NULL;
  c->x = x;
  check(c->context_create(NULL, &c->ctx));
  check(c->add_plugin(c->ctx, c->query_lax));
  check(c->parse(c->ctx, kText, sizeof kText - 1, "", 0, &f));
  check(c->grad(f, &argument, 1, 0, &df));
  check(c->compile(df, NULL, &code));
  check(c->call_create(code, &c->call));
  check(c->bind(c->call, 0, &c->x, sizeof c->x));
  check(c->bind(c->call, 1, &c->slope, sizeof c->slope));
  c->executable_release(code), c->program_release(f), c->program_release(df);
}

int main(int n, char** paths) {
  EXPECT(n == 3, "usage: two_cores LIBRICCI_SO COPY_OF_IT\n");
  core cores[] = {linked(), opened(paths[1]), opened(paths[2])};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < i; ++j) EXPECT(cores[i].parse != cores[j].parse, "copies %d and %d are one\n", i, j);
  }
  for (int i = 0; i < 3; ++i) begin(&cores[i], (float)i);
  for (int i = 2; i >= 0; --i) check(cores[i].run(cores[i].call));
  static const float wanted[] = {0, 1.38177329f, 0.0770037537f}; /* sin x + x cos x */
  for (int i = 0; i < 3; ++i) {
    const float off = cores[i].slope - wanted[i];
    EXPECT(off < 1e-5f && off > -1e-5f, "copy %d: %g, not %g\n", i, cores[i].slope, wanted[i]);
  }
  cores[1].call_release(cores[1].call), cores[1].context_release(cores[1].ctx); /* the others go on */
  check(cores[0].run(cores[0].call)), check(cores[2].run(cores[2].call));
  for (int i = 0; i < 3; i += 2) cores[i].call_release(cores[i].call), cores[i].context_release(cores[i].ctx);
  puts("ok");
  return 0;
}
