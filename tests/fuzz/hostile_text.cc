#include "fuzz/hostile_text.h"

#include <cctype>
#include <charconv>
#include <cstdio>
#include <ctime>

#include "fuzz/hostile_file.h"
#include "fuzz/program_transforms.h"
#include "fuzz/variation.h"
#include "ir/walk.h"
#include "prim/registry.h"
#include "trace/attrs.h"

namespace ricci::testing {
namespace {

constexpr int64_t kHostile[] = {0,
                                1,
                                -1,
                                2,
                                3,
                                -2,
                                INT32_MAX,
                                int64_t{1} << 31,
                                int64_t{1} << 32,
                                (int64_t{1} << 32) + 1,
                                int64_t{1} << 40,
                                100'000'000,
                                int64_t{1} << 61,
                                (int64_t{1} << 62) - 1,
                                int64_t{1} << 62,
                                -(int64_t{1} << 62),
                                INT64_MAX,
                                INT64_MIN,
                                INT64_MIN + 1};
constexpr double kFiles = 0.25;  // of all trials: files in place of texts
constexpr int kMostRepairs = 200;
constexpr int64_t kMostWork = 200'000;  // elements of a program that is run, times the trips of its loops
constexpr double kMostSeconds = 20;     // of processor time, under a sanitizer too
constexpr int64_t kMostTrips = 1000;    // of a while that is run

// ---- text ----
// An integer of the text that a row or a type reads.
struct Place {
  size_t at, length;
  std::string owner;  // the attribute, or `type`
};

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '%'; }

// All of them; elements of constants and digits in names do not count.
std::vector<Place> PlacesIn(const std::string& text) {
  std::vector<Place> out;
  std::string word, owner = "type";
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      i = text.find('"', i + 1);
      if (i == std::string::npos) break;
    } else if (IsWord(c) || (c == '-' && i + 1 < text.size() && std::isdigit(text[i + 1]) != 0)) {
      size_t end = i + 1;
      while (end < text.size() && (IsWord(text[end]) || text[end] == '-')) ++end;
      word = text.substr(i, end - i);
      const bool number = word.find_first_not_of("-0123456789") == std::string::npos;
      if (number) out.push_back({i, end - i, owner});
      if (word == "constant") end = std::min(text.find('\n', end), text.size());
      i = end - 1;
    } else if (c == '=' && i + 1 < text.size() && text[i + 1] != ' ') {
      owner = word;
    } else if (c == '\n' || c == '(' || (c == ' ' && (owner == "type" || text[i - 1] != ','))) {
      owner = "type";
    }
  }
  return out;
}

int64_t SomeHostile(Dice& dice, int64_t now) {
  if (dice.Chance(0.15)) return Clamped(Exact(now) + dice.Between(-2, 2));
  if (dice.Chance(0.05)) return Clamped(Exact(0) - now);
  const int64_t h = dice.Pick(kHostile);
  return dice.Chance(0.3) ? Clamped(Exact(h) + dice.Between(-8, 8)) : h;
}

// Replaces one to three integers, most often those of one attribute together: two limits may overflow together where
// one alone does not.
std::string Mutated(Dice& dice, std::string text, HostileTotals& totals) {
  const std::vector<Place> places = PlacesIn(text);
  if (places.empty()) return text;
  std::vector<size_t> attributes;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].owner != "type") attributes.push_back(i);
  }
  const bool of_type = attributes.empty() || dice.Chance(0.25);
  const size_t first =
      of_type ? static_cast<size_t>(dice.Below(static_cast<int64_t>(places.size()))) : dice.Pick(attributes);
  std::vector<size_t> chosen{first};
  for (size_t i = first + 1; i < places.size() && i < first + 6 && chosen.size() < 3; ++i) {
    if (dice.Chance(0.3)) chosen.push_back(i);
  }
  for (size_t i = chosen.size(); i-- > 0;) {  // from the end, so that earlier places stay valid
    const Place& p = places[chosen[i]];
    int64_t now = 0;
    std::from_chars(text.data() + p.at, text.data() + p.at + p.length, now);
    text.replace(p.at, p.length, std::to_string(SomeHostile(dice, now)));
    ++totals.changed[p.owner];
  }
  return text;
}

