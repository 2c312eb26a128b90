#include "fuzz/object_check.h"

#include <algorithm>
#include <cstdio>

#include "fuzz/program_transforms.h"
#include "fuzz/reference.h"

namespace ricci::testing {
namespace {

constexpr uint64_t kSanitizedOf = 8;  // one block of so many

constexpr uint32_t kLevelOfProducts = 2;

// Rows whose code in a host is a routine that objects do not have, so that sums are of another order.
constexpr std::string_view kOtherSums[] = {"cholesky", "triangular_solve", "lu", "conv_general_dilated"};

// What an error says after its first word, which may be a place.
std::string SaidOf(const std::string& error) { return error.substr(error.find(": ") + 2); }

bool Says(const std::string& text, std::string_view what) { return text.find(what) != text.npos; }

// A program with what the tool made of it.
struct Tried {
  const ObjectSubject& subject;
  Program written;
  std::vector<ObjectFunction> functions;
  std::string refusal;  // of a transform, made here
  size_t first = 0;     // function in the batch
  bool compiled = false;
  std::string header;
  Complaint complaint;
};

Tried Written(const ObjectSubject& s) {
  Tried t{s, AsWritten(s.ctx, s.p, s.options), {}, "", 0, false, "", {}};
  try {
    t.functions = ObjectFunctions(s.ctx, t.written, s.options);
  } catch (const Error& e) {
    t.refusal = e.message();
  }
  return t;
}

bool IsOldProcessor(const ObjectTool& tool, const std::string& name) {
  return !tool.aarch64 && (name.empty() || name == "x86-64-v2");
}

// Why a device refuses a function; empty if it does not.
std::string RefusalOnCpu(const Tried& t) {
  for (const ObjectFunction& f : t.functions) {
    const RunResult r = Compiled(t.subject.ctx, f.program.get(), "cpu").Run(t.subject.inputs(f.program));
    if (r.error && r.error->starts_with("compile: ")) return r.error->substr(9);
  }
  return "";
}

// Which of the reasons for which a program may be refused this is; empty: none of them.
std::string ReasonFor(const ObjectTool& tool, const Tried& t, const std::string& says) {
  const ObjectOptions& o = t.subject.options;
  if (!t.refusal.empty() && Says(says, SaidOf(t.refusal))) return "a transform refuses";
  if (!o.derivatives.empty() && Says(says, "has no floating parameter to differentiate by"))
    return "nothing to differentiate by";
  if (!o.usual_name && Says(says, Text("program name `", o.name, "` is ")) && Says(says, "--name")) return "name";
  const bool names_place = o.binary || Says(says, ".ricci:");  // in a binary program the places are those of its text
  if (CallsHost(t.written.get()) && Says(says, "the context has no callback fuzz.") && names_place)
    return "function of the host";
  if (CallsHost(t.written.get()) && Says(says, "calls a function of the host") && names_place)
    return "function of the host";
  if (IsOldProcessor(tool, o.processor) && Says(says, "which the C library does not have; a newer processor"))
    return "processor";
  const std::string on_cpu = RefusalOnCpu(t);
  if (!on_cpu.empty() && Says(says, SaidOf(on_cpu))) return "refused by `cpu` too";
  return "";
}

void CompileIn(ObjectBatch& batch, const ObjectTool& tool, Tried& t, ObjectCounts& counts) {
  const ObjectSubject& s = t.subject;
  t.first = batch.n_functions();
  const CommandEnd end = batch.Compile(FileOf(t.written, s.options.binary), OptionWords(s.ctx, t.written, s.options),
                                       s.options, t.functions);
  if (end.status == 0 && !t.refusal.empty()) {
    t.complaint = "object made: a transform refuses: " + t.refusal;
  } else if (end.status == 0) {
    t.compiled = true;
    t.header = batch.Header();
  } else {
    const std::string reason = end.status == 1 ? ReasonFor(tool, t, end.says) : "";
    if (reason.empty()) t.complaint = Text("tool: it ends with ", end.status, ": ", end.says);
    if (!reason.empty()) ++counts.refused[reason];
    if (tool.verbose) std::printf("%s: %s", reason.c_str(), end.says.c_str());
  }
}

// What the header says of a number that function `name` returns.
std::string MessageOf(const std::string& header, const std::string& name, int32_t number) {
  const size_t declared = header.find("\nint " + name + "(");
  const std::string before = header.substr(0, declared), line = Text("\n *   returns ", number, ": ");
  const size_t comment = before.rfind("/* "), at = before.find(line, std::min(comment, before.size()));
  if (at == before.npos) return "";
  const size_t from = at + line.size();
  return before.substr(from, before.find('\n', from) - from);
}

bool HasOtherSums(const Program& p) {
  const std::multiset<std::string> rows = RowsOf(p);
  return std::any_of(std::begin(kOtherSums), std::end(kOtherSums),
                     [&](std::string_view row) { return rows.contains(std::string(row)); });
}

// A failed check, whose message is that of `cpu`.
Complaint CompareFailure(const Tried& t, const ObjectFunction& f, int32_t number, const RunResult& want,
                         const RunResult& on_cpu) {
  if (!want.error) return Text("number: ", f.name, " returns ", number, ", `ref` has results");
  const std::string message = MessageOf(t.header, f.name, number);
  if (message.empty()) return Text("number: ", f.name, " returns ", number, ", which its header does not explain");
  if (t.subject.options.batch != 0 && on_cpu.error) return {};  // which is first in a batch depends on the lanes
  if (!on_cpu.error || !Says(*on_cpu.error, message.substr(message.find(": ") + 1)))
    return Text("number: ", f.name, " returns ", number, ", `", message, "`; cpu: ", on_cpu.error.value_or("results"));
  return {};
}

// The first result whose bits differ.
Complaint OtherBits(ricci_ctx* ctx, const ObjectFunction& f, const RunResult& got, const RunResult& on_cpu) {
  const std::vector<ArrayType> types = ResultsOf(ctx, f.program.get());
  size_t i = 0, at = 0;
  while (got.arrays[i] == on_cpu.arrays[i]) ++i;
  while (got.arrays[i][at] == on_cpu.arrays[i][at]) ++at;
  const DType d = PartOf(types[i].dtype());
  at -= at % static_cast<size_t>(SizeOf(d));
  return Text("bits: result ", i, " (", types[i], ") of ", f.name, ", element ", at / static_cast<size_t>(SizeOf(d)),
              " is ", ElementText(d, &got.arrays[i][at]), ", on cpu ", ElementText(d, &on_cpu.arrays[i][at]));
}

Complaint CheckFunction(const ObjectBatch& batch, const ObjectTool& tool, const Tried& t, size_t i, CheckCounts& checks,
                        ObjectCounts& counts) {
  const ObjectSubject& s = t.subject;
  const ObjectFunction& f = t.functions[i];
  const std::vector<Bytes> inputs = s.inputs(f.program);
  Reference reference(s.ctx, f.program, inputs, checks);
  const RunResult& want = reference.want();
  if (want.error && !IsBrokenPromise(want)) return {};  // `ref` cannot run it
  ++counts.functions;
  const ObjectRun got = batch.Run(s.ctx, t.first + i, f.program, inputs);
  if (got.run.error) return Text("host: ", f.name, ": ", *got.run.error);
  counts.failed_checks += got.number != 0;
  const bool exact = s.options.processor == "native" && !tool.aarch64 && !HasOtherSums(f.program);
  RunResult on_cpu;
  if (exact || got.number != 0) on_cpu = Compiled(s.ctx, f.program.get(), "cpu", 0, s.options.opt_level).Run(inputs);
  if (got.number != 0) return CompareFailure(t, f, got.number, want, on_cpu);
  if (want.error) return {};  // the check was dropped as unused
  if (Complaint c = reference.Compare(got.run, "object: " + f.name)) return c;
  if (!exact || on_cpu.error) return {};
  ++counts.exact;
  if (got.run.arrays == on_cpu.arrays) return {};
  // All of an object that has a product is of level 2.
  const bool may_be_higher = s.options.opt_level < kLevelOfProducts && RowsOf(t.written).contains("dot_general");
  if (may_be_higher) on_cpu = Compiled(s.ctx, f.program.get(), "cpu", 0, kLevelOfProducts).Run(inputs);
  if (got.run.arrays != on_cpu.arrays) return OtherBits(s.ctx, f, got.run, on_cpu);
  return {};
}

Complaint CheckFunctions(const ObjectBatch& batch, const ObjectTool& tool, const Tried& t, CheckCounts& checks,
                         ObjectCounts& counts) {
  try {
    for (size_t i = 0; i < t.functions.size(); ++i) {
      if (Complaint c = CheckFunction(batch, tool, t, i, checks, counts)) return c;
    }
  } catch (const Error& e) {
    return std::string(e.message());
  }
  return {};
}

}  // namespace

std::vector<Complaint> CheckObjects(const ObjectTool& tool, uint64_t block, const std::vector<ObjectSubject>& subjects,
                                    CheckCounts& checks, ObjectCounts& counts) {
  ObjectBatch batch(tool, !tool.aarch64 && block % kSanitizedOf == 0);
  std::vector<Tried> tried;
  for (const ObjectSubject& s : subjects) {
    tried.push_back(Written(s));
    ++counts.programs;
    CompileIn(batch, tool, tried.back(), counts);
  }
  const Complaint unlinked = batch.Link();
  std::vector<Complaint> out;
  for (size_t i = 0; i < subjects.size(); ++i) {
    Tried& t = tried[i];
    if (t.compiled && unlinked) {  // which of them?
      const bool alone = subjects.size() == 1;
      t.complaint = alone ? unlinked : CheckObjects(tool, block, {subjects[i]}, checks, counts)[0];
    } else if (t.compiled) {
      t.complaint = CheckFunctions(batch, tool, t, checks, counts);
    }
    out.push_back(t.complaint);
  }
  const bool alone_they_link = std::none_of(out.begin(), out.end(), [](const Complaint& c) { return c.has_value(); });
  if (unlinked && alone_they_link) out[0] = *unlinked;
  return out;
}

}  // namespace ricci::testing
