// The table of all public functions, which the plugin loader hands to each plugin as ricci_host_info.api.
#ifndef RICCI_API_FUNCTION_TABLE_H_
#define RICCI_API_FUNCTION_TABLE_H_
#include "ricci/api_table.h"

namespace ricci { inline namespace v0 { namespace api {

// Static and constant; lives as long as the process.
const ricci_api* FunctionTable();

}}}  // namespace ricci::v0::api

#endif
