// The loop of the interpreter. Every access is checked against the size of its array; an error ends the run.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/status.h"
#include "kernel/interpret/quick_kernel.h"
#include "kernel/scalar/scalar_float.h"

namespace ricci { inline namespace v0 { namespace kernel {

class QuickMachine {
 public:
  QuickMachine(const QuickKernel& k, void* const* buffers, uint32_t* failed_check, const StopRequest& stop)
      : k_(k),
        buffers_(buffers),
        failed_check_(failed_check),
        stop_(stop),
        r_(k.registers_),
        private_(k.private_elements_) {}

  absl::Status Run(HostStop& ended) {
    const absl::Status status = RunPoints();
    if (!stopped_.ok()) ended = Stopped();
    return status;
  }

 private:
  absl::Status RunPoints() {
    std::vector<int64_t> point(k_.domain_.size());
    for (const int64_t extent : k_.domain_) {
      if (extent <= 0) return absl::OkStatus();
    }
    do {
      point_ = point.data();
      if (Ends() || !RunPoint()) return Failure();
    } while (Advance(point));
    return absl::OkStatus();
  }

  // Counts points and jumps; true if the host wants the run to end.
  bool Ends() {
    if (--left_ != 0) return false;
    left_ = StopRequest::kTripsBetweenPolls;
    stopped_ = stop_.Poll();
    return !stopped_.ok();
  }

  // Row-major; false after the last point.
  bool Advance(std::vector<int64_t>& point) const {
    for (size_t d = point.size(); d-- > 0;) {
      if (++point[d] < k_.domain_[d]) return true;
      point[d] = 0;
    }
    return false;
  }

  int64_t Signed(uint32_t v) const { return static_cast<int64_t>(r_[v]); }
  bool Holds(int64_t index, int64_t elements) {
    if (index >= 0 && index < elements) return true;
    bad_index_ = index;
    bad_bound_ = elements;
    return false;
  }
  template <typename T>
  bool Load(const QuickInst& q) {
    const int64_t index = Signed(q.a);
    if (!Holds(index, k_.elements_[q.imm])) return false;
    T v;
    std::memcpy(&v, static_cast<const T*>(buffers_[q.imm]) + index, sizeof(T));
    r_[q.number] = v;
    return true;
  }
  template <typename T>
  bool Store(const QuickInst& q) {
    const int64_t index = Signed(q.a);
    if (!Holds(index, k_.elements_[q.imm])) return false;
    const T v = static_cast<T>(r_[q.b]);
    std::memcpy(static_cast<T*>(buffers_[q.imm]) + index, &v, sizeof(T));
    return true;
  }
  bool Element(uint32_t local, uint32_t index, uint64_t** out) {
    if (!Holds(Signed(index), k_.local_size_[local])) return false;
    *out = &private_[k_.local_begin_[local] + static_cast<size_t>(Signed(index))];
    return true;
  }
  static uint64_t AddFloats(uint64_t a, uint64_t b) {
    return std::bit_cast<uint32_t>(Float(a) + Float(b));  // one rounding, as through double
  }
  static uint64_t MulFloats(uint64_t a, uint64_t b) { return std::bit_cast<uint32_t>(Float(a) * Float(b)); }
  static float Float(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }

  // True if the loop has iterations.
  bool Enter(const QuickInst& q) {
    r_[q.number] = r_[q.a];
    return Signed(q.a) < Signed(q.b);
  }
  bool EnterReduce(const QuickInst& q, bool wide) {
    const bool any = Enter(q);
    const double start = std::bit_cast<double>(q.imm);
    r_[q.c] = !any && wide ? EncodeFloat(q.dtype, start) : static_cast<uint64_t>(q.imm);
    return any;
  }
  bool Yield(const QuickInst& q, bool wide) {
    const uint64_t v = wide ? std::bit_cast<uint64_t>(DecodeFloat(q.dtype, r_[q.b])) : r_[q.b];
    r_[q.number] = q.fn(r_[q.number], v, 0);
    if (static_cast<int64_t>(++r_[q.a]) < Signed(q.c)) return true;
    if (wide) r_[q.number] = EncodeFloat(q.dtype, std::bit_cast<double>(r_[q.number]));
    return false;
  }

