#include "laws/split_factor.h"

#include <algorithm>

#include "laws/points.h"
#include "runtime/context/context.h"

namespace ricci { inline namespace v0 { namespace laws {
namespace {

using ir::FactorKind;
using ir::Factors;

constexpr int64_t kMostElements = 1 << 16;  // of operands and results; about a hundred runs are made with them

constexpr FactorKind kReduced[] = {FactorKind::kSum, FactorKind::kProd, FactorKind::kMax, FactorKind::kMin,
                                   FactorKind::kAnd, FactorKind::kOr,   FactorKind::kXor};

std::vector<uint32_t> DimsOf(const std::vector<uint32_t>& list, uint32_t factor) {
  std::vector<uint32_t> out;
  for (uint32_t d = 0; d < list.size(); ++d) {
    if (list[d] == factor) out.push_back(d);
  }
  return out;
}

// ---- a part of an operation ----
// Types whose dimensions of `factor` have `size`.
absl::StatusOr<std::vector<ricci_type>> Resized(ricci_ctx* ctx, const std::vector<Type>& types,
                                                const std::vector<std::vector<uint32_t>>& lists, uint32_t factor,
                                                int64_t size) {
  types::TypeTable& table = runtime::FromAbi(ctx)->types();
  std::vector<ricci_type> out;
  for (size_t i = 0; i < types.size(); ++i) {
    std::vector<int64_t> dims(types[i].dims, types[i].dims + types[i].rank);
    for (uint32_t d : DimsOf(lists[i], factor)) dims[d] = size;
    RICCI_ASSIGN(out.emplace_back(), table.WithShape(table.Get(types[i].id), dims));
  }
  return out;
}

// The attributes of an operation, in which numbers may be changed.
class Attributes {
 public:
  explicit Attributes(const ricci_op& op) : attrs_(op.attrs, op.attrs + op.n_attrs), numbers_(op.n_attrs) {
    for (size_t a = 0; a < attrs_.size(); ++a) {
      if (attrs_[a].kind != RICCI_ATTR_INTS) continue;
      const auto* from = static_cast<const int64_t*>(attrs_[a].data);
      numbers_[a].assign(from, from + attrs_[a].count);
      attrs_[a].data = numbers_[a].data();
    }
  }
  std::span<const ricci_attr> get() const { return attrs_; }
  std::vector<int64_t*> Equal(int64_t value) {
    std::vector<int64_t*> out;
    for (size_t a = 0; a < attrs_.size(); ++a) {
      if (attrs_[a].kind == RICCI_ATTR_INT && attrs_[a].i == value) out.push_back(&attrs_[a].i);
      for (int64_t& n : numbers_[a]) {
        if (n == value) out.push_back(&n);
      }
    }
    return out;
  }

 private:
  std::vector<ricci_attr> attrs_;
  std::vector<std::vector<int64_t>> numbers_;  // of INTS
};

class Splitter {
 public:
  Splitter(ricci_device* ref, const ricci_op& op, const Factors& factors, const std::vector<std::vector<Bytes>>& draws)
      : ref_(ref), op_(op), factors_(factors), draws_(draws) {}

  absl::Status CheckAll() {
    RICCI_ASSIGN(types_, SignatureOf(op_.ctx, op_));
    int64_t results = 0, elements = 0;
    for (const Type& t : types_.results) results += t.elements;
    for (const Type& t : types_.params) elements += t.elements;
    if (results == 0 || elements + results > kMostElements) return absl::OkStatus();
    const std::vector<ricci_type> in(op_.in_types, op_.in_types + op_.n_in);
    RICCI_ASSIGN(const Program program, OneEquation(op_.ctx, op_.prim, {op_.attrs, op_.n_attrs}, in));
    RICCI_ASSIGN(whole_, Runnable::Of(op_.ctx, ricci_program_retain(program.get())));
    for (factor_ = 0; factor_ < factors_.factors.size(); ++factor_) {
      size_ = factors_.factors[factor_].size;
      if (size_ < 2) continue;
      half_ = size_ / 2;
      RICCI_ASSIGN(first_, PartOf(half_));
      RICCI_ASSIGN(second_, PartOf(size_ - half_));
      RICCI_TRY(Check());
    }
    return absl::OkStatus();
  }

