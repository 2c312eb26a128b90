#include "fuzz/seed_trial.h"

#include <dlfcn.h>

#include <cstdio>

#ifdef RICCI_TEST_CPU
#include "cpu/backend_with.h"
#endif
#include "fuzz/generators.h"
#include "fuzz/kept_check.h"
#include "fuzz/kinds.h"
#include "fuzz/one_rounding_law.h"

namespace ricci::testing {
namespace {

constexpr std::string_view kModes[] = {"auto", "auto", "batched", "lanes"};

constexpr uint64_t kShrinkTries = 2000;
constexpr double kShrinkSeconds = 300;
// Of all programs.
constexpr double kDeep = 0.12, kLarge = 0.005, kDonates = 0.2, kReread = 0.4, kReloaded = 0.4, kSmallCode = 0.25,
                 kLate = 0.25, kComplex = 0.25, kCalls = 0.12, kKept = 0.04, kMatrices = 0.15;

using Fails = std::function<bool(const Program&)>;
Program Reduced(const Program& p, const Fails& fails) {
  ricci_reduction how{};
  how.hdr.size = sizeof how;
  how.self = const_cast<Fails*>(&fails);
  how.fails = [](void* self, const ricci_program* candidate) -> uint32_t {
    return (*static_cast<const Fails*>(self))(Own(ricci_program_retain(const_cast<ricci_program*>(candidate))));
  };
  how.tries = kShrinkTries;
  how.seconds = kShrinkSeconds;
  ricci_program* out = nullptr;
  if (ricci_status* s = ricci_program_reduce(p.get(), &how, &out)) {
    ricci_status_free(s);  // it does not fail again
    return p;
  }
  return Own(out);
}

Palette PaletteOf(Dice& dice) {
  Palette p;
  p.deep = dice.Chance(kDeep);
  p.large = dice.Chance(kLarge);
  if (p.deep) p.max_nesting = static_cast<int>(dice.Between(4, 5));
  if (dice.Chance(0.3)) {
    p.smooth = true;
    p.special = false;
    p.dtypes = SetOf(DType::kF64) | SetOf(DType::kI32) | SetOf(DType::kBool);
    if (dice.Chance(kComplex)) p.dtypes |= SetOf(DType::kC128);
    return p;
  }
  if (dice.Chance(0.4)) p.dtypes = SetOf(DType::kF32) | SetOf(DType::kI32) | SetOf(DType::kBool);
  if (dice.Chance(kComplex)) p.dtypes |= kComplexes;
  p.special = dice.Chance(0.5);
  if (dice.Chance(0.03)) p.max_elements = 1 << 14;
  return p;
}
int64_t SizeOfProgram(Dice& dice) {
  const int64_t roll = dice.Below(20);
  if (roll < 10) return dice.Between(1, 6);
  return roll < 18 ? dice.Between(4, 20) : dice.Between(20, 60);
}
DonateMask DonatedArguments(uint64_t seed) {
  Dice dice(seed ^ 0x646f6e61);
  if (!dice.Chance(kDonates)) return 0;
  return dice.Chance(0.5) ? 0xff : static_cast<DonateMask>(dice.Bits());
}
Form SomeForm(uint64_t seed) {
  const double roll = Dice(seed ^ 0x74657874).Real(0, 1);
  if (roll < kReread) return Form::kOtherText;
  return roll < kReread + kReloaded ? Form::kFile : Form::kMade;
}
bool CallsFunctions(uint64_t seed) { return Dice(seed ^ 0x63616c6c).Chance(kCalls); }
std::unique_ptr<LateDevices> SomeLateDevices(uint64_t seed) {
  if (!Dice(seed ^ 0x6c617465).Chance(kLate)) return nullptr;
  return std::make_unique<LateDevices>(LateOptions{.seed = seed, .reports_when_asked = seed % 2 == 1});
}
Values ResultsOfDraft(Draft& d) {
  Values out = d.SomeKept(4);
  for (int64_t n = d.dice().Between(1, 4); n > 0; --n) {
    const Value v = d.Find(kAny, {});
    if (!v.is_none()) out.push_back(v);
  }
  for (Value& v : out) {
    if (IsComplex(v.dtype())) v = d.dice().Chance(0.5) ? lax::real(v) : lax::imag(v);
  }
  if (out.empty()) out.push_back(d.Fresh(d.Type(d.SomeDType(kFloats), {})));
  return out;
}

// What reports the failure (`cpu`, `passes`, `parse`, a law), and which failure.
std::string KindOf(const std::string& complaint) {
  const std::string first = complaint.substr(0, complaint.find_first_of(":(0123456789"));
  return complaint.starts_with("law ") ? complaint.substr(0, complaint.find(':')) : first;
}

#ifdef RICCI_TEST_CPU
// Code as for large programs: cut into regions, chunks and tasks, with private arrays in scratch.
cpu::Settings SmallCode() {
  cpu::Settings settings;
  settings.cuts = {.pieces = {.points = 1, .vectors = 0},
                   .region_code = 12,
                   .shared_code = 6,
                   .chunk = 32,
                   .copy_cycles = 1,
                   .task_cycles = 64,
                   .piece_steps = 2,
                   .repeat_steps = 1};
  settings.stack_local = 64;
  return settings;
}
#endif

// A function that only a simulated GPU has, or NULL.
template <typename F>
F* OfSimulatedGpu(const std::string& library, const char* name) {
  void* const opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  return opened == nullptr ? nullptr : reinterpret_cast<F*>(dlsym(opened, name));
}

void AddGpu([[maybe_unused]] ricci_ctx* ctx, [[maybe_unused]] const GpuLibraries& gpu,
            [[maybe_unused]] bool sorts_all) {
#ifdef RICCI_TEST_CUDA
  const auto set = [ctx](std::string_view key, const std::string& value) {
    if (!value.empty()) ricci::Check(ricci_context_config(ctx, key.data(), key.size(), value.data(), value.size()));
  };
  set("cuda.scatter", sorts_all ? "sorted" : "ordered");
  const bool both = gpu.compiler.empty() && OfSimulatedGpu<void(uint64_t)>(gpu.driver, "ricci_standin_seed") != nullptr;
  set("cuda.driver", gpu.driver);
  set("cuda.compiler", both ? gpu.driver : gpu.compiler);
  ricci::Check(ricci_context_add_plugin(ctx, ricci_plugin_query_cuda));
  AddGpuCalls(ctx, gpu.driver, gpu.calls);
#endif
}

GpuLibraries WithCalls(GpuLibraries gpu, uint64_t seed) {
  gpu.calls = SomeGpuCalls(seed);
  return gpu;
}

}  // namespace

Context MakeContext(std::string_view vmap, [[maybe_unused]] bool small_code, LateDevices* late,
                    const GpuLibraries& gpu) {
  ricci_ctx* raw = nullptr;
  const auto calls = std::make_shared<HostCalls>();
  const ricci_hooks hooks = calls->Hooks();
  ricci_context_opts options = ricci_context_opts_default();
  options.hooks = &hooks;
  ricci::Check(ricci_context_create(&options, &raw));
  Context ctx(raw, [calls](ricci_ctx* c) { ricci_context_release(c); });
  calls->AddTo(raw);
  ricci::Check(ricci_context_add_plugin(raw, ricci_plugin_query_lax));
  ricci::Check(ricci_context_add_plugin(raw, ricci_plugin_query_nn));
  AddBatchRule(raw);
  if (late != nullptr) ricci::Check(late->AddTo(raw));
#ifdef RICCI_TEST_CPU
  ricci::Check(ricci_context_add_plugin(raw, ricci_plugin_query_cpu));
  if (small_code) ricci::Check(ricci_context_add_plugin(raw, QueryBackendWith<SmallCode>));
#endif
  if (!gpu.empty()) AddGpu(raw, gpu, /*sorts_all=*/small_code);
  ricci::Check(ricci_context_config(raw, "vmap", 4, vmap.data(), vmap.size()));
  ricci::Check(ricci_context_config(raw, "threads", 7, "2", 1));
  return ctx;
}

Context KeptGpu(const GpuLibraries& gpu) {
  const bool is_real = !gpu.empty() && OfSimulatedGpu<void(uint64_t)>(gpu.driver, "ricci_standin_seed") == nullptr;
  return is_real ? MakeContext("auto", /*small_code=*/false, nullptr, gpu) : nullptr;
}

Trial::Trial(uint64_t seed, const TrialOptions& options, Totals& totals)
    : seed_(seed),
      options_(options),
      totals_(totals),
      dice_(seed),
      palette_(PaletteOf(dice_)),
      mode_(palette_.large && dice_.Chance(0.7) ? "lanes" : dice_.Pick(kModes)),
      small_code_(options.objects.empty() && Dice(seed ^ 0x736d616c).Chance(kSmallCode)),
      late_(options.gpu.empty() && options.objects.empty() ? SomeLateDevices(seed) : nullptr),
      ctx_(MakeContext(mode_, small_code_, late_.get(), WithCalls(options.gpu, seed))),
      donate_(DonatedArguments(seed)),
      form_(SomeForm(seed)) {
  // In objects they are refused.
  palette_.calls = CallsFunctions(seed) && (options.objects.empty() || seed % 4 == 0);
}

// What devices report at the end is a failure of the seed.
void Trial::Run() {
  if (!options_.gpu.empty()) return RunOnGpu();
  RunAll();
  if (late_ == nullptr) return;
  ctx_.reset();
  const std::string report = late_->Report();
  if (!report.empty()) Report(nullptr, Text("late at the end: ", report), {});
}

// On a simulated one threads and steps go in an order that the seed decides.
void Trial::RunOnGpu() {
  using ReportFn = const char*();
  const std::string& library = options_.gpu.driver;
  if (auto* const set_seed = OfSimulatedGpu<void(uint64_t)>(library, "ricci_standin_seed")) set_seed(seed_);
  RunAll();
  ctx_.reset();
  auto* const report_of = OfSimulatedGpu<ReportFn>(library, "ricci_standin_report");
  const std::string report = report_of == nullptr ? "" : report_of();
  if (!report.empty()) Report(nullptr, Text("cuda at the end: ", report), {});
}

std::vector<std::string> Trial::Devices() const {
  std::vector<std::string> devices = options_.devices;
  if (late_ != nullptr) devices.push_back("late");
  return devices;
}

void Trial::RunAll() {
  Program p;
  try {
    p = Draw();
  } catch (const Error& e) {
    return Report(nullptr, Text("generation: ", e.message()), {});
  }
  if (options_.verbose) {
    std::printf("// seed %llu, vmap %s\n%s", static_cast<unsigned long long>(seed_), mode_.c_str(),
                PrintProgram(p.get()).c_str());
    std::fflush(stdout);
  }
  if (options_.draw_only) return;
  if (!options_.gpu.empty() && RowsOf(p).contains("platform_index")) return;  // its value is the platform's
  if (form_ == Form::kOtherText) {
    ++totals_.draft.kinds["attributes in another order"];
    if (Check(p, OtherText())) return;
    p = Reread(ctx_.get(), p, seed_);
  }
  if (form_ == Form::kFile) ++totals_.draft.kinds["loaded from a file"];
  if (Check(p, Equality())) return;
  if (Check(p, OneRounding()) || Check(p, Kept())) return;
  if (small_code_) ++totals_.draft.kinds["code of short functions"];
  if (donate_ != 0) ++totals_.draft.kinds["donated arguments"];
  if (CheckTransformed(p) || !options_.gpu.empty()) return;
  Check(p, Laws());
}

Program Trial::Draw() {
  Draft d(ctx_.get(), dice_, palette_, totals_.draft);
  DrawEquations(d);
  const Values results = ResultsOfDraft(d);
  Program p = d.Finish(results);
  ++totals_.programs;
  totals_.smooth += palette_.smooth;
  totals_.equations += ricci_program_equation_count(p.get());
  const std::multiset<std::string> rows = RowsOf(p);
  for (auto row = rows.begin(); row != rows.end(); row = rows.upper_bound(*row)) ++totals_.rows[*row];
  for (const std::string& kind : KindsOf(p)) ++totals_.draft.kinds[kind];
  return p;
}

ObjectSubject Trial::DrawObject() {
  return {ctx_.get(), Draw(), SomeObjectOptions(seed_, mode_), [this](const Program& p) { return Inputs(p); }};
}

void Trial::DrawEquations(Draft& d) {
  if (palette_.large) return EmitLargeBody(d);
  const bool has_matrices = !options_.objects.empty() && dice_.Chance(kMatrices);
  const int64_t n = has_matrices ? 1 : SizeOfProgram(dice_);
  d.Grow(palette_.deep ? std::min<int64_t>(n, 3) : n);
  if (palette_.deep) EmitNested(d);
  if (has_matrices) EmitLargeMatrices(d);
}

Trial::Verdict Trial::Equality() {
  return [this](const Program& p) -> Complaint {
    try {
      const Program f = form_ == Form::kFile ? Reloaded(ctx_.get(), p) : p;
      return CheckProgram(ctx_.get(), f, Inputs(f), Devices(), donate_, totals_.checks);
    } catch (const Error& e) {
      return Text("file: ", e.message());
    }
  };
}
bool Trial::OnCpu() const {
  return std::find(options_.devices.begin(), options_.devices.end(), "cpu") != options_.devices.end();
}
Trial::Verdict Trial::OneRounding() {
  if (!OnCpu() && options_.gpu.empty()) return [](const Program&) { return Complaint(); };
  return [this](const Program& p) {
    return CheckOneRounding(ctx_.get(), p, Inputs(p), mode_, seed_, options_, totals_.rounded_once);
  };
}
Trial::Verdict Trial::Kept() {
  if (!OnCpu() || !Dice(seed_ ^ 0x6b657074).Chance(kKept)) return [](const Program&) { return Complaint(); };
  ++totals_.draft.kinds["kept by a cache"];
  return [this](const Program& p) { return CheckKept({mode_, small_code_, donate_, form_}, p, Inputs(p), seed_); };
}
Trial::Verdict Trial::OtherText() {
  return [this](const Program& p) -> Complaint {
    try {
      const Program read = Reread(ctx_.get(), p, seed_);
      if (ricci_program_equal(p.get(), read.get()) == 0)
        return "text: in another order of attributes is another program";
      if (ricci_program_hash(p.get()) != ricci_program_hash(read.get()))
        return "text: in another order has another hash";
    } catch (const Error& e) {
      return Text("text: in another order of attributes: ", e.message());
    }
    return {};
  };
}
bool Trial::CheckTransformed(const Program& p) {
  // Drawn only from the seed, so that a smaller program is transformed in the same way.
  const auto transform = [this](const Program& f) {
    Dice dice(seed_ ^ 0x766172);
    return SomeVariation(ctx_.get(), dice, f);
  };
  const Variation v = transform(p);
  if (v.complaint) return Check(p, [&](const Program& f) { return transform(f).complaint; });
  if (v.program == nullptr) return false;
  if (options_.verbose) std::printf("// %s\n%s", v.name.c_str(), PrintProgram(v.program.get()).c_str());
  ++totals_.transformed;
  if (donate_ != 0) ++totals_.draft.kinds["donated arguments of a transformed program"];
  return Check(v.program, Equality()) || Check(v.program, OneRounding()) || Check(v.program, Kept());
}
Trial::Verdict Trial::Laws() {
  return [this](const Program& p) {
    return CheckLaws({ctx_.get(), p, seed_, palette_.special, palette_.smooth}, totals_.laws);
  };
}

bool Trial::Check(const Program& p, const Verdict& verdict) {
  const Complaint c = verdict(p);
  if (c) Report(p, *c, verdict);
  return c.has_value();
}

void Trial::Report(const Program& p, const std::string& complaint, const Verdict& verdict) {
  ++totals_.failures;
  const auto seed = static_cast<unsigned long long>(seed_);
  std::string mode = options_.gpu.empty() ? "" : " --gpu " + options_.gpu.driver;
  if (!options_.objects.empty())
    mode = (options_.objects.aarch64 ? " --aarch64" : "") + (" --objects " + options_.objects.path);
  std::printf("\nFAILED seed %llu: %s\nrepeat: build/tests/fuzz/ricci_fuzz --seed %llu%s\n", seed, complaint.c_str(),
              seed, mode.c_str());
  std::fflush(stdout);
  if (p == nullptr || !options_.shrink) return;
  std::string last = complaint;
  const auto fails = [&](const Program& candidate) {
    const Complaint c = verdict(candidate);
    if (!c || KindOf(*c) != KindOf(complaint)) return false;
    last = *c;
    return true;
  };
  const Program small = Reduced(p, fails);
  std::printf("smallest program found (vmap %s): %s\n%s", mode_.c_str(), last.c_str(),
              PrintProgram(small.get()).c_str());
  PrintReplay(small);
}

void Trial::PrintReplay(const Program& p) {
  const std::vector<Bytes> inputs = Inputs(p);
  const std::vector<ArrayType> types = ParamsOf(ctx_.get(), p.get());
  size_t bytes = 0;
  for (const Bytes& b : inputs) bytes += b.size();
  if (bytes > 2048) return;
  std::printf("replay it: ricci run --device cpu");
  for (size_t i = 0; i < types.size(); ++i) std::printf(" --input '%zu=%s'", i, ArrayText(types[i], inputs[i]).c_str());
  std::printf(" FILE\n");
  std::fflush(stdout);
}

}  // namespace ricci::testing
