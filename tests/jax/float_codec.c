/* ricci_float_codec decode|encode DTYPE: reads words of 8 bytes, elements for decode and doubles for encode, and writes
 * the other form of each. In C, so that no C++ compiler evaluates ricci/float_format.h at compile time. */
#include <stdio.h>
#include <string.h>

#include "ricci/float_format.h"

static uint32_t DTypeOf(const char* name) {
  for (uint32_t dtype = 1; dtype <= RICCI_KEY; ++dtype) {
    ricci_str s;
    ricci_dtype_name(dtype, &s);
    if (s.len == strlen(name) && memcmp(s.ptr, name, s.len) == 0) return dtype;
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const ricci_float_format format = ricci_float_format_of(DTypeOf(argv[2]));
  const int decode = strcmp(argv[1], "decode") == 0;
  if (format.largest == 0) return 2;
  uint64_t word = 0;
  while (fread(&word, sizeof word, 1, stdin) == 1) {
    const double v = ricci_f64_of_bits(word);
    word = decode ? ricci_f64_bits(ricci_float_decode(format, word)) : ricci_float_encode(format, v);
    if (fwrite(&word, sizeof word, 1, stdout) != 1) return 1;
  }
  return 0;
}
