/* Runs the program that export.py saved, without Python: run_saved FILE */
#include <ricci/ricci.h>
#include <stdio.h>
#include <string.h>

#define TRY(call)             \
  do {                        \
    ricci_status* s = (call); \
    if (s) return Report(s);  \
  } while (0)
static int Report(ricci_status* s) {
  ricci_str text;
  ricci_status_message(s, &text);
  fprintf(stderr, "%.*s\n", (int)text.len, text.ptr);
  ricci_status_free(s);
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 2) return fprintf(stderr, "usage: run_saved FILE\n"), 2;
  ricci_ctx* ctx;
  ricci_program* f;
  ricci_executable* run;
  ricci_call* call;
  float q[4] = {0.0f, 1.0f, 3.0f, 6.0f}, k = 2.0f, energy, force[4];
  TRY(ricci_context_create(NULL, &ctx));
  TRY(ricci_context_add_plugin(ctx, ricci_plugin_query_lax));
  TRY(ricci_context_add_plugin(ctx, ricci_plugin_query_cpu));
  TRY(ricci_program_load(ctx, argv[1], strlen(argv[1]), &f));
  TRY(ricci_compile(f, NULL, &run));
  TRY(ricci_call_create(run, &call));
  TRY(ricci_call_bind(call, 0, q, sizeof q));
  TRY(ricci_call_bind(call, 1, &k, sizeof k));
  TRY(ricci_call_bind(call, 2, &energy, sizeof energy));
  TRY(ricci_call_bind(call, 3, force, sizeof force));
  TRY(ricci_call_run(call));
  printf("energy %.1f, gradient %.1f %.1f %.1f %.1f\n", energy, force[0], force[1], force[2], force[3]);
  ricci_call_release(call), ricci_executable_release(run);
  ricci_program_release(f), ricci_context_release(ctx);
  return 0;
}
