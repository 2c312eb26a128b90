// Programs and executables as a host sees them.
#include "ricci/program.hpp"

namespace ricci { inline namespace v0 {
namespace {

void AppendSink(void* sink, const char* p, size_t n) { static_cast<std::string*>(sink)->append(p, n); }

}  // namespace

std::span<const ricci_type> Program::params() const {
  uint32_t n = 0;
  const ricci_type* types = nullptr;
  ricci_program_signature(handle(), &n, &types, nullptr, nullptr);
  return {types, n};
}
std::span<const ricci_type> Program::results() const {
  uint32_t n = 0;
  const ricci_type* types = nullptr;
  ricci_program_signature(handle(), nullptr, nullptr, &n, &types);
  return {types, n};
}
std::string Program::text() const {
  std::string out;
  Check(ricci_program_print(handle(), &out, AppendSink));
  return out;
}
Program Program::parse(const Context& ctx, std::string_view text) {
  return MakeProgram(
      [&](ricci_program** p) { return ricci_program_parse(ctx.handle(), text.data(), text.size(), "", 0, p); });
}

void Program::save(const std::string& path, Location at) const {
  CheckAt(at, ricci_program_save(handle(), path.data(), path.size()));
}
Program Program::load(const Context& ctx, const std::string& path, Location at) {
  ricci_program* p = nullptr;
  CheckAt(at, ricci_program_load(ctx.handle(), path.data(), path.size(), &p));
  return Program(p);
}
std::string Program::serialize() const {
  std::string out;
  Check(ricci_program_serialize(handle(), &out, AppendSink));
  return out;
}
Program Program::deserialize(const Context& ctx, std::string_view bytes) {
  return MakeProgram(
      [&](ricci_program** p) { return ricci_program_deserialize(ctx.handle(), bytes.data(), bytes.size(), "", 0, p); });
}
void Program::check_finite(std::span<ricci_array* const> in, Device device, Location at) const {
  CheckAt(at, ricci_check_finite(handle(), device.handle(), in.data(), static_cast<uint32_t>(in.size())));
}

Executable Executable::compile(const Program& program, Device device, std::span<const uint8_t> donate, Location at) {
  return compile(program, CompileOptions{device, donate}, at);
}
Executable Executable::compile(const Program& program, const CompileOptions& options, Location at) {
  ricci_compile_opts o = ricci_compile_opts_default();
  ricci_device* const on = options.device.handle();
  o.devices = &on;
  o.n_devices = on != nullptr;
  o.donate = options.donate.data();
  o.n_donate = static_cast<uint32_t>(options.donate.size());
  o.opt_level = options.opt_level;
  if (options.profiled) o.hdr.flags |= RICCI_COMPILE_PROFILED;
  ricci_executable* x = nullptr;
  CheckAt(at, ricci_compile(program.handle(), &o, &x));
  return Executable(x);
}
size_t Executable::result_count() const {
  uint32_t n = 0;
  ricci_executable_signature(handle(), nullptr, nullptr, &n, nullptr);
  return n;
}
void Executable::run(std::span<ricci_array* const> in, std::span<ricci_array*> out, Location at) const {
  CheckAt(at, ricci_executable_run(handle(), in.data(), static_cast<uint32_t>(in.size()), out.data(),
                                   static_cast<uint32_t>(out.size()), nullptr));
}
void Executable::enqueue(std::span<ricci_array* const> in, std::span<ricci_array*> out, Location at) const {
  CheckAt(at, ricci_executable_enqueue(handle(), in.data(), static_cast<uint32_t>(in.size()), out.data(),
                                       static_cast<uint32_t>(out.size()), nullptr));
}
void Executable::run(std::span<ricci_array* const> in, std::span<ricci_array*> out, const RunOptions& options,
                     Location at) const {
  const ricci_run_opts o = options.ToAbi();
  CheckAt(at, ricci_executable_run(handle(), in.data(), static_cast<uint32_t>(in.size()), out.data(),
                                   static_cast<uint32_t>(out.size()), &o));
}
void Executable::enqueue(std::span<ricci_array* const> in, std::span<ricci_array*> out, const RunOptions& options,
                         Location at) const {
  const ricci_run_opts o = options.ToAbi();
  CheckAt(at, ricci_executable_enqueue(handle(), in.data(), static_cast<uint32_t>(in.size()), out.data(),
                                       static_cast<uint32_t>(out.size()), &o));
}
ricci_executable_stats Executable::stats() const {
  ricci_executable_stats s{};
  s.hdr.size = sizeof s;
  ricci_executable_info(handle(), &s);
  return s;
}
std::string Executable::dump(std::string_view stage) const {
  std::string out;
  Check(ricci_executable_dump(handle(), stage.data(), stage.size(), &out, AppendSink));
  return out;
}

}}  // namespace ricci::v0
