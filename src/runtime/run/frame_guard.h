// FrameGuard: a frame for one run. Puts it back at the end, and releases the results in it that were not taken.
#ifndef RICCI_RUNTIME_FRAME_GUARD_H_
#define RICCI_RUNTIME_FRAME_GUARD_H_
#include "runtime/context/compiled_code.h"

namespace ricci { inline namespace v0 { namespace runtime {

class FrameGuard {
 public:
  static absl::StatusOr<FrameGuard> Take(const CompiledCode& code, Stream* stream) {
    RICCI_ASSIGN(RunFrame * frame, code.TakeFrame(stream));
    return FrameGuard(code, frame);
  }
  FrameGuard(FrameGuard&& o) noexcept : code_(o.code_), frame_(std::exchange(o.frame_, nullptr)) {}
  ~FrameGuard() {
    if (frame_ == nullptr) return;
    for (uint32_t i = 0; i < code_.program().n_results(); ++i) {
      if (Array* left = std::exchange(frame_->results[i], nullptr)) left->Release();
    }
    code_.ReturnFrame(frame_);
  }
  RunFrame& frame() const { return *frame_; }
  void GiveResults(std::span<ricci_array*> out) const {
    for (size_t i = 0; i < out.size(); ++i) out[i] = Abi(std::exchange(frame_->results[i], nullptr));
  }

 private:
  FrameGuard(const CompiledCode& code, RunFrame* frame) : code_(code), frame_(frame) {}

  const CompiledCode& code_;
  RunFrame* frame_;
};

}}}  // namespace ricci::v0::runtime
#endif
