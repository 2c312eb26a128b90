/* type_text: an array type as programs write it, `f64[2,3]`, for messages of rules in C. */
#ifndef SAMPLES_TYPE_TEXT_H_
#define SAMPLES_TYPE_TEXT_H_
#include <stdio.h>

#include "ricci/writer.h"

enum { kTypeText = 96 };
typedef struct type_words {
  char text[kTypeText]; /* cut if it is longer */
} type_words;

static inline type_words type_text(ricci_ctx* ctx, ricci_type t) {
  type_words out = {"?"};
  ricci_type_desc d = ricci_type_desc_default();
  ricci_status* const failed = ricci_type_get(ctx, t, &d);
  ricci_str name;
  ricci_status_free(failed);
  if (failed != NULL) return out;
  ricci_dtype_name(d.dtype, &name);
  int n = snprintf(out.text, kTypeText, "%.*s[", (int)name.len, name.ptr);
  for (uint32_t i = 0; i < d.rank && n < kTypeText; ++i) {
    n += snprintf(out.text + n, (size_t)(kTypeText - n), i == 0 ? "%lld" : ",%lld", (long long)d.dims[i]);
  }
  if (n < kTypeText) snprintf(out.text + n, (size_t)(kTypeText - n), "]");
  return out;
}
#endif
