#include "fuzz/host_calls.h"

#include <cctype>
#include <cstdlib>

#include "ir/walk.h"

namespace ricci::testing {
namespace {

constexpr std::string_view kMix = "fuzz.mix", kNote = "fuzz.note";

std::vector<ArrayType> TypesOf(ricci_ctx* ctx, const ricci_type* types, uint32_t n) {
  std::vector<ArrayType> out;
  for (uint32_t i = 0; i < n; ++i) out.emplace_back(ctx, types[i]);
  return out;
}

double NumberOf(DType d, const std::byte* from) {
  if (IsFloat(d)) return ReadFloat(d, from);
  uint64_t bits = 0;
  const auto size = static_cast<size_t>(SizeOf(d));
  std::memcpy(&bits, from, size);
  if (!In(d, kSigned)) return static_cast<double>(bits);
  const auto shift = static_cast<int>(64 - 8 * size);
  return static_cast<double>(static_cast<int64_t>(bits << shift) >> shift);
}

bool IsHostCall(const ir::Program& f, const ir::Equation& eqn) {
  constexpr std::string_view kRows[] = {"pure_callback", "io_callback", "debug_callback", "debug_print"};
  return std::find(std::begin(kRows), std::end(kRows), f.vocabulary()->PrimName(eqn.prim)) != std::end(kRows);
}

// Where element `at` of an array of `shape` comes from in `operand`, whose dimensions are the same or 1.
int64_t SourceOf(const ArrayType& operand, Dims shape, int64_t at) {
  int64_t source = 0, stride = 1;
  for (int64_t d = operand.rank() - 1; d >= 0; --d) {
    const int64_t size = shape[static_cast<size_t>(d)];
    if (operand.dim(d) != 1) source += at % size * stride;
    at /= size;
    stride *= operand.dim(d);
  }
  return source;
}
bool Broadcasts(const ArrayType& operand, Dims shape) {
  if (operand.rank() != static_cast<int64_t>(shape.size()) || !In(operand.dtype(), kOrdered)) return false;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (operand.dim(d) != shape[static_cast<size_t>(d)] && operand.dim(d) != 1) return false;
  }
  return true;
}

// A sum as an element: floats in (-1, 1), small integers, true above 1.
Element ElementOfSum(DType d, double sum) {
  if (IsFloat(d)) return Encode(d, std::isfinite(sum) ? sum / (1 + std::fabs(sum)) : std::nan(""));
  if (d == DType::kBool) return Encode(d, sum > 1 ? 1 : 0);
  return Encode(d, std::isfinite(sum) ? static_cast<int64_t>(std::fmod(std::fabs(sum), 100)) : 0);
}

// Result r is the sum of r and (k + 1) times operand k.
void FillWithSums(const std::vector<ArrayType>& in, const void* const* data, const ArrayType& type, double r,
                  std::byte* out) {
  const auto size = static_cast<size_t>(SizeOf(type.dtype()));
  for (int64_t at = 0; at < type.elements(); ++at) {
    double sum = r;
    for (size_t k = 0; k < in.size(); ++k) {
      const int64_t source = SourceOf(in[k], type.shape(), at) * SizeOf(in[k].dtype());
      sum += static_cast<double>(k + 1) * NumberOf(in[k].dtype(), static_cast<const std::byte*>(data[k]) + source);
    }
    const Element e = ElementOfSum(type.dtype(), sum);
    std::memcpy(out + static_cast<size_t>(at) * size, e.bytes.data(), size);
  }
}

// A printed text without its numbers, and these.
HostCall Printed(std::string_view text) {
  HostCall call;
  Bytes numbers;
  const std::string all(text);
  for (const char* at = all.c_str(); *at != '\0';) {
    char* end = nullptr;
    const bool inside = !call.what.empty() && std::isalpha(static_cast<unsigned char>(call.what.back())) != 0;
    const double number = inside ? 0 : std::strtod(at, &end);
    if (inside || end == at) {
      call.what += *at++;
      continue;
    }
    const bool is_nan = at[0] == '0' && at[1] == 'x';  // the bits of one with a payload
    const Element e = Encode(DType::kF64, is_nan ? std::nan("") : number);
    for (uint32_t k = 0; k < e.size; ++k) numbers.push_back(static_cast<std::byte>(e.bytes[k]));
    call.what += '#';
    at = end;
  }
  call.dtypes = {DType::kF64};
  call.operands = {numbers};
  return call;
}

}  // namespace

