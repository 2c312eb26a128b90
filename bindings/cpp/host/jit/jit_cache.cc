// The cache of a jitted function: a table that only grows, for the first half of the entries, and those that go.
#include "ricci/jit_cache.hpp"

#include <algorithm>
#include <mutex>
#include <string>

#include "host/core/tracing.h"
#include "host/jit/recent_entries.h"
#include "ricci/jit.hpp"

namespace ricci { inline namespace v0 {

// What readers use of the entries that stay is never freed, so that they need not be counted.
struct JitCache::Shared : Counted {
  Shared(std::string_view name, const Location& at, JitOptions options)
      : name(name),
        at(at),
        options(std::move(options)),
        max_kept(this->options.max_entries / 2),
        recent(this->options.max_entries - max_kept) {}
  void Add(const Ref<CachedEntry>& entry);
  void Keep(const Ref<CachedEntry>& entry);
  Ref<CachedEntry> Compile(const Call& call, LeafFunction f, std::span<const size_t> leaf_counts);

  const std::string name;
  const Location at;
  const JitOptions options;
  const size_t max_kept;
  std::vector<Ref<CachedEntry>> kept;
  std::atomic<const CachedEntry*> first{nullptr};  // of them
  std::atomic<EntryTable*> kept_table{nullptr};
  std::vector<std::unique_ptr<EntryTable>> tables;  // kept_table and those that it outgrew, which may be read still
  RecentEntries recent;
  std::atomic<size_t> size{0};
  std::recursive_mutex compiling;  // a function may call itself while it is traced
};

JitCache::JitCache(std::string_view name, const Location& at, JitOptions options) {
  if (options.max_entries == 0) FailAt(at, name, ": max_entries is 0; it must be at least 1");
  shared_ = Ref<Shared>(new Shared(name, at, std::move(options)));
}
JitCache::JitCache(const JitCache& o) = default;
JitCache& JitCache::operator=(const JitCache& o) = default;
JitCache::~JitCache() = default;

std::string_view JitCache::name() const { return shared_->name; }
const Location& JitCache::at() const { return shared_->at; }
const JitOptions& JitCache::options() const { return shared_->options; }
size_t JitCache::size() const { return shared_->size; }

const JitCache::Entry* JitCache::Call::FindSealed() {
  Shared& s = *cache_.shared_;
  const CachedEntry* const first = s.first.load(std::memory_order_acquire);
  if (first != nullptr && first->key == words) return first;  // most functions are called in one way
  const uint64_t hash = HashOf(words);
  if (first != nullptr) {
    if (const Entry* const e = s.kept_table.load(std::memory_order_acquire)->Find(words, hash)) return e;
  }
  held_ = Ref<Entry>(s.recent.Find(words, hash).Leave());
  return held_.handle();
}

// A table that is full stays as it is, because it may be read, and one of twice the size takes its place.
void JitCache::Shared::Keep(const Ref<CachedEntry>& entry) {
  EntryTable* table = kept_table.load(std::memory_order_relaxed);
  if (table == nullptr || table->full()) {
    tables.push_back(std::make_unique<EntryTable>(std::max<size_t>(2 * kept.size(), 4)));
    table = tables.back().get();
    for (const Ref<CachedEntry>& e : kept) table->Add(e.handle());
  }
  kept.push_back(entry);
  table->Add(entry.handle());
  kept_table.store(table, std::memory_order_release);
  first.store(kept[0].handle(), std::memory_order_release);
}

void JitCache::Shared::Add(const Ref<CachedEntry>& entry) {
  if (kept.size() < max_kept)
    Keep(entry);
  else
    recent.Add(entry);
  size = kept.size() + recent.size();
}

Ref<CachedEntry> JitCache::Shared::Compile(const Call& call, LeafFunction f, std::span<const size_t> leaf_counts) {
  const CallSite site{name, at, nullptr, nullptr, call.ctx_};
  std::vector<ricci_type> types;
  for (ricci_array* a : call.handles.view()) types.push_back(ricci_array_type(a));
  Closed<Array> closed = Close<Array>(site, f, types);
  std::vector<uint8_t> donate;
  const std::vector<uint32_t>& list = options.donate_argnums;
  for (uint32_t i = 0; i < leaf_counts.size(); ++i) {
    donate.insert(donate.end(), leaf_counts[i], std::find(list.begin(), list.end(), i) != list.end());
  }
  donate.resize(closed.program.params().size(), 0);
  Ref<CachedEntry> entry(new CachedEntry(call.words, HashOf(call.words)));
  entry->n_out = closed.program.results().size();
  const CompileOptions how{Device(call.device()), donate, 0, options.run.profile.has_value()};
  entry->executable = Executable::compile(closed.program, how, at);
  entry->program = std::move(closed.program);
  entry->hidden = std::move(closed.captured);
  return entry;
}

// One kind of call is compiled once.
const JitCache::Entry& JitCache::Call::Compile(LeafFunction f, const Ref<Counted>& result,
                                               std::span<const size_t> leaf_counts) {
  Shared& s = *cache_.shared_;
  const std::lock_guard lock(s.compiling);
  if (const Entry* known = FindSealed()) return *known;
  const Ref<CachedEntry> entry = s.Compile(*this, f, leaf_counts);
  entry->result = result;
  s.Add(entry);
  held_ = Ref<Entry>::Share(entry.handle());
  return *held_;
}

Array ConcreteNumber(ricci_ctx* ctx, const Operand& number) {
  return ConcreteNumber(ctx, number, PromoteWeak(DType::kNone, number.weak));
}

std::string Lowered::text() const { return program.text(); }
std::string Lowered::dump(std::string_view stage) const { return executable.dump(stage); }
ricci_executable_stats Lowered::stats() const { return executable.stats(); }

ricci_device* JitCache::Call::device() const {
  ricci_device* const wanted = cache_.options().device.handle();
  if (wanted != nullptr) return wanted;
  for (ricci_array* a : handles.view()) {
    if (ricci_array_is_committed(a)) return ricci_array_device(a);
  }
  return nullptr;
}

void JitCache::Call::FindContext() {
  if (!cache_.options().context) {
    FailAt(cache_.at(), cache_.name(), ": no argument is an array; give a context in the options of jit");
  }
  ctx_ = cache_.options().context->handle();
}

void JitCache::Call::operator()(const Value& v) { (*this)(Array(v, cache_.at())); }

void JitCache::Call::FailOn(const Array& a) const {
  if (a.empty())
    FailAt(cache_.at(), cache_.name(), ": leaf ", handles.size(), " of the arguments is an array that was never set");
  FailAt(cache_.at(), cache_.name(), ": leaf ", handles.size(), " of the arguments, ", a.type(),
         ", belongs to another context than the leaves before it; make all arrays of a call in one");
}

void JitCache::Call::CheckFinite(const Entry& entry) {
  for (const Array& a : entry.hidden) handles.push_back(a.handle());
  entry.program.check_finite(handles.view(), Device(device()), cache_.at());
}

JitCache::Results::Results(Call& call, const Entry& entry) : ctx_(call.ctx_) {
  for (const Array& a : entry.hidden) call.handles.push_back(a.handle());
  for (size_t i = 0; i < entry.n_out; ++i) handles_.push_back(nullptr);
  const std::span<ricci_array*> out(handles_.data(), handles_.size());
  const RunOptions& how = call.cache_.options().run;
  if (how.empty())
    entry.executable.enqueue(call.handles.view(), out, call.cache_.at());
  else
    entry.executable.enqueue(call.handles.view(), out, how, call.cache_.at());
}
Values JitCache::Results::Pending(const CallSite& site) {
  Values out;
  while (next_ < handles_.size()) out.push_back(LiftLeaf(site, (*this)({})));
  return out;
}
JitCache::Results::~Results() {
  for (; next_ < handles_.size(); ++next_) {
    if (handles_.data()[next_] != nullptr) ricci_array_release(handles_.data()[next_]);
  }
}

}}  // namespace ricci::v0
