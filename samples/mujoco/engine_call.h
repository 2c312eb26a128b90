// engine_call: a compiled program bound to memory of the engine, which runs it inside of its own callbacks.
//
// Pointers are bound once; a run takes no memory from the heap, no lock and no reference count.
#ifndef SAMPLES_MUJOCO_ENGINE_CALL_H_
#define SAMPLES_MUJOCO_ENGINE_CALL_H_
#include <span>

#include "ricci/ricci.hpp"

namespace engine {

class EngineCall {
 public:
  explicit EngineCall(const ricci::Executable& x) { ricci::Check(ricci_call_create(x.handle(), &call_)); }
  EngineCall(const EngineCall&) = delete;
  ~EngineCall() { ricci_call_release(call_); }

  // Argument or result `slot`, arguments first; the numbers must live as long as this.
  void Bind(uint32_t slot, std::span<double> numbers) {
    ricci::Check(ricci_call_bind(call_, slot, numbers.data(), numbers.size_bytes()));
  }
  // An argument that others use too, such as weights: it is only read.
  void BindShared(uint32_t slot, const ricci::Array& a) {
    const auto bytes = static_cast<uint64_t>(a.size()) * sizeof(double);
    ricci::Check(ricci_call_bind(call_, slot, const_cast<void*>(a.data()), bytes));
  }
  // One thread at a time. NULL, or what is wrong: the caller's.
  ricci_status* Run() noexcept { return ricci_call_run(call_); }

 private:
  ricci_call* call_ = nullptr;
};

// Within a callback of MuJoCo: an error of a run becomes one of the engine, which does not return.
void RunInEngine(EngineCall& call);

}  // namespace engine
#endif
