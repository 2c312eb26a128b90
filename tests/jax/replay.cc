// ricci_jax_replay: runs the cases of case files and compares the results with JAX's.
//
//   ricci_jax_replay [--device ref|cpu] [--only TEXT] [--share P/N] [--show N] [--save DIR] FILE...
//
// It uses the C ABI only. Each failing case is one line, with the first N (1) elements that differ in each result;
// --only runs the cases whose name contains TEXT, --share part P of N, which is every Nth of those, --save writes the
// transformed program of every failing case as text, to be inspected or run by itself. The exit status is 1 if a case
// failed.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "replay_case.h"
#include "ricci/ricci.h"

namespace replay { namespace {

struct Release {
  void operator()(ricci_ctx* p) const { ricci_context_release(p); }
  void operator()(ricci_program* p) const { ricci_program_release(p); }
  void operator()(ricci_executable* p) const { ricci_executable_release(p); }
  void operator()(ricci_array* p) const { ricci_array_release(p); }
};
using Context = std::unique_ptr<ricci_ctx, Release>;
using Program = std::unique_ptr<ricci_program, Release>;
using Executable = std::unique_ptr<ricci_executable, Release>;
using ArrayRef = std::unique_ptr<ricci_array, Release>;

void Check(const char* what, ricci_status* s) {
  if (s == nullptr) return;
  ricci_str text;
  ricci_status_message(s, &text);
  std::string message = std::string(what) + ": " + std::string(text.ptr, text.len);
  ricci_status_free(s);
  throw std::runtime_error(message);
}

struct Signature {
  explicit Signature(const ricci_program* f) { ricci_program_signature(f, &n_params, &params, &n_results, &results); }
  uint32_t n_params, n_results;
  const ricci_type *params, *results;
};

bool IsFloat(const ricci_ctx* c, ricci_type t) {
  ricci_type_desc d = ricci_type_desc_default();
  Check("type", ricci_type_get(c, t, &d));
  return d.dtype >= RICCI_F16 && d.dtype <= RICCI_F4E2M1FN;
}

std::vector<uint8_t> Mask(const std::vector<std::string>& words) {
  std::vector<uint8_t> out;
  for (size_t i = 1; i < words.size(); ++i) out.push_back(words[i] == "1");
  return out;
}

// parameters, cotangents of the floating results -> results, cotangents of the wanted parameters: fwd and bwd in one.
Program Vjp(ricci_ctx* ctx, const ricci_program* f, const std::vector<uint8_t>& wanted) {
  ricci_program *raw_fwd, *raw_bwd;
  Check("vjp", ricci_vjp(f, wanted.data(), static_cast<uint32_t>(wanted.size()), &raw_fwd, &raw_bwd));
  const Program fwd(raw_fwd), bwd(raw_bwd);
  const Signature whole(f), first(raw_fwd), second(raw_bwd);
  std::vector<ricci_type> params(whole.params, whole.params + whole.n_params);
  for (uint32_t i = 0; i < whole.n_results; ++i) {
    if (IsFloat(ctx, whole.results[i])) params.push_back(whole.results[i]);
  }
  const auto n = static_cast<uint32_t>(params.size());
  std::vector<ricci_val> vals(n), out(first.n_results), cts(second.n_results);
  ricci_builder* b;
  Check("vjp", ricci_builder_create(ctx, "vjp", 3, params.data(), n, &b, vals.data()));
  Check("vjp", ricci_builder_inline(b, raw_fwd, vals.data(), whole.n_params, out.data(), first.n_results));
  std::vector<ricci_val> in(out.begin() + whole.n_results, out.end());
  in.insert(in.end(), vals.begin() + whole.n_params, vals.end());
  Check("vjp",
        ricci_builder_inline(b, raw_bwd, in.data(), static_cast<uint32_t>(in.size()), cts.data(), second.n_results));
  out.resize(whole.n_results);
  out.insert(out.end(), cts.begin(), cts.end());
  ricci_program* result;
  Check("vjp", ricci_builder_finish(b, out.data(), static_cast<uint32_t>(out.size()), &result));
  return Program(result);
}

// `vmap SIZE in AXIS... out AXIS...`
Program Vmap(const ricci_program* f, const std::vector<std::string>& words) {
  std::vector<int32_t> axes[2];
  int side = -1;
  for (size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "in" || words[i] == "out") {
      side = words[i] == "out";
      continue;
    }
    axes[side].push_back(std::stoi(words[i]));
  }
  ricci_program* out;
  Check("vmap", ricci_vmap(f, axes[0].data(), static_cast<uint32_t>(axes[0].size()), axes[1].data(),
                           static_cast<uint32_t>(axes[1].size()), std::stoll(words[1]), nullptr, &out));
  return Program(out);
}

Program Transformed(ricci_ctx* ctx, const ricci_program* f, const std::vector<std::string>& words) {
  if (words[0] == "vmap") return Vmap(f, words);
  const std::vector<uint8_t> mask = Mask(words);
  if (words[0] == "vjp") return Vjp(ctx, f, mask);
  ricci_program* out;
  Check("jvp", ricci_jvp(f, mask.data(), static_cast<uint32_t>(mask.size()), &out));
  return Program(out);
}

std::string TextOf(const ricci_program* f) {
  std::string out;
  const auto write = [](void* sink, const char* p, size_t n) { static_cast<std::string*>(sink)->append(p, n); };
  ricci_status_free(ricci_program_print(f, &out, write));
  return out;
}

class Runner {
 public:
  Runner(ricci_ctx* ctx, ricci_device* device, size_t shown) : ctx_(ctx), device_(device), shown_(shown) {}

