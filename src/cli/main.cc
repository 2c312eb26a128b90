// ricci: programs in text or binary form, transformed, compiled, run and measured from the command line.
#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "cli/command.h"

namespace ricci { inline namespace v0 { namespace cli {
namespace {

constexpr char kHelp[] = R"(ricci: numerical programs as text: derivatives, batching, native code

usage: ricci COMMAND [OPTIONS] FILE       FILE is `-` for standard input; a program is text or binary
       ricci help COMMAND                 options of one command
       ricci --version                    version, compiler, options of the build

)";
constexpr char kExample[] = R"(
Options of every command: --config KEY=VALUE (threads, vmap, dump_dir, log_compiles; cache_dir: a folder that keeps
compiled code, cache_bytes at most; and those below), --plugin FILE (loads a plugin).

GPUs (--device cuda) need NVIDIA's driver and NVRTC, its compiler, which are opened when they are asked for:
  --config cuda.driver=FILE        libcuda.so.1, if it is not where the system looks
  --config cuda.compiler=FILE      libnvrtc.so.13 or .12, if it is neither there nor in a toolkit
  --config cuda.libraries=FOLDERS  where else to look for it
  --config cuda.arch=sm_90a        no GPU is needed, and programs are only compiled
  --config cuda.disassembler=FILE  nvdisasm, for `ricci compile --dump sass`
  --config cuda.cupti=FILE         libcupti.so.13 of CUDA 13.0: times of `ricci run --profile` are its records

The CPU backend (--device cpu):
  --config cpu.affinity=0-3,6      the processors that its threads run on
  --config cpu.debug=gdb,perf      shows them functions and lines of generated code

A first program (f.ricci):

  program f(%x: f32[3]) {
    %y: f32[3] = sin(%x)
    %z: f32[3] = mul(%x, %y)
    %s: f32[] = reduce_sum(%z) axes=[0]
    return %s
  }

  ricci run f.ricci --input '0=[0.0, 0.5, 1.0]'     its value
  ricci run f.ricci --input 0=@x.npy --output y.npy  the same with arrays in files
  ricci grad f.ricci                                its gradient, as a program
  ricci grad f.ricci | ricci vmap --size 8 - | ricci run -
  ricci compile f.ricci --dump plan                 what is run
  ricci compile f.ricci --explain                   how, and why
  ricci compile f.ricci -o f.o -h f.h               an object file for C programs that link nothing of Ricci
  ricci check f.ricci                               its batches against loops; in f64 also its derivatives
  ricci run --cache DIR f.ricci                     compiled once: another time it is read from there
)";

using Group = std::span<const Command> (*)();
constexpr Group kGroups[] = {TextCommands,  FileCommands,   TransformCommands, RunCommands,
                             CheckCommands, ReduceCommands, ListCommands,      CacheCommands};

const Command* Find(std::string_view name) {
  for (Group group : kGroups) {
    for (const Command& c : group()) {
      if (c.name == name) return &c;
    }
  }
  return nullptr;
}

void PrintHelp(std::FILE* to) {
  std::fputs(kHelp, to);
  for (Group group : kGroups) {
    for (const Command& c : group()) {
      std::fprintf(to, "  %-11.*s %.*s\n", static_cast<int>(c.name.size()), c.name.data(),
                   static_cast<int>(c.summary.size()), c.summary.data());
    }
  }
  std::fputs(kExample, to);
}

void PrintHelpOf(const Command& c) {
  std::printf("usage: ricci %.*s%s%.*s\n\n%.*s\n%.*s", static_cast<int>(c.name.size()), c.name.data(),
              c.operands.empty() ? "" : " ", static_cast<int>(c.operands.size()), c.operands.data(),
              static_cast<int>(c.summary.size()), c.summary.data(), static_cast<int>(c.details.size()),
              c.details.data());
}

// Messages of wrong use name the command, and the help that has its options.
void RunCommand(const Command& c, std::vector<std::string> words) try {
  for (std::string& word : words) {
    for (const auto& [letter, name] : c.letters) {
      if (word == letter) word = "--" + std::string(name);
    }
  }
  std::vector<std::string_view> options = c.options;
  options.push_back("config");
  options.push_back("plugin");
  const Arguments arguments(words, options, c.flags);
  std::vector<std::string> config = arguments.all("config");
  if (const auto folder = arguments.option("cache")) config.push_back("cache_dir=" + *folder);
  const Session session(config, arguments.all("plugin"));
  c.run(session, arguments);
} catch (const UsageError& e) {
  const std::string name(c.name);
  throw UsageError(name + ": " + e.what() + "; `ricci help " + name + "` lists its options");
}

// Do the words after the name of a command ask for its help? Where -h is an option it has a value.
bool WantsHelp(const Command& c, const std::vector<std::string>& words) {
  const bool takes_h =
      std::any_of(c.letters.begin(), c.letters.end(), [](const auto& letter) { return letter.first == "-h"; });
  return std::any_of(words.begin() + 1, words.end(), [&](const std::string& word) {
    return AsksForHelp(word) && !(takes_h && word == "-h" && &word != &words.back());
  });
}

// What was printed must have been written: a full disk or a closed pipe is an error.
void FinishOutput() {
  const int error = std::fflush(stdout) == 0 ? 0 : errno;
  if (error != 0 || std::ferror(stdout) != 0) throw Failure("standard output: cannot be written" + Reason(error));
}

int Main(const std::vector<std::string>& words) {
  const std::string first = words.empty() ? "" : words[0];
  if (first == "--help" || first == "-h" || (first == "help" && words.size() == 1)) {
    PrintHelp(stdout);
    return 0;
  }
  if (first == "--version") {
    std::fputs(ricci_build_info(), stdout);
    return 0;
  }
  if (words.empty()) {
    PrintHelp(stderr);
    return 2;
  }
  const std::string& name = first == "help" ? words[1] : first;
  const Command* command = Find(name);
  if (command == nullptr) throw UsageError("unknown command `" + name + "`; `ricci help` lists the commands");
  if (first == "help" || WantsHelp(*command, words)) {
    PrintHelpOf(*command);
  } else {
    RunCommand(*command, {words.begin() + 1, words.end()});
  }
  return 0;
}

}  // namespace

Program LoadOperand(const Session& session, const Arguments& arguments) { return session.Load(arguments.file()); }

}}}  // namespace ricci::v0::cli

int main(int argc, char** argv) {
  try {
    const int status = ricci::cli::Main({argv + 1, argv + argc});
    ricci::cli::FinishOutput();
    return status;
  } catch (const ricci::cli::UsageError& e) {
    std::fprintf(stderr, "ricci: %s\n", e.what());
    return 2;
  } catch (const std::bad_alloc&) {
    std::fputs("ricci: out of memory\n", stderr);
    return 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "ricci: %s\n", e.what());
    return 1;
  }
}
