// dot_general as batched matrix products: C[b] = A[b] B[b], row-major, each operand plain or transposed.
//
// Called single-threaded (Debian's pthread build with one thread) on tiles fixed by shape, which our pool distributes:
// so bits do not depend on the thread count. Layouts in which a group of dimensions is not adjacent are left to the
// generated kernel.
#include "gemm.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

#include "ricci/api_table.h"

extern "C" {
void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a, int lda,
                 const float* b, int ldb, float beta, float* c, int ldc);
void cblas_dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha, const double* a, int lda,
                 const double* b, int ldb, double beta, double* c, int ldc);
void openblas_set_num_threads(int n);
}

namespace ricci::cpu {
namespace {

constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;
constexpr int64_t kSmallest = 24 * 24 * 24;      // m n k below which the generated kernel is as good and fuses
constexpr int64_t kTaskWork = int64_t{1} << 21;  // m n k of one task

struct Ints {
  const int64_t* at = nullptr;
  uint32_t n = 0;
};
Ints Attr(const ricci_op* op, std::string_view name) {
  for (uint32_t i = 0; i < op->n_attrs; ++i) {
    const ricci_attr& a = op->attrs[i];
    if (std::string_view(a.name.ptr, a.name.len) == name && a.kind == RICCI_ATTR_INTS) {
      return {static_cast<const int64_t*>(a.data), a.count};
    }
  }
  return {};
}

// One operand as [batch][rows or contracted][...]: sizes, and whether the contracted dimensions come first.
struct Operand {
  int64_t batch = 1, free = 1, contracted = 1;
  bool contracted_first = false;
  bool good = false;
};

Operand Read(const ricci_op* op, uint32_t which, Ints batch, Ints contract) {
  Operand out;
  uint32_t dtype, rank;
  const int64_t* dims;
  if (ricci_status* s = ricci_type_get(op->ctx, op->in_types[which], &dtype, &rank, &dims)) {
    ricci_status_free(s);
    return out;
  }
  for (uint32_t i = 0; i < batch.n; ++i) {
    if (batch.at[i] != static_cast<int64_t>(i)) return out;
    out.batch *= dims[i];
  }
  for (uint32_t i = 0; i < contract.n; ++i) {
    if (i != 0 && contract.at[i] != contract.at[i - 1] + 1) return out;
    out.contracted *= dims[contract.at[i]];
  }
  for (uint32_t d = batch.n; d < rank; ++d) out.free *= dims[d];
  if (out.contracted == 0) return out;
  out.free /= out.contracted;
  if (contract.n == 0) return out;
  out.contracted_first = contract.at[0] == batch.n && contract.n != rank - batch.n;
  out.good = out.contracted_first || contract.at[contract.n - 1] == rank - 1;
  return out;
}

struct Product {
  uint32_t dtype = 0;
  int64_t batch = 0, m = 0, n = 0, k = 0;
  bool a_transposed = false, b_transposed = false;
  int64_t m_tiles = 1, n_tiles = 1;
};

bool Make(const ricci_op* op, Product& p) {
  uint32_t da, db, dc;
  for (auto [type, dtype] :
       {std::pair(op->in_types[0], &da), std::pair(op->in_types[1], &db), std::pair(op->out_types[0], &dc)}) {
    if (ricci_status* s = ricci_type_get(op->ctx, type, dtype, nullptr, nullptr)) {
      ricci_status_free(s);
      return false;
    }
  }
  if (da != db || da != dc || (da != RICCI_F32 && da != RICCI_F64)) return false;
  const Operand a = Read(op, 0, Attr(op, "lhs_batch"), Attr(op, "lhs_contract"));
  const Operand b = Read(op, 1, Attr(op, "rhs_batch"), Attr(op, "rhs_contract"));
  if (!a.good || !b.good || a.batch == 0 || a.free == 0 || b.free == 0) return false;
  p = {da, a.batch, a.free, b.free, a.contracted, a.contracted_first, !b.contracted_first, 1, 1};
  const int64_t limit = int64_t{1} << 31;
  if (p.m >= limit || p.n >= limit || p.k >= limit || p.m * p.n * p.k < kSmallest) return false;
  const int64_t pieces = std::clamp<int64_t>(p.m * p.n * p.k / kTaskWork, 1, 16);
  (p.m >= p.n ? p.m_tiles : p.n_tiles) = std::clamp<int64_t>(pieces, 1, std::max<int64_t>(1, std::max(p.m, p.n) / 32));
  return true;
}

ricci_status* Match(void*, const ricci_op* op, uint32_t* accept) {
  Product p;
  *accept = Make(op, p);
  return nullptr;
}

ricci_status* Plan(void*, const ricci_op* op, ricci_library_plan* out) {
  auto* p = new (std::nothrow) Product;
  if (p == nullptr) return ricci_status_make(RICCI_RESOURCE_EXHAUSTED, "dot_general: out of memory", 26);
  if (!Make(op, *p)) {
    delete p;
    return ricci_status_make(RICCI_INTERNAL, "dot_general: planned what did not match", 39);
  }
  out->state = p;
  out->tasks = p->batch * p->m_tiles * p->n_tiles;
  out->flops = 2 * static_cast<uint64_t>(p->batch * p->m * p->n * p->k);
  return nullptr;
}

// Tile `i` of `n` elements in `tiles` parts, in steps of 16.
std::pair<int64_t, int64_t> Tile(int64_t n, int64_t tiles, int64_t i) {
  const int64_t size = ((n + tiles - 1) / tiles + 15) / 16 * 16;
  return {std::min(n, i * size), std::min(n, (i + 1) * size)};
}

ricci_status* Launch(void* state, const ricci_launch* l) {
  const Product& p = *static_cast<const Product*>(state);
  const int64_t tile_n = l->task % p.n_tiles, tile_m = l->task / p.n_tiles % p.m_tiles,
                batch = l->task / p.n_tiles / p.m_tiles;
  const auto [m0, m1] = Tile(p.m, p.m_tiles, tile_m);
  const auto [n0, n1] = Tile(p.n, p.n_tiles, tile_n);
  if (m0 >= m1 || n0 >= n1) return nullptr;
  const int64_t lda = p.a_transposed ? p.m : p.k, ldb = p.b_transposed ? p.k : p.n;
  const int64_t a = batch * p.m * p.k + (p.a_transposed ? m0 : m0 * p.k);
  const int64_t b = batch * p.n * p.k + (p.b_transposed ? n0 * p.k : n0);
  const int64_t c = batch * p.m * p.n + m0 * p.n + n0;
  const int ta = p.a_transposed ? kTransposed : kPlain, tb = p.b_transposed ? kTransposed : kPlain;
  const auto m = static_cast<int>(m1 - m0), n = static_cast<int>(n1 - n0), k = static_cast<int>(p.k);
  const auto la = static_cast<int>(lda), lb = static_cast<int>(ldb), lc = static_cast<int>(p.n);
  if (p.dtype == RICCI_F32) {
    cblas_sgemm(kRowMajor, ta, tb, m, n, k, 1.0F, static_cast<const float*>(l->in[0]) + a, la,
                static_cast<const float*>(l->in[1]) + b, lb, 0.0F, static_cast<float*>(l->out[0]) + c, lc);
  } else {
    cblas_dgemm(kRowMajor, ta, tb, m, n, k, 1.0, static_cast<const double*>(l->in[0]) + a, la,
                static_cast<const double*>(l->in[1]) + b, lb, 0.0, static_cast<double*>(l->out[0]) + c, lc);
  }
  return nullptr;
}

void DropState(void* state) { delete static_cast<Product*>(state); }

constexpr ricci_library kLibrary = {{sizeof(ricci_library), 0, nullptr}, Plan, Launch, DropState};

}  // namespace

ricci_status* AddGemm(ricci_ctx* ctx) {
  ricci_prim dot = 0;
  if (ricci_status* s = ricci_prim_find(ctx, "dot_general", 11, &dot)) {
    ricci_status_free(s);
    constexpr std::string_view what = "cpu: primitive dot_general is not registered; add the plugin lax first";
    return ricci_status_make(RICCI_FAILED_PRECONDITION, what.data(), what.size());
  }
  openblas_set_num_threads(1);
  ricci_lowering l{};
  l.hdr.size = sizeof l;
  l.kind = RICCI_LOWER_LIBRARY;
  l.priority = 10;
  l.target = {"cpu", 3};
  l.match = Match;
  l.library = &kLibrary;
  return ricci_prim_add_lowering(ctx, dot, &l);
}

}  // namespace ricci::cpu