  // False on an error, and if the run must end.
  bool RunPoint() {
    const QuickInst* const code = k_.code_.data();
    const size_t n = k_.code_.size();
    uint64_t* element = nullptr;
    for (size_t at = 0; at < n; ++at) {
      const QuickInst& q = code[at];
      bool fine = true, jump = false;
      switch (q.op) {
        case QuickOp::kScalar:
          r_[q.number] = q.fn(r_[q.a], r_[q.b], r_[q.c]);
          break;
        case QuickOp::kAddI64:
          r_[q.number] = r_[q.a] + r_[q.b];
          break;
        case QuickOp::kMulI64:
          r_[q.number] = r_[q.a] * r_[q.b];
          break;
        case QuickOp::kAddF32:
          r_[q.number] = AddFloats(r_[q.a], r_[q.b]);
          break;
        case QuickOp::kMulF32:
          r_[q.number] = MulFloats(r_[q.a], r_[q.b]);
          break;
        case QuickOp::kDomain:
          r_[q.number] = static_cast<uint64_t>(point_[q.imm]);
          break;
        case QuickOp::kLoad1:
          fine = Load<uint8_t>(q);
          break;
        case QuickOp::kLoad2:
          fine = Load<uint16_t>(q);
          break;
        case QuickOp::kLoad4:
          fine = Load<uint32_t>(q);
          break;
        case QuickOp::kLoad8:
          fine = Load<uint64_t>(q);
          break;
        case QuickOp::kStore1:
          fine = Store<uint8_t>(q);
          break;
        case QuickOp::kStore2:
          fine = Store<uint16_t>(q);
          break;
        case QuickOp::kStore4:
          fine = Store<uint32_t>(q);
          break;
        case QuickOp::kStore8:
          fine = Store<uint64_t>(q);
          break;
        case QuickOp::kGet:
          if ((fine = Element(q.a, q.b, &element))) r_[q.number] = *element;
          break;
        case QuickOp::kSet:
          if ((fine = Element(q.a, q.b, &element))) *element = r_[q.c];
          break;
        case QuickOp::kFor:
          jump = !Enter(q);
          break;
        case QuickOp::kNext:
          jump = static_cast<int64_t>(++r_[q.a]) < Signed(q.b);
          break;
        case QuickOp::kJump:
          jump = true;
          break;
        case QuickOp::kAgain:
          ++r_[q.a];
          jump = true;
          break;
        case QuickOp::kUnless:
          jump = r_[q.a] == 0;
          break;
        case QuickOp::kReduce:
          jump = !EnterReduce(q, /*wide=*/false);
          break;
        case QuickOp::kReduceWide:
          jump = !EnterReduce(q, /*wide=*/true);
          break;
        case QuickOp::kYield:
          jump = Yield(q, /*wide=*/false);
          break;
        case QuickOp::kYieldWide:
          jump = Yield(q, /*wide=*/true);
          break;
        case QuickOp::kCopy:
          r_[q.number] = r_[q.a];
          break;
        case QuickOp::kAssume:
          fine = Holds(Signed(q.a), q.imm);
          break;
        case QuickOp::kCheck:
          fine = r_[q.a] != 0 || Report(static_cast<uint32_t>(q.imm));
          break;
      }
      if (!fine) return failed_ = &q, false;
      if (!jump) continue;
      if (Ends()) return next_ = q.jump, false;
      at = static_cast<size_t>(q.jump) - 1;  // the loop adds 1
    }
    return true;
  }

  // A check does not hold: the lowest number is kept, so that the report does not depend on an order.
  bool Report(uint32_t check) const {
    if (failed_check_ != nullptr) *failed_check_ = std::min(*failed_check_, check);
    return failed_check_ != nullptr;
  }

  // The innermost of the loops whose code would go on where the run was ended.
  HostStop Stopped() const {
    const uint32_t next = next_ < k_.code_.size() ? k_.code_[next_].number : 0;
    const auto in = std::find_if(k_.loops_.rbegin(), k_.loops_.rend(),
                                 [&](const LongLoop& l) { return l.begin < next && next <= l.end; });
    if (in == k_.loops_.rend()) return {.happened = true};
    return {true, in->location, r_[in->begin] - static_cast<uint64_t>(in->first)};
  }

  absl::Status Failure() const {
    if (!stopped_.ok()) return stopped_;
    const std::string where = base::Cat("kernel ", k_.name_, ": instruction ", failed_->number, ": ");
    if (failed_->op == QuickOp::kAssume) {
      return base::InvalidArgument(where, "index ", bad_index_, " was promised to be below ", bad_bound_);
    }
    if (failed_->op == QuickOp::kCheck) {
      return absl::FailedPreconditionError(base::Cat(where, "check ", failed_->imm, " does not hold"));
    }
    return absl::InternalError(
        base::Cat(where, "index ", bad_index_, " is outside ", base::Count(bad_bound_, "element")));
  }

  const QuickKernel& k_;
  void* const* buffers_;
  uint32_t* const failed_check_;
  const StopRequest stop_;
  uint32_t left_ = StopRequest::kTripsBetweenPolls;  // points and jumps until the request is read again
  absl::Status stopped_;
  size_t next_ = SIZE_MAX;  // position in the code at which a run that was ended in a point would go on
  std::vector<uint64_t> r_;
  std::vector<uint64_t> private_;
  const int64_t* point_ = nullptr;
  const QuickInst* failed_ = nullptr;
  int64_t bad_index_ = 0, bad_bound_ = 0;
};

absl::Status QuickKernel::Run(void* const* buffers, uint32_t* failed_check, const StopRequest& stop,
                              HostStop& ended) const {
  return QuickMachine(*this, buffers, failed_check, stop).Run(ended);
}

}}}  // namespace ricci::v0::kernel
