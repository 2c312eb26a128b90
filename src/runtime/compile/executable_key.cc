#include "runtime/compile/executable_key.h"

#include "absl/strings/str_format.h"
#include "file/program_file.h"
#include "ir/walk.h"
#include "runtime/cache/build_id.h"
#include "runtime/context/backend_call.h"
#include "runtime/context/context.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

constexpr uint64_t kMostConstants = uint64_t{256} << 20;  // bytes: an entry has them twice, and a look-up reads them

bool MayBeKept(const ir::Program& f) {
  if (f.custom_batch) return false;  // a function of the host decides what its batch is
  uint64_t bytes = 0;
  for (const ir::Program* inner : ir::NestedFirst(f)) {
    for (const ir::Constant& c : inner->constants) bytes += c.data->bytes.size();
  }
  return bytes <= kMostConstants;
}

// The numbers from which passes derive their limits, exactly.
std::string NumbersOf(const ricci_target& t) {
  std::string text = absl::StrFormat("%u %u %u %u %u %u %a %a %a %a", t.hdr.flags, t.lanes, t.registers,
                                     t.points_wanted, t.near_bytes, t.cache_bytes, t.cached_bytes_per_cycle,
                                     t.memory_bytes_per_cycle, t.launch_cycles, t.call_cycles);
  base::Hasher cycles;
  for (uint32_t i = 0; i < t.n_op_cycles; ++i) cycles.Add(uint64_t{t.op_cycles[i]});
  return absl::StrFormat("%s %016x", text, cycles.Done());
}

void Append(void* sink, const char* p, size_t n) { static_cast<std::string*>(sink)->append(p, n); }

std::optional<std::string> LinesOf(const Device& d) {
  const std::string build = BuildIdOf(d.backend.compile);
  if (build.empty()) return std::nullopt;
  std::string version;
  const auto write = [&]() -> ricci_status* {
    d.backend.code_version(d.backend.self, &version, Append);
    return nullptr;
  };
  const auto name = [&] { return NameOfFunction(d.backend, "code_version"); };
  if (const absl::Status written = base::CallForeign(name, write); !written.ok()) {
    d.context->Log(RICCI_LOG_WARNING, base::Cat(written.message(), "; its code is not kept"));
    return std::nullopt;
  }
  return base::Cat("device ", d.kind, " ", d.name, " number ", d.ordinal, " aligned to ", d.alignment, " flags ",
                   d.backend.hdr.flags, " build ", build, "\n", "target ", NumbersOf(d.target.numbers), "\n", "code ",
                   version, "\n");
}

std::string LineOf(const CompileKey& key) {
  std::string donated;
  for (const uint8_t d : key.donate) donated += d != 0 ? '1' : '0';
  return absl::StrFormat("options level=%u vmap=%d passes=%x donate=%s profiled=%d\n", key.opt_level,
                         static_cast<int>(key.vmap), key.stages, donated, static_cast<int>(key.profiled));
}

}  // namespace

std::optional<std::string> ExecutableKey::AboutOf(const CompileKey& key) {
  const Device& device = *key.devices[0];
  if (device.backend.code_version == nullptr || key.devices.size() != 1 || !MayBeKept(*key.program)) {
    return std::nullopt;
  }
  const std::optional<std::string> origin = device.context->Origin(), lines = LinesOf(device);
  if (!origin || !lines) return std::nullopt;
  return *origin + *lines + LineOf(key);
}

std::optional<ExecutableKey> ExecutableKey::Of(const CompileKey& key) {
  std::optional<std::string> about = AboutOf(key);
  if (!about) return std::nullopt;
  return ExecutableKey{*std::move(about), file::WriteProgram(*key.program)};
}

std::string ExecutableKey::Text() const {
  return absl::StrFormat("executable\n%sprogram %u bytes %016x\n", about, program.size(),
                         base::Hasher().Add(std::string_view(program)).Done());
}

}}}  // namespace ricci::v0::runtime
