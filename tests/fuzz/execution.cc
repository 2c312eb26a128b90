#include "fuzz/execution.h"

#include "fuzz/generators.h"
#include "fuzz/subject.h"
#include "lax/optimized_run.h"
#include "runtime/run/executable.h"

namespace ricci::testing {
namespace {

RunResult Failed(std::string_view what, ricci_status* s) {
  const Error e(s);
  return {{}, Text(what, ": ", e.message()), e.code()};
}
// What `run` gives, with the calls of the host during it.
template <typename Run>
RunResult Recorded(ricci_ctx* ctx, const Run& run) {
  (void)HostCalls::Of(ctx).Take();
  RunResult result = run();
  result.calls = HostCalls::Of(ctx).Take();
  return result;
}
size_t BytesOf(const ArrayType& t) { return static_cast<size_t>(t.elements() * SizeOf(t.dtype())); }

// Memory for one array of a bound call: aligned, with guards on both sides.
class Guarded {
 public:
  explicit Guarded(size_t bytes) : bytes_(bytes), memory_(bytes / sizeof(Line) + 3) {
    std::memset(static_cast<void*>(memory_.data()), kMark, memory_.size() * sizeof(Line));
  }
  explicit Guarded(const Bytes& content) : Guarded(content.size()) {
    std::copy(content.begin(), content.end(), data());
  }
  std::byte* data() { return reinterpret_cast<std::byte*>(memory_.data()) + sizeof(Line); }
  Bytes Content() const { return {Start() + sizeof(Line), Start() + sizeof(Line) + bytes_}; }
  bool Intact() const {
    const std::byte *from = Start(), *end = from + memory_.size() * sizeof(Line);
    const auto marked = [](std::byte b) { return b == static_cast<std::byte>(kMark); };
    return std::all_of(from, from + sizeof(Line), marked) && std::all_of(from + sizeof(Line) + bytes_, end, marked);
  }

 private:
  static constexpr int kMark = 0xa5;
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  const std::byte* Start() const { return reinterpret_cast<const std::byte*>(memory_.data()); }