 private:
  using Given = std::vector<Bytes>;  // operands
  struct Outcome {                   // the results of a run with them
    Given operands;
    std::vector<Bytes> whole, first, second;
  };
  enum class Half : uint8_t { kFirst, kSecond };

  std::vector<uint32_t> InDims(size_t i) const { return DimsOf(factors_.in[i], factor_); }
  std::vector<uint32_t> OutDims(size_t i) const { return DimsOf(factors_.out[i], factor_); }
  bool InResult() const {
    bool any = false;
    for (size_t i = 0; i < factors_.out.size(); ++i) any |= !OutDims(i).empty();
    return any;
  }
  FactorKind kind() const { return factors_.factors[factor_].kind; }
  bool HasParts() const { return first_ != nullptr && second_ != nullptr; }

  template <typename... Args>
  absl::Status Wrong(const Args&... what) const {
    return absl::FailedPreconditionError(base::Cat(factors_.About(factor_), " ", what...));
  }

  // The operation on `size` points, or NULL if there is none: with its own attributes, or with one or all of those that
  // equal the size of the factor changed to `size`.
  absl::StatusOr<RunnableRef> PartOf(int64_t size) {
    RICCI_ASSIGN(const std::vector<ricci_type> in, Resized(op_.ctx, types_.params, factors_.in, factor_, size));
    RICCI_ASSIGN(const std::vector<ricci_type> out, Resized(op_.ctx, types_.results, factors_.out, factor_, size));
    Attributes attrs(op_);
    if (RunnableRef as_is = WithTypes(attrs.get(), in, out)) return as_is;
    const std::vector<int64_t*> equal = attrs.Equal(size_);
    for (int64_t* one : equal) {
      *one = size;
      if (RunnableRef changed = WithTypes(attrs.get(), in, out)) return changed;
      *one = size_;
    }
    for (int64_t* one : equal) *one = size;
    return equal.size() < 2 ? nullptr : WithTypes(attrs.get(), in, out);
  }
  RunnableRef WithTypes(std::span<const ricci_attr> attrs, const std::vector<ricci_type>& in,
                        const std::vector<ricci_type>& out) const {
    const absl::StatusOr<Program> program = OneEquation(op_.ctx, op_.prim, attrs, in);
    if (!program.ok()) return nullptr;
    absl::StatusOr<RunnableRef> made = Runnable::Of(op_.ctx, ricci_program_retain(program->get()));
    if (!made.ok() || (*made)->results().size() != out.size()) return nullptr;
    for (size_t i = 0; i < out.size(); ++i) {
      if ((*made)->results()[i].id != out[i]) return nullptr;
    }
    return *std::move(made);
  }

  // ---- running ----
  // The operands; those that have the factor with its points in this order.
  std::vector<Bytes> Arranged(const std::vector<Bytes>& operands, const Points& points) const {
    std::vector<Bytes> out;
    for (size_t i = 0; i < operands.size(); ++i) out.push_back(Taken(types_.params[i], operands[i], InDims(i), points));
    return out;
  }
  // Every draw, with the points in the given order and in three others, so that nothing holds by chance (any part of a
  // sorted array is sorted).
  std::vector<Given> Trials() const {
    std::vector<Points> orders(4, Span(0, size_));
    std::reverse(orders[1].begin(), orders[1].end());
    std::rotate(orders[2].begin(), orders[2].begin() + 1, orders[2].end());
    std::rotate(orders[3].begin(), orders[3].begin() + half_, orders[3].end());
    std::vector<Given> out;
    for (const std::vector<Bytes>& draw : draws_) {
      for (const Points& order : orders) out.push_back(Arranged(draw, order));
    }
    return out;
  }
  absl::StatusOr<Outcome> Run(const Given& operands) {
    Outcome o{operands, {}, {}, {}};
    RICCI_ASSIGN(o.whole, whole_->RunBytes(ref_, o.operands));
    if (!HasParts()) return o;
    RICCI_ASSIGN(o.first, first_->RunBytes(ref_, Arranged(o.operands, Span(0, half_))));
    RICCI_ASSIGN(o.second, second_->RunBytes(ref_, Arranged(o.operands, Span(half_, size_))));
    return o;
  }

