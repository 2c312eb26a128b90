#include "product_code.h"

#include <algorithm>
#include <vector>

#include "conversion_codegen.h"

namespace ricci::object {
namespace {

using cpu::Extent;
using cpu::GemmType;
using cpu::LlvmBuilder;
using cpu::Product;
using cpu::ProductOperand;
using V = LLVMValueRef;

constexpr int64_t kRows = 96;                         // packed at a time; a multiple of the rows of every cell
constexpr int64_t kColumns = 512;                     // packed at a time, at most
constexpr int64_t kRowStride = cpu::kGemmDepth + 16;  // of rows that are packed as they are: no power of two
constexpr int64_t kSumRows = 10 * kRows;              // whose sums are kept, at most, if the result is narrower

// A block of sums that stays in registers.
struct CellShape {
  unsigned rows, vectors;
};
CellShape ShapeFor(const Processor& processor) {
  if (processor.vector_bytes == 64) return {12, 2};
  if (processor.vector_bytes == 32) return {6, 2};
  return processor.registers == 32 ? CellShape{8, 2} : CellShape{4, 2};
}

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

int64_t PackedElements(const Product& p) { return kColumns * DepthOf(p) + kRows * kRowStride; }

class ProductEmitter {
 public:
  ProductEmitter(const LlvmBuilder& l, const Product& p, const Processor& processor)
      : l_(l), p_(p), shape_(ShapeFor(processor)) {
    l_.lanes = processor.vector_bytes / static_cast<unsigned>(cpu::SizeOf(p.sum));
    width_ = static_cast<int64_t>(shape_.vectors * l_.lanes);
    columns_ = kColumns / width_ * width_;
  }

  V Emit(const std::string& name) {
    cell_ = Cell();
    a_steps_ = Table(p_.a.steps), a_rows_ = Table(p_.a.outer);
    b_steps_ = Table(p_.b.steps), b_columns_ = Table(p_.b.outer);
    LLVMTypeRef params[] = {l_.ptr(), l_.ptr()};
    V f = Begin(name, params, 2);
    V buffers = LLVMGetParam(f, 0);
    scratch_ = LLVMGetParam(f, 1);
    a_ = Load(l_.ptr(), At(l_.ptr(), buffers, l_.I64(p_.a.number)));
    b_ = Load(l_.ptr(), At(l_.ptr(), buffers, l_.I64(p_.b.number)));
    c_ = Load(l_.ptr(), At(l_.ptr(), buffers, l_.I64(2)));
    Batches(0, l_.I64(0), l_.I64(0), l_.I64(0));
    LLVMBuildRetVoid(l_.b);
    return f;
  }