bool SameFunctions(const std::vector<HostCall>& a, const std::vector<HostCall>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const HostCall& x, const HostCall& y) { return x.what == y.what; });
}

bool CallsHost(const ricci_program* p) {
  for (const ir::Program* f : ir::NestedFirst(*ir::FromAbi(p))) {
    for (const ir::Equation& eqn : f->equations) {
      if (IsHostCall(*f, eqn)) return true;
    }
  }
  return false;
}

HostCalls& HostCalls::Of(ricci_ctx* ctx) {
  return *static_cast<HostCalls*>(ricci_context_callback(ctx, kNote.data(), kNote.size())->self);
}

ricci_hooks HostCalls::Hooks() {
  ricci_hooks hooks{};
  hooks.hdr.size = sizeof hooks;
  hooks.log_self = this;
  hooks.log = [](void* self, uint32_t, const char* text, size_t n) {
    const std::string_view line(text, n);
    if (line.starts_with(kPrintPrefix)) static_cast<HostCalls*>(self)->Record(Printed(line));
  };
  return hooks;
}

void HostCalls::AddTo(ricci_ctx* ctx) {
  ricci_callback f{};
  f.hdr.size = sizeof f;
  f.self = this;
  f.call = Mix;
  Check(ricci_context_add_callback(ctx, kMix.data(), kMix.size(), &f));
  f.call = Note;
  Check(ricci_context_add_callback(ctx, kNote.data(), kNote.size(), &f));
}

std::vector<HostCall> HostCalls::Take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(calls_, {});
}
void HostCalls::Record(HostCall call) {
  const std::lock_guard<std::mutex> lock(mutex_);
  calls_.push_back(std::move(call));
}

ricci_status* HostCalls::Mix(void*, const ricci_callback_call* call) {
  const std::vector<ArrayType> in = TypesOf(call->ctx, call->in_types, call->n_in),
                               out = TypesOf(call->ctx, call->out_types, call->n_out);
  for (const ArrayType& t : out) {
    const auto broadcasts = [&](const ArrayType& operand) { return Broadcasts(operand, t.shape()); };
    if (In(t.dtype(), kOrdered) && std::all_of(in.begin(), in.end(), broadcasts)) continue;
    constexpr std::string_view kWhy = "fuzz.mix: operands and results have other shapes or dtypes";
    return ricci_status_make(RICCI_INVALID_ARGUMENT, kWhy.data(), kWhy.size());
  }
  for (uint32_t r = 0; r < call->n_out; ++r)
    FillWithSums(in, call->in, out[r], r, static_cast<std::byte*>(call->out[r]));
  return nullptr;
}

ricci_status* HostCalls::Note(void* self, const ricci_callback_call* call) {
  HostCall made{std::string(kNote), {}, {}};
  const std::vector<ArrayType> in = TypesOf(call->ctx, call->in_types, call->n_in);
  for (uint32_t i = 0; i < call->n_in; ++i) {
    const auto* data = static_cast<const std::byte*>(call->in[i]);
    made.what += Text(" ", in[i]);
    made.dtypes.push_back(in[i].dtype());
    made.operands.emplace_back(data, data + in[i].elements() * SizeOf(in[i].dtype()));
  }
  static_cast<HostCalls*>(self)->Record(std::move(made));
  return Mix(self, call);
}

}  // namespace ricci::testing
