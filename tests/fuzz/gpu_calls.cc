#include "fuzz/gpu_calls.h"

#include <dlfcn.h>

#include <cstring>
#include <memory>

#include "fuzz/dice.h"
#include "ricci/ricci.hpp"

namespace ricci::testing {
namespace {

constexpr double kCalls = 0.5;       // of all programs
constexpr int32_t kPriority = 1000;  // before the row's own lowerings
constexpr int kDriverVersion = 12000;
constexpr std::string_view kRows[] = {"copy", "reshape", "expand_dims", "squeeze"};

using CopyFn = int(uint64_t to, uint64_t from, size_t bytes, void* stream);  // cuMemcpyDtoDAsync

CopyFn* CopyOf(const std::string& driver) {
  using FindFn = int(const char* name, void** out, int version, uint64_t flags, int* found);
  void* const opened = dlopen(driver.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto* const find = reinterpret_cast<FindFn*>(opened == nullptr ? nullptr : dlsym(opened, "cuGetProcAddress_v2"));
  void* copy = nullptr;
  int found = 0;
  if (find == nullptr || find("cuMemcpyDtoDAsync", &copy, kDriverVersion, 0, &found) != 0) return nullptr;
  return reinterpret_cast<CopyFn*>(copy);
}

// `self` of the lowerings: the function of the driver, of which there is one in a process.
CopyFn*& Copy() {
  static CopyFn* copy = nullptr;
  return copy;
}

ricci_status* Plan(void*, const ricci_op* op, ricci_library_plan* plan) {
  ricci_type_desc d = ricci_type_desc_default();
  if (ricci_status* s = ricci_type_get(op->ctx, op->in_types[0], &d)) return s;
  auto bytes = std::make_unique<uint64_t>(ricci_dtype_size(d.dtype));
  for (uint32_t i = 0; i < d.rank; ++i) *bytes *= static_cast<uint64_t>(d.dims[i]);
  plan->state = bytes.release();
  return nullptr;
}
ricci_status* Launch(void* state, const ricci_launch* l) {
  const uint64_t bytes = *static_cast<const uint64_t*>(state);
  const auto address = [](const void* p) { return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(p)); };
  if (bytes == 0 || Copy()(address(l->out[0]), address(l->in[0]), bytes, l->stream) == 0) return nullptr;
  return ricci_status_make(RICCI_INTERNAL, "the driver refuses a copy", 25);
}
void Drop(void* state) { const std::unique_ptr<uint64_t> bytes(static_cast<uint64_t*>(state)); }

}  // namespace

GpuCalls SomeGpuCalls(uint64_t seed) {
  Dice dice(seed ^ 0x63616c6c73);
  if (!dice.Chance(kCalls)) return GpuCalls::kNone;
  return dice.Chance(0.5) ? GpuCalls::kAreNodes : GpuCalls::kDividePlans;
}

void AddGpuCalls(ricci_ctx* ctx, const std::string& driver, GpuCalls calls) {
  if (calls == GpuCalls::kNone) return;
  Copy() = CopyOf(driver);
  if (Copy() == nullptr) throw Error(RICCI_NOT_FOUND, driver + " has no cuMemcpyDtoDAsync");
  const uint32_t flags = calls == GpuCalls::kAreNodes ? RICCI_LIBRARY_ONLY_ENQUEUES : 0;
  const ricci_library library{{sizeof library, flags, nullptr}, Plan, Launch, Drop};
  ricci_lowering lowering{};
  lowering.hdr.size = sizeof lowering;
  lowering.kind = RICCI_LOWER_LIBRARY;
  lowering.target = {"cuda", 4};
  lowering.priority = kPriority;
  lowering.library = &library;
  for (const std::string_view row : kRows) {
    ricci_prim prim = 0;
    Check(ricci_prim_find(ctx, row.data(), row.size(), &prim));
    Check(ricci_prim_add_lowering(ctx, prim, &lowering));
  }
}

}  // namespace ricci::testing
