#include "transform/memo.h"

namespace ricci { inline namespace v0 { namespace transform {
namespace {

constexpr size_t kMaxEntries = 1 << 14;

}  // namespace

MemoUse::MemoUse(const ir::Program& f) : memo_(prim::Registry::Of(f).memo()) {
  const std::lock_guard lock(memo_.mutex);
  ++memo_.uses;
}

// Dropped results are freed after the lock is released, here and below: freeing programs may take long.
MemoUse::~MemoUse() {
  prim::Memo::Entries dropped;
  const std::lock_guard lock(memo_.mutex);
  if (--memo_.uses == 0) std::swap(dropped, memo_.entries);
}

std::shared_ptr<const void> MemoUse::Find(const MemoKey& key) const {
  const std::lock_guard lock(memo_.mutex);
  const auto known = memo_.entries.find(key.bytes());
  return known == memo_.entries.end() ? nullptr : known->second.result;
}

void MemoUse::Keep(const MemoKey& key, std::shared_ptr<const void> result) {
  prim::Memo::Entries dropped;
  const std::lock_guard lock(memo_.mutex);
  if (memo_.entries.size() >= kMaxEntries) std::swap(dropped, memo_.entries);
  memo_.entries.emplace(key.bytes(), prim::Memo::Entry{ir::ProgramRef(&key.program()), std::move(result)});
}

}}}  // namespace ricci::v0::transform
