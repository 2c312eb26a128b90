/* ricci/exact.h: integer arithmetic that never wraps, for sizes, counts, axes and attributes. The text of
 * a program chooses these, so any of them may be any int64.
 *
 * A ricci_exact holds 128 bits, so sums and products of a few int64 are exact. A result beyond even that is `lost`, and
 * so is everything computed from it. Only narrowing gives a number of 64 bits back, and only in the range asked for.
 * The core, the C++ binding and plugins all compute shapes with these functions; in C++ they have operators:
 *   int64_t n;
 *   if (!ricci_exact_narrow(ricci_exact_of(low) + high + size, 0, RICCI_MAX_DIM, &n)) ... refuse, with both values
 * Header-only: nothing here is a function of the library.
 */
#ifndef RICCI_EXACT_H_
#define RICCI_EXACT_H_
#include "ricci/base.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RICCI_MAX_DIM ((int64_t)1 << 62) /* no dimension of a type is greater */

__extension__ typedef __int128 ricci_int128;

typedef struct ricci_exact {
  ricci_int128 value;
  uint32_t lost; /* != 0: the number does not fit, `value` means nothing */
} ricci_exact;

static inline ricci_exact ricci_exact_of(int64_t v) {
  ricci_exact out;
  out.value = v;
  out.lost = 0;
  return out;
}
static inline ricci_exact ricci_exact_add(ricci_exact a, ricci_exact b) {
  a.lost |= b.lost | (uint32_t)__builtin_add_overflow(a.value, b.value, &a.value);
  return a;
}
static inline ricci_exact ricci_exact_sub(ricci_exact a, ricci_exact b) {
  a.lost |= b.lost | (uint32_t)__builtin_sub_overflow(a.value, b.value, &a.value);
  return a;
}
static inline ricci_exact ricci_exact_mul(ricci_exact a, ricci_exact b) {
  a.lost |= b.lost | (uint32_t)__builtin_mul_overflow(a.value, b.value, &a.value);
  return a;
}
/* 1, and *out = v, if v is in [min, max]; else 0, and *out stays as it is. */
static inline int ricci_exact_narrow(ricci_exact v, int64_t min, int64_t max, int64_t* out) {
  if (v.lost != 0 || v.value < min || v.value > max) return 0;
  *out = (int64_t)v.value;
  return 1;
}
/* The nearest number in [min, max], for estimates and bounds, where a limit is as good as the number. A lost one is
 * max. */
static inline int64_t ricci_exact_clamp(ricci_exact v, int64_t min, int64_t max) {
  if (v.lost != 0 || v.value > max) return max;
  return v.value < min ? min : (int64_t)v.value;
}
/* The decimal digits of v with a 0 at the end, for messages; borrowed from `buffer`. */
static inline const char* ricci_exact_text(ricci_exact v, char buffer[48]) {
  char* at = buffer + 47;
  ricci_int128 rest = v.value;
  *at = 0;
  if (v.lost != 0) return "a number of more than 128 bits";
  do {
    const int digit = (int)(rest % 10);
    *--at = (char)('0' + (digit < 0 ? -digit : digit));
    rest /= 10;
  } while (rest != 0);
  if (v.value < 0) *--at = '-';
  return at;
}

#ifdef __cplusplus
}
inline ricci_exact operator+(ricci_exact a, ricci_exact b) { return ricci_exact_add(a, b); }
inline ricci_exact operator-(ricci_exact a, ricci_exact b) { return ricci_exact_sub(a, b); }
inline ricci_exact operator*(ricci_exact a, ricci_exact b) { return ricci_exact_mul(a, b); }
inline ricci_exact operator+(ricci_exact a, int64_t b) { return a + ricci_exact_of(b); }
inline ricci_exact operator-(ricci_exact a, int64_t b) { return a - ricci_exact_of(b); }
inline ricci_exact operator*(ricci_exact a, int64_t b) { return a * ricci_exact_of(b); }
#endif
#endif
