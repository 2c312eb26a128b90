// primitives, devices: what this build knows.
#include <cstdio>

#include "cli/command.h"

namespace ricci { inline namespace v0 { namespace cli {
namespace {

constexpr std::string_view kAttrKinds[] = {"none",   "int",  "float",  "bool",    "dtype",
                                           "string", "ints", "floats", "program", "programs"};
constexpr std::string_view kLoweringKinds[] = {"none", "decompose", "scalar", "index", "loops", "library", "source"};

void Append(std::string& out, std::string_view word) {
  if (!out.empty()) out += ' ';
  out += word;
}

std::string RulesOf(const ricci_prim_def& d) {
  std::string out;
  if (d.jvp != nullptr || (d.hdr.flags & RICCI_PRIM_LINEAR) != 0) Append(out, "jvp");
  if (d.transpose != nullptr) Append(out, "transpose");
  if (d.batch != nullptr || d.batch_kind != RICCI_BATCH_NONE) Append(out, "batch");
  if (d.partial_eval != nullptr) Append(out, "partial_eval");
  if (d.dce != nullptr) Append(out, "dce");
  if (d.simplify != nullptr) Append(out, "simplify");
  if (d.contract != nullptr) Append(out, "contract");
  if (d.factors_of != nullptr || d.factors.len != 0) Append(out, "factors");
  if (d.view_map != nullptr) Append(out, "view_map");
  return out;
}

std::string LoweringsOf(const ricci_prim_def& d) {
  std::string out;
  for (uint32_t i = 0; i < d.n_lowerings; ++i) {
    const ricci_lowering& l = *d.lowerings[i];
    std::string word(kLoweringKinds[l.kind < std::size(kLoweringKinds) ? l.kind : 0]);
    if (View(l.target) != "*") word += "@" + std::string(View(l.target));
    Append(out, word);
  }
  return out;
}

// `ints, [] if left out`.
std::string KindText(const ricci_attr_spec& a) {
  const std::string kind(kAttrKinds[a.kind < std::size(kAttrKinds) ? a.kind : 0]);
  if ((a.flags & RICCI_ATTR_OPTIONAL) == 0) return kind;
  return kind + ", " + (a.absent.len == 0 ? "may be left out" : std::string(View(a.absent)) + " if left out");
}

// `z = add(x, y)` and `x + y`; empty for a row without a doc.
std::pair<std::string_view, std::string_view> DocOf(const ricci_prim_def& d) {
  const std::string_view doc = View(d.doc), between = ": ";
  const size_t at = doc.find("): ");
  if (at == std::string_view::npos) return {};
  return {doc.substr(0, at + 1), doc.substr(at + 1 + between.size())};
}

void PrintField(std::string_view label, std::string_view text) {
  if (text.empty()) return;
  std::printf("  %-11.*s %.*s\n", static_cast<int>(label.size()), label.data(), static_cast<int>(text.size()),
              text.data());
}

void PrintOne(const ricci_prim_def& d) {
  const std::string_view title = View(d.doc.len == 0 ? d.name : d.doc);
  std::printf("%.*s\n", static_cast<int>(title.size()), title.data());
  for (uint32_t i = 0; i < d.n_attr_specs; ++i) {
    const ricci_attr_spec& a = d.attr_specs[i];
    PrintField(i == 0 ? "attributes" : "", std::string(View(a.name)) + ": " + KindText(a));
  }
  PrintField("rules", RulesOf(d));
  PrintField("missing", View(d.missing));
  PrintField("lowerings", LoweringsOf(d));
}

constexpr char kPage[] =
    R"(# Primitives

What the equations of a program can apply, as `ricci primitives --markdown` prints it. `z = op(x, y)` gives the names of
results and operands; `xs...` stands for any number of them. The list below it has the attributes, which follow the
operands in the text of a program (`%y: f32[] = reduce_sum(%x) axes=[0]`), the rules of the primitive, and why it has no
others.
)";

void PrintMarkdown(const ricci_prim_def& d) {
  const auto [names, summary] = DocOf(d);
  std::string out = "\n## " + std::string(View(d.name)) + "\n\n";
  if (!names.empty()) out += "`" + std::string(names) + "`: " + std::string(summary) + "\n\n";
  for (uint32_t i = 0; i < d.n_attr_specs; ++i) {
    out += "- `" + std::string(View(d.attr_specs[i].name)) + "`: " + KindText(d.attr_specs[i]) + "\n";
  }
  if (const std::string rules = RulesOf(d); !rules.empty()) out += "- rules: " + rules + "\n";
  if (d.missing.len != 0) out += "- no " + std::string(View(d.missing)) + "\n";
  std::fputs(out.c_str(), stdout);
}

void PrintSummary(const ricci_prim_def& d) {
  const std::string_view name = View(d.name), summary = DocOf(d).second;
  std::printf("%-24.*s %.*s\n", static_cast<int>(name.size()), name.data(), static_cast<int>(summary.size()),
              summary.data());
}

void Primitives(const Session& session, const Arguments& arguments) {
  std::vector<std::string> missed = arguments.operands();
  const bool all = missed.empty(), page = arguments.flag("markdown");
  const auto print = page ? PrintMarkdown : all ? PrintSummary : PrintOne;
  if (page) std::fputs(kPage, stdout);
  ricci_prim id = 0;
  const ricci_prim_def* d = nullptr;
  for (uint32_t i = 0; (d = ricci_prim_at(session.context(), i, &id)) != nullptr; ++i) {
    if (all || std::erase(missed, View(d->name)) != 0) print(*d);
  }
  if (!missed.empty()) throw Failure(missed[0] + ": no such primitive; `ricci primitives` lists them");
}

// Empty if the device does not report it.
std::string MemoryText(const ricci_device* d) {
  uint64_t total = 0, free = 0;
  if (ricci_status* s = ricci_device_memory(d, &total, &free)) {
    ricci_status_free(s);
    return "";
  }
  constexpr double kGiB = 1 << 30;
  char text[80];
  std::snprintf(text, sizeof text, ", %.1f of %.1f GiB free", static_cast<double>(free) / kGiB,
                static_cast<double>(total) / kGiB);
  return text;
}

// A GPU has many processors, unless it is not there.
std::string WorkersText(const ricci_device_desc& d) {
  if (View(d.kind) != "cuda") return ", " + std::to_string(d.workers) + (d.workers == 1 ? " thread" : " threads");
  return d.workers > 1 ? ", " + std::to_string(d.workers) + " processors" : "";
}

void PrintDevice(const std::string& number, ricci_device* device) {
  ricci_device_desc desc{};
  desc.hdr.size = sizeof desc;
  ricci_device_info(device, &desc);
  std::printf("%s: %.*s:%d, %.*s%s%s\n", number.c_str(), static_cast<int>(desc.kind.len), desc.kind.ptr, desc.ordinal,
              static_cast<int>(desc.name.len), desc.name.ptr, WorkersText(desc).c_str(), MemoryText(device).c_str());
}

// GPUs come last, without a number: a program runs on one only if --device says so.
void Devices(const Session& session, const Arguments& arguments) {
  if (!arguments.operands().empty()) throw UsageError("takes no `" + arguments.operands()[0] + "`");
  const uint32_t count = ricci_device_count(session.context());
  for (uint32_t i = 0; i < count; ++i) PrintDevice(std::to_string(i), ricci_device_get(session.context(), i));
  try {
    session.AddGpus();
  } catch (const Failure& e) {
    std::printf("-: %s\n", e.what());
    return;
  }
  for (uint32_t i = 0; i + count < ricci_device_count(session.context()); ++i) {
    PrintDevice("-", ricci_device_get(session.context(), i));
  }
}

}  // namespace

std::span<const Command> ListCommands() {
  static const Command kCommands[] = {
      {"primitives",
       "[OPTIONS] [NAME...]",
       "lists the primitives and what they compute; with NAMEs also attributes, rules and lowerings",
       "\n  --markdown           as a page of a manual\n",
       {},
       {"markdown"},
       Primitives},
      {"devices",
       "",
       "lists the devices",
       "\n  The first one runs programs unless --device names another. GPUs have no number: they run only what asks "
       "for\n"
       "  them, by --device cuda. `ricci help` has the options that say where their driver and compiler are.\n",
       {},
       {},
       Devices},
  };
  return kCommands;
}

}}}  // namespace ricci::v0::cli
