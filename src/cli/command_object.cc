// compile -o: programs as functions in an object file or a static library, with a C header.
//
// Objects come from a context of their own, whose only device writes files (plugins/object); all that was compiled in
// it is in one object. A static library has an object, and so a context, for each function, so that linkers take what
// is called.
#include <algorithm>

#include "cli/command.h"
#include "cli/new_files.h"
#include "cli/object_header.h"

namespace ricci { inline namespace v0 { namespace cli {
namespace {

struct Source {
  std::string path, bytes;
};
struct Function {
  std::string name, what;
  Program program;
};

bool IsLibrary(const std::string& path) { return path.ends_with(".a"); }

std::string BaseName(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

std::vector<std::string> SplitAtCommas(const std::string& list) {
  std::vector<std::string> out;
  for (size_t from = 0; from <= list.size();) {
    const size_t comma = std::min(list.find(',', from), list.size());
    out.push_back(list.substr(from, comma - from));
    from = comma + 1;
  }
  return out;
}

// ---- the functions ----
// The same program under another name.
Program Renamed(const Session& session, const ricci_program* f, const std::string& name) {
  const Signature s = SignatureOf(f);
  ricci_builder* b = nullptr;
  std::vector<ricci_val> in(s.params.size()), out(s.results.size());
  Check(ricci_builder_create(session.context(), name.data(), name.size(), s.params.data(),
                             static_cast<uint32_t>(in.size()), &b, in.data()));
  Handle<ricci_builder> owner(b, ricci_builder_abandon);
  Check(ricci_builder_inline(b, f, in.data(), static_cast<uint32_t>(in.size()), out.data(),
                             static_cast<uint32_t>(out.size())));
  ricci_program* renamed = nullptr;
  Check(ricci_builder_finish(b, out.data(), static_cast<uint32_t>(out.size()), &renamed));
  static_cast<void>(owner.release());  // it was consumed
  return Own(renamed);
}

// Parameters to differentiate by, which must be floating.
std::vector<uint32_t> Differentiated(const Session& session, const Arguments& arguments, const ricci_program* f,
                                     const std::string& name) {
  const std::vector<uint32_t> wanted = WantedParameters(session, arguments, f);
  const std::vector<ricci_type> params = SignatureOf(f).params;
  if (wanted.empty()) throw Failure("--derivatives: " + name + " has no floating parameter to differentiate by");
  for (const uint32_t i : wanted) {
    const uint32_t dtype = session.Info(params[i]).dtype;
    if (dtype >= RICCI_F16 && dtype <= RICCI_F4E2M1FN) continue;
    throw Failure("--wrt " + std::to_string(i) + ": parameter " + std::to_string(i) + " of " + name + " is " +
                  session.TypeText(params[i]) + ", which has no derivative; name floating ones");
  }
  return wanted;
}

Program Gradient(const ricci_program* f, const std::vector<uint32_t>& wanted) {
  ricci_program* out = nullptr;
  Check(ricci_grad(f, wanted.data(), static_cast<uint32_t>(wanted.size()), 0, &out));
  return Own(out);
}

Program Tangents(const ricci_program* f, const std::vector<uint32_t>& wanted) {
  std::vector<uint8_t> active(SignatureOf(f).params.size(), 0);
  for (const uint32_t i : wanted) active[i] = 1;
  ricci_program* out = nullptr;
  Check(ricci_jvp(f, active.data(), static_cast<uint32_t>(active.size()), &out));
  return Own(out);
}

// The tangents of the gradients alone.
Program HessianTimesVector(const ricci_program* f, const std::vector<uint32_t>& wanted) {
  const Program both = Tangents(Gradient(f, wanted).get(), wanted);
  const Signature s = SignatureOf(both.get());
  std::vector<uint8_t> used(s.results.size(), 1), used_params(s.params.size());
  std::fill(used.begin(), used.begin() + static_cast<ptrdiff_t>(wanted.size()), uint8_t{0});
  ricci_program* out = nullptr;
  Check(ricci_dce(both.get(), used.data(), static_cast<uint32_t>(used.size()), used_params.data(), &out));
  return Own(out);
}

struct Derivative {
  std::string_view name, what;
  Program (*make)(const ricci_program* f, const std::vector<uint32_t>& wanted);
};
constexpr Derivative kDerivatives[] = {
    {"grad", "gradient of result 0 of ", Gradient},
    {"jvp", "parameters, then tangents, to results, then tangents, of ", Tangents},
    {"hvp", "parameters, then a vector, to the Hessian times that vector, of ", HessianTimesVector}};

const Derivative& FindDerivative(const std::string& name) {
  for (const Derivative& d : kDerivatives) {
    if (d.name == name) return d;
  }
  throw UsageError("--derivatives: `" + name + "` is none of grad, jvp, hvp");
}

Program Mapped(Program f, int64_t size) {
  const Signature s = SignatureOf(f.get());
  const std::vector<int32_t> in(s.params.size(), 0), results(s.results.size(), 0);
  ricci_program* out = nullptr;
  Check(ricci_vmap(f.get(), in.data(), static_cast<uint32_t>(in.size()), results.data(),
                   static_cast<uint32_t>(results.size()), size, nullptr, &out));
  return Own(out);
}

// `--vmap`; nothing if it was not given.
std::optional<int64_t> BatchOf(const Arguments& arguments) {
  if (!arguments.option("vmap")) return std::nullopt;
  const int64_t size = arguments.integer_or("vmap", 0);
  if (size < 1) throw UsageError("--vmap: a batch of " + std::to_string(size) + " is empty; take 1 or more");
  return size;
}

std::string NameOf(const Arguments& arguments, const Source& source, const ricci_program* f) {
  ricci_str own{};
  ricci_program_name(f, &own);
  const auto given = arguments.option("name");
  const std::string name = given.value_or(std::string(View(own)));
  const std::string error = IdentifierError(name);
  if (error.empty()) return name;
  throw Failure(given ? "--name: `" + name + "` " + error + "; choose another"
                      : source.path + ": program name `" + name + "` " + error + "; give one with --name");
}

void AddFunctions(const Session& session, const Arguments& arguments, const Source& source,
                  std::vector<Function>& out) {
  Program f = session.ToProgram(source.bytes, source.path);
  const std::string name = NameOf(arguments, source, f.get());
  const std::string what = "program " + name + " of " + (source.path == "-" ? "standard input" : source.path);
  const size_t first = out.size();
  out.push_back({name, what, Program(ricci_program_retain(f.get()), ricci_program_release)});
  if (const auto list = arguments.option("derivatives")) {
    for (const std::string& word : SplitAtCommas(*list)) {
      const Derivative& d = FindDerivative(word);
      const std::vector<uint32_t> wanted = Differentiated(session, arguments, f.get(), name);
      out.push_back({name + "_" + word, std::string(d.what) + what, d.make(f.get(), wanted)});
    }
  }
  const std::optional<int64_t> batch = BatchOf(arguments);
  for (size_t i = first; i < out.size(); ++i) {
    if (batch) out[i].what += ", each over a batch of " + std::to_string(*batch);
    if (batch) out[i].program = Mapped(std::move(out[i].program), *batch);
    out[i].program = Renamed(session, out[i].program.get(), out[i].name);
  }
}

// Throws unless both can be in one header.
void CheckDistinct(const Function& a, const Function& b) {
  const std::string both = " (" + a.what + "; " + b.what + ")";
  if (a.name == b.name) throw Failure("two functions are called " + a.name + both + "; rename one of the programs");
  const std::string macro = WorkspaceMacro(a.name);
  if (macro != WorkspaceMacro(b.name)) return;
  throw Failure("functions " + a.name + " and " + b.name + both + " would share the macro " + macro +
                "; rename one of the programs");
}

std::vector<Function> FunctionsOf(const Session& session, const Arguments& arguments,
                                  const std::vector<Source>& sources) {
  std::vector<Function> out;
  for (const Source& source : sources) AddFunctions(session, arguments, source, out);
  for (size_t i = 0; i < out.size(); ++i) {
    for (size_t k = 0; k < i; ++k) CheckDistinct(out[k], out[i]);
  }
  return out;
}

// ---- the files ----
Session ObjectSession(const Arguments& arguments) {
  std::vector<std::string> config = arguments.all("config");
  for (const char* option : {"cpu", "target", "workspace"}) {
    if (const auto value = arguments.option(option)) config.push_back("object." + std::string(option) + "=" + *value);
  }
  return Session(config, arguments.all("plugin"), Purpose::kObjects);
}

// Compiles a function; the executable keeps what the object needs.
Executable CompileFunction(const Session& session, const Arguments& arguments, const Function& f) {
  return Compile(f.program.get(), session.Device(""), static_cast<uint32_t>(arguments.integer_or("opt", 0, 0, 3)),
                 arguments.option_or("passes", ""), arguments.option_or("skip", ""));
}

std::string ObjectOf(const ricci_executable* x) {
  std::string object;
  Check(ricci_executable_dump(x, "object", 6, &object, AppendTo));
  return object;
}

// What each check of the program says, by number.
std::vector<std::string> ChecksOf(const ricci_executable* x) {
  std::string text;
  Check(ricci_executable_dump(x, "checks", 6, &text, AppendTo));
  std::vector<std::string> out;
  for (size_t from = 0; from < text.size();) {
    const size_t end = text.find('\n', from), message = text.find(": ", from) + 2;
    out.push_back(text.substr(message, end - message));
    from = end + 1;
  }
  return out;
}

ObjectFunction Described(const Arguments& arguments, const Function& f, const ricci_executable* x) {
  ricci_executable_stats s{};
  s.hdr.size = sizeof s;
  ricci_executable_info(x, &s);
  const uint64_t bytes = (s.arena_bytes + 63) / 64 * 64 + s.scratch_bytes;
  const bool own = arguments.option_or("workspace", "caller") == "own";
  return {f.name, f.what, SignatureOf(f.program.get()), ChecksOf(x), bytes == 0 ? 0 : own ? bytes : bytes + 63, own};
}

struct Written {
  std::string bytes;
  std::vector<ObjectFunction> functions;
};

Written OneObject(const Session& session, const Arguments& arguments, const std::vector<Source>& sources) {
  Written out;
  std::vector<Executable> compiled;
  for (const Function& f : FunctionsOf(session, arguments, sources)) {
    compiled.push_back(CompileFunction(session, arguments, f));
    out.functions.push_back(Described(arguments, f, compiled.back().get()));
  }
  out.bytes = ObjectOf(compiled.back().get());
  return out;
}

Written Library(const Session& session, const Arguments& arguments, const std::vector<Source>& sources) {
  Written out;
  std::vector<Member> members;
  const size_t n = FunctionsOf(session, arguments, sources).size();
  for (size_t i = 0; i < n; ++i) {
    const Session own = ObjectSession(arguments);
    const std::vector<Function> functions = FunctionsOf(own, arguments, sources);
    const Executable x = CompileFunction(own, arguments, functions[i]);
    out.functions.push_back(Described(arguments, functions[i], x.get()));
    members.push_back({"f" + std::to_string(i) + ".o", ObjectOf(x.get()), {functions[i].name}});
  }
  out.bytes = Archive(members);
  return out;
}

// Throws unless the words go together.
void CheckUse(const Arguments& arguments, const std::string& path, const std::string& header) {
  const std::vector<std::string>& files = arguments.operands();
  if (IsSameFile(header, path)) throw UsageError("-o and -h name the same file " + path);
  if (files.empty()) throw UsageError("takes a FILE");
  for (const std::string& file : files) {
    if (file == "-" || !(IsSameFile(file, path) || IsSameFile(file, header))) continue;
    throw UsageError("-o or -h would replace the program " + file + "; name another file");
  }
  if (arguments.flag("explain") || arguments.option("dump") || arguments.option("device")) {
    throw UsageError("-o takes neither --explain, --dump nor --device: objects run on processors, see --target");
  }
  if (files.size() > 1 && !IsLibrary(path)) {
    throw UsageError("several programs become a static library; name it with -o FILE.a, not " + path);
  }
  if (files.size() > 1 && arguments.option("name")) {
    throw UsageError("--name is for one program; with several each keeps its own");
  }
}

}  // namespace

void WriteObjects(const Arguments& arguments) {
  const std::string path = *arguments.option("output");
  const auto header = arguments.option("header");
  if (!header) throw UsageError("-o writes an object file and takes -h FILE.h, for its C header");
  CheckUse(arguments, path, *header);
  std::vector<Source> sources;
  for (const std::string& file : arguments.operands()) sources.push_back({file, ReadAll(file)});
  const Session session = ObjectSession(arguments);
  const Written out = IsLibrary(path) ? Library(session, arguments, sources) : OneObject(session, arguments, sources);
  const std::string processor =
      arguments.option_or("target", "this machine's system") + ", processor " + arguments.option_or("cpu", "default");
  WriteTogether({{path, out.bytes}, {*header, HeaderText(session, out.functions, BaseName(*header), processor)}});
}

}}}  // namespace ricci::v0::cli