  // Throws the error of the case. `text` receives the program as far as it was transformed.
  void Run(const Case& c, std::string& text) {
    text = c.program;
    ricci_program* parsed;
    Check("parse",
          ricci_program_parse(ctx_, c.program.data(), c.program.size(), c.name.data(), c.name.size(), &parsed));
    Program f(parsed);
    for (const auto& words : c.transforms) f = Transformed(ctx_, f.get(), words);
    text = TextOf(f.get());
    ricci_compile_opts options{};
    options.hdr.size = sizeof options;
    options.devices = &device_;
    options.n_devices = 1;
    ricci_executable* x;
    Check("compile", ricci_compile(f.get(), &options, &x));
    Compare(c, f.get(), Execute(c, Executable(x).get(), Signature(f.get())));
  }

 private:
  std::vector<ArrayRef> Execute(const Case& c, ricci_executable* x, const Signature& s) {
    std::vector<ArrayRef> inputs, results;
    std::vector<ricci_array*> in, out(s.n_results);
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      const ricci_type_desc d = ricci_type_desc_of(c.inputs[i].dtype, static_cast<uint32_t>(c.inputs[i].dims.size()),
                                                   c.inputs[i].dims.data());
      ricci_type type;
      ricci_array* a;
      Check("type", ricci_type_make(ctx_, &d, &type));
      Check("input", ricci_array_from_host(device_, type, c.inputs[i].bytes.data(), nullptr, &a));
      inputs.emplace_back(a);
      in.push_back(a);
    }
    Check("run",
          ricci_executable_run(x, in.data(), static_cast<uint32_t>(in.size()), out.data(), s.n_results, nullptr));
    for (ricci_array* a : out) results.emplace_back(a);
    return results;
  }

  void Compare(const Case& c, const ricci_program* f, const std::vector<ArrayRef>& results) {
    const Signature s(f);
    if (s.n_results != c.results.size()) {
      throw std::runtime_error(std::to_string(s.n_results) + " results, not " + std::to_string(c.results.size()));
    }
    std::string differences;
    for (size_t i = 0; i < results.size(); ++i) {
      const std::string which = "result " + std::to_string(i) + ": ";
      ricci_type_desc d = ricci_type_desc_default();
      Check("type", ricci_type_get(ctx_, s.results[i], &d));
      const std::string got = TypeText(d.dtype, {d.dims, d.dims + d.rank});
      const std::string want = TypeText(c.results[i].dtype, c.results[i].dims);
      if (got != want) throw std::runtime_error(which + "type " + got + ", not " + want);
      const std::string difference = Difference(c.results[i], ricci_array_data(results[i].get()), shown_);
      if (!difference.empty()) differences += (differences.empty() ? "" : "; ") + which + difference;
    }
    if (!differences.empty()) throw std::runtime_error(differences);
  }

