/* Runs the program that export.py saved, without Python: run_saved FILE [--device cpu|cuda] [--config KEY=VALUE]... */
#include <ricci/ricci.h>
#include <stdio.h>
#include <string.h>

#include "../add_device.h"

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
  ricci_ctx* ctx;
  ricci_program* f;
  ricci_executable* run;
  ricci_array *in[2], *out[2];
  const ricci_type* types;
  uint32_t n_params, n_results;
  const float q[4] = {0.0f, 1.0f, 3.0f, 6.0f}, k = 2.0f;
  float energy, force[4];
  TRY(ricci_context_create(NULL, &ctx));
  TRY(ricci_context_add_plugin(ctx, ricci_plugin_query_lax));
  TRY(add_device(ctx, &argc, argv));
  if (argc != 2) return fprintf(stderr, "usage: run_saved FILE [--device cpu|cuda] [--config KEY=VALUE]...\n"), 2;
  TRY(ricci_program_load(ctx, argv[1], strlen(argv[1]), &f));
  TRY(ricci_compile(f, NULL, &run));
  ricci_program_signature(f, &n_params, &types, &n_results, NULL);
  if (n_params != 2 || n_results != 2) return fprintf(stderr, "%s: not what export.py saves\n", argv[1]), 1;
  TRY(ricci_array_from_host(ricci_device_get(ctx, 0), types[0], q, NULL, &in[0]));
  TRY(ricci_array_from_host(ricci_device_get(ctx, 0), types[1], &k, NULL, &in[1]));
  TRY(ricci_executable_run(run, in, 2, out, 2, NULL));
  TRY(ricci_array_copy_to_host(out[0], &energy, sizeof energy));
  TRY(ricci_array_copy_to_host(out[1], force, sizeof force));
  printf("energy %.1f, gradient %.1f %.1f %.1f %.1f\n", energy, force[0], force[1], force[2], force[3]);
  for (int i = 0; i < 2; ++i) ricci_array_release(in[i]), ricci_array_release(out[i]);
  ricci_executable_release(run), ricci_program_release(f), ricci_context_release(ctx);
  return 0;
}
