/* add_device: `--device cpu|cuda` and `--config KEY=VALUE` of the samples, and the backend that they ask for.
 *
 * Device 0 of the context is then that device. On a GPU, arrays are in its memory: a sample makes them with
 * ricci_array_from_host and reads them with ricci_array_copy_to_host, which does the right thing on every device.
 */
#ifndef SAMPLES_ADD_DEVICE_H_
#define SAMPLES_ADD_DEVICE_H_
#include <string.h>

#include "ricci/ricci.h"

static inline ricci_status* wrong_words(const char* text) {
  return ricci_status_make(RICCI_INVALID_ARGUMENT, text, strlen(text));
}

static inline ricci_status* set_option(ricci_ctx* ctx, const char* pair) {
  const char* const equals = strchr(pair, '=');
  if (equals == NULL) return wrong_words("--config takes KEY=VALUE");
  return ricci_context_config(ctx, pair, (size_t)(equals - pair), equals + 1, strlen(equals + 1));
}

static inline ricci_status* add_backend(ricci_ctx* ctx, const char* device) {
  if (strcmp(device, "cuda") == 0) {
#ifdef SAMPLES_CUDA
    return ricci_context_add_plugin(ctx, ricci_plugin_query_cuda);
#else
    return wrong_words("this build has no backend for GPUs");
#endif
  }
  if (strcmp(device, "cpu") != 0) return wrong_words("--device is cpu or cuda");
  return ricci_device_find(ctx, "cpu", 3) != NULL ? NULL : ricci_context_add_plugin(ctx, ricci_plugin_query_cpu);
}

/* After the primitives have been added, which a backend improves. Takes these options and their values out of the words
 * of main; what is left is the sample's own. */
static inline ricci_status* add_device(ricci_ctx* ctx, int* argc, char** argv) {
  const char* device = "cpu";
  int kept = 1;
  for (int i = 1; i < *argc; ++i) {
    const int names_device = strcmp(argv[i], "--device") == 0;
    if (!names_device && strcmp(argv[i], "--config") != 0) {
      argv[kept++] = argv[i];
      continue;
    }
    if (++i == *argc) return wrong_words("--device and --config take a value");
    ricci_status* const failed = names_device ? NULL : set_option(ctx, argv[i]);
    if (failed != NULL) return failed;
    if (names_device) device = argv[i];
  }
  *argc = kept;
  return add_backend(ctx, device);
}

#endif
