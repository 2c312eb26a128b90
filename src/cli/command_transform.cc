// grad, jvp, vjp, vmap, batch: transform a program and print the result.
#include <cstdio>

#include "cli/command.h"

namespace ricci { inline namespace v0 { namespace cli {
namespace {

void Write(ricci_program* p) { std::fputs(TextOf(Own(p).get()).c_str(), stdout); }

// The parameters that an option lists, which the program must have.
std::vector<uint32_t> Checked(const std::vector<int64_t>& given, const std::string& option, size_t n_params) {
  for (int64_t i : given) {
    if (i >= 0 && i < static_cast<int64_t>(n_params)) continue;
    throw Failure("--" + option + " " + std::to_string(i) + ": the program has " + CountOfParameters(n_params));
  }
  return {given.begin(), given.end()};
}

std::vector<uint8_t> Mask(const std::vector<uint32_t>& wanted, size_t n) {
  std::vector<uint8_t> mask(n, 0);
  for (uint32_t i : wanted) mask[i] = 1;
  return mask;
}

void Grad(const Session& session, const Arguments& arguments) {
  const Program f = LoadOperand(session, arguments);
  const std::vector<uint32_t> wanted = WantedParameters(session, arguments, f.get());
  ricci_program* out = nullptr;
  Check(ricci_grad(f.get(), wanted.data(), static_cast<uint32_t>(wanted.size()), arguments.flag("value"), &out));
  Write(out);
}

void Jvp(const Session& session, const Arguments& arguments) {
  const Program f = LoadOperand(session, arguments);
  const std::vector<uint8_t> active =
      Mask(WantedParameters(session, arguments, f.get()), SignatureOf(f.get()).params.size());
  ricci_program* out = nullptr;
  Check(ricci_jvp(f.get(), active.data(), static_cast<uint32_t>(active.size()), &out));
  Write(out);
}

void Vjp(const Session& session, const Arguments& arguments) {
  const Program f = LoadOperand(session, arguments);
  const std::vector<uint8_t> wanted =
      Mask(WantedParameters(session, arguments, f.get()), SignatureOf(f.get()).params.size());
  const std::string part = arguments.option_or("part", "bwd");
  if (part != "fwd" && part != "bwd") throw UsageError("--part takes fwd or bwd");
  ricci_program *fwd = nullptr, *bwd = nullptr;
  Check(ricci_vjp(f.get(), wanted.data(), static_cast<uint32_t>(wanted.size()), &fwd, &bwd));
  const Program other = Own(part == "fwd" ? bwd : fwd);
  Write(part == "fwd" ? fwd : bwd);
}

// `what`: what the option has an axis for, and how many there are.
std::vector<int32_t> Axes(const Arguments& arguments, std::string_view name, size_t n, const std::string& what) {
  const auto given = arguments.integers(name, -1, RICCI_MAX_RANK);
  if (!given) return std::vector<int32_t>(n, 0);
  if (given->size() != n) {
    throw Failure("--" + std::string(name) + ": " + std::to_string(given->size()) +
                  (given->size() == 1 ? " axis is given" : " axes are given") + ", the program has " + what);
  }
  return {given->begin(), given->end()};
}

uint32_t ScheduleOf(std::string_view name) {
  if (name == "auto") return RICCI_SCHEDULE_AUTO;
  if (name == "batched") return RICCI_SCHEDULE_BATCHED;
  if (name == "lanes") return RICCI_SCHEDULE_LANES;
  throw UsageError("--schedule is auto, batched or lanes");
}

void Vmap(const Session& session, const Arguments& arguments) {
  const Program f = LoadOperand(session, arguments);
  const Signature s = SignatureOf(f.get());
  const std::vector<int32_t> in = Axes(arguments, "in-axes", s.params.size(), CountOfParameters(s.params.size()));
  const std::vector<int32_t> out_axes = Axes(arguments, "out-axes", s.results.size(), CountOfResults(s.results.size()));
  if (!arguments.option("size")) throw UsageError("takes --size N");
  ricci_vmap_opts options = ricci_vmap_opts_default();
  options.schedule = ScheduleOf(arguments.option_or("schedule", "auto"));
  ricci_program* out = nullptr;
  Check(ricci_vmap(f.get(), in.data(), static_cast<uint32_t>(in.size()), out_axes.data(),
                   static_cast<uint32_t>(out_axes.size()), arguments.integer_or("size", 0), &options, &out));
  Write(out);
}

void Batch(const Session& session, const Arguments& arguments) {
  const Program f = LoadOperand(session, arguments);
  const Signature s = SignatureOf(f.get());
  std::vector<uint8_t> batched(s.params.size(), 1), out_batched(s.results.size(), 0);
  if (const auto given = arguments.integers("params", INT64_MIN, INT64_MAX)) {
    batched = Mask(Checked(*given, "params", s.params.size()), s.params.size());
  }
  if (!arguments.option("size")) throw UsageError("takes --size N");
  ricci_program* out = nullptr;
  Check(ricci_batch(f.get(), batched.data(), static_cast<uint32_t>(batched.size()), arguments.integer_or("size", 0),
                    nullptr, out_batched.data(), &out));
  Write(out);
}

}  // namespace

std::vector<uint32_t> WantedParameters(const Session& session, const Arguments& arguments, const ricci_program* p) {
  const std::vector<ricci_type> params = SignatureOf(p).params;
  std::vector<uint32_t> out;
  if (const auto given = arguments.integers("wrt", INT64_MIN, INT64_MAX)) {
    if (given->empty()) throw UsageError("--wrt names no parameter");
    return Checked(*given, "wrt", params.size());
  }
  for (uint32_t i = 0; i < params.size(); ++i) {
    const uint32_t dtype = session.Info(params[i]).dtype;
    if (dtype >= RICCI_F16 && dtype <= RICCI_F4E2M1FN) out.push_back(i);
  }
  return out;
}

std::span<const Command> TransformCommands() {
  constexpr std::string_view kWrt = "\n  --wrt 0,2      parameters to differentiate by (default: all floating ones)\n";
  static const std::string grad_details = std::string(kWrt) + "  --value        the program also returns its value\n";
  static const std::string vjp_details =
      std::string(kWrt) + "  --part PART    fwd (results, residuals) or bwd (default)\n";
  static const Command kCommands[] = {
      {"grad", "[--wrt LIST] [--value] FILE", "gradient of the scalar result", grad_details, {"wrt"}, {"value"}, Grad},
      {"jvp",
       "[--wrt LIST] FILE",
       "forward mode: parameters and tangents to results and tangents",
       kWrt,
       {"wrt"},
       {},
       Jvp},
      {"vjp",
       "[--wrt LIST] [--part PART] FILE",
       "reverse mode, forward or backward part",
       vjp_details,
       {"wrt", "part"},
       {},
       Vjp},
      {"vmap",
       "--size N [OPTIONS] FILE",
       "maps the program over a batch of N (one structural equation)",
       "\n  --size N            the batch\n  --in-axes 0,-1      batched dimension of each parameter, -1 for none "
       "(default: 0)\n"
       "  --out-axes 0        the same for each result (default: 0)\n"
       "  --schedule NAME     how it runs: auto (default), batched (operations on whole batches), lanes (each element\n"
       "                      by itself in one kernel)\n",
       {"size", "in-axes", "out-axes", "schedule"},
       {},
       Vmap},
      {"batch",
       "--size N [--params LIST] FILE",
       "the same by batching rules, the batch as leading dimension",
       "\n  --size N            the batch\n  --params 0,1        parameters that have it (default: all)\n",
       {"size", "params"},
       {},
       Batch},
  };
  return kCommands;
}

}}}  // namespace ricci::v0::cli