 private:
  // ---- code in general ----
  V Begin(const std::string& name, LLVMTypeRef* params, unsigned n) {
    V f = LLVMAddFunction(l_.module, name.c_str(), LLVMFunctionType(LLVMVoidTypeInContext(l_.ctx), params, n, 0));
    LLVMSetLinkage(f, LLVMInternalLinkage);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(l_.ctx, f, "entry");
    LLVMBasicBlockRef start = LLVMAppendBasicBlockInContext(l_.ctx, f, "start");
    LLVMPositionBuilderAtEnd(l_.b, entry);
    LLVMBuildBr(l_.b, start);
    LLVMPositionBuilderAtEnd(l_.b, start);
    return f;
  }
  template <typename Body>
  void Loop(V lo, V hi, int64_t step, Body body) {
    LLVMBasicBlockRef before = LLVMGetInsertBlock(l_.b), head = l_.NewBlock("loop"), inside = l_.NewBlock("body"),
                      after = l_.NewBlock("done");
    LLVMBuildBr(l_.b, head);
    LLVMPositionBuilderAtEnd(l_.b, head);
    V i = LLVMBuildPhi(l_.b, l_.i64(), "i");
    LLVMBuildCondBr(l_.b, LLVMBuildICmp(l_.b, LLVMIntSLT, i, hi, ""), inside, after);
    LLVMPositionBuilderAtEnd(l_.b, inside);
    body(i);
    V from[] = {lo, LLVMBuildNSWAdd(l_.b, i, l_.I64(step), "")};
    LLVMBasicBlockRef blocks[] = {before, LLVMGetInsertBlock(l_.b)};
    LLVMBuildBr(l_.b, head);
    LLVMAddIncoming(i, from, blocks, 2);
    LLVMPositionBuilderAtEnd(l_.b, after);
  }
  template <typename Then, typename Else>
  void If(V condition, Then then, Else otherwise) {
    LLVMBasicBlockRef yes = l_.NewBlock("then"), no = l_.NewBlock("else"), after = l_.NewBlock("after");
    LLVMBuildCondBr(l_.b, condition, yes, no);
    LLVMPositionBuilderAtEnd(l_.b, yes);
    then();
    LLVMBuildBr(l_.b, after);
    LLVMPositionBuilderAtEnd(l_.b, no);
    otherwise();
    LLVMBuildBr(l_.b, after);
    LLVMPositionBuilderAtEnd(l_.b, after);
  }
  V At(LLVMTypeRef t, V base, V index) { return LLVMBuildGEP2(l_.b, t, base, &index, 1, ""); }
  V Load(LLVMTypeRef t, V at) { return LLVMBuildLoad2(l_.b, t, at, ""); }
  V LoadVector(V at) { return Aligned(Load(l_.vec(Sum()), at)); }
  void StoreVector(V v, V at) { Aligned(LLVMBuildStore(l_.b, v, at)); }
  V Aligned(V access) {
    LLVMSetAlignment(access, static_cast<unsigned>(cpu::SizeOf(p_.sum)));
    return access;
  }
  V Add(V x, V y) { return LLVMBuildNSWAdd(l_.b, x, y, ""); }
  V Mul(V x, V y) { return LLVMBuildNSWMul(l_.b, x, y, ""); }
  V Min(V x, V y) { return l_.Fn("llvm.smin", x, y); }
  V Less(V x, V y) { return LLVMBuildICmp(l_.b, LLVMIntSLT, x, y, ""); }
  LLVMTypeRef TypeOf(GemmType t) {
    if (t == GemmType::kF16) return LLVMHalfTypeInContext(l_.ctx);
    if (t == GemmType::kBF16) return LLVMInt16TypeInContext(l_.ctx);  // as in conversion_codegen
    return t == GemmType::kF64 ? l_.f64() : l_.f32();
  }
  LLVMTypeRef Sum() { return TypeOf(p_.sum); }