// For `... LINE:COLUMN: row: result I is TYPE, the text says OTHER` puts TYPE there. False: it is another error.
bool Repair(std::string& text, const std::string& message) {
  const size_t result = message.find(": result "), says = message.find(", the text says ");
  const size_t is = message.find(" is ", result);
  const size_t origin = message.find("<text>:");
  if (result == std::string::npos || says == std::string::npos || origin == std::string::npos) return false;
  const int64_t line = std::atoll(message.c_str() + origin + 7), number = std::atoll(message.c_str() + result + 9);
  size_t at = 0;
  for (int64_t l = 1; l < line; ++l) at = text.find('\n', at) + 1;
  for (int64_t i = 0; i <= number; ++i) at = text.find(": ", at) + 2;
  text.replace(at, text.find(']', at) + 1 - at, message.substr(is + 4, says - is - 4));
  return true;
}

// ---- programs ----
class Hostile {
 public:
  Hostile(uint64_t seed, const TrialOptions& options, HostileTotals& totals)
      : dice_(seed), options_(options), totals_(totals), seed_(seed), ctx_(MakeContext("auto")) {}

  // The property that does not hold.
  Complaint Run() {
    Palette palette;
    palette.max_elements = 512;
    const Program drawn = Draw(palette);
    const Program p = Dice(seed_ ^ 0x66696c65).Chance(kFiles) ? ReadFile(drawn) : ReadText(drawn);
    if (p == nullptr) return complaint_;
    Complaint c = Try(p);
    const Program other = c ? nullptr : Transformed(p);
    if (!c && !complaint_ && other != nullptr) c = Try(other);
    return c ? c : complaint_;
  }
  const std::string& text() const { return text_; }

 private:
  Program Draw(const Palette& palette) {
    Draft d(ctx_.get(), dice_, palette, counts_);
    d.Grow(dice_.Between(1, 5));
    Values results;
    for (int64_t n = dice_.Between(1, 2); n > 0; --n) {
      const Value v = d.Find(kAny, {});
      if (!v.is_none()) results.push_back(v);
    }
    if (results.empty()) results.push_back(d.Fresh(d.Type(DType::kF32, {})));
    return d.Finish(results);
  }

  // An error that no text may cause; parsing and transforming take memory in proportion to the text only.
  void Judge(std::string_view what, const Error& e, bool may_be_large) {
    const bool ours = e.code() == RICCI_INTERNAL || (e.code() == RICCI_RESOURCE_EXHAUSTED && !may_be_large);
    if (ours) complaint_ = Text(what, ": code ", e.code(), ": ", e.message());
  }

  // Null if the file is refused.
  Program ReadFile(const Program& drawn) {
    text_ = PrintProgram(drawn.get());
    ++totals_.files;
    const std::string bytes = MutatedFile(dice_, FileOf(drawn, /*binary=*/true));
    ricci_program* raw = nullptr;
    ricci_status* s = ricci_program_deserialize(ctx_.get(), bytes.data(), bytes.size(), "", 0, &raw);
    if (s != nullptr) return Judge("file", Error(s), false), nullptr;
    ++totals_.files_accepted;
    const Program p = Own(raw);
    Check(ricci_program_verify(raw));
    return p;
  }

  // Null if the text is refused.
  Program ReadText(const Program& drawn) {
    text_ = Mutated(dice_, PrintProgram(drawn.get()), totals_);
    ++totals_.texts;
    const Program p = ReadRepaired();
    if (p != nullptr) ++totals_.accepted;
    return p;
  }
  Program ReadRepaired() {
    for (int repairs = 0; repairs < kMostRepairs; ++repairs) {
      ricci_program* raw = nullptr;
      ricci_status* s = ricci_program_parse(ctx_.get(), text_.data(), text_.size(), "", 0, &raw);
      if (s == nullptr) return Own(raw);
      const Error e(s);
      if (!Repair(text_, std::string(e.message()))) {
        Judge("parse", e, false);
        return nullptr;
      }
      ++totals_.repaired;
    }
    complaint_ = "parse: repairing the types does not end";
    return nullptr;
  }

  Program Transformed(const Program& p) {
    try {
      const auto params = ParamsOf(ctx_.get(), p.get()), results = ResultsOf(ctx_.get(), p.get());
      // custom_vjp does not support forward mode.
      const bool forward = !RowsOf(p).contains("custom_vjp");
      const Mask floating = SomeFloating(dice_, params);
      switch (dice_.Below(4)) {
        case 0:
          return floating.empty() || !forward ? nullptr : Counted(JvpOf(p, floating));
        case 1:
          return floating.empty() ? nullptr : Counted(BackwardOf(ctx_.get(), p, floating));
        case 2:
          return Counted(VmapOf(p, SomeInAxes(dice_, params), SomeOutAxes(dice_, results)));
        default: {
          Mask batched(params.size(), 1), out(results.size(), 1);
          return Counted(BatchOf(p, batched, out));
        }
      }
    } catch (const Error& e) {
      Judge("transform", e, false);
      return nullptr;
    }
  }
  Program Counted(Program p) {
    ++totals_.transformed;
    return p;
  }

