#include "product_code.h"

#include <algorithm>
#include <vector>

#include "cpu/scalar/conversion_codegen.h"
#include "tile_code.h"

namespace ricci::object {
namespace {

using cpu::Extent;
using cpu::GemmType;
using cpu::LlvmBuilder;
using cpu::Product;
using cpu::ProductOperand;

constexpr size_t kLongTable = 1024;       // of offsets
constexpr int64_t kSumRows = 10 * kRows;  // whose sums are kept, at most, if the result is narrower

// Steps of one block of a sum: as the tiles cut it.
int64_t DepthOf(const Product& p) {
  const auto ceil = [](int64_t n, int64_t by) { return (n + by - 1) / by; };
  return ceil(ceil(p.k, ceil(p.k, cpu::kGemmDepth)), 16) * 16;
}
bool AreAdjacent(const Extent& e) { return e.at.empty() && e.stride == 1; }
// Rows whose steps are adjacent, or many of them, are copied; others are turned into panels [steps][rows].
bool IsByRows(const Product& p) { return AreAdjacent(p.a.steps) || p.a.steps.runs; }

bool IsNarrow(GemmType t) { return t == GemmType::kF16 || t == GemmType::kBF16; }
uint32_t NarrowDtype(GemmType t) { return t == GemmType::kF16 ? RICCI_F16 : RICCI_BF16; }
// Rows of the result that are finished before the next ones: all, or as many as have sums of their own.
int64_t TileRows(const Product& p) { return IsNarrow(p.c_type) ? std::min(p.m, kSumRows) : p.m; }

int64_t PackedElements(const Product& p) { return kColumns * DepthOf(p) + kPackedRows; }

class ProductEmitter : TileCode {
 public:
  ProductEmitter(const LlvmBuilder& l, const Product& p, const Processor& processor)
      : TileCode(l, p.sum, IsByRows(p), processor), p_(p) {}

  V Emit(const std::string& name) {
    EmitCell();
    a_steps_ = OffsetsOf(p_.a.steps), a_rows_ = OffsetsOf(p_.a.outer);
    b_steps_ = OffsetsOf(p_.b.steps), b_columns_ = OffsetsOf(p_.b.outer);
    V f = Begin(name, {l_.ptr(), l_.ptr()}), buffers = LLVMGetParam(f, 0);
    scratch_ = LLVMGetParam(f, 1);
    a_ = Load(l_.ptr(), At(l_.ptr(), buffers, l_.I64(p_.a.number)));
    b_ = Load(l_.ptr(), At(l_.ptr(), buffers, l_.I64(p_.b.number)));
    c_ = Load(l_.ptr(), At(l_.ptr(), buffers, l_.I64(2)));
    Batches(0, l_.I64(0), l_.I64(0), l_.I64(0));
    LLVMBuildRetVoid(l_.b);
    return f;
  }

