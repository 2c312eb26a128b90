#include "fuzz/object_batch.h"

#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace ricci::testing {
namespace {

constexpr int kGuardBroken = 3;  // exit status of the host

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

int StatusOf(int ended) { return WIFEXITED(ended) ? WEXITSTATUS(ended) : 256 + WTERMSIG(ended); }

std::string MacroOf(std::string name) {
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name + "_WORKSPACE_BYTES";
}

// A function that takes its arrays as a list.
std::string CallText(const ObjectFunction& f, size_t number, size_t n_arrays, bool own_workspace) {
  std::string list;
  for (size_t i = 0; i < n_arrays; ++i) list += Text(i == 0 ? "" : ", ", "a[", i, "]");
  if (!own_workspace) list += list.empty() ? "w" : ", w";
  return Text("static int ricci_fuzz_call", number, "(void **a, void *w) { (void)a; (void)w; return ", f.name, "(",
              list, "); }\n");
}

constexpr char kLibraryHeaders[] =
    "#include <errno.h>\n#include <math.h>\n#include <signal.h>\n#include <stdint.h>\n#include <stdio.h>\n"
    "#include <stdlib.h>\n#include <string.h>\n#include <time.h>\n";

// Fails at a section of memory that can be written.
constexpr char kWritten[] =
    R"({ sub(/.*\]/, "") } $1 ~ /^\.(data|bss|tdata|tbss)/ && $1 !~ /rel\.ro/ && $5 !~ /^0+$/ { print; bad = 1 } )"
    R"(END { exit bad })";

// All that objects may want but libm.
constexpr char kMemory[] =
    "#include <stddef.h>\n"
    "void *memcpy(void *to, const void *from, size_t n) { (void)from; (void)n; return to; }\n"
    "void *memmove(void *to, const void *from, size_t n) { (void)from; (void)n; return to; }\n"
    "void *memset(void *to, int value, size_t n) { (void)value; (void)n; return to; }\n";

}  // namespace

void ObjectBatch::Write(std::string_view file, const std::string& text) const {
  std::ofstream(folder_.path() + "/" + std::string(file), std::ios::binary) << text;
}

CommandEnd ObjectBatch::Compile(const std::string& file, const std::string& words, const ObjectOptions& options,
                                const std::vector<ObjectFunction>& functions) {
  const std::string name = Text("p", n_programs_), object = name + (options.library ? ".a" : ".o");
  Write(name + ".ricci", file);
  std::string processor = options.processor.empty() ? "" : " --cpu " + options.processor;
  if (tool_.aarch64) processor = " --target aarch64-linux-gnu";
  const std::string command = Text("cd ", Path(""), " && timeout 300 '", tool_.path, "' compile ", name, ".ricci -o ",
                                   object, " -h ", name, ".h", words, processor, " > says 2>&1");
  const CommandEnd end{StatusOf(std::system(command.c_str())), ReadFile(folder_.path() + "/says")};
  if (end.status != 0) {
    const bool left = std::filesystem::exists(folder_.path() + "/" + object) ||
                      std::filesystem::exists(folder_.path() + "/" + name + ".h");
    return left ? CommandEnd{1, "left a file after: " + end.says} : end;
  }
  ++n_programs_;
  includes_ += Text("#include \"", name, ".h\"\n");
  objects_ += " " + Path(object);
  if (!options.own_workspace) unchanging_ += " " + Path(object);
  for (const ObjectFunction& f : functions) {
    uint32_t n[2] = {};
    const ricci_type* types[2] = {};
    ricci_program_signature(f.program.get(), &n[0], &types[0], &n[1], &types[1]);
    calls_ += CallText(f, n_functions_, n[0] + n[1], options.own_workspace);
    table_ += Text("  {ricci_fuzz_call", n_functions_, ", ", options.own_workspace ? "0" : MacroOf(f.name), "},\n");
    ++n_functions_;
  }
  return end;
}

std::string ObjectBatch::Header() const { return ReadFile(Text(folder_.path(), "/p", n_programs_ - 1, ".h")); }