  // ---- what is wrong with an outcome; empty: it fits ---- The results of the parts, concatenated, must be those of
  // the whole.
  absl::StatusOr<std::string> NotJoined(const Outcome& o) const {
    for (size_t i = 0; i < o.whole.size(); ++i) {
      const Type& part = first_->results()[i];
      const Type& rest = second_->results()[i];
      const std::vector<uint32_t> dims = OutDims(i);
      const Type& t = types_.results[i];
      RICCI_ASSIGN(std::string wrong, Mismatch(part, o.first[i], Taken(t, o.whole[i], dims, Span(0, half_))));
      if (!wrong.empty()) return base::Cat("the first part's result ", i, ", ", wrong);
      RICCI_ASSIGN(wrong, Mismatch(rest, o.second[i], Taken(t, o.whole[i], dims, Span(half_, size_))));
      if (!wrong.empty()) return base::Cat("the second part's result ", i, ", ", wrong);
    }
    return std::string();
  }
  absl::StatusOr<std::string> NotCombined(const Outcome& o, FactorKind by) const {
    for (size_t i = 0; i < o.whole.size(); ++i) {
      const Type& t = types_.results[i];
      if (!Combines(by, t)) return base::Cat("result ", i, " cannot be combined in that way");
      RICCI_ASSIGN(const Numbers got, Combined(by, t, o.first[i], o.second[i]));
      RICCI_ASSIGN(const Numbers want, Decode(t, o.whole[i]));
      const std::string wrong = Mismatch(t, got, want);
      if (!wrong.empty()) return base::Cat("of result ", i, ", ", wrong);
    }
    return std::string();
  }
  // The result points `kept` must not change when the operands' points become `disturbed`.
  absl::StatusOr<std::string> NotKept(const Outcome& o, const Points& kept, const Points& disturbed) {
    RICCI_ASSIGN(const std::vector<Bytes> other, whole_->RunBytes(ref_, Arranged(o.operands, disturbed)));
    for (size_t i = 0; i < other.size(); ++i) {
      const std::vector<uint32_t> dims = OutDims(i);
      if (dims.empty()) continue;
      const Type& t = types_.results[i];
      if (Taken(t, other[i], dims, kept) != Taken(t, o.whole[i], dims, kept)) {
        return base::Cat("result ", i, " changes from ", kept.front(), " to ", kept.back());
      }
    }
    return std::string();
  }
  absl::StatusOr<std::string> HalfNeedsOther(const Outcome& o, Half half) {
    Points disturbed = Span(0, size_);
    const auto middle = disturbed.begin() + half_;
    if (half == Half::kFirst) {
      std::fill(middle, disturbed.end(), 0);
      return NotKept(o, Span(0, half_), disturbed);
    }
    std::fill(disturbed.begin(), middle, size_ - 1);
    return NotKept(o, Span(half_, size_), disturbed);
  }

  // ---- the kinds ----
  absl::Status Check() {
    if (kind() == FactorKind::kParallel) return CheckParallel();
    if (IsReduced(kind())) return CheckReduced();
    RICCI_TRY(CheckNothingBetter());
    if (kind() == FactorKind::kSeq) return CheckSeq();
    if (kind() == FactorKind::kIndexed) return CheckIndependent("is ");
    return kind() == FactorKind::kWindow ? CheckWindow() : absl::OkStatus();
  }

  absl::Status CheckParallel() {
    if (!HasParts()) return CheckIndependent("has no kind");
    for (const Given& operands : Trials()) {
      RICCI_ASSIGN(const Outcome o, Run(operands));
      RICCI_ASSIGN(const std::string wrong, NotJoined(o));
      if (!wrong.empty()) return Wrong("has no kind, but the result of the whole is not that of the parts: ", wrong);
    }
    return absl::OkStatus();
  }

