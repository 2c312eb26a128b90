// The table of all public functions, which the plugin loader hands to each plugin as ricci_host_info.api.
#ifndef RICCI_API_FUNCTION_TABLE_H_
#define RICCI_API_FUNCTION_TABLE_H_
#include "ricci/api_table.h"

namespace ricci::inline v0::api {

// Static and constant; lives as long as the process.
const ricci_api* FunctionTable();

}  // namespace ricci::inline v0::api

#endif
