#include "runtime/fault/held_runs.h"

#include <functional>

#include "control/parts.h"
#include "prim/registry.h"
#include "runtime/compile/compile.h"
#include "runtime/context/device_put.h"
#include "trace/roles.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

constexpr std::string_view kWho = "a run of held programs";

// The slices of an array along one dimension; it is copied to the host once.
class Slices {
 public:
  static absl::StatusOr<Slices> Of(const ArrayRef& a, int64_t axis) {
    Slices s;
    s.device_ = a->device();
    RICCI_ASSIGN(s.slice_, trace::WithoutDim(s.device_->context->types(), a->type_id(), axis));
    s.size_ = static_cast<size_t>(a->type().shape[axis]);
    s.inner_ = types::Info(a->type().dtype).size;
    for (size_t d = axis + 1; d < a->type().rank(); ++d) s.inner_ *= static_cast<size_t>(a->type().shape[d]);
    s.data_.resize(a->bytes());
    RICCI_TRY(CopyToHost(*a, s.data_.data(), kWho));
    return s;
  }

  absl::StatusOr<ArrayRef> Get(int64_t i) const {
    std::vector<std::byte> slice(device_->context->types().Get(slice_).bytes);
    const std::byte* from = data_.data() + static_cast<size_t>(i) * inner_;
    for (size_t to = 0; to < slice.size(); to += inner_, from += size_ * inner_) {
      std::memcpy(slice.data() + to, from, inner_);
    }
    return FromHost(device_, slice_, slice.data(), nullptr);
  }

 private:
  Device* device_ = nullptr;
  types::TypeId slice_ = 0;
  size_t size_ = 0, inner_ = 0;  // of the dimension; bytes that lie together
  std::vector<std::byte> data_;
};

template <typename T>
absl::StatusOr<T> ScalarOf(const ArrayRef& a) {
  T v{};
  RICCI_TRY(CopyToHost(*a, &v, kWho));
  return v;
}

class HeldRuns {
 public:
  HeldRuns(std::string_view name, std::span<const ArrayRef> operands, Device* device, const HeldRunVisitor& visit)
      : name_(name), operands_(operands), device_(device), visit_(visit) {}

  absl::Status Scan(const control::ScanParts& s) {
    RICCI_ASSIGN(const auto body, CompileFor(device_, *s.body));
    std::vector<Slices> xs;
    for (const ArrayRef& x : operands_.subspan(s.n_consts + s.n_carry)) {
      RICCI_ASSIGN(Slices slices, Slices::Of(x, 0));
      xs.push_back(std::move(slices));
    }
    Arrays carry = Part(s.n_consts, s.n_carry);
    for (int64_t trip = 0; trip < s.length; ++trip) {
      Arrays in = Part(0, s.n_consts);
      in.insert(in.end(), carry.begin(), carry.end());
      for (const Slices& x : xs) {
        RICCI_ASSIGN(ArrayRef slice, x.Get(s.reverse ? s.length - 1 - trip : trip));
        in.push_back(std::move(slice));
      }
      RICCI_ASSIGN(const Arrays out, Visit(*body, *s.body, in, "trip", trip));
      carry.assign(out.begin(), out.begin() + s.n_carry);
    }
    return absl::OkStatus();
  }

  absl::Status While(const control::WhileParts& w) {
    RICCI_ASSIGN(const auto cond, CompileFor(device_, *w.cond));
    RICCI_ASSIGN(const auto body, CompileFor(device_, *w.body));
    const auto with = [](Arrays consts, const Arrays& carry) {
      consts.insert(consts.end(), carry.begin(), carry.end());
      return consts;
    };
    Arrays carry = Part(w.n_cond + w.n_body, w.n_carry);
    for (int64_t trip = 0; trip != w.max_trips; ++trip) {
      RICCI_ASSIGN(const Arrays predicate, RunOn(*cond, with(Part(0, w.n_cond), carry)));
      RICCI_ASSIGN(const auto go_on, ScalarOf<uint8_t>(predicate[0]));
      if (go_on == 0) break;
      RICCI_ASSIGN(carry, Visit(*body, *w.body, with(Part(w.n_cond, w.n_body), carry), "trip", trip));
    }
    return absl::OkStatus();
  }