  // Elements of all values, times the trips of all loops; no value if that is not small.
  bool IsSmall(const Program& p) const {
    ricci_exact elements = Exact(0), trips = Exact(1);
    for (const ir::Program* f : ir::NestedFirst(*ir::FromAbi(p.get()))) {
      for (ir::ValueId v = 0; v < f->values.size(); ++v) elements = elements + f->type(v).elements + 1;
      for (const ir::Equation& eqn : f->equations) {
        const std::string_view name = prim::Registry::Of(*f).vocabulary().PrimName(eqn.prim);
        const bool is_while = name == "while";
        const int64_t bound = trace::IntOf(eqn.attrs, "max_trips", INT64_MAX);
        if (is_while && bound > kMostTrips) return false;
        if (is_while) trips = trips * (bound + 1);
        if (name == "scan") trips = trips * (trace::IntOf(eqn.attrs, "length") + 1);
        if (name == "vmap") trips = trips * (trace::IntOf(eqn.attrs, "size") + 1);
      }
    }
    return Narrow(elements * trips, 0, kMostWork).has_value();
  }

  Complaint Try(const Program& p) {
    if (Complaint c = CheckText(ctx_.get(), p)) return c;
    if (IsSmall(p)) {
      ++totals_.ran;
      CheckCounts counts;
      return CheckProgram(ctx_.get(), p, DrawInputs(ctx_.get(), p.get(), seed_, false), options_.devices, /*donate=*/0,
                          counts, /*may_end=*/true);
    }
    std::vector<std::string> devices = options_.devices;
    devices.push_back("ref");
    for (const std::string& device : devices) {
      ricci_compile_opts o{};
      o.hdr.size = sizeof o;
      ricci_device* const on = ricci_device_find(ctx_.get(), device.data(), device.size());
      o.devices = &on;
      o.n_devices = 1;
      ricci_executable* raw = nullptr;
      if (ricci_status* s = ricci_compile(p.get(), &o, &raw)) Judge("compile on " + device, Error(s), true);
      ricci_executable_release(raw);
    }
    return complaint_;
  }

  Dice dice_;
  const TrialOptions& options_;
  HostileTotals& totals_;
  const uint64_t seed_;
  Context ctx_;
  DraftCounts counts_;
  std::string text_;
  Complaint complaint_;
};

double ProcessorSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

void TryHostileText(uint64_t seed, const TrialOptions& options, HostileTotals& totals) {
  const double start = ProcessorSeconds();
  Hostile trial(seed, options, totals);
  Complaint complaint;
  try {
    complaint = trial.Run();
  } catch (const std::exception& e) {
    complaint = e.what();
  }
  const double taken = ProcessorSeconds() - start;
  totals.slowest = std::max(totals.slowest, taken);
  if (!complaint && taken > kMostSeconds) complaint = Text("took ", taken, " s of processor time");
  if (options.verbose) std::printf("// seed %llu\n%s", static_cast<unsigned long long>(seed), trial.text().c_str());
  if (!complaint) return;
  ++totals.failures;
  std::printf("\nFAILED hostile seed %llu: %s\nrepeat: build/tests/fuzz/ricci_fuzz --hostile --seed %llu\n%s",
              static_cast<unsigned long long>(seed), complaint->c_str(), static_cast<unsigned long long>(seed),
              trial.text().c_str());
  std::fflush(stdout);
}

void PrintHostileTotals(const HostileTotals& t) {
  std::printf(
      "%lld hostile texts, %lld types repaired, %lld accepted; %lld hostile files, %lld accepted; %lld transformed, "
      "%lld "
      "ran, slowest %.2f s, %lld failures\nchanged:",
      static_cast<long long>(t.texts), static_cast<long long>(t.repaired), static_cast<long long>(t.accepted),
      static_cast<long long>(t.files), static_cast<long long>(t.files_accepted), static_cast<long long>(t.transformed),
      static_cast<long long>(t.ran), t.slowest, static_cast<long long>(t.failures));
  for (const auto& [name, n] : t.changed) std::printf(" %s %lld", name.c_str(), static_cast<long long>(n));
  std::printf("\n");
}

}  // namespace ricci::testing
