// Lines of the host's source in printed text: a directive where the location changes, which holds up to the next one or
// to an empty line. So the text stays readable; what is compiled says the location again before each line.
//
// Lines whose equation has no known location are `ricci.cu`. So NVRTC's messages, and the line table of the machine
// code that profilers read, name the host's source. Instructions and the time to compile are the same with and without.
// The table makes images 2.5 times as large, but is not loaded onto the GPU.
#ifndef RICCI_CUDA_SOURCE_LINES_H_
#define RICCI_CUDA_SOURCE_LINES_H_
#include <string>
#include <string_view>

#include "ricci/api_table.h"

namespace ricci::cuda {

// `#line 12 "train.cc"`; empty if the location is unknown, or its name cannot stand in a text.
std::string LineDirective(std::string_view file, uint32_t line);
// The same of a location of `ctx`, which may be NULL.
std::string LineDirective(const ricci_ctx* ctx, uint64_t location);

// `text` for a compiler, to which a directive is the location of one line, and each further line is one further down.
// What has no location is `ricci.cu`, with its line in `text`.
std::string WithLineOfEach(std::string_view text);

}  // namespace ricci::cuda
#endif
