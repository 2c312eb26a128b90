// Arrays in files, for the tool: inputs of a program, its results, and what `info` and `convert` read.
#ifndef RICCI_CLI_STORED_ARRAYS_H_
#define RICCI_CLI_STORED_ARRAYS_H_
#include "cli/session.h"

namespace ricci { inline namespace v0 { namespace cli {

ArrayFile LoadArrays(const Session& session, const std::string& path);
// All arrays of the file, borrowed from it.
std::vector<ricci_named_array> ArraysOf(const ricci_array_file* f);

// The array that `source` names, `FILE` or `FILE:NAME`, on the device; it must have the type. `origin` is for messages.
Array FromFile(const Session& session, ricci_type type, const std::string& source, const std::string& origin,
               ricci_device* device);

// Writes the results of a program, by the ending of `path`; where arrays have names they are 0, 1, ...
void SaveResults(const Session& session, const std::string& path, const std::vector<Array>& results);

}}}  // namespace ricci::v0::cli
#endif