 private:
  // ---- operands ----
  // Where the elements of an extent lie: at its stride, or at offsets in a table. Of those that go on in equal rows, as
  // the windows of a convolution do, the table has the first of each row: else it would be as long as an image.
  struct Offsets {
    const Extent* extent;
    int64_t row = 1;    // elements of a row,
    int64_t along = 0;  // and from one to the next of it
    V table = nullptr;  // NULL: there is a stride
  };
  Offsets OffsetsOf(const Extent& e) {
    Offsets out{&e};
    if (e.at.empty()) return out;
    if (e.at.size() > kLongTable) FindRows(e.at, out);
    std::vector<V> offsets;
    for (size_t i = 0; i < e.at.size(); i += static_cast<size_t>(out.row)) offsets.push_back(l_.I64(e.at[i]));
    V data = LLVMConstArray2(l_.i64(), offsets.data(), offsets.size());
    out.table = LLVMAddGlobal(l_.module, LLVMTypeOf(data), "offsets");
    LLVMSetInitializer(out.table, data);
    LLVMSetGlobalConstant(out.table, 1);
    LLVMSetLinkage(out.table, LLVMPrivateLinkage);
    return out;
  }
  static void FindRows(const std::vector<int64_t>& at, Offsets& out) {
    const int64_t n = static_cast<int64_t>(at.size()), along = n > 1 ? at[1] - at[0] : 0;
    int64_t row = 1;
    while (row < n && at[static_cast<size_t>(row)] - at[static_cast<size_t>(row - 1)] == along) ++row;
    for (int64_t i = 0; i < n; ++i) {
      if (at[static_cast<size_t>(i)] != at[static_cast<size_t>(i - i % row)] + i % row * along) return;
    }
    out.row = row, out.along = along;
  }
  V OffsetOf(const Offsets& p, V i) {
    if (p.table == nullptr) return Mul(i, l_.I64(p.extent->stride));
    if (p.row == 1) return Load(l_.i64(), At(l_.i64(), p.table, i));
    V row = LLVMBuildUDiv(l_.b, i, l_.I64(p.row), ""), first = Load(l_.i64(), At(l_.i64(), p.table, row));
    return Add(first, Mul(Sub(i, Mul(row, l_.I64(p.row))), l_.I64(p.along)));
  }
  // Copies `n` elements (1, 4 or a vector) from `at` on into the type of the sums.
  void CopyVector(const ProductOperand& x, V at, unsigned n, V to) {
    LlvmBuilder l = l_;
    l.lanes = n;
    const auto type = [&](LLVMTypeRef t) { return n == 1 ? t : LLVMVectorType(t, n); };
    V v = Load(type(TypeOf(x.type)), at);
    LLVMSetAlignment(v, static_cast<unsigned>(cpu::SizeOf(x.type)));
    if (IsNarrow(x.type)) v = cpu::EmitToF32(l, v, NarrowDtype(x.type));
    if (LLVMTypeOf(v) != type(Sum())) v = LLVMBuildFPExt(l_.b, v, type(Sum()), "");
    Store(v, to);
  }
  // Elements [first, first + n) of an extent, as vectors where they are adjacent.
  void Gather(const ProductOperand& x, V base, const Offsets& p, V first, unsigned n, V to) {
    const Extent& e = *p.extent;
    V at = OffsetOf(p, first);
    const auto as_vector = [&] { CopyVector(x, At(TypeOf(x.type), base, at), n, to); };
    const auto in_parts = [&] {
      const unsigned part = e.runs && n > 4 ? 4 : 1;
      for (unsigned i = 0; i < n; i += part) {
        Gather(x, base, p, Add(first, l_.I64(i)), part, At(to, l_.I64(i)));
      }
    };
    if (n == 1 || AreAdjacent(e)) return as_vector();
    if (!e.runs) return in_parts();
    V apart = Sub(OffsetOf(p, Add(first, l_.I64(n - 1))), at);
    If(LLVMBuildICmp(l_.b, LLVMIntEQ, apart, l_.I64(n - 1), ""), as_vector, in_parts);
  }
  // Element `index` of an operand to one of the sums' type.
  void CopyElement(const ProductOperand& x, V base, V index, V to) {
    CopyVector(x, At(TypeOf(x.type), base, index), 1, to);
  }