  absl::Status CheckReduced() {
    if (!HasParts()) return Wrong("is ", NameOf(kind()), ", but no part of it can be run");
    for (const Given& operands : Trials()) {
      RICCI_ASSIGN(const Outcome o, Run(operands));
      RICCI_ASSIGN(const std::string wrong, NotCombined(o, kind()));
      if (!wrong.empty()) return Wrong("is ", NameOf(kind()), ", but its parts do not combine in that way: ", wrong);
    }
    return absl::OkStatus();
  }

  // Whether the parts fit `as` in every trial.
  absl::StatusOr<bool> Fits(FactorKind as) {
    for (const Given& operands : Trials()) {
      RICCI_ASSIGN(const Outcome o, Run(operands));
      RICCI_ASSIGN(const std::string wrong, as == FactorKind::kParallel ? NotJoined(o) : NotCombined(o, as));
      if (!wrong.empty()) return false;
    }
    return true;
  }
  absl::Status CheckNothingBetter() {
    if (!HasParts() || draws_.size() < 2) return absl::OkStatus();
    if (InResult()) {
      RICCI_ASSIGN(const bool parallel, Fits(FactorKind::kParallel));
      return parallel
                 ? Wrong("is ", NameOf(kind()), ", but the result of the whole is that of the parts; give it no kind")
                 : absl::OkStatus();
    }
    for (FactorKind as : kReduced) {
      RICCI_ASSIGN(const bool fits, Fits(as));
      if (!fits) continue;
      return Wrong("is ", NameOf(kind()), ", but its parts combine by ", NameOf(as), "; write `", NameOf(as), " ",
                   factors_.names[factor_], "`");
    }
    return absl::OkStatus();
  }

  absl::Status CheckSeq() {
    std::string first, second;
    for (const Given& operands : Trials()) {
      RICCI_ASSIGN(const Outcome o, Run(operands));
      RICCI_ASSIGN(const std::string early, HalfNeedsOther(o, Half::kFirst));
      RICCI_ASSIGN(const std::string late, HalfNeedsOther(o, Half::kSecond));
      if (first.empty()) first = early;
      if (second.empty()) second = late;
    }
    if (first.empty() || second.empty()) return absl::OkStatus();
    return Wrong("is seq, but neither half of the results can be computed without the other half of the operands: ",
                 first, ", and ", second);
  }

  // The far end of the operands does not matter.
  absl::Status CheckWindow() {
    for (const Given& operands : Trials()) {
      RICCI_ASSIGN(const Outcome o, Run(operands));
      Points last_changed = Span(0, size_), first_changed = last_changed;
      last_changed.back() = 0, first_changed.front() = size_ - 1;
      RICCI_ASSIGN(std::string wrong, NotKept(o, {0}, last_changed));
      if (wrong.empty()) {
        RICCI_ASSIGN(wrong, NotKept(o, {size_ - 1}, first_changed));
      }
      if (!wrong.empty()) {
        return Wrong("is window, but it reaches from end to end (examples must be larger than the window): ", wrong);
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckIndependent(std::string_view is) {
    for (const Given& operands : Trials()) {
      RICCI_ASSIGN(const Outcome o, Run(operands));
      for (Half half : {Half::kFirst, Half::kSecond}) {
        RICCI_ASSIGN(const std::string wrong, HalfNeedsOther(o, half));
        if (!wrong.empty()) return Wrong(is, NameOf(kind()), ", but its points need each other: ", wrong);
      }
    }
    return absl::OkStatus();
  }

  ricci_device* ref_;
  const ricci_op& op_;
  const Factors& factors_;
  const std::vector<std::vector<Bytes>>& draws_;
  Signature types_;
  RunnableRef whole_, first_, second_;
  uint32_t factor_ = 0;
  int64_t size_ = 0, half_ = 0;  // of the factor, of its first part
};

}  // namespace

absl::Status CheckSplits(ricci_device* ref, const ricci_op& op, const Factors& factors,
                         const std::vector<std::vector<Bytes>>& draws) {
  return Splitter(ref, op, factors, draws).CheckAll();
}

}}}  // namespace ricci::v0::laws
