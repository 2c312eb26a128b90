#include "fuzz/subject.h"

#include <cmath>

#include "fuzz/noise.h"
#include "lax/optimized_run.h"

namespace ricci::testing {
namespace {

void Append(void* sink, const char* p, size_t n) { static_cast<std::string*>(sink)->append(p, n); }
Complaint Failed(std::string_view what, ricci_status* s) { return Text(what, ": ", Error(s).message()); }

std::vector<ArrayType> SignatureOf(ricci_ctx* ctx, const ricci_program* p, bool results) {
  uint32_t n[2] = {};
  const ricci_type* types[2] = {};
  ricci_program_signature(p, &n[0], &types[0], &n[1], &types[1]);
  std::vector<ArrayType> out;
  for (uint32_t i = 0; i < n[results]; ++i) out.emplace_back(ctx, types[results][i]);
  return out;
}
size_t BytesOf(const ArrayType& t) { return static_cast<size_t>(t.elements() * SizeOf(t.dtype())); }

// Memory for one array of a bound call: aligned, with guards on both sides.
class Guarded {
 public:
  explicit Guarded(size_t bytes) : bytes_(bytes), memory_(bytes / sizeof(Line) + 3) {
    std::memset(static_cast<void*>(memory_.data()), kMark, memory_.size() * sizeof(Line));
  }
  std::byte* data() { return memory_[1].bytes; }
  bool Intact() const {
    const auto* from = memory_[0].bytes;
    const auto* end = from + memory_.size() * sizeof(Line);
    const auto marked = [](std::byte b) { return b == static_cast<std::byte>(kMark); };
    return std::all_of(from, from + sizeof(Line), marked) && std::all_of(from + sizeof(Line) + bytes_, end, marked);
  }

 private:
  static constexpr int kMark = 0xa5;
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  size_t bytes_;
  std::vector<Line> memory_;
};

// ---- comparison ----
bool SameBits(const std::byte* a, const std::byte* b, size_t n) { return n == 0 || std::memcmp(a, b, n) == 0; }
bool SameKind(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::isinf(a) || std::isinf(b) ? a == b : true;
}

class Comparison {
 public:
  Comparison(ricci_ctx* ctx, const Program& p, const std::vector<Bytes>& inputs, CheckOptions& options)
      : ctx_(ctx), p_(p), inputs_(inputs), options_(options), types_(ResultsOf(ctx, p.get())) {}

  Complaint Run() {
    RunResult r = RunOn(ctx_, p_.get(), inputs_, "ref");
    if (r.error) return r.error;
    want_ = std::move(r.arrays);
    if (options_.passes) {
      if (Complaint c = CompareTo(RunThroughPasses(ctx_, p_.get(), inputs_), "passes")) return c;
    }
    for (const std::string& device : options_.devices) {
      if (Complaint c = CompareTo(RunOn(ctx_, p_.get(), inputs_, device), device)) return c;
    }
    return {};
  }

 private:
  Complaint CompareTo(const RunResult& got, std::string_view what) {
    if (got.error) return Text(what, ": ", *got.error);
    for (size_t i = 0; i < types_.size(); ++i) {
      const auto size = static_cast<size_t>(SizeOf(types_[i].dtype()));
      options_.comparisons += types_[i].elements();
      if (SameBits(got.arrays[i].data(), want_[i].data(), want_[i].size())) continue;
      for (size_t at = 0; at < want_[i].size(); at += size) {
        if (SameBits(&got.arrays[i][at], &want_[i][at], size)) continue;
        if (Close(i, at, &got.arrays[i][at])) continue;
        const DType d = types_[i].dtype();
        return Text(what, ": result ", i, " (", types_[i], ") element ", at / size, " is ",
                    ElementText(d, &got.arrays[i][at]), ", on ref ", ElementText(d, &want_[i][at]));
      }
    }
    return {};
  }

  // Within what noise does to this element? Few variants decide what is close, more what is wrong.
  bool Close(size_t result, size_t at, const std::byte* got) {
    const ArrayType type = types_[result];
    const DType d = type.dtype();
    const std::byte* want = &want_[result][at];
    if (IsFloat(d)) {
      const double g = ReadFloat(d, got), w = ReadFloat(d, want);
      if (std::isnan(g) && std::isnan(w)) return true;
      if (g == w) return true;  // zeros of either sign
    }
    double spread = 0;
    for (uint32_t variant = 0; variant < kVariants; ++variant) {
      const std::byte* noisy = Noisy(variant, result, at);
      if (noisy == nullptr) return ++options_.skipped, true;
      if (!IsFloat(d)) {
        if (!SameBits(noisy, want, static_cast<size_t>(SizeOf(d)))) return ++options_.skipped, true;
        continue;
      }
      const double w = ReadFloat(d, want), n = ReadFloat(d, noisy);
      if (!SameKind(w, n)) return ++options_.skipped, true;
      spread = std::max(spread, std::fabs(n - w));
      if (Within(d, ReadFloat(d, got), w, spread)) return true;
    }
    return false;
  }
  static bool Within(DType d, double got, double want, double spread) {
    if (!SameKind(got, want)) return false;
    if (std::isinf(want)) return true;
    const FloatInfo info = InfoOf(d);
    const double denormal = std::fabs(want) < 4 * info.tiny ? 4 * info.tiny * info.epsilon : 0;
    return std::fabs(got - want) <= 8 * spread + denormal;
  }
  static constexpr uint32_t kVariants = 8;
  // NULL where the noisy program cannot run.
  const std::byte* Noisy(uint32_t variant, size_t result, size_t at) {
    if (variant >= noisy_.size()) {
      auto f = WithNoise(*ir::FromAbi(p_.get()), variant);
      RunResult r;
      if (f.ok()) r = RunOn(ctx_, ir::Abi(f->get()), inputs_, "ref");
      if (!f.ok()) r.error = std::string(f.status().message());
      noisy_.push_back(std::move(r));
    }
    return noisy_[variant].error ? nullptr : &noisy_[variant].arrays[result][at];
  }

