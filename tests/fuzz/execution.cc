#include "fuzz/execution.h"

#include "fuzz/generators.h"
#include "fuzz/subject.h"
#include "lax/optimized_run.h"

namespace ricci::testing {
namespace {

RunResult Failed(std::string_view what, ricci_status* s) {
  const Error e(s);
  return {{}, Text(what, ": ", e.message()), e.code()};
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

// What is left in memory after a run: results, or a complaint about what was overwritten.
RunResult Collect(const std::vector<Guarded>& memory, const std::vector<Bytes>& inputs) {
  RunResult out;
  for (size_t i = 0; i < memory.size(); ++i) {
    if (!memory[i].Intact()) out.error = Text("memory around argument ", i, " was written");
    if (i >= inputs.size()) {
      out.arrays.push_back(memory[i].Content());
    } else if (memory[i].Content() != inputs[i]) {
      out.error = Text("input ", i, " was written");
    }
  }
  return out;
}

}  // namespace

Compiled::Compiled(ricci_ctx* ctx, const ricci_program* p, std::string_view device) {
  ricci_compile_opts o{};
  o.hdr.size = sizeof o;
  o.device = ricci_device_find(ctx, device.data(), device.size());
  ricci_executable* raw = nullptr;
  if (ricci_status* s = ricci_compile(p, &o, &raw)) {
    failure_ = Failed("compile", s);
    return;
  }
  executable_.reset(raw, ricci_executable_release);
  for (const ArrayType& t : ResultsOf(ctx, p)) result_bytes_.push_back(BytesOf(t));
}

RunResult Compiled::Run(const std::vector<Bytes>& inputs) const {
  if (executable_ == nullptr) return failure_;
  ricci_call* raw = nullptr;
  if (ricci_status* s = ricci_call_create(executable_.get(), &raw)) return Failed("call", s);
  const std::shared_ptr<ricci_call> call(raw, ricci_call_release);
  return Call(raw, inputs);
}

RunResult Compiled::Call(ricci_call* call, const std::vector<Bytes>& inputs) const {
  std::vector<Guarded> memory(inputs.begin(), inputs.end());
  for (size_t bytes : result_bytes_) memory.emplace_back(bytes);
  for (size_t i = 0; i < memory.size(); ++i) {
    const size_t bytes = i < inputs.size() ? inputs[i].size() : result_bytes_[i - inputs.size()];
    if (ricci_status* s = ricci_call_bind(call, static_cast<uint32_t>(i), memory[i].data(), bytes)) {
      return Failed("bind", s);
    }
  }
  if (ricci_status* s = ricci_call_run(call)) return Failed("run", s);
  return Collect(memory, inputs);
}

RunResult RunThroughPasses(ricci_ctx* ctx, const ricci_program* p, const std::vector<Bytes>& inputs) {
  std::vector<Guarded> memory(inputs.begin(), inputs.end());
  for (const ArrayType& t : ResultsOf(ctx, p)) memory.emplace_back(BytesOf(t));
  std::vector<void*> in, out;
  for (size_t i = 0; i < memory.size(); ++i) (i < inputs.size() ? in : out).push_back(memory[i].data());
  const absl::Status status = InterpretOptimized(p, in.data(), out.data());
  // The interpreter does not know the code of a `check`.
  const bool broken = status.code() == absl::StatusCode::kFailedPrecondition;
  if (!status.ok())
    return {{}, std::string(status.message()), broken ? kBrokenPromise : static_cast<uint32_t>(status.code())};
  return Collect(memory, inputs);
}

}  // namespace ricci::testing
