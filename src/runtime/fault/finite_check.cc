#include "runtime/fault/finite_check.h"

#include <cmath>

#include "absl/strings/str_join.h"
#include "kernel/scalar/scalar_float.h"
#include "runtime/context/device_put.h"
#include "runtime/fault/held_runs.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

// The first NaN and the first infinity of an array, by number of the element; -1: none.
struct Oddities {
  int64_t nan = -1, infinity = -1;
};

Oddities Look(const types::ArrayType& t, const std::byte* data) {
  Oddities out;
  const uint32_t part = types::PartOf(t.dtype), size = types::Info(part).size;
  if (!types::IsFloating(part)) return out;
  const int64_t parts = types::PartsOf(t.dtype);
  for (int64_t i = 0; i < t.elements * parts && out.nan < 0; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, data + static_cast<size_t>(i) * size, size);
    const double v = kernel::DecodeFloat(part, bits);
    if (std::isnan(v)) out.nan = i / parts;
    if (std::isinf(v) && out.infinity < 0) out.infinity = i / parts;
  }
  return out;
}

absl::StatusOr<Oddities> LookAt(const Array& a) {
  std::vector<std::byte> data(a.bytes());
  RICCI_TRY(CopyToHost(a, data.data(), "ricci_check_finite"));
  return Look(a.type(), data.data());
}

// What some arrays have, before it is said which.
struct Tally {
  bool nan = false, infinity = false;

  void Add(const Oddities& o) {
    nan |= o.nan >= 0;
    infinity |= o.infinity >= 0;
  }
  // Whether what was computed from these has a NaN, or an infinity, that none of these explains.
  bool MakesNan(const Oddities& result) const { return result.nan >= 0 && !nan; }
  bool MakesInfinity(const Oddities& result) const { return result.infinity >= 0 && !nan && !infinity; }
};

absl::StatusOr<bool> MakesOne(const HeldRun& run) {
  Tally in;
  for (const ArrayRef& a : run.in) {
    RICCI_ASSIGN(const Oddities found, LookAt(*a));
    in.Add(found);
  }
  for (const ArrayRef& a : run.out) {
    RICCI_ASSIGN(const Oddities found, LookAt(*a));
    if (in.MakesNan(found) || in.MakesInfinity(found)) return true;
  }
  return false;
}

// The status with the run in which it happened.
absl::Status In(const HeldRun& run, const absl::Status& s) {
  const std::string message = base::Cat(std::string(s.message()), "; in ", run.path);
  return base::WithSite(absl::Status(s.code(), message), base::SiteOf(s));
}

// `[2,0]`: the indices of element `i`.
std::string IndicesOf(const types::ArrayType& t, int64_t i) {
  std::vector<int64_t> at(t.rank());
  for (size_t d = at.size(); d-- > 0;) {
    at[d] = i % t.shape[d];
    i /= t.shape[d];
  }
  return "[" + absl::StrJoin(at, ",") + "]";
}

// A value of the program: its data, until its last use, and what was found in it.
struct Known {
  ArrayRef array;
  Oddities found;
};

class Walk {
 public:
  Walk(const ir::Program& f, Device* device, prim::Registry& registry)
      : f_(f), device_(device), registry_(registry), values_(f.values.size()), last_use_(f.values.size(), 0) {
    for (uint32_t i = 0; i < f.equations.size(); ++i) {
      for (ir::ValueId v : f.equations[i].operands) last_use_[v] = i;
    }
  }

