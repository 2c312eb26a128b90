/* Functions in C for writer_test.cc: a plugin whose rows are written with ricci/writer.h, and attributes. */
#ifndef RICCI_TESTS_API_WRITER_IN_C_H_
#define RICCI_TESTS_API_WRITER_IN_C_H_
#include "ricci/ricci.h"
#ifdef __cplusplus
extern "C" {
#endif

/* test.count_above(x: f64[m,n], limit: f64[]) -> i32[m]: loops, branches, a private array, reductions, checks.
 * test.narrow(x) = x * 0.5 + 2 of any float, by constants of its dtype. test.broken: its kernel has errors. */
ricci_status* query_written_in_c(const ricci_host_info* host, const ricci_plugin** out);
/* One attribute of each kind, named by its kind: 9 of them. */
void attributes_in_c(ricci_attr out[9]);
/* 1 + x, the sum in f16, written with a writer; or the same with an error in the middle. */
ricci_status* program_in_c(ricci_ctx* ctx, uint32_t with_error, ricci_program** out);
/* The bytes of a number, as hexadecimal digits from the lowest byte. */
void element_in_c(uint32_t dtype, double v, char text[17]);

#ifdef __cplusplus
}
#endif
#endif