  // ---- the block of sums: void cell(k, a, rows, b, c, c_stride, columns, adds) ----
  V Cell() {
    const std::string name = std::string("product_cell.") + (p_.sum == GemmType::kF64 ? "f64." : "f32.") +
                             (IsByRows(p_) ? "rows" : "panels");
    if (V known = LLVMGetNamedFunction(l_.module, name.c_str())) return known;
    LLVMTypeRef n = l_.i64(), at = l_.ptr();
    LLVMTypeRef params[] = {n, at, n, at, at, n, n, n};
    V f = Begin(name, params, 8);
    std::vector<V> sums;
    for (unsigned i = 0; i < shape_.rows * shape_.vectors; ++i) {
      sums.push_back(l_.Alloca(l_.vec(Sum()), "sum"));
      LLVMBuildStore(l_.b, LLVMConstNull(l_.vec(Sum())), sums.back());
    }
    Loop(l_.I64(0), LLVMGetParam(f, 0), 1, [&](V step) { Step(f, sums, step); });
    V all_rows = LLVMBuildICmp(l_.b, LLVMIntEQ, LLVMGetParam(f, 2), l_.I64(shape_.rows), "");
    V all_columns = LLVMBuildICmp(l_.b, LLVMIntEQ, LLVMGetParam(f, 6), l_.I64(width_), "");
    V adds = LLVMBuildICmp(l_.b, LLVMIntNE, LLVMGetParam(f, 7), l_.I64(0), "");
    const auto whole = [&](bool added) { WriteWhole(f, sums, added); };
    const auto part = [&](bool added) { WritePart(f, sums, added); };
    const auto both = [&](auto write) {
      If(
          adds, [&] { write(true); }, [&] { write(false); });
    };
    If(
        LLVMBuildAnd(l_.b, all_rows, all_columns, ""), [&] { both(whole); }, [&] { both(part); });
    LLVMBuildRetVoid(l_.b);
    return f;
  }
  // `a` is rows kRowStride apart or a panel [steps][rows], b a panel [steps][columns].
  void Step(V f, const std::vector<V>& sums, V step) {
    const int64_t rows = shape_.rows, row_stride = IsByRows(p_) ? kRowStride : 1;
    V panel = At(Sum(), LLVMGetParam(f, 3), Mul(step, l_.I64(width_)));
    V column = At(Sum(), LLVMGetParam(f, 1), Mul(step, l_.I64(IsByRows(p_) ? 1 : rows)));
    std::vector<V> right;
    for (unsigned v = 0; v < shape_.vectors; ++v) right.push_back(LoadVector(At(Sum(), panel, l_.I64(v * l_.lanes))));
    V left = nullptr;
    for (unsigned i = 0; i < sums.size(); ++i) {
      const unsigned row = i / shape_.vectors;
      if (i % shape_.vectors == 0) left = l_.Splat(Load(Sum(), At(Sum(), column, l_.I64(row * row_stride))));
      V product = LLVMBuildFMul(l_.b, left, right[i % shape_.vectors], "");
      LLVMBuildStore(l_.b, LLVMBuildFAdd(l_.b, Load(l_.vec(Sum()), sums[i]), product, ""), sums[i]);
    }
  }
  void WriteWhole(V f, const std::vector<V>& sums, bool added) {
    for (unsigned i = 0; i < sums.size(); ++i) {
      V row = At(Sum(), LLVMGetParam(f, 4), Mul(l_.I64(i / shape_.vectors), LLVMGetParam(f, 5)));
      V at = At(Sum(), row, l_.I64(i % shape_.vectors * l_.lanes)), sum = Load(l_.vec(Sum()), sums[i]);
      StoreVector(added ? LLVMBuildFAdd(l_.b, LoadVector(at), sum, "") : sum, at);
    }
  }
  // The rows and columns that there are, by way of a block on the stack.
  void WritePart(V f, const std::vector<V>& sums, bool added) {
    V part = l_.Alloca(LLVMArrayType2(Sum(), shape_.rows * static_cast<uint64_t>(width_)), "part");
    for (unsigned i = 0; i < sums.size(); ++i) {
      StoreVector(Load(l_.vec(Sum()), sums[i]), At(Sum(), part, l_.I64(i * l_.lanes)));
    }
    Loop(l_.I64(0), LLVMGetParam(f, 2), 1, [&](V row) {
      V from = At(Sum(), part, Mul(row, l_.I64(width_)));
      V to = At(Sum(), LLVMGetParam(f, 4), Mul(row, LLVMGetParam(f, 5)));
      Loop(l_.I64(0), LLVMGetParam(f, 6), 1, [&](V j) {
        V sum = Load(Sum(), At(Sum(), from, j)), at = At(Sum(), to, j);
        LLVMBuildStore(l_.b, added ? LLVMBuildFAdd(l_.b, Load(Sum(), at), sum, "") : sum, at);
      });
    });
  }

