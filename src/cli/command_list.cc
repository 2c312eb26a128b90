// primitives, devices: what this build knows.
#include <cstdio>

#include "cli/command.h"

namespace ricci::inline v0::cli {
namespace {

constexpr std::string_view kAttrKinds[] = {"none",   "int",  "float",  "bool",    "dtype",
                                           "string", "ints", "floats", "program", "programs"};
constexpr std::string_view kLoweringKinds[] = {"none", "decompose", "scalar", "index", "loops", "library"};

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
  if (d.factors_of != nullptr || d.factors.len != 0) Append(out, "factors");
  if (d.place != nullptr) Append(out, "place");
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

std::string AttrText(const ricci_attr_spec& a) {
  std::string out(View(a.name));
  out += ": " + std::string(kAttrKinds[a.kind < std::size(kAttrKinds) ? a.kind : 0]);
  if ((a.flags & RICCI_ATTR_OPTIONAL) == 0) return out;
  return out + ", " + (a.absent.len == 0 ? "may be left out" : std::string(View(a.absent)) + " if left out");
}

// What it computes, without the names.
std::string SummaryOf(const ricci_prim_def& d) {
  constexpr std::string_view kBefore = "): ";
  const std::string_view doc = View(d.doc);
  const size_t at = doc.find(kBefore);
  return at == std::string_view::npos ? "" : std::string(doc.substr(at + kBefore.size()));
}

void PrintField(std::string_view label, std::string_view text) {
  if (text.empty()) return;
  std::printf("  %-11.*s %.*s\n", static_cast<int>(label.size()), label.data(), static_cast<int>(text.size()),
              text.data());
}

void PrintOne(const ricci_prim_def& d) {
  const std::string_view title = View(d.doc.len == 0 ? d.name : d.doc);
  std::printf("%.*s\n", static_cast<int>(title.size()), title.data());
  for (uint32_t i = 0; i < d.n_attr_specs; ++i) PrintField(i == 0 ? "attributes" : "", AttrText(d.attr_specs[i]));
  PrintField("rules", RulesOf(d));
  PrintField("missing", View(d.missing));
  PrintField("lowerings", LoweringsOf(d));
}

void Primitives(const Session& session, const Arguments& arguments) {
  std::vector<std::string> missed = arguments.operands();
  const bool all = missed.empty();
  ricci_prim id = 0;
  const ricci_prim_def* d = nullptr;
  for (uint32_t i = 0; (d = ricci_prim_at(session.context(), i, &id)) != nullptr; ++i) {
    if (all) {
      std::printf("%-24.*s %s\n", static_cast<int>(d->name.len), d->name.ptr, SummaryOf(*d).c_str());
    } else if (std::erase(missed, View(d->name)) != 0) {
      PrintOne(*d);
    }
  }
  if (!missed.empty()) throw Failure(missed[0] + ": no such primitive; `ricci primitives` lists them");
}

// Nothing, where the device does not tell.
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

void Devices(const Session& session, const Arguments& arguments) {
  if (!arguments.operands().empty()) throw UsageError("takes no `" + arguments.operands()[0] + "`");
  for (uint32_t i = 0; i < ricci_device_count(session.context()); ++i) {
    ricci_device_desc desc{};
    desc.hdr.size = sizeof desc;
    ricci_device* const device = ricci_device_get(session.context(), i);
    ricci_device_info(device, &desc);
    std::printf("%u: %.*s:%d, %.*s, %u thread%s%s\n", i, static_cast<int>(desc.kind.len), desc.kind.ptr, desc.ordinal,
                static_cast<int>(desc.name.len), desc.name.ptr, desc.workers, desc.workers == 1 ? "" : "s",
                MemoryText(device).c_str());
  }
}

}  // namespace

std::span<const Command> ListCommands() {
  static const Command kCommands[] = {
      {"primitives",
       "[NAME...]",
       "lists the primitives and what they compute; with NAMEs also attributes, rules and lowerings",
       "",
       {},
       {},
       Primitives},
      {"devices", "", "lists the devices", "", {}, {}, Devices},
  };
  return kCommands;
}

}  // namespace ricci::inline v0::cli
