// What library lowerings share: the arrays of an operation as sizes and strides, and their registration.
#ifndef RICCI_CPU_LIBRARY_OP_H_
#define RICCI_CPU_LIBRARY_OP_H_
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include "cpu/tiles/factor_tile.h"
#include "cpu/tiles/fft_lines.h"
#include "cpu/tiles/plane_tile.h"
#include "ricci/api_table.h"
#include "ricci/primitive.h"

namespace ricci::cpu {

using Ints = std::vector<int64_t>;

struct Array {
  uint32_t dtype = 0;
  Ints dims, strides;
};
// NULL: it was left out.
const ricci_attr* FindAttr(const ricci_op* op, std::string_view name);
// Integers; empty if they were left out.
Ints Attr(const ricci_op* op, std::string_view name);
// An integer, or `otherwise` if it was left out.
int64_t IntOr(const ricci_op* op, std::string_view name, int64_t otherwise);
// Each offset in `all` becomes `size` offsets, `stride` apart.
void AddDimension(Ints& all, int64_t size, int64_t stride);
// False: the operation has no such type.
bool ReadType(const ricci_op* op, ricci_type type, Array& out);
// False: not one of the types of products.
bool TypeOf(uint32_t dtype, GemmType& out);
int64_t SizeOf(GemmType t);

// The code for the widest instructions that the processor has.
GemmTileFn BestTile();
FactorRowsFn BestFactorRows();
SolveBlockFn BestSolveBlock();
LuPanelFn BestLuPanel();
PlaneTileFn BestPlaneTile();
FftLinesFn BestFftLines();

// Adds `library` for `cpu` to the row `primitive`, which must exist.
ricci_status* AddLibrary(ricci_ctx* ctx, std::string_view primitive, decltype(ricci_lowering::match) match,
                         const ricci_library* library, int32_t priority = 10);

// No exception crosses the ABI.
template <typename Body>
ricci_status* GuardLibrary(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return ricci_status_make(RICCI_RESOURCE_EXHAUSTED, "cpu: out of memory", 18);
  }
}

// A library lowering that is all in its plan `P`: `make` makes one, or returns false for an operation that it does not
// take; `describe` says how many tasks, operations and bytes of scratch memory it needs; `run` is one task. `takes`
// only decides whether `make` would make one, if that is much quicker.
template <typename P, bool (*make)(const ricci_op* op, P& p), void (*describe)(const P& p, ricci_library_plan& out),
          void (*run)(const P& p, const ricci_launch& l), bool (*takes)(const ricci_op* op, P& p) = make>
class PlannedLibrary {
 public:
  static ricci_status* Add(ricci_ctx* ctx, std::string_view primitive, int32_t priority = 10) {
    return AddLibrary(ctx, primitive, Match, &kTable, priority);
  }

 private:
  static ricci_status* Match(void*, const ricci_op* op, uint32_t* accept) {
    return GuardLibrary([&]() -> ricci_status* {
      P p;
      *accept = takes(op, p);
      return nullptr;
    });
  }
  static ricci_status* Plan(void*, const ricci_op* op, ricci_library_plan* out) {
    return GuardLibrary([&]() -> ricci_status* {
      auto p = std::make_unique<P>();
      if (!make(op, *p)) return ricci_status_make(RICCI_INTERNAL, "cpu: planned what did not match", 31);
      describe(*p, *out);
      out->state = p.release();
      return nullptr;
    });
  }
  static ricci_status* Launch(void* state, const ricci_launch* l) {
    run(*static_cast<const P*>(state), *l);
    return nullptr;
  }
  static void Drop(void* state) { delete static_cast<P*>(state); }

  static constexpr ricci_library kTable = {{sizeof(ricci_library), 0, nullptr}, Plan, Launch, Drop};
};

}  // namespace ricci::cpu
#endif