  ricci_ctx* ctx_;
  const Program& p_;
  const std::vector<Bytes>& inputs_;
  CheckOptions& options_;
  std::vector<ArrayType> types_;
  std::vector<Bytes> want_;
  std::vector<RunResult> noisy_;
};

}  // namespace

std::vector<ArrayType> ParamsOf(ricci_ctx* ctx, const ricci_program* p) { return SignatureOf(ctx, p, false); }
std::vector<ArrayType> ResultsOf(ricci_ctx* ctx, const ricci_program* p) { return SignatureOf(ctx, p, true); }

std::string PrintProgram(const ricci_program* p) {
  std::string text;
  Check(ricci_program_print(p, &text, Append));
  return text;
}

std::vector<Bytes> DrawInputs(ricci_ctx* ctx, const ricci_program* p, uint64_t seed, bool special) {
  std::vector<Bytes> out;
  for (const ArrayType& t : ParamsOf(ctx, p)) {
    Dice dice(seed * 64 + out.size());
    out.push_back(DrawElements(dice, t.dtype(), t.elements(), special));
  }
  return out;
}

Complaint CheckText(ricci_ctx* ctx, const Program& p) {
  if (ricci_status* s = ricci_program_verify(p.get())) return Failed("verify", s);
  const std::string text = PrintProgram(p.get());
  ricci_program* raw = nullptr;
  if (ricci_status* s = ricci_program_parse(ctx, text.data(), text.size(), "", 0, &raw)) return Failed("parse", s);
  const Program parsed = Own(raw);
  if (ricci_program_equal(p.get(), raw) == 0) return "the parsed text is another program";
  if (ricci_program_hash(p.get()) != ricci_program_hash(raw)) return "the parsed text has another hash";
  if (PrintProgram(raw) != text) return "the parsed text prints differently";
  return {};
}

RunResult RunOn(ricci_ctx* ctx, const ricci_program* p, const std::vector<Bytes>& inputs, std::string_view device) {
  ricci_compile_opts o{};
  o.hdr.size = sizeof o;
  o.device = ricci_device_find(ctx, device.data(), device.size());
  ricci_executable* raw = nullptr;
  if (ricci_status* s = ricci_compile(p, &o, &raw)) return {{}, Failed("compile", s)};
  const std::shared_ptr<ricci_executable> x(raw, ricci_executable_release);
  ricci_call* raw_call = nullptr;
  if (ricci_status* s = ricci_call_create(raw, &raw_call)) return {{}, Failed("call", s)};
  const std::shared_ptr<ricci_call> call(raw_call, ricci_call_release);
  std::vector<Guarded> memory;
  std::vector<size_t> bytes;
  for (const Bytes& in : inputs) bytes.push_back(in.size());
  for (const ArrayType& t : ResultsOf(ctx, p)) bytes.push_back(BytesOf(t));
  for (size_t n : bytes) memory.emplace_back(n);
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i < inputs.size() && bytes[i] != 0) std::memcpy(memory[i].data(), inputs[i].data(), bytes[i]);
    if (ricci_status* s = ricci_call_bind(raw_call, static_cast<uint32_t>(i), memory[i].data(), bytes[i])) {
      return {{}, Failed("bind", s)};
    }
  }
  if (ricci_status* s = ricci_call_run(raw_call)) return {{}, Failed("run", s)};
  RunResult out;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (!memory[i].Intact()) out.error = Text("memory around argument ", i, " was written");
    if (i < inputs.size() && bytes[i] != 0 && !SameBits(memory[i].data(), inputs[i].data(), bytes[i])) {
      out.error = Text("input ", i, " was written");
    }
    if (i >= inputs.size()) out.arrays.emplace_back(memory[i].data(), memory[i].data() + bytes[i]);
  }
  return out;
}

RunResult RunThroughPasses(ricci_ctx* ctx, const ricci_program* p, const std::vector<Bytes>& inputs) {
  std::vector<Guarded> memory;
  std::vector<void*> in, out;
  const std::vector<ArrayType> types = ResultsOf(ctx, p);
  for (const Bytes& b : inputs) memory.emplace_back(b.size());
  for (const ArrayType& t : types) memory.emplace_back(BytesOf(t));
  for (size_t i = 0; i < memory.size(); ++i) {
    if (i < inputs.size() && !inputs[i].empty()) std::memcpy(memory[i].data(), inputs[i].data(), inputs[i].size());
    (i < inputs.size() ? in : out).push_back(memory[i].data());
  }
  const absl::Status status = InterpretOptimized(p, in.data(), out.data());
  RunResult r;
  if (!status.ok()) return {{}, std::string(status.message())};
  for (size_t i = 0; i < memory.size(); ++i) {
    if (!memory[i].Intact()) r.error = Text("memory around argument ", i, " was written");
  }
  for (size_t i = 0; i < out.size(); ++i) {
    const auto* from = static_cast<const std::byte*>(out[i]);
    r.arrays.emplace_back(from, from + BytesOf(types[i]));
  }
  return r;
}

Complaint CheckProgram(ricci_ctx* ctx, const Program& p, const std::vector<Bytes>& inputs, CheckOptions& options) {
  try {
    if (Complaint c = CheckText(ctx, p)) return c;
    return Comparison(ctx, p, inputs, options).Run();
  } catch (const Error& e) {
    return std::string(e.message());
  }
}

}  // namespace ricci::testing