  absl::Status Run(std::span<const ArrayRef> params) {
    for (uint32_t i = 0; i < params.size(); ++i) RICCI_TRY(Set(i, params[i]));
    for (const ir::Constant& c : f_.constants) RICCI_TRY(SetConstant(c));
    for (uint32_t i = 0; i < f_.equations.size(); ++i) {
      RICCI_TRY(RunEquation(f_.equations[i]));
      for (ir::ValueId v : f_.equations[i].operands) {
        if (last_use_[v] == i) values_[v].array = {};
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Set(ir::ValueId v, ArrayRef array) {
    RICCI_ASSIGN(const Oddities found, LookAt(*array));
    values_[v] = {std::move(array), found};
    return absl::OkStatus();
  }

  absl::Status SetConstant(const ir::Constant& c) {
    const types::ArrayType& t = f_.type(c.value);
    std::vector<std::byte> data(t.bytes);
    const std::span<const std::byte> from = c.data->bytes;
    for (size_t at = 0; at < data.size(); at += from.size()) std::memcpy(data.data() + at, from.data(), from.size());
    RICCI_ASSIGN(ArrayRef array, FromHost(device_, f_.type_id(c.value), data.data(), nullptr));
    return Set(c.value, std::move(array));
  }

  // The equation as a program of its operands.
  absl::StatusOr<ir::ProgramRef> Alone(const ir::Equation& e) {
    const std::span types(e.types, e.operands.size());
    RICCI_ASSIGN(auto b, trace::Builder::Create(registry_, f_.name, types));
    RICCI_ASSIGN(const trace::Vals out, b->Copy(f_, e, b->params()));
    return b->Finish(out);
  }

  absl::Status RunEquation(const ir::Equation& e) {
    RICCI_ASSIGN(const ir::ProgramRef alone, Alone(e));
    RICCI_ASSIGN(const auto executable, CompileFor(device_, *alone));
    Arrays operands;  // held while those that die here are released below
    for (ir::ValueId v : e.operands) operands.push_back(values_[v].array);
    RICCI_ASSIGN(const Arrays results, RunOn(*executable, operands));
    for (uint32_t i = 0; i < e.n_results; ++i) RICCI_TRY(Set(e.result(i), results[i]));
    const absl::Status made = Judge(e);
    if (made.ok()) return made;
    RICCI_TRY(Within(e, operands));
    return made;
  }

  // OUT_OF_RANGE if the equation made what is in its results.
  absl::Status Judge(const ir::Equation& e) const {
    Tally in;
    for (ir::ValueId v : e.operands) in.Add(values_[v].found);
    for (uint32_t i = 0; i < e.n_results; ++i) {
      const Oddities& found = values_[e.result(i)].found;
      const std::string_view others = in.infinity ? "no operand has one" : "its operands are finite";
      if (in.MakesNan(found)) return Made(e, i, "nan", found.nan, others);
      if (in.MakesInfinity(found)) return Made(e, i, "an infinity", found.infinity, others);
    }
    return absl::OkStatus();
  }
  absl::Status Made(const ir::Equation& e, uint32_t result, std::string_view what, int64_t element,
                    std::string_view others) const {
    const types::ArrayType& t = f_.type(e.result(result));
    const std::string at = t.rank() == 0 ? "" : " at " + IndicesOf(t, element);
    const absl::Status s = absl::OutOfRangeError(
        base::Cat(registry_.Get(e.prim).name, ": result ", result, ", ", ToText(t), ", has ", what, at, "; ", others));
    return transform::AtEquation(s, f_, e, "run");
  }

  // The first equation that makes one in the programs that `e` holds or is written as; OK if none is found there.
  absl::Status Within(const ir::Equation& e, std::span<const ArrayRef> operands) {
    if (HasHeldRuns(f_, e)) {
      return VisitHeldRuns(f_, e, operands, device_, [&](const HeldRun& run) { return WithinRun(run); });
    }
    const bool holds = std::ranges::any_of(e.attrs, [](const ricci_attr& a) { return !ir::Programs(a).empty(); });
    for (const ricci_lowering& l : registry_.Get(e.prim).lowerings) {
      if (!holds || l.kind != RICCI_LOWER_DECOMPOSE) continue;
      RICCI_ASSIGN(const ir::ProgramRef body, transform::Decompose(registry_, *trace::Op(f_, e).get(), l, /*depth=*/0));
      return Walk(*body, device_, registry_).Run(operands);
    }
    return absl::OkStatus();
  }
  absl::Status WithinRun(const HeldRun& run) {
    RICCI_ASSIGN(const bool makes, MakesOne(run));
    if (!makes) return absl::OkStatus();
    const absl::Status made = Walk(run.program, device_, registry_).Run(run.in);
    return made.ok() ? made : In(run, made);
  }

  const ir::Program& f_;
  Device* const device_;
  prim::Registry& registry_;
  std::vector<Known> values_;
  std::vector<uint32_t> last_use_;
};

}  // namespace

absl::Status CheckFinite(const ir::Program& f, Device* device, std::span<ricci_array* const> in) {
  std::vector<ArrayRef> params;
  for (ricci_array* a : in) params.push_back(ArrayRef(FromAbi(a)));
  return Walk(f, device, *f.vocabulary()->registry).Run(params);
}

}}}  // namespace ricci::v0::runtime
