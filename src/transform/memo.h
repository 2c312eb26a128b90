// Memo: results of transforms of held programs, remembered for as long as a transform or pass runs in the context.
//
// The rules of loops and branches transform the programs they hold, and do so more than once: dead code is first found
// and then dropped, and the flags of loop carries are a fixpoint. Nested loops would multiply that at every level: a
// program nested 20 deep took hours. So every transform of a program looks here first. Rules call back through the C
// ABI, so the memo belongs to the context and is not an argument. It is emptied when no transform runs any more, so
// nothing outlives the call that made it (unless calls of several threads overlap), and when it has grown large.
#ifndef RICCI_TRANSFORM_MEMO_H_
#define RICCI_TRANSFORM_MEMO_H_
#include "absl/status/statusor.h"
#include "prim/registry.h"

namespace ricci { inline namespace v0 { namespace transform {

// A transform, its program and all its arguments, as bytes.
class MemoKey {
 public:
  MemoKey(std::string_view transform, const ir::Program& f) : program_(&f) {
    Add(transform).Add(static_cast<int64_t>(reinterpret_cast<intptr_t>(&f)));
  }
  MemoKey& Add(std::string_view text) { return Add(std::span(text)); }
  MemoKey& Add(int64_t number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
    return *this;
  }
  template <typename T>
  MemoKey& Add(std::span<const T> list) {
    Add(static_cast<int64_t>(list.size()));
    bytes_.append(reinterpret_cast<const char*>(list.data()), list.size_bytes());
    return *this;
  }
  const ir::Program& program() const { return *program_; }
  const std::string& bytes() const { return bytes_; }

 private:
  const ir::Program* program_;
  std::string bytes_;
};

// While one exists, results remembered in the context of `f` are kept.
class MemoUse {
 public:
  explicit MemoUse(const ir::Program& f);
  ~MemoUse();
  MemoUse(const MemoUse&) = delete;

  std::shared_ptr<const void> Find(const MemoKey& key) const;
  void Keep(const MemoKey& key, std::shared_ptr<const void> result);

 private:
  prim::Memo& memo_;
};

// The result of the transform that `key` names, made or remembered. Failures are not remembered: they end the whole
// transform.
template <typename Result, typename Make>
absl::StatusOr<Result> Remembered(const MemoKey& key, Make&& make) {
  MemoUse use(key.program());
  if (const auto known = use.Find(key)) return *static_cast<const Result*>(known.get());
  absl::StatusOr<Result> made = make();
  if (made.ok()) use.Keep(key, std::make_shared<const Result>(*made));
  return made;
}

}}}  // namespace ricci::v0::transform
#endif
