/* Rows whose code on `cpu` is text: one written in C (source_row_in_c.c), and one for texts that tests choose. */
#ifndef RICCI_TESTS_CPU_SOURCE_ROWS_H_
#define RICCI_TESTS_CPU_SOURCE_ROWS_H_
#include "ricci/ricci.h"
#ifdef __cplusplus
extern "C" {
#endif

/* test.sum_last: sums f64[..., n] over its last dimension, a task for each sum. */
ricci_status* query_source_row_in_c(const ricci_host_info* host, const ricci_plugin** out);

#ifdef __cplusplus
}
#endif
#endif
