// Row: one primitive with all its rules, as the plugin gave it: the ABI's ricci_prim_def itself, with texts owned.
//
// Nothing is translated: transforms call the callbacks through the checked wrappers of transform/rules.h.
#ifndef RICCI_PRIM_ROW_H_
#define RICCI_PRIM_ROW_H_
#include <deque>
#include <string>
#include <vector>

#include "ir/vocabulary.h"
#include "prim/doc.h"
#include "ricci/primitive.h"

namespace ricci { inline namespace v0 { namespace prim {

using ir::PrimId;

// What kind of control flow a structural row is, for the plan where bodies are too large for one kernel, and whether it
// is a linear map of which only the transpose is known, for differentiation. Set only by the structural rows.
enum class Flow : uint8_t { kNone, kWhile, kCond, kScan, kVmap, kFusion, kLinearMap, kCustomVmap };

struct Row {
  PrimId id = 0;
  ricci_prim_def def{};  // its pointers point into this Row
  std::string name, factors, missing, examples, doc_text;
  Doc doc;             // views of doc_text
  std::string plugin;  // for messages: `plugin lax`, or `the host`
  std::deque<std::string> attr_texts;
  std::vector<ricci_attr_spec> attr_specs;
  std::deque<std::string> targets;
  std::deque<ricci_library> libraries;               // what LIBRARY lowerings point to, read by their size
  std::vector<ricci_lowering> lowerings;             // highest priority first; equal ones in order of registration
  std::vector<const ricci_lowering*> lowering_ptrs;  // the same, for def.lowerings
  Flow flow = Flow::kNone;

  // Makes def.lowerings refer to `lowerings`. Allocates only if there are more than ever before.
  void PublishLowerings() {
    lowering_ptrs.clear();
    for (const ricci_lowering& l : lowerings) lowering_ptrs.push_back(&l);
    def.lowerings = lowering_ptrs.data();
    def.n_lowerings = static_cast<uint32_t>(lowering_ptrs.size());
  }

  bool has(uint32_t flag) const { return (def.hdr.flags & flag) != 0; }
  bool linear() const { return has(RICCI_PRIM_LINEAR); }
  bool effectful() const { return has(RICCI_PRIM_EFFECTFUL); }
  bool listed() const { return flow != Flow::kFusion; }  // for hosts: a fusion is not a primitive
};

}}}  // namespace ricci::v0::prim
#endif