  ricci_ctx* ctx_;
  ricci_device* device_;
  size_t shown_;
};

struct Options {
  std::string device = "ref", only, save, share = "0/1", shown = "1";
  std::vector<std::string> files;
};

Options Parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.substr(0, 2) != "--") {
      o.files.push_back(word);
      continue;
    }
    std::string* value = word == "--device"  ? &o.device
                         : word == "--only"  ? &o.only
                         : word == "--share" ? &o.share
                         : word == "--show"  ? &o.shown
                         : word == "--save"  ? &o.save
                                             : nullptr;
    if (value == nullptr || ++i == argc)
      throw std::runtime_error(
          "usage: ricci_jax_replay [--device ref|cpu] [--only TEXT] [--share P/N] [--show N] [--save DIR] FILE...");
    *value = argv[i];
  }
  return o;
}

Context MakeContext([[maybe_unused]] const Options& o) {
  ricci_ctx* ctx;
  Check("context", ricci_context_create(nullptr, &ctx));
  Context owner(ctx);
  Check("lax", ricci_context_add_plugin(ctx, ricci_plugin_query_lax));
  Check("nn", ricci_context_add_plugin(ctx, ricci_plugin_query_nn));
#ifdef RICCI_HAS_CPU
  if (o.device == "cpu") Check("cpu", ricci_context_add_plugin(ctx, ricci_plugin_query_cpu));
#endif
  return owner;
}

void Save(const Options& o, const Case& c, const std::string& text) {
  std::string path = c.name;
  for (char& ch : path) {
    if (ch == '/' || ch == '[' || ch == ']') ch = '_';
  }
  std::ofstream(o.save + "/" + path + ".ricci") << text;
}

// The number of cases that were chosen, of those that ran and of failures.
struct Tally {
  size_t chosen = 0, cases = 0, failures = 0;
};

// Is the case with this number in the share P/N?
bool InShare(const std::string& share, size_t number) {
  const size_t slash = share.find('/');
  if (slash == std::string::npos) throw std::runtime_error("--share is not P/N: " + share);
  const size_t parts = std::stoull(share.substr(slash + 1));
  if (parts == 0) throw std::runtime_error("--share has no parts: " + share);
  return number % parts == std::stoull(share) % parts;
}

void RunFile(const Options& o, const std::string& path, Runner& runner, Tally& tally) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path + " cannot be read");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::string error;
  for (const Case& c : ReadCases(text, error)) {
    if (c.name.find(o.only) == std::string::npos) continue;
    if (!InShare(o.share, tally.chosen++)) continue;
    ++tally.cases;
    std::string program;
    try {
      runner.Run(c, program);
    } catch (const std::exception& e) {
      ++tally.failures;
      std::printf("FAIL %s: %s\n     --device %s --only '%s' %s\n", c.name.c_str(), e.what(), o.device.c_str(),
                  c.name.c_str(), path.c_str());
      if (!o.save.empty()) Save(o, c, program);
    }
  }
  if (!error.empty()) throw std::runtime_error(path + ": " + error);
}

int Main(int argc, char** argv) {
  const Options o = Parse(argc, argv);
  const Context ctx = MakeContext(o);
  ricci_device* device = ricci_device_find(ctx.get(), o.device.data(), o.device.size());
  if (device == nullptr) throw std::runtime_error("no device " + o.device);
  Runner runner(ctx.get(), device, std::stoull(o.shown));
  Tally tally;
  for (const std::string& path : o.files) RunFile(o, path, runner, tally);
  std::printf("%s: %zu cases, %zu failed\n", o.device.c_str(), tally.cases, tally.failures);
  return tally.failures == 0 && tally.cases != 0 ? 0 : 1;
}

}  // namespace
}  // namespace replay

int main(int argc, char** argv) {
  try {
    return replay::Main(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
