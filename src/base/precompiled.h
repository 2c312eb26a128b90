// The precompiled header of the core: standard and Abseil headers that nearly every file needs.
//
// absl/status/statusor.h alone costs 0.9 s per file with g++ 12, hence this file. It includes only headers that do not
// change with Ricci.
#ifndef RICCI_BASE_PRECOMPILED_H_
#define RICCI_BASE_PRECOMPILED_H_
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#endif