  absl::Status Cond(std::span<ricci_program* const> branches) {
    RICCI_ASSIGN(const auto index, ScalarOf<int32_t>(operands_[0]));
    const int64_t chosen = std::clamp<int64_t>(index, 0, static_cast<int64_t>(branches.size()) - 1);
    const ir::Program& branch = *ir::FromAbi(branches[chosen]);
    RICCI_ASSIGN(const auto executable, CompileFor(device_, branch));
    return Visit(*executable, branch, operands_.subspan(1), "branch", chosen).status();
  }

  absl::Status Vmap(const control::VmapParts& v) {
    RICCI_ASSIGN(const auto body, CompileFor(device_, *v.body));
    std::vector<Slices> slices(operands_.size());
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (v.in_axes[i] < 0) continue;
      RICCI_ASSIGN(slices[i], Slices::Of(operands_[i], v.in_axes[i]));
    }
    for (int64_t element = 0; element < v.size; ++element) {
      Arrays in = Part(0, operands_.size());
      for (size_t i = 0; i < in.size(); ++i) {
        if (v.in_axes[i] < 0) continue;
        RICCI_ASSIGN(in[i], slices[i].Get(element));
      }
      RICCI_TRY(Visit(*body, *v.body, in, "element", element).status());
    }
    return absl::OkStatus();
  }

 private:
  Arrays Part(size_t first, size_t n) const { return Arrays(operands_.begin() + first, operands_.begin() + first + n); }

  // Runs, visits and returns the results.
  absl::StatusOr<Arrays> Visit(const Executable& x, const ir::Program& f, std::span<const ArrayRef> in,
                               std::string_view unit, int64_t number) const {
    RICCI_ASSIGN(Arrays out, RunOn(x, in));
    RICCI_TRY(visit_(HeldRun{f, in, out, base::Cat(unit, " ", number, " of ", name_)}));
    return out;
  }

  const std::string_view name_;
  const std::span<const ArrayRef> operands_;
  Device* const device_;
  const HeldRunVisitor& visit_;
};

prim::Flow FlowOf(const ir::Program& f, const ir::Equation& e) { return prim::Registry::Of(f).Get(e.prim).flow; }

}  // namespace

absl::StatusOr<base::Ref<Executable>> CompileFor(Device* device, const ir::Program& f) {
  CompileOptions options;
  options.devices = {device};
  return Compile(f, options);
}

absl::StatusOr<Arrays> RunOn(const Executable& x, std::span<const ArrayRef> in) {
  std::vector<ricci_array*> operands, results(x.code().program().n_results());
  for (const ArrayRef& a : in) operands.push_back(Abi(a.get()));
  RICCI_TRY(x.Run(operands, results, {}));
  Arrays out;
  for (ricci_array* a : results) out.push_back(ArrayRef::Adopt(FromAbi(a)));
  return out;
}

bool HasHeldRuns(const ir::Program& f, const ir::Equation& e) {
  const prim::Flow flow = FlowOf(f, e);
  return flow == prim::Flow::kScan || flow == prim::Flow::kWhile || flow == prim::Flow::kCond ||
         flow == prim::Flow::kVmap;
}

absl::Status VisitHeldRuns(const ir::Program& f, const ir::Equation& e, std::span<const ArrayRef> operands,
                           Device* device, const HeldRunVisitor& visit) {
  HeldRuns runs(f.vocabulary()->PrimName(e.prim), operands, device, visit);
  const prim::Flow flow = FlowOf(f, e);
  if (flow == prim::Flow::kScan) return runs.Scan(control::ScanParts(e));
  if (flow == prim::Flow::kWhile) return runs.While(control::WhileParts(e));
  if (flow == prim::Flow::kCond) return runs.Cond(control::Branches(e.attrs));
  RICCI_TRY(base::Invariant(flow == prim::Flow::kVmap, "an equation without held runs"));
  return runs.Vmap(control::VmapParts(e.attrs));
}

}}}  // namespace ricci::v0::runtime
