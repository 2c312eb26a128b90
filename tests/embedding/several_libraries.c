/* several_libraries LIBRICCI CPU [OTHER]...: two copies of the core in one process, each opened from a file of its own
 * with RTLD_LOCAL, after other libraries (LLVM's, say) were opened for all to see; plugins that the host closes again.
 *
 * Prints `ok`, or what failed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ricci/ricci.h"

/* Functions of one copy; those that the host here needs. */
typedef struct {
  void* library;
  __typeof__(&ricci_context_create) context_create;
  __typeof__(&ricci_context_release) context_release;
  __typeof__(&ricci_context_add_plugin) add_plugin;
  __typeof__(&ricci_context_load_plugin) load_plugin;
  __typeof__(&ricci_plugin_query_lax) query_lax;
  __typeof__(&ricci_program_parse) parse;
  __typeof__(&ricci_program_release) program_release;
  __typeof__(&ricci_device_find) device_find;
  __typeof__(&ricci_compile) compile;
  __typeof__(&ricci_executable_release) executable_release;
  __typeof__(&ricci_call_create) call_create;
  __typeof__(&ricci_call_bind) call_bind;
  __typeof__(&ricci_call_run) call_run;
  __typeof__(&ricci_call_release) call_release;
  __typeof__(&ricci_status_message) status_message;
} Copy;

static void stop(const char* what, const char* more) {
  printf("%s%s\n", what, more);
  exit(1);
}

static void* find(void* library, const char* name) {
  void* const f = dlsym(library, name);
  if (f == NULL) stop("not in the library: ", name);
  return f;
}

#define FIND(member, name) *(void**)&c.member = find(c.library, #name)

static Copy open_copy(const char* path) {
  Copy c;
  memset(&c, 0, sizeof c);
  c.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (c.library == NULL) stop("not opened: ", dlerror());
  FIND(context_create, ricci_context_create);
  FIND(context_release, ricci_context_release);
  FIND(add_plugin, ricci_context_add_plugin);
  FIND(load_plugin, ricci_context_load_plugin);
  FIND(query_lax, ricci_plugin_query_lax);
  FIND(parse, ricci_program_parse);
  FIND(program_release, ricci_program_release);
  FIND(device_find, ricci_device_find);
  FIND(compile, ricci_compile);
  FIND(executable_release, ricci_executable_release);
  FIND(call_create, ricci_call_create);
  FIND(call_bind, ricci_call_bind);
  FIND(call_run, ricci_call_run);
  FIND(call_release, ricci_call_release);
  FIND(status_message, ricci_status_message);
  return c;
}

static void check(const Copy* c, ricci_status* s) {
  if (s == NULL) return;
  ricci_str text;
  c->status_message(s, &text);
  stop("a call failed: ", text.ptr);
}

static ricci_ctx* context_of(const Copy* c, const char* cpu) {
  ricci_ctx* ctx;
  check(c, c->context_create(NULL, &ctx));
  check(c, c->add_plugin(ctx, c->query_lax));
  /* The host has the plugin open as well, and closes it: it stays. */
  void* const opened = dlopen(cpu, RTLD_NOW | RTLD_LOCAL);
  if (opened == NULL) stop("not opened: ", dlerror());
  check(c, c->load_plugin(ctx, cpu, strlen(cpu)));
  while (dlclose(opened) != 0) stop("not closed: ", dlerror());
  return ctx;
}

/* sin(x) * x of 4 numbers, through copy `c`. */
static void run(const Copy* c, ricci_ctx* ctx) {
  static const char kText[] = "program f(%x: f32[4]) { %s: f32[4] = sin(%x) %y: f32[4] = mul(%s, %x) return %y }";
  ricci_program* f;
  check(c, c->parse(ctx, kText, sizeof kText - 1, "f", 1, &f));
  ricci_compile_opts o = {{sizeof o, 0, NULL}};
  ricci_device* const on = c->device_find(ctx, "cpu", 3);
  o.devices = &on;
  o.n_devices = 1;
  ricci_executable* x;
  ricci_call* call;
  check(c, c->compile(f, &o, &x));
  check(c, c->call_create(x, &call));
  float in[4] = {0, 1, 2, 3}, out[4] = {-1, -1, -1, -1};
  check(c, c->call_bind(call, 0, in, sizeof in));
  check(c, c->call_bind(call, 1, out, sizeof out));
  check(c, c->call_run(call));
  if (out[0] != 0 || out[1] < 0.8414f || out[1] > 0.8415f) stop("wrong result", "");
  c->call_release(call);
  c->executable_release(x);
  c->program_release(f);
}

int main(int argc, char** argv) {
  if (argc < 4) stop("usage: several_libraries LIBRICCI CPU COPY_OF_LIBRICCI COPY_OF_CPU [OTHER]...", "");
  for (int i = 5; i < argc; ++i) {
    if (dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL) == NULL) stop("not opened: ", dlerror());
  }
  const Copy first = open_copy(argv[1]), second = open_copy(argv[3]);
  if ((void*)first.context_create == (void*)second.context_create) stop("both are the same copy", "");
  ricci_ctx *a = context_of(&first, argv[2]), *b = context_of(&second, argv[4]);
  for (int i = 0; i < 3; ++i) run(&first, a), run(&second, b);
  first.context_release(a);
  run(&second, b);
  second.context_release(b);
  dlclose(second.library);
  a = context_of(&first, argv[2]);
  run(&first, a);
  first.context_release(a);
  puts("ok");
  return 0;
}
