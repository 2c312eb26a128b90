// Array data of the tool: inputs from literals, files or a seed, results as text.
#ifndef RICCI_CLI_ELEMENTS_H_
#define RICCI_CLI_ELEMENTS_H_
#include "cli/arguments.h"
#include "cli/session.h"

namespace ricci { inline namespace v0 { namespace cli {

// One array per parameter: `--input 'I=LITERAL'` or `--input I=@FILE` where given, else drawn from `--seed` (floats
// from [-1, 1), integers from 0 to 7).
std::vector<Array> Inputs(const Session& session, const Arguments& arguments, const std::vector<ricci_type>& params,
                          ricci_device* device);
// All drawn, whatever --input says.
std::vector<Array> DrawnInputs(const Session& session, const Arguments& arguments,
                               const std::vector<ricci_type>& params, ricci_device* device);
// Which of `n` parameters have an --input.
std::vector<bool> GivenInputs(const Arguments& arguments, size_t n);
// The dtype of the two parts of a complex number; any other dtype is its own.
uint32_t PartOf(uint32_t dtype);
// An element of a floating dtype.
double FloatAt(uint32_t dtype, const unsigned char* p);
// `[1.0, 2.0, ...]`, row-major, at most `limit` elements.
std::string ElementsText(const TypeInfo& type, const void* data, int64_t limit);

}}}  // namespace ricci::v0::cli
#endif
