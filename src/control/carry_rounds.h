// CarryRounds: flags of the carries of a loop (has a tangent, is batched, is unknown, is used) are a fixpoint over its
// body: what a trip makes of the flags is merged into them until nothing changes.
//
// A flag may take as many rounds to arrive as there are carries (a delay line), and each round transforms the whole
// body. So the first 32 rounds are exact; then every carry that depends on a flagged one is flagged at once. That costs
// a zero tangent, or a broadcast, where a derivative happens to be zero along such a chain, and bounds the work in the
// length of the body.
#ifndef RICCI_CONTROL_CARRY_ROUNDS_H_
#define RICCI_CONTROL_CARRY_ROUNDS_H_
#include "transform/mask.h"

namespace ricci { inline namespace v0 { namespace control {

class CarryRounds {
 public:
  // Carry i is parameter first + i and result i of `body`.
  CarryRounds(const ir::Program& body, uint32_t first) : body_(body), first_(first) {}
  virtual ~CarryRounds() = default;

  // Merges what a round has found into the flags. True if that changed any, so that another round is needed.
  bool Merge(std::span<uint8_t> flags, transform::MaskView after);

 protected:
  // Flags all that the flagged ones lead to, at once.
  virtual void Spread(std::span<uint8_t> flags) const = 0;

  const ir::Program& body_;
  const uint32_t first_;

 private:
  uint32_t rounds_ = 0;
};

// Flags follow the values forwards: what is computed of a flagged carry is flagged. With `tangents` only through what
// can have one.
class ForwardRounds final : public CarryRounds {
 public:
  ForwardRounds(const ir::Program& body, uint32_t first, bool tangents = false)
      : CarryRounds(body, first), tangents_(tangents) {}

 private:
  void Spread(std::span<uint8_t> flags) const override;

  const bool tangents_;
};

// Backwards: what a flagged carry is computed from is flagged.
class BackwardRounds final : public CarryRounds {
 public:
  using CarryRounds::CarryRounds;

 private:
  void Spread(std::span<uint8_t> flags) const override;
};

}}}  // namespace ricci::v0::control
#endif