  size_t bytes_;
  std::vector<Line> memory_;
};

// The memory after a run: results, or a complaint about what was overwritten. `place`: the place of each result.
RunResult Collect(const std::vector<Guarded>& memory, const std::vector<Bytes>& inputs,
                  const std::vector<size_t>& place) {
  RunResult out;
  for (size_t i = 0; i < memory.size(); ++i) {
    if (!memory[i].Intact()) out.error = Text("memory around argument ", i, " was written");
    const bool taken = std::find(place.begin(), place.end(), i) != place.end();
    if (!taken && i < inputs.size() && memory[i].Content() != inputs[i]) out.error = Text("input ", i, " was written");
  }
  for (size_t at : place) out.arrays.push_back(memory[at].Content());
  return out;
}
std::vector<size_t> AfterInputs(size_t n_inputs, size_t n_results) {
  std::vector<size_t> place(n_results);
  for (size_t i = 0; i < n_results; ++i) place[i] = n_inputs + i;
  return place;
}

}  // namespace

uint32_t LevelOf(const ricci_program* p) { return 1 + static_cast<uint32_t>(ir::Hash(*ir::FromAbi(p)) % 3); }

Compiled::Compiled(ricci_ctx* ctx, const ricci_program* p, std::string_view device, DonateMask donate,
                   uint32_t opt_level, std::string_view skip)
    : ctx_(ctx), device_(ricci_device_find(ctx, device.data(), device.size())) {
  for (const ArrayType& t : ParamsOf(ctx, p)) params_.push_back(t.id());
  std::vector<uint8_t> donated;
  for (size_t i = 0; i < params_.size(); ++i) donated.push_back(donate >> (i % 8) & 1);
  ricci_compile_opts o{};
  o.hdr.size = sizeof o;
  o.devices = &device_;
  o.n_devices = 1;
  o.opt_level = opt_level != 0 ? opt_level : LevelOf(p);
  o.skip = {skip.data(), skip.size()};
  if (donate != 0) {
    o.hdr.flags = RICCI_COMPILE_CHECKED;
    o.donate = donated.data();
    o.n_donate = static_cast<uint32_t>(donated.size());
  }
  ricci_executable* raw = nullptr;
  if (ricci_status* s = ricci_compile(p, &o, &raw)) {
    failure_ = Failed("compile", s);
    return;
  }
  executable_.reset(raw, ricci_executable_release);
  for (const ArrayType& t : ResultsOf(ctx, p)) result_bytes_.push_back(BytesOf(t));
}

int32_t Compiled::ArgumentOf(size_t result) const {
  return runtime::FromAbi(executable_.get())->code().alias(static_cast<uint32_t>(result));
}
size_t Compiled::n_in_place() const {
  size_t n = 0;
  for (size_t i = 0; executable_ != nullptr && i < result_bytes_.size(); ++i) n += ArgumentOf(i) >= 0;
  return n;
}

RunResult Compiled::Run(const std::vector<Bytes>& inputs) const {
  return Recorded(ctx_, [&] { return Bound(inputs, /*in_place=*/false); });
}
RunResult Compiled::RunInPlace(const std::vector<Bytes>& inputs) const {
  return Recorded(ctx_, [&] { return Bound(inputs, /*in_place=*/true); });
}
RunResult Compiled::RunOnArrays(const std::vector<Bytes>& inputs) const {
  return Recorded(ctx_, [&] { return OnArrays(inputs); });
}

RunResult Compiled::Bound(const std::vector<Bytes>& inputs, bool in_place) const {
  if (executable_ == nullptr) return failure_;
  ricci_call* raw = nullptr;
  if (ricci_status* s = ricci_call_create(executable_.get(), &raw)) return Failed("call", s);
  const std::shared_ptr<ricci_call> call(raw, ricci_call_release);
  return Call(raw, inputs, in_place);
}

RunResult Compiled::Call(ricci_call* call, const std::vector<Bytes>& inputs, bool in_place) const {
  std::vector<Guarded> memory(inputs.begin(), inputs.end());
  for (size_t bytes : result_bytes_) memory.emplace_back(bytes);
  std::vector<size_t> place = AfterInputs(inputs.size(), result_bytes_.size());
  for (size_t i = 0; in_place && i < place.size(); ++i) {
    if (ArgumentOf(i) >= 0) place[i] = static_cast<size_t>(ArgumentOf(i));
  }
  for (size_t i = 0; i < memory.size(); ++i) {
    const bool is_input = i < inputs.size();
    const size_t bytes = is_input ? inputs[i].size() : result_bytes_[i - inputs.size()];
    Guarded& bound = memory[is_input ? i : place[i - inputs.size()]];
    if (ricci_status* s = ricci_call_bind(call, static_cast<uint32_t>(i), bound.data(), bytes)) {
      return Failed("bind", s);
    }
  }
  if (ricci_status* s = ricci_call_run(call)) return Failed("run", s);
  return Collect(memory, inputs, place);
}

RunResult Compiled::OnArrays(const std::vector<Bytes>& inputs) const {
  if (executable_ == nullptr) return failure_;
  std::vector<Array> owned;
  std::vector<ricci_array*> in, out(result_bytes_.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    ricci_array* raw = nullptr;
    if (ricci_status* s = ricci_array_from_host(device_, params_[i], inputs[i].data(), nullptr, &raw))
      return Failed("array", s);
    owned.emplace_back(raw, ricci_array_release);
    in.push_back(raw);
  }
  if (ricci_status* s = ricci_executable_run(executable_.get(), in.data(), static_cast<uint32_t>(in.size()), out.data(),
                                             static_cast<uint32_t>(out.size()), nullptr)) {
    return Failed("run", s);
  }
  for (ricci_array* a : out) owned.emplace_back(a, ricci_array_release);
  RunResult result;
  for (size_t i = 0; i < out.size(); ++i) {
    Bytes& bytes = result.arrays.emplace_back(result_bytes_[i]);
    if (ricci_status* s = ricci_array_copy_to_host(out[i], bytes.data(), bytes.size())) return Failed("result", s);
  }
  return result;
}

// An argument on the device, or uncommitted on another one.
Compiled::Array Compiled::SomewhereElse(size_t param, const Bytes& bytes, Dice& dice) const {
  ricci_array_opts options = ricci_array_opts_default();
  ricci_device* on = device_;
  if (dice.Chance(0.3)) {
    options.hdr.flags = RICCI_ARRAY_UNCOMMITTED;
    on = ricci_device_get(ctx_, static_cast<uint32_t>(dice.Below(ricci_device_count(ctx_))));
  }
  ricci_array* raw = nullptr;
  Check(ricci_array_from_host(on, params_[param], bytes.data(), &options, &raw));
  return {raw, ricci_array_release};
}

RunResult Compiled::Enqueue(const std::vector<Array>& in, ricci_stream* stream, std::vector<Array>& out) const {
  std::vector<ricci_array*> handles, results(result_bytes_.size());
  for (const Array& a : in) handles.push_back(a.get());
  ricci_run_opts options = ricci_run_opts_default();
  options.stream = stream;
  if (ricci_status* s =
          ricci_executable_enqueue(executable_.get(), handles.data(), static_cast<uint32_t>(handles.size()),
                                   results.data(), static_cast<uint32_t>(results.size()), &options)) {
    return Failed("enqueue", s);
  }
  for (ricci_array* a : results) out.emplace_back(a, ricci_array_release);
  return {};
}

// In any order.
RunResult Compiled::Read(const std::vector<Array>& arrays, Dice& dice) const {
  std::vector<size_t> order(arrays.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  dice.Shuffle(order);
  RunResult result;
  result.arrays.resize(arrays.size());
  for (size_t i : order) {
    result.arrays[i].resize(result_bytes_[i]);
    if (ricci_status* s = ricci_array_copy_to_host(arrays[i].get(), result.arrays[i].data(), result_bytes_[i])) {
      return Failed("result", s);
    }
  }
  return result;
}

// The calls are those of one run: no two runs make calls at once here.
RunResult Compiled::RunUnderWay(const std::vector<Bytes>& inputs, Dice dice) const {
  if (executable_ == nullptr) return failure_;
  const auto runs = static_cast<size_t>(dice.Between(2, 5));
  RunResult result = Recorded(ctx_, [&] { return SeveralRuns(inputs, runs, dice); });
  if (result.error) return result;
  const size_t each = result.calls.size() / runs;
  const auto calls_of = [&](size_t run) {
    const auto first = result.calls.begin() + static_cast<std::ptrdiff_t>(run * each);
    return std::vector<HostCall>(first,
                                 run + 1 == runs ? result.calls.end() : first + static_cast<std::ptrdiff_t>(each));
  };
  const std::vector<HostCall> first = calls_of(0);
  for (size_t run = 1; run < runs; ++run) {
    if (!SameFunctions(first, calls_of(run))) result.error = "two runs with the same arguments make different calls";
  }
  result.calls = first;
  return result;
}

// Which runs are read, in which order: the others are never waited for, and their results go while they are in flight.
// On a late device all are, since it would make calls of the host after they have been counted.
std::vector<size_t> Compiled::ReadRuns(size_t runs, Dice& dice) const {
  ricci_device_desc desc{};
  desc.hdr.size = sizeof desc;
  ricci_device_info(device_, &desc);
  const bool may_forget = std::string_view(desc.kind.ptr, desc.kind.len) == "cuda";
  std::vector<size_t> order(runs);
  for (size_t i = 0; i < runs; ++i) order[i] = i;
  dice.Shuffle(order);
  if (may_forget && dice.Chance(0.5)) order.resize(static_cast<size_t>(dice.Between(1, static_cast<int64_t>(runs))));
  return order;
}

RunResult Compiled::SeveralRuns(const std::vector<Bytes>& inputs, size_t runs, Dice& dice) const {
  std::vector<Array> in;
  std::vector<std::vector<Array>> out(runs);
  std::shared_ptr<ricci_stream> stream;
  for (size_t i = 0; i < inputs.size(); ++i) in.push_back(SomewhereElse(i, inputs[i], dice));
  const std::vector<Array> all = in;
  for (const Array& a : all) ricci_array_retain(a.get());  // so that only the last run consumes them
  for (size_t run = 0; run < runs; ++run) {
    if (stream == nullptr || dice.Chance(0.6)) {
      ricci_stream* raw = nullptr;
      Check(ricci_stream_create(device_, &raw));
      stream.reset(raw, ricci_stream_release);
    }
    RunResult failed = Enqueue(in, stream.get(), out[run]);
    if (run == runs - 2 || (failed.error && run < runs - 2)) {
      for (const Array& a : all) ricci_array_release(a.get());
    }
    if (failed.error) return failed;
  }
  in.clear();
  const std::vector<size_t> order = ReadRuns(runs, dice);
  std::vector<std::vector<Array>> read;
  for (const size_t run : order) read.push_back(std::move(out[run]));
  out.clear();
  RunResult first = Read(read[0], dice);
  for (size_t i = 1; i < read.size() && !first.error; ++i) {
    const RunResult other = Read(read[i], dice);
    if (other.error) return other;
    if (other.arrays != first.arrays) first.error = "two runs with the same arguments differ";
  }
  return first;
}

RunResult RunThroughPasses(ricci_ctx* ctx, const ricci_program* p, const std::vector<Bytes>& inputs) {
  std::vector<Guarded> memory(inputs.begin(), inputs.end());
  for (const ArrayType& t : ResultsOf(ctx, p)) memory.emplace_back(BytesOf(t));
  std::vector<void*> in, out;
  for (size_t i = 0; i < memory.size(); ++i) (i < inputs.size() ? in : out).push_back(memory[i].data());
  return Recorded(ctx, [&] {
    const absl::Status status = InterpretOptimized(p, in.data(), out.data());
    if (status.ok()) return Collect(memory, inputs, AfterInputs(inputs.size(), out.size()));
    // The interpreter does not report the code of a `check`.
    const bool broken = status.code() == absl::StatusCode::kFailedPrecondition;
    return RunResult{{}, std::string(status.message()), broken ? kBrokenPromise : static_cast<uint32_t>(status.code())};
  });
}

}  // namespace ricci::testing
