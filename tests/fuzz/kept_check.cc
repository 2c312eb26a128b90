#include "fuzz/kept_check.h"

#include "fuzz/temporary_folder.h"
#include "ir/program.h"
#include "ricci/cache.h"

namespace ricci::testing {
namespace {

struct Outcome {
  RunResult run;
  ricci_cache_stats cache{};
};

Outcome RunIn(const Folder& folder, std::string_view vmap, bool small_code, const std::string& text,
              const std::vector<Bytes>& inputs, DonateMask donate) {
  const Context ctx = MakeContext(vmap, small_code);
  Check(ricci_context_config(ctx.get(), "cache_dir", 9, folder.path().data(), folder.path().size()));
  ricci_program* raw = nullptr;
  Check(ricci_program_parse(ctx.get(), text.data(), text.size(), "kept", 4, &raw));
  const Program p = Own(raw);
  Outcome out{Compiled(ctx.get(), raw, "cpu", donate).Run(inputs)};
  out.cache.hdr.size = sizeof out.cache;
  ricci_cache_info(ctx.get(), &out.cache);
  return out;
}

}  // namespace

Complaint CheckKept(std::string_view vmap, bool small_code, const Program& p, const std::vector<Bytes>& inputs,
                    DonateMask donate) {
  const Folder folder;
  const std::string text = PrintProgram(p.get());
  const auto run = [&] { return RunIn(folder, vmap, small_code, text, inputs, donate); };
  const Outcome first = run(), second = run();
  const bool may_be_kept = !ir::FromAbi(p.get())->custom_batch && !first.run.error;
  if (may_be_kept && first.cache.executable_stores != 1) return "kept: the executable was not";
  if (second.cache.executable_hits != first.cache.executable_stores) {
    return Text("kept: ", second.cache.executable_hits, " found of ", first.cache.executable_stores);
  }
  if (second.cache.refused != 0) return "kept: an entry was refused";
  if (second.run.error != first.run.error) {
    return Text("kept: ends with ", second.run.error.value_or("results"), ", at first with ",
                first.run.error.value_or("results"));
  }
  if (second.run.code != first.run.code) return "kept: ends with another code";
  if (second.run.arrays != first.run.arrays) return "kept: has other bits";
  if (!SameFunctions(second.run.calls, first.run.calls)) return "kept: makes other calls of the host";
  return {};
}

}  // namespace ricci::testing