  // ---- operands ----
  // The offsets as a constant; NULL: they lie at a stride.
  V Table(const Extent& e) {
    if (e.at.empty()) return nullptr;
    std::vector<V> offsets;
    for (const int64_t at : e.at) offsets.push_back(l_.I64(at));
    V data = LLVMConstArray2(l_.i64(), offsets.data(), offsets.size());
    V table = LLVMAddGlobal(l_.module, LLVMTypeOf(data), "offsets");
    LLVMSetInitializer(table, data);
    LLVMSetGlobalConstant(table, 1);
    LLVMSetLinkage(table, LLVMPrivateLinkage);
    return table;
  }
  V Place(const Extent& e, V table, V i) {
    return table == nullptr ? Mul(i, l_.I64(e.stride)) : Load(l_.i64(), At(l_.i64(), table, i));
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
    StoreVector(v, to);
  }
  // Elements [first, first + n) of an extent, as vectors where they are adjacent.
  void Gather(const ProductOperand& x, V base, const Extent& e, V table, V first, unsigned n, V to) {
    V at = Place(e, table, first);
    const auto as_vector = [&] { CopyVector(x, At(TypeOf(x.type), base, at), n, to); };
    const auto in_parts = [&] {
      const unsigned part = e.runs && n > 4 ? 4 : 1;
      for (unsigned i = 0; i < n; i += part) {
        Gather(x, base, e, table, Add(first, l_.I64(i)), part, At(Sum(), to, l_.I64(i)));
      }
    };
    if (n == 1 || AreAdjacent(e)) return as_vector();
    if (!e.runs) return in_parts();
    V apart = LLVMBuildNSWSub(l_.b, Place(e, table, Add(first, l_.I64(n - 1))), at, "");
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
  V Left(V from, V all, int64_t most) { return Min(LLVMBuildNSWSub(l_.b, all, from, ""), l_.I64(most)); }
  V Left(V from, int64_t all, int64_t most) { return Left(from, l_.I64(all), most); }
  void One(V a, V b, V c) {
    Loop(l_.I64(0), l_.I64(p_.m), TileRows(p_), [&](V m0) {
      V m = Left(m0, p_.m, TileRows(p_));
      Loop(l_.I64(0), l_.I64(p_.n), columns_, [&](V n0) {
        V n = Left(n0, p_.n, columns_), to = At(TypeOf(p_.c_type), c, Add(Mul(m0, l_.I64(p_.c_stride)), n0));
        if (!IsNarrow(p_.c_type)) return Tile({a, b, to, l_.I64(p_.c_stride), m0, m, n0, n});
        V sums = At(Sum(), scratch_, l_.I64(PackedElements(p_)));
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
    V panels = scratch_, packed = At(Sum(), scratch_, l_.I64(kColumns * depth));
    Loop(l_.I64(0), l_.I64(p_.k), depth, [&](V k0) {
      V k = Left(k0, p_.k, depth);
      PackColumns(t.b, t.n0, t.n, k0, k, panels);
      Loop(l_.I64(0), t.m, kRows, [&](V i) {
        V m = Left(i, t.m, kRows), row = Add(t.m0, i);
        IsByRows(p_) ? CopyRows(t.a, row, m, k0, k, packed) : PackRows(t.a, row, m, k0, k, packed);
        Cells({packed, panels, At(Sum(), t.c, Mul(i, t.c_stride)), t.c_stride, m, t.n, k0, k});
      });
    });
  }
  void RoundSums(V sums, V m, V n, V to) {
    const auto round = [&](LLVMTypeRef type, V from, V at) {
      V v = Load(type, from);
      LLVMSetAlignment(v, static_cast<unsigned>(cpu::SizeOf(p_.sum)));
      V rounded = LLVMBuildStore(l_.b, cpu::EmitFromF32(l_, v, NarrowDtype(p_.c_type)), at);
      LLVMSetAlignment(rounded, static_cast<unsigned>(cpu::SizeOf(p_.c_type)));
    };
    Loop(l_.I64(0), m, 1, [&](V i) {
      V from = At(Sum(), sums, Mul(i, l_.I64(columns_)));
      V row = At(TypeOf(p_.c_type), to, Mul(i, l_.I64(p_.c_stride)));
      V whole = Mul(LLVMBuildSDiv(l_.b, n, l_.I64(l_.lanes), ""), l_.I64(l_.lanes));
      Loop(l_.I64(0), whole, l_.lanes,
           [&](V j) { round(l_.vec(Sum()), At(Sum(), from, j), At(TypeOf(p_.c_type), row, j)); });
      Loop(whole, n, 1, [&](V j) { round(Sum(), At(Sum(), from, j), At(TypeOf(p_.c_type), row, j)); });
    });
  }
  struct Block {
    V packed, panels, c, c_stride, m, n, k0, k;
  };
  void Cells(const Block& x) {
    const int64_t rows = shape_.rows;
    Loop(l_.I64(0), x.n, width_, [&](V j) {
      Loop(l_.I64(0), x.m, rows, [&](V i) {
        V args[] = {x.k,
                    At(Sum(), x.packed, Mul(i, IsByRows(p_) ? l_.I64(kRowStride) : x.k)),
                    Min(LLVMBuildNSWSub(l_.b, x.m, i, ""), l_.I64(rows)),
                    At(Sum(), x.panels, Mul(j, x.k)),
                    At(Sum(), x.c, Add(Mul(i, x.c_stride), j)),
                    x.c_stride,
                    Min(LLVMBuildNSWSub(l_.b, x.n, j, ""), l_.I64(width_)),
                    x.k0};
        LLVMBuildCall2(l_.b, LLVMGlobalGetValueType(cell_), cell_, args, 8, "");
      });
    });
  }
  // Panels [k][width] of columns; past the last column, that one again.
  void PackColumns(V b, V n0, V n, V k0, V k, V to) {
    const Extent& columns = p_.b.outer;
    Loop(l_.I64(0), n, width_, [&](V j) {
      V whole = Less(Add(j, l_.I64(width_ - 1)), n), panel = At(Sum(), to, Mul(j, k)), first = Add(n0, j);
      Loop(l_.I64(0), k, 1, [&](V s) {
        V from = At(TypeOf(p_.b.type), b, Place(p_.b.steps, b_steps_, Add(k0, s)));
        V row = At(Sum(), panel, Mul(s, l_.I64(width_)));
        const auto one_by_one = [&] {
          Loop(l_.I64(0), l_.I64(width_), 1, [&](V w) {
            V column = Min(Add(first, w), l_.I64(p_.n - 1));
            CopyElement(p_.b, from, Place(columns, b_columns_, column), At(Sum(), row, w));
          });
        };
        const auto vectors = [&] {
          for (unsigned v = 0; v < shape_.vectors; ++v) {
            V at = l_.I64(v * l_.lanes);
            Gather(p_.b, from, columns, b_columns_, Add(first, at), l_.lanes, At(Sum(), row, at));
          }
        };
        AreAdjacent(columns) || columns.runs ? If(whole, vectors, one_by_one) : one_by_one();
      });
    });
  }
  // Rows as they are, up to a whole cell of them; past the last row, that one again.
  void CopyRows(V a, V m0, V m, V k0, V k, V to) {
    V rows = Mul(LLVMBuildSDiv(l_.b, Add(m, l_.I64(shape_.rows - 1)), l_.I64(shape_.rows), ""), l_.I64(shape_.rows));
    Loop(l_.I64(0), rows, 1, [&](V i) {
      V row = Place(p_.a.outer, a_rows_, Min(Add(m0, i), l_.I64(p_.m - 1)));
      CopyRow(At(TypeOf(p_.a.type), a, row), k0, k, At(Sum(), to, Mul(i, l_.I64(kRowStride))));
    });
  }
  void CopyRow(V from, V k0, V k, V to) {
    const auto size = static_cast<unsigned>(cpu::SizeOf(p_.sum));
    if (AreAdjacent(p_.a.steps) && p_.a.type == p_.sum) {
      LLVMBuildMemCpy(l_.b, to, size, At(Sum(), from, k0), size, Mul(k, l_.I64(size)));
      return;
    }
    V whole = Mul(LLVMBuildSDiv(l_.b, k, l_.I64(l_.lanes), ""), l_.I64(l_.lanes));
    const auto gather = [&](V s, unsigned n) {
      Gather(p_.a, from, p_.a.steps, a_steps_, Add(k0, s), n, At(Sum(), to, s));
    };
    Loop(l_.I64(0), whole, l_.lanes, [&](V s) { gather(s, l_.lanes); });
    Loop(whole, k, 1, [&](V s) { gather(s, 1); });
  }
  // Panels [k][rows] of rows; past the last row, that one again.
  void PackRows(V a, V m0, V m, V k0, V k, V to) {
    const int64_t rows = shape_.rows;
    Loop(l_.I64(0), m, rows, [&](V i) {
      V panel = At(Sum(), to, Mul(i, k)), first = Add(m0, i);
      Loop(l_.I64(0), k, 1, [&](V s) {
        V from = At(TypeOf(p_.a.type), a, Place(p_.a.steps, a_steps_, Add(k0, s)));
        V column = At(Sum(), panel, Mul(s, l_.I64(rows)));
        Loop(l_.I64(0), l_.I64(rows), 1, [&](V w) {
          V row = Min(Add(first, w), l_.I64(p_.m - 1));
          CopyElement(p_.a, from, Place(p_.a.outer, a_rows_, row), At(Sum(), column, w));
        });
      });
    });
  }

  LlvmBuilder l_;
  const Product& p_;
  const CellShape shape_;
  int64_t width_, columns_;  // of a cell; of all panels that are packed at a time
  V cell_ = nullptr, scratch_ = nullptr, a_ = nullptr, b_ = nullptr, c_ = nullptr;
  V a_steps_ = nullptr, a_rows_ = nullptr, b_steps_ = nullptr, b_columns_ = nullptr;
};

}  // namespace

uint64_t ProductScratch(const Product& p) {
  const int64_t sums = IsNarrow(p.c_type) ? TileRows(p) * kColumns : 0;
  return static_cast<uint64_t>((PackedElements(p) + sums) * cpu::SizeOf(p.sum) + 63) / 64 * 64;
}

LLVMValueRef EmitProduct(const LlvmBuilder& l, const Product& p, const Processor& processor, const std::string& name) {
  return ProductEmitter(l, p, processor).Emit(name);
}

}  // namespace ricci::object
