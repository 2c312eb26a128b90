#include "fuzz/subject.h"

#include "fuzz/generators.h"
#include "fuzz/reference.h"
#include "fuzz/shuffled_text.h"
#include "fuzz/temporary_folder.h"

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

}  // namespace

std::vector<ArrayType> ParamsOf(ricci_ctx* ctx, const ricci_program* p) { return SignatureOf(ctx, p, false); }
std::vector<ArrayType> ResultsOf(ricci_ctx* ctx, const ricci_program* p) { return SignatureOf(ctx, p, true); }

std::string FileOf(const Program& p, bool binary) {
  std::string bytes;
  if (binary) Check(ricci_program_serialize(p.get(), &bytes, Append));
  return binary ? bytes : PrintProgram(p.get());
}

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

Complaint CheckBinary(ricci_ctx* ctx, const Program& p) {
  std::string bytes, again;
  Check(ricci_program_serialize(p.get(), &bytes, Append));
  ricci_program* raw = nullptr;
  if (ricci_status* s = ricci_program_deserialize(ctx, bytes.data(), bytes.size(), "", 0, &raw)) {
    return Failed("binary", s);
  }
  const Program read = Own(raw);
  if (ricci_program_equal(p.get(), raw) == 0) return "binary: reads back as another program";
  Check(ricci_program_serialize(raw, &again, Append));
  if (again != bytes) return "binary: the program that was read back has other bytes";
  return {};
}

Program Reread(ricci_ctx* ctx, const Program& p, uint64_t seed) {
  Dice dice(seed);
  const std::string text = WithShuffledAttributes(PrintProgram(p.get()), dice);
  ricci_program* raw = nullptr;
  Check(ricci_program_parse(ctx, text.data(), text.size(), "", 0, &raw));
  return Own(raw);
}

Program Reloaded(ricci_ctx* ctx, const Program& p) {
  const Folder folder;
  const std::string path = folder.path() + "/program";
  Check(ricci_program_save(p.get(), path.data(), path.size()));
  ricci_program* raw = nullptr;
  Check(ricci_program_load(ctx, path.data(), path.size(), &raw));
  return Own(raw);
}

bool IsBrokenPromise(const RunResult& r) { return r.error && r.code == kBrokenPromise; }
bool IsRefusedCall(const Program& p, const RunResult& r) {
  return r.error && r.code == RICCI_UNIMPLEMENTED && CallsHost(p.get());
}

namespace {

// Runs of one program, each compared with the first.
class Runs {
 public:
  Runs(ricci_ctx* ctx, const Program& p, const std::vector<Bytes>& inputs, CheckCounts& counts, bool may_end)
      : ctx_(ctx), p_(p), inputs_(inputs), counts_(counts), reference_(ctx, p, inputs, counts) {
    const RunResult& want = reference_.want();
    refused_ = IsRefusedCall(p, want);
    const bool own = may_end && want.error && want.code != 0 && want.code != RICCI_INTERNAL;
    ends_ = own || refused_ || IsBrokenPromise(want);
  }

  // Why `ref` has no results, if that is a failure.
  Complaint Failure() const { return ends_ ? Complaint() : reference_.want().error; }
  Complaint ThroughPasses() {
    RunResult got = RunThroughPasses(ctx_, p_.get(), inputs_);
    if (IsBrokenPromise(got)) got.code = reference_.want().code;  // the interpreter does not know the code of a `check`
    counts_.calls += !got.calls.empty();
    return Compare(got, "passes");
  }
  Complaint OnDevice(const std::string& device, DonateMask donate) {
    const Compiled compiled(ctx_, p_.get(), device, donate);
    if (device == "late" || device == "cuda") return OnLateDevice(compiled, device);
    if (Complaint c = Compare(compiled.Run(inputs_), device)) return c;
    if (donate == 0) return {};
    ++counts_.donated;
    counts_.in_place += compiled.n_in_place() > 0;
    if (Complaint c = Compare(compiled.RunInPlace(inputs_), device + " in place")) return c;
    return Compare(compiled.RunOnArrays(inputs_), device + " on arrays");
  }

 private:
  Complaint OnLateDevice(const Compiled& compiled, const std::string& device) {
    ++counts_.late;
    const RunResult got = compiled.RunUnderWay(inputs_, Dice(ricci_program_hash(p_.get())));
    counts_.calls_elsewhere += !got.calls.empty();
    return Compare(got, device);
  }
  Complaint Compare(const RunResult& got, std::string_view what) {
    // Passes may drop a call that `ref` cannot make.
    const auto says = [&](const char* text) { return reference_.want().error->find(text) != std::string::npos; };
    if (refused_ && !got.error && (says("cannot run within a kernel") || says("vmap needs to know how to call it")))
      return {};
    if (refused_ && got.code != RICCI_UNIMPLEMENTED)
      return Text(what, ": ", got.error.value_or("a result"), ", `ref` refuses it: ", *reference_.want().error);
    if (ends_ && (!got.error || got.code == reference_.want().code)) return {};
    if (Complaint c = reference_.Compare(got, what)) return c;
    return reference_.CompareCalls(got, what);
  }

  ricci_ctx* ctx_;
  const Program& p_;
  const std::vector<Bytes>& inputs_;
  CheckCounts& counts_;
  Reference reference_;
  bool refused_, ends_;
};

}  // namespace

Complaint CheckProgram(ricci_ctx* ctx, const Program& p, const std::vector<Bytes>& inputs,
                       const std::vector<std::string>& devices, DonateMask donate, CheckCounts& counts, bool may_end) {
  try {
    if (Complaint c = CheckText(ctx, p)) return c;
    if (Complaint c = CheckBinary(ctx, p)) return c;
    Runs runs(ctx, p, inputs, counts, may_end);
    if (Complaint c = runs.Failure()) return c;
    if (Complaint c = runs.ThroughPasses()) return c;
    for (const std::string& device : devices) {
      if (Complaint c = runs.OnDevice(device, donate)) return c;
    }
    return {};
  } catch (const Error& e) {
    return std::string(e.message());
  }
}

}  // namespace ricci::testing
