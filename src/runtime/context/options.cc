#include "runtime/context/options.h"

#include <charconv>

#include "base/path.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

template <typename T>
bool ReadNumber(std::string_view text, T most, T& out) {
  T n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n > most) return false;
  out = n;
  return true;
}

bool SetThreads(ContextOptions& o, std::string_view text) { return ReadNumber(text, uint32_t{4096}, o.threads); }

bool SetLogCompiles(ContextOptions& o, std::string_view text) {
  if (text != "0" && text != "1") return false;
  o.log_compiles = text == "1";
  return true;
}

bool SetDumpDir(ContextOptions& o, std::string_view text) {
  o.dump_dir = text;
  return true;
}

bool SetCacheDir(ContextOptions& o, std::string_view text) {
  o.cache_dir = text;
  return true;
}

bool SetCacheBytes(ContextOptions& o, std::string_view text) { return ReadNumber(text, UINT64_MAX, o.cache_bytes); }

bool SetVmap(ContextOptions& o, std::string_view text) {
  const auto schedule = transform::ScheduleNamed(text);
  if (schedule) o.vmap = *schedule;
  return schedule.has_value();
}

struct Key {
  std::string_view name, takes;
  bool (*set)(ContextOptions&, std::string_view value);  // false: not a value of this option
  bool is_path = false;
};
constexpr Key kKeys[] = {
    {"threads", "a number from 0 (all) to 4096", SetThreads},
    {"log_compiles", "0 or 1", SetLogCompiles},
    {"dump_dir", "the path of a folder, or nothing", SetDumpDir, /*is_path=*/true},
    {"vmap", "auto, batched or lanes", SetVmap},
    {"cache_dir", "the path of a folder, or nothing", SetCacheDir, /*is_path=*/true},
    {"cache_bytes", "a number of bytes, or 0 for no limit", SetCacheBytes},
};

}  // namespace

absl::Status SetOption(ContextOptions& options, std::string_view key, std::string_view value) {
  const size_t dot = key.find('.');
  if (dot != key.npos && dot != 0 && dot + 1 != key.size()) {
    options.of_plugins[std::string(key)] = value;
    return absl::OkStatus();
  }
  for (const Key& k : kKeys) {
    if (k.name != key) continue;
    if (k.is_path) RICCI_TRY(base::CheckPath(base::Cat("config: ", key), value));
    if (k.set(options, value)) return absl::OkStatus();
    return base::InvalidArgument("config: ", key, " takes ", k.takes, ", not ", value.empty() ? "nothing" : value);
  }
  std::string known;
  for (const Key& k : kKeys) known += base::Cat(known.empty() ? "" : ", ", k.name);
  return base::InvalidArgument("config: unknown key ", key, "; known: ", known, ", and PLUGIN.KEY");
}

}}}  // namespace ricci::v0::runtime
