// A command of the tool: its name, its help, its options and its function.
#ifndef RICCI_CLI_COMMAND_H_
#define RICCI_CLI_COMMAND_H_
#include <span>

#include "cli/arguments.h"
#include "cli/session.h"

namespace ricci { inline namespace v0 { namespace cli {

struct Command {
  std::string_view name, operands, summary;
  std::string_view details;  // of `ricci help NAME`: one line per option
  std::vector<std::string_view> options, flags;
  void (*run)(const Session& session, const Arguments& arguments);
  // Options of one letter and the long ones that they stand for. `-h` is the help where it is none of these.
  std::vector<std::pair<std::string_view, std::string_view>> letters = {};
};

// The groups, one per file.
std::span<const Command> TextCommands();       // print, verify
std::span<const Command> FileCommands();       // info, convert
std::span<const Command> TransformCommands();  // grad, jvp, vjp, vmap, batch
std::span<const Command> RunCommands();        // run, compile, bench
std::span<const Command> CheckCommands();      // check
std::span<const Command> ReduceCommands();     // reduce
std::span<const Command> ListCommands();       // primitives, devices
std::span<const Command> CacheCommands();      // cache

// The single operand FILE, loaded.
Program LoadOperand(const Session& session, const Arguments& arguments);

// The parameters of --wrt; those of a floating type if it is not given.
std::vector<uint32_t> WantedParameters(const Session& session, const Arguments& arguments, const ricci_program* p);

// `compile` with --output: the operands as an object file or a static library, with a header.
void WriteObjects(const Arguments& arguments);

}}}  // namespace ricci::v0::cli
#endif
