// Vocabulary: what all programs of one context share: types, primitive names, source locations, host memory.
//
// The context owns it; programs hold a reference to the context through it. Tables only grow, ids stay valid.
#ifndef RICCI_IR_VOCABULARY_H_
#define RICCI_IR_VOCABULARY_H_
#include <deque>
#include <mutex>
#include <string>

#include "base/arena.h"
#include "base/hash_map.h"
#include "base/shared.h"
#include "types/array_type.h"

namespace ricci { inline namespace v0 { namespace prim {
class Registry;
}}}  // namespace ricci::v0::prim

namespace ricci { inline namespace v0 { namespace ir {

using PrimId = ricci_prim;    // 0 = none
using LocationId = uint32_t;  // 0 = unknown

struct Location {
  std::string file, func;
  uint32_t line = 0;
};

class Vocabulary {
 public:
  Vocabulary(const base::HostMemory* memory, base::Shared* owner, ricci_ctx* abi)
      : memory(memory), owner(owner), abi(abi), types(memory) {
    locations_.emplace_back();
    prims_.emplace_back();
  }

  const base::HostMemory* memory;
  base::Shared* owner;  // the context: a program keeps it alive
  ricci_ctx* abi;
  prim::Registry* registry = nullptr;  // of this context; a type that only the layers above know
  types::TypeTable types;

  LocationId InternLocation(std::string_view file, uint32_t line, std::string_view func);
  // The reference is valid for the life of the context.
  const Location& GetLocation(LocationId id) const;

  // Names of primitives, in order of registration. Registration happens while no other thread uses the context.
  PrimId AddPrimName(std::string_view name);
  // Forgets the names with ids `count` and up.
  void TruncatePrims(uint32_t count);
  const std::string& PrimName(PrimId id) const { return prims_[id < prims_.size() ? id : 0]; }
  PrimId FindPrim(std::string_view name) const;
  uint32_t PrimCount() const { return static_cast<uint32_t>(prims_.size()); }

  // A number that no other builder of this context has; never 0 or 2^32 - 1.
  uint32_t NextGeneration();

 private:
  mutable std::mutex mutex_;
  std::deque<Location> locations_;
  base::HashMap<std::string, LocationId> location_ids_;
  std::deque<std::string> prims_;
  base::HashMap<std::string, PrimId> prim_ids_;
  std::atomic<uint32_t> generation_{1};
};

}}}  // namespace ricci::v0::ir
#endif
