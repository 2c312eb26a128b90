// The cache of a jitted function: a list that only grows, read without a lock.
#include "ricci/jit_cache.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>

#include "ricci/element.hpp"
#include "ricci/jit.hpp"

namespace ricci::inline v0 {

namespace {

struct Node {
  Node(const TreeKey& key, JitEntry entry, const Node* next) : key(key), entry(std::move(entry)), next(next) {}
  Node(const Node&) = delete;
  ~Node() {
    if (entry.drop != nullptr) entry.drop(entry.out);
  }
  TreeKey key;
  JitEntry entry;
  const Node* next;
};

}  // namespace

struct JitCache::Shared {
  std::string name;
  Location at;
  JitOptions options;
  std::atomic<uint32_t> uses{1};
  std::atomic<const Node*> first{nullptr};
  std::atomic<size_t> size{0};
  std::recursive_mutex compiling;  // a function may call itself while it is traced
};

JitCache::JitCache(std::string_view name, const Location& at, JitOptions options)
    : shared_(new Shared{std::string(name), at, std::move(options), {1}, {nullptr}, {0}, {}}) {}
JitCache::JitCache(const JitCache& o) : shared_(o.shared_) { shared_->uses.fetch_add(1, std::memory_order_relaxed); }
JitCache::~JitCache() {
  if (shared_->uses.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  for (const Node* n = shared_->first; n != nullptr;) delete std::exchange(n, n->next);
  delete shared_;
}

std::string_view JitCache::name() const { return shared_->name; }
const Location& JitCache::at() const { return shared_->at; }
const JitOptions& JitCache::options() const { return shared_->options; }
size_t JitCache::size() const { return shared_->size; }

const JitEntry* JitCache::Find(const JitKey& key) const {
  for (const Node* n = shared_->first.load(std::memory_order_acquire); n != nullptr; n = n->next) {
    if (n->key == key.words) return &n->entry;
  }
  return nullptr;
}

JitEntry JitCache::Compile(const JitKey& key, LeafFunction f, std::span<const size_t> leaf_counts) const {
  const Outside o{shared_->name, shared_->at, key.known_context()};
  std::vector<ricci_type> types;
  for (ricci_array* a : key.handles.view()) types.push_back(ricci_array_type(a));
  Closed<Array> closed = Close(o, f, types);
  std::vector<uint8_t> donate;
  const std::vector<uint32_t>& list = shared_->options.donate_argnums;
  for (uint32_t i = 0; i < leaf_counts.size(); ++i) {
    donate.insert(donate.end(), leaf_counts[i], std::find(list.begin(), list.end(), i) != list.end());
  }
  donate.resize(closed.program.params().size(), 0);
  JitEntry entry;
  entry.n_out = closed.program.results().size();
  entry.executable = Executable::compile(closed.program, Device(key.device()), donate, o.at);
  entry.program = std::move(closed.program);
  entry.hidden = std::move(closed.captured);
  return entry;
}

const JitEntry& JitCache::Add(const JitKey& key, JitEntry entry) const {
  const Node* added = new Node(key.words, std::move(entry), shared_->first.load(std::memory_order_relaxed));
  shared_->first.store(added, std::memory_order_release);
  shared_->size.fetch_add(1, std::memory_order_relaxed);
  return added->entry;
}

// One kind of call is compiled once.
const JitEntry& JitCache::FindOrCompile(const JitKey& key, LeafFunction f, std::span<const size_t> leaf_counts,
                                        const ResultStructure& out) const {
  const std::lock_guard lock(shared_->compiling);
  if (const JitEntry* known = Find(key)) return *known;
  JitEntry entry = Compile(key, f, leaf_counts);
  entry.out = out.copy(out.shell);
  entry.drop = out.drop;
  return Add(key, std::move(entry));
}

Array ConcreteNumber(ricci_ctx* ctx, const Operand& number) {
  const DType dtype = PromoteWeak(DType::kNone, number.weak);
  const Element e = number.weak == Weak::kComplex ? Encode(dtype, std::complex<double>(number.real, number.imag))
                    : number.weak == Weak::kFloat ? Encode(dtype, number.real)
                                                  : Encode(dtype, number.integer);
  return Array(Context(ctx), dtype, {}, e.bytes.data(), number.at);
}

Lowered LoweredOf(const JitEntry& entry) { return {entry.program, entry.executable}; }
std::string Lowered::text() const { return program.text(); }
std::string Lowered::dump(std::string_view stage) const { return executable.dump(stage); }
ricci_executable_stats Lowered::stats() const { return executable.stats(); }

ricci_device* JitKey::device() const {
  ricci_device* const wanted = cache_.options().device.handle();
  if (wanted != nullptr) return wanted;
  for (ricci_array* a : handles.view()) {
    if (ricci_array_is_committed(a)) return ricci_array_device(a);
  }
  return nullptr;
}

void JitKey::FindContext() {
  if (!cache_.options().context) {
    FailAt(cache_.at(), cache_.name(), ": no argument is an array; give a context in the options of jit");
  }
  ctx_ = cache_.options().context->handle();
}

void JitKey::FailOn(const Array& a) const {
  if (a.empty())
    FailAt(cache_.at(), cache_.name(), ": leaf ", handles.size(), " of the arguments is an array that was never set");
  FailAt(cache_.at(), cache_.name(), ": leaf ", handles.size(), " of the arguments, ", a.type(),
         ", belongs to another context than the leaves before it; make all arrays of a call in one");
}

JitResults::JitResults(JitKey& key, const JitEntry& entry) : ctx_(key.context()) {
  for (const Array& a : entry.hidden) key.handles.push_back(a.handle());
  for (size_t i = 0; i < entry.n_out; ++i) handles_.push_back(nullptr);
  entry.executable.enqueue(key.handles.view(), {handles_.data(), handles_.size()}, key.cache().at());
}
JitResults::~JitResults() {
  for (; next_ < handles_.size(); ++next_) {
    if (handles_.data()[next_] != nullptr) ricci_array_release(handles_.data()[next_]);
  }
}

}  // namespace ricci::inline v0
