// Executable: a compiled program that runs on arrays.
//
// One run checks its arguments, allocates its results and nothing else. A donated argument of which the caller holds
// the only reference gives its memory to the result that the plan computes in its place; in any other case the result
// has memory of its own, which is the same but for speed.
#ifndef RICCI_RUNTIME_EXECUTABLE_H_
#define RICCI_RUNTIME_EXECUTABLE_H_
#include "runtime/compiled_code.h"

namespace ricci::inline v0::runtime {

class Executable final : public base::Shared {
 public:
  static base::Ref<Executable> Create(base::Ref<CompiledCode> code, bool cache_hit, bool checked);

  const CompiledCode& code() const { return *code_; }
  bool checked() const { return checked_; }
  ricci_executable_stats stats() const;

  // Writes n_out new references to `out` on success. Thread-safe.
  absl::Status Run(std::span<ricci_array* const> in, std::span<ricci_array*> out) const;

 private:
  Executable(base::Ref<CompiledCode> code, bool cache_hit, bool checked);
  ~Executable() override;
  absl::Status CheckArguments(std::span<ricci_array* const> in, RunFrame& frame) const;
  absl::Status Explain(std::span<ricci_array* const> in, uint32_t i) const;
  bool MayTake(std::span<ricci_array* const> in, uint32_t param) const;
  void AllocateResults(std::span<ricci_array* const> in, RunFrame& frame) const;
  absl::Status RunInFrame(std::span<ricci_array* const> in, RunFrame& frame) const;

  base::Ref<Context> context_;  // declared first: the others end before it
  base::Ref<CompiledCode> code_;
  const bool cache_hit_, checked_;
};

// The C handle of an executable is its address.
inline ricci_executable* Abi(const Executable* x) {
  return reinterpret_cast<ricci_executable*>(const_cast<Executable*>(x));
}
inline Executable* FromAbi(const ricci_executable* x) {
  return reinterpret_cast<Executable*>(const_cast<ricci_executable*>(x));
}

}  // namespace ricci::inline v0::runtime
#endif
