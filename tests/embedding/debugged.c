/* debugged gdb|perf: a program whose equations have their lines here, compiled with the option cpu.debug, and run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ricci/ricci.h"
#include "ricci/writer.h"

static void check(ricci_status* s) {
  if (s == NULL) return;
  ricci_str text;
  ricci_status_message(s, &text);
  printf("%.*s\n", (int)text.len, text.ptr);
  exit(1);
}

#define HERE ricci_builder_set_location(b, __FILE__, __LINE__, __func__)

int main(int argc, char** argv) {
  ricci_ctx* ctx;
  check(ricci_context_create(NULL, &ctx));
  check(ricci_context_add_plugin(ctx, ricci_plugin_query_lax));
  if (argc == 2) check(ricci_context_config(ctx, "cpu.debug", 9, argv[1], strlen(argv[1])));
  check(ricci_context_add_plugin(ctx, ricci_plugin_query_cpu));
  const int64_t dims = 1000;
  const ricci_type_desc desc = ricci_type_desc_of(RICCI_F32, 1, &dims);
  ricci_type vector;
  check(ricci_type_make(ctx, &desc, &vector));
  ricci_builder* b;
  ricci_val x;
  check(ricci_builder_create(ctx, "wave", 4, &vector, 1, &b, &x));
  ricci_writer w = ricci_writer_of_program(b, NULL);
  HERE; /* line of sin */
  ricci_val y = ricci_write_emit1(&w, "sin", x);
  HERE; /* line of mul */
  y = ricci_write_emit2(&w, "mul", y, x);
  check(ricci_writer_finish(&w));
  ricci_program* f;
  check(ricci_builder_finish(b, &y, 1, &f));
  ricci_compile_opts o = {{sizeof o, 0, NULL}};
  ricci_device* const cpu = ricci_device_find(ctx, "cpu", 3);
  o.devices = &cpu;
  o.n_devices = 1;
  ricci_executable* e;
  check(ricci_compile(f, &o, &e));
  static float in[1000], out[1000];
  for (int i = 0; i < 1000; ++i) in[i] = (float)i;
  ricci_call* call;
  check(ricci_call_create(e, &call));
  check(ricci_call_bind(call, 0, in, sizeof in));
  check(ricci_call_bind(call, 1, out, sizeof out));
  check(ricci_call_run(call));
  printf("%.4f\n", (double)out[1]);
  ricci_call_release(call);
  ricci_executable_release(e);
  ricci_program_release(f);
  ricci_context_release(ctx);
  return 0;
}
