#include "fuzz/kept_check.h"

#include "fuzz/temporary_folder.h"
#include "ir/program.h"
#include "ricci/cache.h"

namespace ricci::testing {
namespace {

constexpr std::string_view kModes[] = {"auto", "batched", "lanes"};

struct Outcome {
  // Through bound pointers; with donated arguments also in their memory, and on arrays.
  std::vector<RunResult> runs;
  ricci_cache_stats cache{};
};

Program ReadFile(ricci_ctx* ctx, const std::string& file) {
  ricci_program* p = nullptr;
  if (ricci_program_is_binary(file.data(), file.size()) != 0) {
    Check(ricci_program_deserialize(ctx, file.data(), file.size(), "kept", 4, &p));
  } else {
    Check(ricci_program_parse(ctx, file.data(), file.size(), "kept", 4, &p));
  }
  return Own(p);
}

Outcome RunIn(const Folder& folder, const KeptWay& way, const std::string& file, const std::vector<Bytes>& inputs) {
  const Context ctx = MakeContext(way.vmap, way.small_code);
  Check(ricci_context_config(ctx.get(), "cache_dir", 9, folder.path().data(), folder.path().size()));
  const Program p = ReadFile(ctx.get(), file);
  const Compiled compiled(ctx.get(), p.get(), "cpu", way.donate, way.opt_level);
  Outcome out{{compiled.Run(inputs)}};
  if (way.donate != 0) out.runs.push_back(compiled.RunInPlace(inputs));
  if (way.donate != 0) out.runs.push_back(compiled.RunOnArrays(inputs));
  out.cache.hdr.size = sizeof out.cache;
  ricci_cache_info(ctx.get(), &out.cache);
  return out;
}

// That differs in one thing.
KeptWay OtherWay(KeptWay way, Dice& dice) {
  switch (dice.Below(4)) {
    case 0:
      way.vmap = way.vmap == "lanes" ? kModes[dice.Below(2)] : "lanes";
      break;
    case 1:
      way.small_code = !way.small_code;
      break;
    case 2:
      way.donate ^= static_cast<DonateMask>(1 << dice.Below(8));
      break;
    default:
      way.opt_level = 1 + static_cast<uint32_t>(dice.Below(3));
  }
  return way;
}

// Whether executables of one way are none of the other: another schedule, code, level, or donated argument.
bool AreApart(const KeptWay& a, const KeptWay& b, const Program& p) {
  uint32_t n_params = 0, n_results = 0;
  const ricci_type *params = nullptr, *results = nullptr;
  ricci_program_signature(p.get(), &n_params, &params, &n_results, &results);
  for (uint32_t i = 0; i < n_params; ++i) {
    if (((a.donate ^ b.donate) >> (i % 8) & 1) != 0) return true;
  }
  const auto level = [&](const KeptWay& w) { return w.opt_level != 0 ? w.opt_level : LevelOf(p.get()); };
  return a.vmap != b.vmap || a.small_code != b.small_code || level(a) != level(b);
}

Complaint CompareRuns(const RunResult& got, const RunResult& want) {
  if (got.error != want.error)
    return Text("ends with ", got.error.value_or("results"), ", at first with ", want.error.value_or("results"));
  if (got.code != want.code) return "ends with another code";
  if (got.arrays != want.arrays) return "has other bits";
  if (!SameFunctions(got.calls, want.calls)) return "makes other calls of the host";
  return {};
}

// Whether `again` has the results of `first` and has found so many executables.
Complaint Compare(const Outcome& again, const Outcome& first, uint64_t found, std::string_view what) {
  if (again.cache.executable_hits != found) return Text(what, ": ", again.cache.executable_hits, " found of ", found);
  if (again.cache.refused != 0) return Text(what, ": an entry was refused");
  for (size_t i = 0; i < first.runs.size(); ++i) {
    if (Complaint c = CompareRuns(again.runs[i], first.runs[i])) return Text(what, ": ", *c);
  }
  return {};
}

}  // namespace

Complaint CheckKept(const KeptWay& way, const Program& p, const std::vector<Bytes>& inputs, uint64_t seed) {
  const Folder folder, elsewhere;
  const std::string file = FileOf(p, way.form == Form::kFile);
  Dice dice(seed);
  const KeptWay other = OtherWay(way, dice);
  const Outcome first = RunIn(folder, way, file, inputs), second = RunIn(folder, way, file, inputs);
  const bool may_be_kept = !ir::FromAbi(p.get())->custom_batch && !first.runs[0].error;
  if (may_be_kept && first.cache.executable_stores != 1) return "kept: the executable was not";
  if (Complaint c = Compare(second, first, first.cache.executable_stores, "kept")) return c;
  // From here on there are entries of two ways in the folder, or of one, if both ways compile the same.
  const Outcome alone = RunIn(elsewhere, other, file, inputs), beside = RunIn(folder, other, file, inputs);
  if (Complaint c = Compare(beside, alone, beside.cache.executable_hits, "kept for another way")) return c;
  if (beside.cache.executable_hits != 0 && AreApart(way, other, p))
    return "kept for another way: the executable of the first is found";
  const uint64_t kept = beside.cache.executable_hits + beside.cache.executable_stores;
  if (kept != alone.cache.executable_stores) return "kept for another way: the executable was not";
  return {};
}

}  // namespace ricci::testing
