#include "cuda/schedule/runs.h"

#include <algorithm>
#include <map>
#include <utility>

#include "cuda/schedule/index_forms.h"

namespace ricci::cuda {
namespace {

constexpr int64_t kMostBytes = 16;    // of an access
constexpr size_t kLeastAccesses = 2;  // that a run replaces
constexpr size_t kMostOfAccess = 24;  // instructions of the kernel for each access in a run

class Finder {
 public:
  Finder(const ricci_kernel_table& k, const codegen::Blocks& blocks) : k_(k), blocks_(blocks), forms_(k) {
    runs_.of.resize(k.n_insts);
    runs_.number.resize(k.n_insts);
    runs_.buffers.resize(k.n_buffers);
  }

  Runs Find() {
    for (const auto& [key, accesses] : Families()) FindIn(accesses);
    const auto in_runs = std::count_if(runs_.of.begin(), runs_.of.end(), [](uint32_t r) { return r != 0; });
    if (static_cast<size_t>(in_runs) * kMostOfAccess < k_.n_insts) return {};
    FindUnused();
    for (const Run& r : runs_.runs) {
      runs_.buffers[RICCI_BUFFER_OF(At(r.first).imm)] = 1;
      runs_.bytes = std::max(runs_.bytes, r.size * SizeOf(r.first));
    }
    return std::move(runs_);
  }

 private:
  // Accesses of one buffer whose indices differ by a constant, by that constant.
  using Family = std::map<int64_t, uint32_t>;
  using Key = std::pair<uint32_t, IndexForm>;

  const ricci_inst& At(uint32_t i) const { return k_.insts[i]; }
  bool IsStore(uint32_t i) const { return At(i).op == RICCI_K_STORE; }
  int64_t SizeOf(uint32_t access) const {
    return codegen::SizeOfDType(IsStore(access) ? At(At(access).b).dtype : At(access).dtype);
  }

  // Of buffers that are only read, or only written and all of that by accesses of one family.
  std::map<Key, Family> Families() const {
    std::map<Key, Family> out;
    std::vector<uint8_t> other(k_.n_buffers);  // accessed in other ways too
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      const uint16_t op = At(i).op;
      if (op != RICCI_K_LOAD && op != RICCI_K_STORE && op != RICCI_K_COMBINE) continue;
      const auto b = static_cast<uint32_t>(RICCI_BUFFER_OF(At(i).imm));
      IndexForm form = forms_.Of(At(i).a);
      const bool is_read = k_.buffers[b].access == RICCI_ACCESS_READ;
      if (op == RICCI_K_COMBINE || blocks_.parent[i] != 0 || form.empty() || is_read != (op == RICCI_K_LOAD)) {
        other[b] |= op != RICCI_K_LOAD || !is_read;
        continue;
      }
      const int64_t constant = std::exchange(form.back(), 0);
      const bool is_new = out[{b, form}].emplace(constant, i).second;
      other[b] |= !is_new && !is_read;
    }
    for (auto it = out.begin(); it != out.end();) {
      const uint32_t b = it->first.first;
      const bool is_only = std::next(it) == out.end() || std::next(it)->first.first != b;
      const bool is_first = it == out.begin() || std::prev(it)->first.first != b;
      const bool is_whole = k_.buffers[b].access == RICCI_ACCESS_READ || (is_only && is_first);
      it = other[b] != 0 || !is_whole ? out.erase(it) : std::next(it);
    }
    return out;
  }

  // Runs begin at multiples of their size, so all factors must be.
  int64_t LargestSize(uint32_t access) const {
    int64_t n = kMostBytes / SizeOf(access);
    const IndexForm& form = forms_.Of(At(access).a);
    for (size_t d = 0; d + 1 < form.size(); ++d) {
      while (n > 1 && form[d] % n != 0) n /= 2;
    }
    return n;
  }

  // Elements between those that a point reads are read with them; those that it writes must all be there.
  void FindIn(const Family& family) {
    const uint32_t any = family.begin()->second;
    const int64_t n = LargestSize(any), least = family.begin()->first, most = family.rbegin()->first;
    if (n < 2) return;
    for (auto it = family.begin(); it != family.end();) {
      const int64_t begin = it->first - ((it->first % n) + n) % n;
      const auto end = family.lower_bound(begin + n);
      const auto count = static_cast<size_t>(std::distance(it, end));
      const bool is_inside = begin >= least && begin + n - 1 <= most;
      const bool is_all = count == static_cast<size_t>(n);
      if (is_all || (!IsStore(any) && is_inside && count >= kLeastAccesses)) Add(it, end, begin, n);
      it = end;
    }
  }

  // From the end, with the operands of those that are unused.
  void FindUnused() {
    std::vector<uint32_t> uses(k_.n_insts);
    const auto count = [&](uint32_t i, uint32_t by) {
      for (const uint32_t operand : {At(i).a, At(i).b, At(i).c}) uses[operand] += by;
    };
    for (uint32_t i = 1; i < k_.n_insts; ++i) count(i, 1);
    runs_.unused.resize(k_.n_insts);
    for (uint32_t i = k_.n_insts; i-- > 1;) {
      const bool is_in_run = runs_.of[i] != 0;
      const Run run = is_in_run ? runs_.Of(i) : Run{};
      if (is_in_run && i != (IsStore(i) ? run.last : run.first)) --uses[At(i).a];
      runs_.unused[i] = static_cast<uint8_t>(!is_in_run && uses[i] == 0 && codegen::IsScalar(At(i).op));
      if (runs_.unused[i] != 0) count(i, ~uint32_t{0});
    }
  }

  void Add(Family::const_iterator from, Family::const_iterator to, int64_t begin, int64_t n) {
    Run run{.first = from->second, .last = from->second, .size = n};
    for (auto it = from; it != to; ++it) {
      run.first = std::min(run.first, it->second);
      run.last = std::max(run.last, it->second);
      runs_.of[it->second] = static_cast<uint32_t>(runs_.runs.size() + 1);
      runs_.number[it->second] = it->first - begin;
    }
    runs_.runs.push_back(run);
  }

  const ricci_kernel_table& k_;
  const codegen::Blocks& blocks_;
  const IndexForms forms_;
  Runs runs_;
};

}  // namespace

Runs RunsOf(const ricci_kernel_table& k, const codegen::Blocks& blocks) { return Finder(k, blocks).Find(); }

}  // namespace ricci::cuda
