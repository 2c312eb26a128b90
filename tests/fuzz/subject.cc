#include "fuzz/subject.h"

#include "fuzz/generators.h"
#include "fuzz/reference.h"
#include "fuzz/shuffled_text.h"

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

bool IsBrokenPromise(const RunResult& r) { return r.error && r.code == kBrokenPromise; }

Complaint CheckProgram(ricci_ctx* ctx, const Program& p, const std::vector<Bytes>& inputs,
                       const std::vector<std::string>& devices, DonateMask donate, CheckCounts& counts, bool may_end) {
  try {
    if (Complaint c = CheckText(ctx, p)) return c;
    if (Complaint c = CheckBinary(ctx, p)) return c;
    Reference reference(ctx, p, inputs, counts);
    const RunResult& want = reference.want();
    const bool own = may_end && want.error && want.code != 0 && want.code != RICCI_INTERNAL;
    const bool ends = own || IsBrokenPromise(want);
    if (want.error && !ends) return want.error;
    const auto compare = [&](const RunResult& got, std::string_view what) {
      if (ends && (!got.error || got.code == want.code)) return Complaint();
      return reference.Compare(got, what);
    };
    RunResult passes = RunThroughPasses(ctx, p.get(), inputs);
    if (IsBrokenPromise(passes)) passes.code = want.code;  // the interpreter does not know which code a `check` has
    if (Complaint c = compare(passes, "passes")) return c;
    for (const std::string& device : devices) {
      const Compiled compiled(ctx, p.get(), device, donate);
      if (device == "late") {
        ++counts.late;
        if (Complaint c = compare(compiled.RunUnderWay(inputs, Dice(ricci_program_hash(p.get()))), device)) return c;
        continue;
      }
      if (Complaint c = compare(compiled.Run(inputs), device)) return c;
      if (donate == 0) continue;
      ++counts.donated;
      counts.in_place += compiled.n_in_place() > 0;
      if (Complaint c = compare(compiled.RunInPlace(inputs), device + " in place")) return c;
      if (Complaint c = compare(compiled.RunOnArrays(inputs), device + " on arrays")) return c;
    }
    return {};
  } catch (const Error& e) {
    return std::string(e.message());
  }
}

}  // namespace ricci::testing