  // ---- the product ----
  void Batches(size_t i, V a, V b, V c) {
    if (i == p_.batch_dims.size()) {
      return One(At(TypeOf(p_.a.type), a_, a), At(TypeOf(p_.b.type), b_, b), At(TypeOf(p_.c_type), c_, c));
    }
    const cpu::BatchDim& d = p_.batch_dims[i];
    Loop(l_.I64(0), l_.I64(d.size), 1, [&](V n) {
      Batches(i + 1, Add(a, Mul(n, l_.I64(d.a_stride))), Add(b, Mul(n, l_.I64(d.b_stride))),
              Add(c, Mul(n, l_.I64(d.c_stride))));
    });
  }
  void One(V a, V b, V c) {
    Loop(l_.I64(0), l_.I64(p_.m), TileRows(p_), [&](V m0) {
      V m = Left(m0, p_.m, TileRows(p_));
      Loop(l_.I64(0), l_.I64(p_.n), columns_, [&](V n0) {
        V n = Left(n0, p_.n, columns_), to = At(TypeOf(p_.c_type), c, Add(Mul(m0, l_.I64(p_.c_stride)), n0));
        if (!IsNarrow(p_.c_type)) return Tile({a, b, to, l_.I64(p_.c_stride), m0, m, n0, n});
        V sums = At(scratch_, l_.I64(PackedElements(p_)));
        Tile({a, b, sums, l_.I64(columns_), m0, m, n0, n});
        RoundSums(sums, m, n, to);
      });
    });
  }
  // Rows [m0, m0 + m) and columns [n0, n0 + n), whose sums lie from `c` on.
  struct Part {
    V a, b, c, c_stride, m0, m, n0, n;
  };
  void Tile(const Part& t) {
    const int64_t depth = DepthOf(p_);
    V panels = scratch_, packed = At(scratch_, l_.I64(kColumns * depth));
    Loop(l_.I64(0), l_.I64(p_.k), depth, [&](V k0) {
      V k = Left(k0, p_.k, depth);
      PackColumns(t.b, t.n0, t.n, k0, k, panels);
      Loop(l_.I64(0), t.m, kRows, [&](V i) {
        V m = Left(i, t.m, kRows), row = Add(t.m0, i);
        IsByRows(p_) ? CopyRows(t.a, row, m, k0, k, packed) : PackRows(t.a, row, m, k0, k, packed);
        Cells({packed, panels, At(t.c, Mul(i, t.c_stride)), t.c_stride, m, t.n, k, k0});
      });
    });
  }
  void RoundSums(V sums, V m, V n, V to) {
    LLVMTypeRef narrow = TypeOf(p_.c_type);
    Loop(l_.I64(0), m, 1, [&](V i) {
      V from = At(sums, Mul(i, l_.I64(columns_))), row = At(narrow, to, Mul(i, l_.I64(p_.c_stride)));
      Strips(l_.I64(0), n, [&](V j, unsigned lanes) {
        V rounded = cpu::EmitFromF32(l_, LoadSome(At(from, j), lanes), NarrowDtype(p_.c_type));
        LLVMSetAlignment(LLVMBuildStore(l_.b, rounded, At(narrow, row, j)),
                         static_cast<unsigned>(cpu::SizeOf(p_.c_type)));
      });
    });
  }
  // Panels [k][width] of columns; past the last column, that one again.
  void PackColumns(V b, V n0, V n, V k0, V k, V to) {
    const Extent& columns = p_.b.outer;
    Loop(l_.I64(0), n, width_, [&](V j) {
      V whole = Less(Add(j, l_.I64(width_ - 1)), n), panel = At(to, Mul(j, k)), first = Add(n0, j);
      Loop(l_.I64(0), k, 1, [&](V s) {
        V from = At(TypeOf(p_.b.type), b, OffsetOf(b_steps_, Add(k0, s)));
        V row = At(panel, Mul(s, l_.I64(width_)));
        const auto one_by_one = [&] {
          Loop(l_.I64(0), l_.I64(width_), 1, [&](V w) {
            V column = Min(Add(first, w), l_.I64(p_.n - 1));
            CopyElement(p_.b, from, OffsetOf(b_columns_, column), At(row, w));
          });
        };
        const auto vectors = [&] {
          for (unsigned v = 0; v < vectors_; ++v) {
            V at = l_.I64(v * l_.lanes);
            Gather(p_.b, from, b_columns_, Add(first, at), l_.lanes, At(row, at));
          }
        };
        AreAdjacent(columns) || columns.runs ? If(whole, vectors, one_by_one) : one_by_one();
      });
    });
  }
  // Rows as they are, up to a whole cell of them; past the last row, that one again.
  void CopyRows(V a, V m0, V m, V k0, V k, V to) {
    V rows = Whole(Add(m, l_.I64(rows_ - 1)), rows_);
    Loop(l_.I64(0), rows, 1, [&](V i) {
      V row = OffsetOf(a_rows_, Min(Add(m0, i), l_.I64(p_.m - 1)));
      CopyRow(At(TypeOf(p_.a.type), a, row), k0, k, At(to, Mul(i, l_.I64(kRowStride))));
    });
  }
  void CopyRow(V from, V k0, V k, V to) {
    if (AreAdjacent(p_.a.steps) && p_.a.type == sum_) {
      LLVMBuildMemCpy(l_.b, to, size(), At(from, k0), size(), Mul(k, l_.I64(size())));
      return;
    }
    Strips(l_.I64(0), k, [&](V s, unsigned lanes) { Gather(p_.a, from, a_steps_, Add(k0, s), lanes, At(to, s)); });
  }
  // Panels [k][rows] of rows; past the last row, that one again.
  void PackRows(V a, V m0, V m, V k0, V k, V to) {
    Loop(l_.I64(0), m, rows_, [&](V i) {
      V panel = At(to, Mul(i, k)), first = Add(m0, i);
      Loop(l_.I64(0), k, 1, [&](V s) {
        V from = At(TypeOf(p_.a.type), a, OffsetOf(a_steps_, Add(k0, s)));
        V column = At(panel, Mul(s, l_.I64(rows_)));
        Loop(l_.I64(0), l_.I64(rows_), 1, [&](V w) {
          V row = Min(Add(first, w), l_.I64(p_.m - 1));
          CopyElement(p_.a, from, OffsetOf(a_rows_, row), At(column, w));
        });
      });
    });
  }

  const Product& p_;
  V scratch_ = nullptr, a_ = nullptr, b_ = nullptr, c_ = nullptr;
  Offsets a_steps_{}, a_rows_{}, b_steps_{}, b_columns_{};
};

}  // namespace

uint64_t ProductFlops(const Product& p) { return 2 * static_cast<uint64_t>(p.batch * p.m * p.n * p.k); }

uint64_t ProductScratch(const Product& p) {
  const int64_t sums = IsNarrow(p.c_type) ? TileRows(p) * kColumns : 0;
  return static_cast<uint64_t>((PackedElements(p) + sums) * cpu::SizeOf(p.sum) + 63) / 64 * 64;
}

LLVMValueRef EmitProduct(const LlvmBuilder& l, const Product& p, const Processor& processor, const std::string& name) {
  return ProductEmitter(l, p, processor).Emit(name);
}

}  // namespace ricci::object
