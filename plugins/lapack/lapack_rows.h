// The rows that get a lowering from the library, and how all of them are added.
#ifndef RICCI_LAPACK_LAPACK_ROWS_H_
#define RICCI_LAPACK_LAPACK_ROWS_H_
#include "blas_library.h"
#include "ricci/plugin.h"

namespace ricci::lapack {

// Each throws what the core says if its row is not there.
void AddEigh(ricci_ctx* ctx, BlasLibrary library);
void AddSvd(ricci_ctx* ctx, BlasLibrary library);
void AddQr(ricci_ctx* ctx, BlasLibrary library);  // geqrf and householder_product
void AddEig(ricci_ctx* ctx, BlasLibrary library);
void AddSchur(ricci_ctx* ctx, BlasLibrary library);

// Opens the first of `names` that will do and adds all lowerings. NOT_FOUND, and nothing added, if there is none.
ricci_status* AttachLibrary(ricci_ctx* ctx, std::span<const char* const> names);

}  // namespace ricci::lapack
#endif
