/* A host in C that proves that an installed prefix works: creates a context and adds the built-in primitives. */
#include <stdio.h>

#include "ricci/ricci.h"

static int check(ricci_status* status) {
  if (status == NULL) return 0;
  ricci_str message;
  ricci_status_message(status, &message);
  fprintf(stderr, "%.*s\n", (int)message.len, message.ptr);
  ricci_status_free(status);
  return 1;
}

int main(void) {
  ricci_ctx* ctx = NULL;
  ricci_prim add = 0;
  if (check(ricci_context_create(NULL, &ctx))) return 1;
  if (check(ricci_context_add_plugin(ctx, ricci_plugin_query_lax))) return 1;
#ifdef WITH_CPU
  if (check(ricci_context_add_plugin(ctx, ricci_plugin_query_cpu))) return 1;
  if (ricci_device_find(ctx, "cpu", 3) == NULL) return 1;
#endif
  if (check(ricci_prim_find(ctx, "add", 3, &add))) return 1;
  ricci_context_release(ctx);
  printf("ok: C host, primitive add is %u\n", add);
  return 0;
}
