// ricci/program.hpp: a traced program and what it compiles to, as shared handles.
//
// What jit, grad and vmap work with, for hosts that want to inspect it, print it or keep it.
#ifndef RICCI_PROGRAM_HPP_
#define RICCI_PROGRAM_HPP_
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ricci/array.hpp"
#include "ricci/run_control.hpp"

namespace ricci { inline namespace v0 {

class Program : public Handle<ricci_program, ricci_program_retain, ricci_program_release> {
 public:
  using Handle::Handle;
  std::span<const ricci_type> params() const;
  std::span<const ricci_type> results() const;
  uint32_t equation_count() const { return ricci_program_equation_count(handle()); }
  // The parameter that a result is, unchanged; -1 if it is computed.
  int32_t result_param(uint32_t result) const { return ricci_program_result_param(handle(), result); }
  uint64_t hash() const { return ricci_program_hash(handle()); }
  // The text form.
  std::string text() const;
  static Program parse(const Context& ctx, std::string_view text);
  // The binary form (ricci/file.h), as a file and as bytes; a program always gives the same.
  void save(const std::string& path, Location at = Location::Here()) const;
  static Program load(const Context& ctx, const std::string& path, Location at = Location::Here());
  std::string serialize() const;
  static Program deserialize(const Context& ctx, std::string_view bytes);
  // Runs equation by equation, slowly, and throws OUT_OF_RANGE at the first one that makes a NaN or an infinity of
  // operands without one; the message names primitive, element and line. (JAX: debug_nans, debug_infs.)
  void check_finite(std::span<ricci_array* const> in, Device device = {}, Location at = Location::Here()) const;
};

// The program that `call(&program)` makes; throws if the call fails.
template <typename Call>
Program MakeProgram(Call&& call) {
  ricci_program* p = nullptr;
  Check(call(&p));
  return Program(p);
}

struct CompileOptions {
  Device device = {};
  std::span<const uint8_t> donate = {};  // one byte per parameter, or empty
  uint32_t opt_level = 0;                // 0: the device's default; 1 compiles fast
  bool profiled = false;                 // runs may take a Profile
};

class Executable : public Handle<ricci_executable, ricci_executable_retain, ricci_executable_release> {
 public:
  using Handle::Handle;
  // `donate`: one byte per parameter, or empty.
  static Executable compile(const Program& program, Device device = {}, std::span<const uint8_t> donate = {},
                            Location at = Location::Here());
  static Executable compile(const Program& program, const CompileOptions& options, Location at = Location::Here());
  size_t result_count() const;
  // Runs with one handle per parameter; writes one new handle per result.
  void run(std::span<ricci_array* const> in, std::span<ricci_array*> out, Location at = Location::Here()) const;
  void run(std::span<ricci_array* const> in, std::span<ricci_array*> out, const RunOptions& options,
           Location at = Location::Here()) const;
  // The same, but returns when the run has begun.
  void enqueue(std::span<ricci_array* const> in, std::span<ricci_array*> out, Location at = Location::Here()) const;
  void enqueue(std::span<ricci_array* const> in, std::span<ricci_array*> out, const RunOptions& options,
               Location at = Location::Here()) const;
  ricci_executable_stats stats() const;
  // Text of a stage: `program`, `optimized`, `kernels`, `plan`, `native`.
  std::string dump(std::string_view stage) const;
};

}}  // namespace ricci::v0
#endif
