/* The host of functions compiled ahead of time: calls number N of a table twice, on memory that only it may use.
 *
 * usage: host N < INPUTS > OUTPUTS. INPUTS: the number of inputs and of outputs, the bytes of each array (all 64-bit
 * integers), then the inputs. In the first call every array and the workspace end where a page begins that must not be
 * touch, in the second they begin where such a page ends, the workspace at an odd address. What is left of their pages
 * is marked, inputs cannot be written, and the memory of outputs and the workspace holds other bytes in each call. Both
 * must give the same: 32 bits of what the function returned, and, if that is 0, the outputs. A broken rule is a line on
 * stderr and exit status 3. */
#define _DEFAULT_SOURCE
#include "guarded_calls.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kMark = 0xa5, kAtEnd = 0, kAtBegin = 1, kCalls = 2 };

/* An array between pages that must not be touched. */
struct room {
  unsigned char *pages, *at;
  size_t all, bytes;
};

static void fail(const char* what, size_t which) {
  fprintf(stderr, "%s %zu\n", what, which);
  exit(3);
}

static void* checked(void* p) {
  if (p == NULL) fail("no memory for array", 0);
  return p;
}

static struct room make_room(size_t bytes, int place, size_t shift) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), all = (bytes + shift + page - 1) / page * page;
  struct room r = {NULL, NULL, all, bytes};
  unsigned char* p = mmap(NULL, all + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == (unsigned char*)MAP_FAILED) fail("no memory for bytes", bytes);
  r.pages = p + page;
  if (all != 0 && mprotect(r.pages, all, PROT_READ | PROT_WRITE) != 0) fail("no memory for bytes", bytes);
  if (all != 0) memset(r.pages, kMark, all);
  r.at = place == kAtEnd ? r.pages + all - bytes : r.pages + shift;
  return r;
}

static void leave(const struct room* r) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  munmap(r->pages - page, r->all + 2 * page);
}

/* Whether what surrounds the array on its pages is as it was. */
static int intact(const struct room* r) {
  for (const unsigned char* p = r->pages; p < r->at; ++p) {
    if (*p != kMark) return 0;
  }
  for (const unsigned char* p = r->at + r->bytes; p < r->pages + r->all; ++p) {
    if (*p != kMark) return 0;
  }
  return 1;
}

static void take(void* to, size_t bytes) {
  if (bytes != 0 && fread(to, 1, bytes, stdin) != bytes) fail("the inputs end early, bytes", bytes);
}
static void give(const void* from, size_t bytes) {
  if (bytes != 0 && fwrite(from, 1, bytes, stdout) != bytes) fail("outputs cannot be written, bytes", bytes);
}

/* One call; the outputs go to `out`, one after another. */
static int call(const struct ricci_fuzz_function* f, int place, size_t n_in, size_t n_out, const uint64_t* bytes,
                const unsigned char* in, unsigned char* out) {
  const size_t n = n_in + n_out;
  const int garbage = place == kAtEnd ? 0xff : 0x3c;
  struct room* rooms = checked(calloc(n + 1, sizeof *rooms));
  void** arrays = checked(calloc(n + 1, sizeof *arrays));
  for (size_t i = 0; i < n; ++i) {
    rooms[i] = make_room((size_t)bytes[i], place, 0);
    arrays[i] = rooms[i].at;
    if (i >= n_in && bytes[i] != 0) memset(arrays[i], garbage, (size_t)bytes[i]);
    if (i >= n_in || bytes[i] == 0) continue;
    memcpy(arrays[i], in, (size_t)bytes[i]);
    in += bytes[i];
    if (mprotect(rooms[i].pages, rooms[i].all, PROT_READ) != 0) fail("cannot protect input", i);
  }
  rooms[n] = make_room(f->workspace_bytes, place, place == kAtBegin ? 13 : 0);
  if (f->workspace_bytes != 0) memset(rooms[n].at, garbage, f->workspace_bytes);
  const int code = f->call(arrays, f->workspace_bytes == 0 ? NULL : rooms[n].at);
  for (size_t i = n_in; i < n; ++i) {
    if (bytes[i] != 0) memcpy(out, arrays[i], (size_t)bytes[i]);
    out += bytes[i];
  }
  for (size_t i = 0; i <= n; ++i) {
    if (!intact(&rooms[i]))
      fail(i == n ? "the memory around the workspace was written; array" : "the memory around was written; array", i);
    leave(&rooms[i]);
  }
  free(rooms);
  free(arrays);
  return code;
}

int main(int argc, char** argv) {
  uint64_t counts[2];
  if (argc != 2) fail("usage: host N; arguments:", (size_t)argc);
  const struct ricci_fuzz_function* f = &ricci_fuzz_functions[strtoul(argv[1], NULL, 10)];
  take(counts, sizeof counts);
  const size_t n_in = (size_t)counts[0], n = n_in + (size_t)counts[1];
  uint64_t* bytes = checked(calloc(n + 1, sizeof *bytes));
  take(bytes, n * sizeof *bytes);
  size_t sums[2] = {0, 0};
  for (size_t i = 0; i < n; ++i) sums[i >= n_in] += (size_t)bytes[i];
  unsigned char *in = checked(malloc(sums[0] + 1)), *out[kCalls];
  int32_t codes[kCalls];
  take(in, sums[0]);
  for (int place = 0; place < kCalls; ++place) {
    out[place] = checked(malloc(sums[1] + 1));
    codes[place] = call(f, place, n_in, n - n_in, bytes, in, out[place]);
  }
  if (codes[0] != codes[1])
    fail("two calls with the same inputs return different numbers, the second", (size_t)codes[1]);
  if (codes[0] == 0 && memcmp(out[0], out[1], sums[1]) != 0)
    fail("two calls with the same inputs differ; outputs:", n - n_in);
  give(&codes[0], sizeof codes[0]);
  if (codes[0] == 0) give(out[0], sums[1]);
  for (int place = 0; place < kCalls; ++place) free(out[place]);
  free(in);
  free(bytes);
  return fflush(stdout) == 0 ? 0 : 3;
}
