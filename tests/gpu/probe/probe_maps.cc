// Tensor maps: each rule of cuTensorMapEncodeTiled that NVIDIA's header states, at its edge, and views of arrays as
// products of attention have them.
#include "probe.h"

namespace ricci::probe {
namespace {

constexpr uint64_t kMostSize = uint64_t{1} << 32, kMostStride = uint64_t{1} << 40;

enum class Documented { kTaken, kRefused };
constexpr auto kTaken = Documented::kTaken, kRefused = Documented::kRefused;

// A map of 256 x 256 x 4 elements of 2 bytes, with boxes of 64 x 64, but for what a question changes.
struct Map {
  size_t place = 0;      // of the map, from an address of 128 bytes
  uint64_t address = 0;  // of the tensor, from one of 512 bytes
  unsigned rank = 3;
  uint64_t sizes[6] = {256, 256, 4, 2, 2, 2};                       // the innermost first
  uint64_t strides[5] = {512, 1 << 17, 1 << 19, 1 << 20, 1 << 21};  // bytes, from the second dimension on
  unsigned box[6] = {64, 64, 1, 1, 1, 1};
  int swizzle = kCuTensorSwizzle128;
};

struct Case {
  const char* name;
  Documented documented;
  Map map;
};
constexpr int kNoSwizzle = 0;
const Case kCases[] = {
    // ---- ranks ----
    {"rank 0", kRefused, {.rank = 0}},
    {"rank 1", kTaken, {.rank = 1}},
    {"rank 2", kTaken, {.rank = 2}},
    {"rank 4", kTaken, {.rank = 4}},
    {"rank 5", kTaken, {.rank = 5}},
    {"rank 6", kRefused, {.rank = 6}},
    // ---- places ----
    {"the map at 128 bytes", kTaken, {}},
    {"the map at 64 bytes", kTaken, {.place = 64}},
    {"the map at 32 bytes", kRefused, {.place = 32}},
    {"the tensor at 16 bytes", kTaken, {.address = 16}},
    {"the tensor at 8 bytes", kRefused, {.address = 8}},
    // ---- sizes ----
    {"a size of 0", kRefused, {.sizes = {256, 256, 0}}},
    {"a size of 2^32", kTaken, {.sizes = {256, 256, kMostSize}}},
    {"a size of 2^32 + 1", kRefused, {.sizes = {256, 256, kMostSize + 1}}},
    {"an innermost size of 202 bytes", kTaken, {.sizes = {101, 256, 4}}},
    {"a size below that of the box", kTaken, {.sizes = {256, 48, 4}}},
    // ---- strides ----
    {"a stride of 520 bytes", kRefused, {.strides = {520, 520 * 256}}},
    {"a stride of 528 bytes", kTaken, {.strides = {528, 528 * 256}}},
    {"a stride below 2^40", kTaken, {.strides = {512, kMostStride - 512}}},
    {"a stride of 2^40", kRefused, {.strides = {512, kMostStride}}},
    {"rows that overlap", kRefused, {.strides = {256, 1 << 17}}},
    {"strides that are not multiples of each other", kRefused, {.strides = {512, (1 << 17) + 16}}},
    {"strides out of order", kRefused, {.sizes = {256, 4, 256}, .strides = {1 << 17, 512}}},
    // ---- boxes ----
    {"a box of 0", kRefused, {.box = {64, 0, 1}}},
    {"a box of 256", kTaken, {.box = {64, 256, 1}}},
    {"a box of 257", kRefused, {.box = {64, 257, 1}}},
    {"a box over two dimensions", kTaken, {.sizes = {256, 8, 16}, .strides = {512, 4096}, .box = {64, 8, 16}}},
    {"lines of 8 bytes", kRefused, {.box = {4, 64, 1}, .swizzle = kNoSwizzle}},
    {"lines of 24 bytes", kRefused, {.box = {12, 64, 1}, .swizzle = kNoSwizzle}},
    {"lines of 512 bytes without a swizzle", kTaken, {.box = {256, 64, 1}, .swizzle = kNoSwizzle}},
    {"lines of 256 bytes, swizzle of 128", kRefused, {.box = {128, 64, 1}}},
    {"lines of 64 bytes, swizzle of 64", kTaken, {.box = {32, 64, 1}, .swizzle = kCuTensorSwizzle64}},
    {"lines of 128 bytes, swizzle of 64", kRefused, {.box = {64, 64, 1}, .swizzle = kCuTensorSwizzle64}},
    {"lines of 32 bytes, swizzle of 32", kTaken, {.box = {16, 64, 1}, .swizzle = kCuTensorSwizzle32}},
    {"lines of 64 bytes, swizzle of 32", kRefused, {.box = {32, 64, 1}, .swizzle = kCuTensorSwizzle32}},
    // ---- [batch, position, head, 128], of 2, 1024 and 16 ----
    {"attention",
     kTaken,
     {.rank = 4, .sizes = {128, 16, 1024, 2}, .strides = {256, 4096, 1 << 22}, .box = {64, 1, 64, 1}}},
    {"attention, every second position",
     kTaken,
     {.rank = 4, .sizes = {128, 16, 512, 2}, .strides = {256, 8192, 1 << 22}, .box = {64, 1, 64, 1}}},
    {"attention, part of a head",
     kTaken,
     {.address = 32, .rank = 4, .sizes = {100, 16, 1024, 2}, .strides = {256, 4096, 1 << 22}, .box = {64, 1, 64, 1}}},
};

CuResult Encode(const Probe& p, const Map& m, CuPointer memory) {
  alignas(128) unsigned char place[256];
  constexpr unsigned kEach[6] = {1, 1, 1, 1, 1, 1};
  return p->cuTensorMapEncodeTiled(reinterpret_cast<CuTensorMap*>(place + m.place), kCuTensorU16, m.rank,
                                   reinterpret_cast<void*>(static_cast<uintptr_t>(memory + m.address)), m.sizes,
                                   m.strides, m.box, kEach, kCuTensorNoInterleave, m.swizzle, kCuTensorPromote256,
                                   kCuTensorFillZeros);
}

void AskMaps(const Probe& p) {
  const CuPointer memory = p.Allocate(1 << 21);
  for (const Case& c : kCases) {
    const CuResult result = Encode(p, c.map, memory);
    const bool is_taken = result == kCuSuccess, wanted = c.documented == kTaken;
    Answer(std::string(c.name) + ": " + p.Said(result) + (wanted ? " (taken)" : " (refused)"), is_taken == wanted);
  }
}

constexpr Question kQuestions[] = {{"maps", "tensor maps", AskMaps}};

}  // namespace

std::span<const Question> QuestionsOfMaps() { return kQuestions; }

}  // namespace ricci::probe
