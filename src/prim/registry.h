// Registry: the rows of one context, by id and by name.
//
// Rows are added by a plugin's attach, while no other thread uses the context; after that, reading needs no lock.
#ifndef RICCI_PRIM_REGISTRY_H_
#define RICCI_PRIM_REGISTRY_H_
#include <array>
#include <atomic>
#include <deque>
#include <memory>

#include "absl/status/statusor.h"
#include "ir/program.h"
#include "prim/memo_table.h"
#include "prim/row.h"

namespace ricci { inline namespace v0 { namespace prim {

// The rules whose uses are counted.
enum class Rule : uint8_t { kJvp, kTranspose, kBatch, kSimplify, kContract, kCount };

// The name of RICCI_LOWER_DECOMPOSE (`DECOMPOSE`) and so on, of a lowering that a row has.
std::string_view KindName(uint32_t kind);

class Registry {
 public:
  Registry(const base::HostMemory* memory, base::Shared* owner, ricci_ctx* abi);
  ~Registry();

  ir::Vocabulary& vocabulary() { return vocabulary_; }
  Memo& memo() { return memo_; }
  // The registry that a program's vocabulary belongs to.
  static Registry& Of(const ir::Vocabulary& v);
  static Registry& Of(const ir::Program& p) { return Of(*p.vocabulary()); }

  // Copies the definition. INVALID_ARGUMENT for a second row with the same name (without RICCI_PRIM_OVERRIDE) or a bad
  // definition.
  absl::StatusOr<PrimId> Add(const ricci_prim_def& def, Flow flow = Flow::kNone);
  absl::Status AddLowering(PrimId id, const ricci_lowering& lowering);

  const Row& Get(PrimId id) const { return *rows_[id < rows_.size() ? id : 0]; }
  const Row* Find(std::string_view name) const;
  // Number `i` of those that hosts may list, or NULL.
  const Row* Listed(uint32_t i) const;
  // Does running `eqn` do more than give results, by its row or by a program that it holds?
  bool HasEffect(const ir::Equation& eqn) const;
  uint32_t size() const { return static_cast<uint32_t>(rows_.size()); }  // ids are 1 .. size() - 1

  // How often a rule of a row has been used, by any thread. From these counts the laws say whose rules made a program.
  void CountUse(PrimId id, Rule rule) const { UsesOf(id, rule).fetch_add(1, std::memory_order_relaxed); }
  uint64_t Uses(PrimId id, Rule rule) const { return UsesOf(id, rule).load(std::memory_order_relaxed); }

  // Rows and lowerings added between Begin and Commit belong to plugin `name`; Rollback removes them, so that a plugin
  // that fails to attach leaves nothing behind. A row that was replaced lives as long as the context.
  void Begin(std::string_view name);
  void Commit();
  void Rollback() noexcept;

 private:
  struct Replaced {
    PrimId id;
    std::unique_ptr<Row> row;  // as it was before the plugin
  };
  struct AddedLowering {
    PrimId id;           // of a row of another plugin
    const char* target;  // identifies the lowering: this very text, by address
  };

  using RuleUses = std::array<std::atomic<uint64_t>, static_cast<size_t>(Rule::kCount)>;
  std::atomic<uint64_t>& UsesOf(PrimId id, Rule rule) const { return uses_[id][static_cast<size_t>(rule)]; }

  ir::Vocabulary vocabulary_;
  Memo memo_;
  std::vector<std::unique_ptr<Row>> rows_;
  mutable std::deque<RuleUses> uses_;  // at least one for each row
  std::string attaching_;
  size_t rows_before_ = 0;
  std::vector<Replaced> replaced_;
  std::vector<std::unique_ptr<Row>> retired_;  // replaced for good
  std::vector<AddedLowering> added_lowerings_;
};

}}}  // namespace ricci::v0::prim
#endif