Complaint ObjectBatch::LinkCommand(const std::string& command) const {
  const int status = StatusOf(std::system((command + " > " + Path("says") + " 2>&1").c_str()));
  if (status == 0) return {};
  return Text("link: `", command, "` ends with ", status, ":\n", ReadFile(folder_.path() + "/says"));
}

Complaint ObjectBatch::Link() const {
  if (n_functions_ == 0) return {};
  const std::string strict = " -Wall -Wextra -Werror -pedantic ", sources = RICCI_FUZZ_SOURCES;
  const std::string sanitizers = sanitized_ ? " -fsanitize=address,undefined -fno-sanitize-recover" : "";
  const std::string still = tool_.aarch64 ? " -static" : "";
  Write("functions.c", kLibraryHeaders + includes_ + "#include \"guarded_calls.h\"\n" + calls_ +
                           "const struct ricci_fuzz_function ricci_fuzz_functions[] = {\n" + table_ + "};\n");
  Write("headers.cc", kLibraryHeaders + includes_);
  Write("memory.c", kMemory);
  if (!unchanging_.empty()) {
    if (Complaint c = LinkCommand(Text("readelf -SW", unchanging_, " | awk '", kWritten, "'"))) return c;
  }
  for (const char* language : {"c++11", "c++20"}) {
    if (Complaint c = LinkCommand(Text("g++", strict, "-std=", language, " -fsyntax-only ", Path("headers.cc"))))
      return c;
  }
  const std::string functions = Text(" -I'", sources, "' ", Path("functions.c"));
  if (Complaint c = LinkCommand(Text(Compiler(), strict, "-std=gnu17 -fsyntax-only", functions))) return c;
  if (Complaint c =
          LinkCommand(Text(Compiler(), " -shared -nostdlib -fno-builtin -fPIC -Wl,-z,defs ", Path("memory.c"),
                           " -Wl,--whole-archive", objects_, " -Wl,--no-whole-archive -lm -o ", Path("all.so"))))
    return c;
  return LinkCommand(Text(Compiler(), strict, "-std=c99 -O1", sanitizers, still, functions, " '", sources,
                          "/guarded_calls.c'", objects_, " -lm -o ", Path("host")));
}

ObjectRun ObjectBatch::Run(ricci_ctx* ctx, size_t function, const Program& p, const std::vector<Bytes>& inputs) const {
  std::vector<uint64_t> sizes = {inputs.size(), 0};
  for (const Bytes& b : inputs) sizes.push_back(b.size());
  for (const ArrayType& t : ResultsOf(ctx, p.get())) {
    sizes.push_back(static_cast<uint64_t>(t.elements() * SizeOf(t.dtype())));
    ++sizes[1];
  }
  std::string in(reinterpret_cast<const char*>(sizes.data()), sizes.size() * sizeof sizes[0]);
  for (const Bytes& b : inputs) in.append(reinterpret_cast<const char*>(b.data()), b.size());
  Write("in", in);
  const std::string command =
      Text(sanitized_ ? "" : "ulimit -s 512; ", "timeout 300 ", tool_.aarch64 ? "qemu-aarch64 " : "", Path("host"), " ",
           function, " < ", Path("in"), " > ", Path("out"), " 2> ", Path("says"));
  const int status = StatusOf(std::system(command.c_str()));
  const std::string out = ReadFile(folder_.path() + "/out");
  ObjectRun result;
  if (status != 0 || out.size() < sizeof result.number) {
    result.run.error = Text(status == kGuardBroken ? "" : Text("the host ends with ", status, ": "),
                            ReadFile(folder_.path() + "/says"));
    return result;
  }
  std::memcpy(&result.number, out.data(), sizeof result.number);
  size_t at = sizeof result.number;
  for (size_t i = 2 + inputs.size(); i < sizes.size() && result.number == 0; ++i) {
    const auto* bytes = reinterpret_cast<const std::byte*>(out.data() + at);
    result.run.arrays.emplace_back(bytes, bytes + sizes[i]);
    at += sizes[i];
  }
  return result;
}

}  // namespace ricci::testing
