// ricci/base.h except statuses, which are in base/status_abi.cc.
#include "api/arguments.h"
#include "base/version.h"
#include "types/dtype.h"

#if defined(__SANITIZE_THREAD__)
#define RICCI_SANITIZER "thread"
#elif defined(__SANITIZE_ADDRESS__)
#define RICCI_SANITIZER "address"
#else
#define RICCI_SANITIZER "none"
#endif

using namespace ricci;

namespace {

constexpr char kBuildInfo[] =
    "version=0.1.0\n"
    "compiler=" __VERSION__
    "\n"
    "sanitizer=" RICCI_SANITIZER "\n";
static_assert(std::string_view(kBuildInfo).starts_with("version=0.1.0\n") && base::kVersion == "0.1.0");

}  // namespace

extern "C" {

uint32_t ricci_abi_version(void) { return RICCI_ABI_MAJOR << 16 | RICCI_ABI_MINOR; }

const char* ricci_build_info(void) { return kBuildInfo; }

uint32_t ricci_dtype_size(uint32_t dtype) { return types::Info(dtype).size; }

void ricci_dtype_name(uint32_t dtype, ricci_str* out) {
  if (out != nullptr) *out = api::ToStr(types::Info(dtype).name);
}
}
