// `ricci compile --explain`: of each launch what was decided and why, its shape, what its points read, write and
// compute, and what its machine code takes.
//
// Decisions are threads for a point, groups and phases, with their reasons. The shape is blocks and threads: at most 32
// blocks for each processor, where the GPU is known. Of a point it prints the bytes read and written, the least
// possible, and the operations; of the code registers, stack, spills, shared memory and occupancy.
#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "cuda/explain/forms.h"
#include "cuda/explain/listing.h"
#include "cuda/explain/occupancy.h"
#include "cuda/run/plan_modules.h"
#include "cuda/schedule/launch_shape.h"
#include "cuda/schedule/phases.h"
#include "cuda/tile/flat_kernel.h"
#include "cuda/tile/joined_loops.h"
#include "cuda/tile/traffic.h"

namespace ricci::cuda {
namespace {

[[gnu::format(printf, 1, 2)]] std::string Format(const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

// `1024`, `3.5`, `0.25`.
std::string Number(double x) {
  if (x >= 100) return Format("%.0f", x);
  std::string text = Format("%.2f", x);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string Join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
  return text;
}

std::string CodeText(const std::map<std::string, Resources>& known, const std::string& function,
                     std::string_view architecture, int threads, uint64_t dynamic_bytes) {
  const auto found = known.find(function);
  if (found == known.end()) return "  code: this compiler reports no registers\n";
  Resources r = found->second;
  r.shared_bytes += static_cast<int>(dynamic_bytes);
  const std::optional<int> occupancy = OccupancyOf(architecture, r, threads);
  return Format("  code: %d registers, %d bytes of stack, %d of spills, %d of shared memory; occupancy %s\n",
                r.registers, r.stack_bytes, r.spill_bytes, r.shared_bytes,
                occupancy ? (std::to_string(*occupancy) + " %").c_str() : "not known");
}

// ---- launches of sources that differ in their numbers only ----
std::string_view TextOf(const ricci_plan_source& s) { return {s.text.ptr, s.text.len}; }
bool IsLike(const ricci_plan_source& a, const ricci_plan_source& b) {
  return TextOf(a) == TextOf(b) &&
         std::string_view(a.entry.ptr, a.entry.len) == std::string_view(b.entry.ptr, b.entry.len) &&
         std::equal(a.grid, a.grid + 3, b.grid) && std::equal(a.block, a.block + 3, b.block);
}
// What a text says of itself by a comment that it begins with.
std::string SaidBy(const ricci_plan_source& s) {
  const std::string_view text = TextOf(s);
  if (!text.starts_with("// ")) return "as its primitive wants it";
  return std::string(text.substr(3, text.find('\n') - 3));
}
uint32_t LaunchesLike(const ricci_plan& plan, uint32_t source) {
  return static_cast<uint32_t>(std::count_if(plan.sources, plan.sources + plan.n_sources,
                                             [&](const auto& s) { return IsLike(s, plan.sources[source]); }));
}
bool IsFirst(const ricci_plan& plan, uint32_t source) {
  return std::none_of(plan.sources, plan.sources + source,
                      [&](const auto& s) { return IsLike(s, plan.sources[source]); });
}

class Explainer {
 public:
  Explainer(const CodeToRead& code, std::map<std::string, Resources> used) : code_(code), used_(std::move(used)) {}

  void Kernel(const ricci_kernel_table& lowered, const std::string& name, const Launch& launch) {
    const FlatKernel flat(lowered, code_.compiler.target());
    const ricci_kernel_table& k = flat.table();
    const codegen::Blocks blocks(k);
    const IndexRanges ranges(k);
    const Shares shares = SharesOf(k, blocks, ranges, TransposeTileOf(k, blocks, ranges));
    const Vector& vector = shares.vector;
    const KeptRows& rows = shares.team.rows;
    Phases phases = PhasesOf(k, blocks, shares.team);
    if (launch.tiles == 0 && launch.groups == 0) {
      const JoinedLoops joined = JoinedLoopsOf(k, blocks, shares, phases, ProductsTakenIn(k));
      if (joined.IsUsed() && launch.parts == 0) phases.second.assign(k.n_insts, 1);
      for (uint32_t i = 0; joined.IsUsed() && i < k.n_insts; ++i) {
        if (joined.Name(i) != i) (launch.parts != 0 ? phases.first : phases.second)[i] = 0;
      }
    }
    for (uint32_t i = 0; rows.IsUsed() && i < k.n_insts; ++i) phases.second.push_back(rows.IsComputed(i) ? 1 : 0);
    if (launch.parts != 0) {
      const LaunchShape shape = ShapeOf(launch.parts_threads, 0, code_.processors);
      OneLaunch(name + "_parts", launch.decisions_of_parts, shape, TrafficOf(k, blocks, vector, phases.first),
                launch.shared_bytes(/*of_parts=*/true));
      OtherAddresses(name, launch, shape);
    }
    const LaunchShape shape = ShapeOf(launch.threads(), launch.thread_bytes, code_.processors);
    OneLaunch(name, launch.decisions, shape, TrafficOf(k, blocks, vector, phases.second),
              launch.shared_bytes(/*of_parts=*/false));
    if (launch.parts == 0) OtherAddresses(name, launch, shape);
    if (launch.pairs.pairs != 0) Pairs(name + "_pairs", launch.pairs);
  }

  void Source(const ricci_plan_source& s, uint32_t launches) {
    const std::string name(s.entry.ptr, s.entry.len);
    text += "source " + name + ": " + SaidBy(s) +
            (launches == 1 ? "" : ", " + std::to_string(launches) + " times with other numbers") + "\n";
    text += Format("  launch: %lld x %lld x %lld blocks of %lld x %lld x %lld threads\n", Wide(s.grid[0]),
                   Wide(s.grid[1]), Wide(s.grid[2]), Wide(s.block[0]), Wide(s.block[1]), Wide(s.block[2]));
    text += CodeText(used_, name, code_.compiler.architecture(), static_cast<int>(s.block[0] * s.block[1] * s.block[2]),
                     std::min<uint64_t>(s.shared_bytes, INT32_MAX / 2));
  }

  std::string text;

 private:
  static long long Wide(int64_t n) { return n; }

  void OneLaunch(const std::string& function, const std::vector<std::string>& decisions, const LaunchShape& shape,
                 const Traffic& t, uint64_t shared_bytes) {
    text += "kernel " + function + ": " + Join(decisions) + "\n";
    text += Format("  launch: %u block%s of %u threads\n", shape.blocks, shape.blocks == 1 ? "" : "s", shape.threads);
    text += "  a point: reads " + Number(t.read) + " bytes (least " + Number(t.least_read) + "), writes " +
            Number(t.written) + " (least " + Number(t.least_written) + "), about " + Number(t.operations) +
            " operations\n";
    text += CodeText(used_, function, code_.compiler.architecture(), static_cast<int>(shape.threads), shared_bytes);
  }

  void Pairs(const std::string& function, const PairLaunch& launch) {
    const unsigned blocks = launch.blocks(code_.processors);
    text += "kernel " + function + ": in its place where addresses are aligned\n";
    text += Format("  launch: %u blocks of %u threads, two in a cluster\n", blocks, launch.threads);
    text +=
        CodeText(used_, function, code_.compiler.architecture(), static_cast<int>(launch.threads), launch.shared_bytes);
  }

  // What takes the place of the function with tiles.
  void OtherAddresses(const std::string& name, const Launch& launch, const LaunchShape& shape) {
    if (!launch.alignment.IsUsed()) return;
    text += "  where addresses are not multiples of " + std::to_string(launch.alignment.bytes) +
            " bytes: " + launch.NameOfUnaligned(name) + "\n";
    text += CodeText(used_, launch.NameOfUnaligned(name), code_.compiler.architecture(),
                     static_cast<int>(shape.threads), launch.tile_shared_bytes);
  }

  const CodeToRead& code_;
  const std::map<std::string, Resources> used_;
};

std::string HowItDecides(const CodeToRead& code, const PlanParts& parts) {
  const bool is_offline = code.processors == 0;
  std::string text = ", in which the device decides about loops and branches";
  if (is_offline) text += ", if its driver is of CUDA 12.4 or later";
  if (!parts.Any(&PlanPart::has_choices)) return text;
  if (!code.why_no_choices.empty()) return text + "; each branch is a node: " + std::string(code.why_no_choices);
  return text + "; the branches of a choice are one node" + (is_offline ? " from CUDA 12.8 on" : "");
}

const char* HowItIsCalled(const ricci_plan_library& call, bool has_graphs) {
  if ((call.flags & RICCI_CALL_ON_HOST) != 0) return "a function of the host, for which the run waits";
  if (!has_graphs) return "enqueued in each run";
  if (IsNode(call)) return "captured once, then nodes of the graph";
  return "enqueued between graphs in each run; with RICCI_LIBRARY_ONLY_ENQUEUES they would be nodes";
}

// A line for each primitive.
std::string CallsText(const ricci_plan& plan, bool has_graphs) {
  std::map<std::string, uint32_t> calls;
  for (uint32_t i = 0; i < plan.n_libraries; ++i) {
    const ricci_plan_library& call = plan.libraries[i];
    ++calls[std::string(call.name.ptr, call.name.len) + ": " + HowItIsCalled(call, has_graphs)];
  }
  std::string text;
  for (const auto& [call, n] : calls) text += std::to_string(n) + (n == 1 ? " call of " : " calls of ") + call + "\n";
  return text;
}

std::string HowItRuns(const CodeToRead& code) {
  const PlanBlocks blocks(*code.given.plan);
  const PlanParts parts = code.parts != nullptr ? *code.parts : PartsOf(*code.given.plan, blocks, "");
  const size_t n = parts.parts.size();
  const std::string calls = CallsText(*code.given.plan, /*has_graphs=*/n != 0);
  if (n == 0) return "a run issues its steps individually: " + parts.why_not_one + "\n" + calls;
  std::string text = "a run launches one graph with all steps";
  if (!parts.is_one()) {
    text = "the host takes part in a run, since " + parts.why_not_one + "; " +
           (n == 1 ? "one part is a graph" : std::to_string(n) + " parts are graphs");
  }
  if (parts.Any(&PlanPart::has_blocks)) text += HowItDecides(code, parts);
  if (parts.Any(&PlanPart::has_loops))
    text += "; one that may be cancelled or has a deadline issues its steps individually";
  return text + "\n" + calls;
}

}  // namespace

ricci_status* Explain(const CodeToRead& code, std::string& out) {
  const ricci_compile_args& a = code.given;
  std::vector<Launch> launches;
  std::string error;
  const std::string module = PrintModule(a, code.compiler.target(), launches, error);
  const auto used_by = [&](const std::string& text, std::map<std::string, Resources>& used) {
    Listing listing;
    ricci_status* const failed = MakeListing(code.compiler.nvrtc(), text, code.compiler.architecture(), listing);
    used = ResourcesIn(listing.log);
    return failed;
  };
  std::map<std::string, Resources> used;
  if (a.n_kernels != 0) {
    if (ricci_status* failed = used_by(module, used)) return failed;
  }
  Explainer kernels(code, std::move(used));
  for (uint32_t i = 0; i < a.n_kernels; ++i) kernels.Kernel(*a.kernels[i], KernelName(*a.kernels[i], i), launches[i]);
  out += kernels.text;
  for (const std::string& text : TextsOfSources(a)) {
    if (ricci_status* failed = used_by(text, used)) return failed;
    Explainer sources(code, used);
    for (uint32_t i = 0; i < a.plan->n_sources; ++i) {
      const ricci_plan_source& s = a.plan->sources[i];
      if (TextOf(s) == text && IsFirst(*a.plan, i)) sources.Source(s, LaunchesLike(*a.plan, i));
    }
    out += sources.text;
  }
  out += HowItRuns(code);
  return nullptr;
}

}  // namespace ricci::cuda
