// householder_product, ormqr: the matrix q of Householder reflectors (householder.hpp), and products with it.
//
// q = h_0 h_1 ... is never formed by ormqr, where every column (row) of c is multiplied by itself. householder_product
// applies the reflectors, the last first, to the columns of a unit matrix; the first i columns are still those of the
// unit matrix when h_i comes, and are left alone.
#include "householder.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"left", AttrKind::kBool, "true"}, {"transpose", AttrKind::kBool, "false"}};

bool IsLeft(const Eqn& e) { return e.flag("left", true); }
bool IsTransposed(const Eqn& e) { return e.flag("transpose", false); }
int64_t ReflectorsOf(const Eqn& e) { return e.in(1).dim(e.in(1).rank() - 1); }

// ---- types ----
void WantReflectors(const Eqn& e) {
  const ArrayType a = e.in(0);
  if (ReflectorsOf(e) <= std::min(RowsOf(a), ColumnsOf(a))) return;
  e.Fail("operand 0 is ", a, "; it cannot have ", ReflectorsOf(e), " reflectors, the last dimension of ", e.in(1));
}
ArrayTypes ProductType(const Eqn& e) {
  e.WantOperands(2);
  WantMatrices(e, 0, kWideFloats | kComplexes);
  WantOneBatch(e, {2, 1});
  const ArrayType a = e.in(0);
  if (RowsOf(a) < ColumnsOf(a)) e.Fail("operand 0 is ", a, "; its matrices must have at least as many rows as columns");
  WantReflectors(e);
  return a;
}
ArrayTypes MultiplyType(const Eqn& e) {
  e.WantOperands(3);
  WantMatrices(e, 0, kWideFloats | kComplexes);
  WantOneBatch(e, {2, 1, 2});
  WantReflectors(e);
  const ArrayType c = e.in(2);
  const int64_t size = IsLeft(e) ? RowsOf(c) : ColumnsOf(c);
  if (size != RowsOf(e.in(0))) {
    e.Fail("operands 0 and 2 are ", e.in(0), " and ", c, "; with left=", IsLeft(e) ? "true" : "false",
           " the matrices of c have ", RowsOf(e.in(0)), IsLeft(e) ? " rows" : " columns", ", not ", size);
  }
  return c;
}

// ---- householder_product ----
struct Product {
  int64_t rows, columns, reflectors;
  KernelMatrix a, q;
  KernelList taus;
};

// Column `j` of the unit matrix, multiplied by the reflectors that change it.
std::vector<Scalar> ColumnInRegisters(KernelBuilder& k, const Product& p, int64_t j, Scalar like) {
  std::vector<Scalar> x(static_cast<size_t>(p.rows), AsKind(like, Like(RealPart(like), 0)));
  x[static_cast<size_t>(j)] = AsKind(like, Like(RealPart(like), 1));
  for (int64_t step = std::min(j + 1, p.reflectors) - 1; step >= 0; --step) {
    std::vector<Scalar> v;
    for (int64_t i = step; i < p.rows; ++i) v.push_back(p.a.Load(k.At(i), k.At(step)));
    ApplyReflector(p.taus.Load(k.At(step)), v, std::span(x).subspan(static_cast<size_t>(step)));
  }
  return x;
}
void ProductInRegisters(KernelBuilder& k, const Product& p) {
  const Scalar like = p.a.Load(k.At(0), k.At(0));
  for (int64_t j = 0; j < p.columns; ++j) {
    const std::vector<Scalar> x = ColumnInRegisters(k, p, j, like);
    for (int64_t i = 0; i < p.rows; ++i) p.q.Store(k.At(i), k.At(j), x[static_cast<size_t>(i)]);
  }
}

void ProductInLoops(KernelBuilder& k, const Eqn& e, const Product& p) {
  const DType dtype = e.out().dtype();
  const KernelArray sums = k.Local(e.in(0).WithShape(Dims(&p.columns, 1)));
  const Scalar zero = k.Constant(dtype, 0), one = k.Constant(dtype, 1), rows = k.At(p.rows), end = k.At(p.columns);
  k.Loop(p.rows, [&](Scalar i) { k.Loop(p.columns, [&](Scalar j) { p.q.Store(i, j, Select(i == j, one, zero)); }); });
  k.Loop(p.reflectors, [&](Scalar at) {
    const Scalar step = p.reflectors - 1 - at;
    ApplyToColumns(k, p.taus.Load(step), p.a, step, rows, step, p.q, {step, end}, sums);
  });
}

void ProductLoops(KernelBuilder& k, const Eqn& e) {
  const ArrayType a = e.in(0);
  if (a.elements() == 0) return;
  k.Parallel(BatchOf(a), [&](const Index& batch) {
    const Product p{RowsOf(a),           ColumnsOf(a),         ReflectorsOf(e), {k.Operand(0), batch},
                    {k.Result(), batch}, {k.Operand(1), batch}};
    p.rows <= kSmallMatrix ? ProductInRegisters(k, p) : ProductInLoops(k, e, p);
  });
}

// ---- ormqr ----
// One column (row) of c.
class Line {
 public:
  Line(KernelBuilder& k, const Eqn& e, const Index& batch, Scalar line)
      : k_(k),
        rows_(RowsOf(e.in(0))),
        reflectors_(ReflectorsOf(e)),
        left_(IsLeft(e)),
        transposed_(IsTransposed(e)),
        line_(line),
        a_(k.Operand(0), batch),
        c_(k.Operand(2), batch),
        result_(k.Result(), batch),
        taus_(k.Operand(1), batch) {}

  void Multiply() const { rows_ <= kSmallMatrix ? InRegisters() : InLoops(); }

 private:
  Scalar Load(const KernelMatrix& m, Scalar i) const { return left_ ? m.Load(i, line_) : m.Load(line_, i); }
  void Store(Scalar i, Scalar v) const { left_ ? result_.Store(i, line_, v) : result_.Store(line_, i, v); }
  bool Reversed() const { return left_ != transposed_; }
  // A row of c is multiplied from the right: the elements of v change places with their conjugates.
  Scalar V(Scalar i, Scalar step) const { return left_ ? a_.Load(i, step) : Conj(a_.Load(i, step)); }
  Scalar Tau(Scalar step) const { return transposed_ ? Conj(taus_.Load(step)) : taus_.Load(step); }

  void InRegisters() const {
    std::vector<Scalar> x;
    for (int64_t i = 0; i < rows_; ++i) x.push_back(Load(c_, k_.At(i)));
    for (int64_t at = 0; at < reflectors_; ++at) {
      const int64_t step = Reversed() ? reflectors_ - 1 - at : at;
      std::vector<Scalar> v;
      for (int64_t i = step; i < rows_; ++i) v.push_back(V(k_.At(i), k_.At(step)));
      ApplyReflector(Tau(k_.At(step)), v, std::span(x).subspan(static_cast<size_t>(step)));
    }
    for (int64_t i = 0; i < rows_; ++i) Store(k_.At(i), x[static_cast<size_t>(i)]);
  }
  void InLoops() const {
    k_.Loop(rows_, [&](Scalar i) { Store(i, Load(c_, i)); });
    k_.Loop(reflectors_, [&](Scalar at) {
      const Scalar step = Reversed() ? reflectors_ - 1 - at : at, first = Load(result_, step);
      const Scalar sum =
          k_.Reduce(RICCI_S_ADD, step + 1, k_.At(rows_), [&](Scalar i) { return Conj(V(i, step)) * Load(result_, i); });
      const Scalar amount = Tau(step) * (first + sum);
      Store(step, first - amount);
      k_.Loop(step + 1, k_.At(rows_), [&](Scalar i) { Store(i, Load(result_, i) - V(i, step) * amount); });
    });
  }

  KernelBuilder& k_;
  const int64_t rows_, reflectors_;
  const bool left_, transposed_;
  const Scalar line_;
  const KernelMatrix a_, c_, result_;
  const KernelList taus_;
};

void MultiplyLoops(KernelBuilder& k, const Eqn& e) {
  const ArrayType c = e.in(2);
  if (c.elements() == 0) return;
  Shape lines = BatchOf(c);
  lines.push_back(IsLeft(e) ? ColumnsOf(c) : RowsOf(c));
  k.Parallel(lines, [&](Index at) {
    const Scalar line = at.back();
    at.pop_back();
    Line(k, e, at, line).Multiply();
  });
}

// ---- factors ----
// The lines of c are independent.
std::string MultiplyFactors(const Eqn& e) {
  FactorText text;
  Shape a;
  for (int64_t i = 0; i + 2 < e.in(0).rank(); ++i) a.push_back(text.Shared());
  Shape taus = a, c = a, out = a;
  const int64_t line = text.Shared(), element = text.Whole(), multiplied = text.Whole();
  a.insert(a.end(), {text.Whole(), text.Whole()});
  taus.push_back(text.Whole());
  c.insert(c.end(), {IsLeft(e) ? element : line, IsLeft(e) ? line : element});
  out.insert(out.end(), {IsLeft(e) ? multiplied : line, IsLeft(e) ? line : multiplied});
  for (const Shape& in : {a, taus, c}) text.AddIn(in);
  text.AddOut(out);
  return text.Done();
}

constexpr std::string_view kMissing = "jvp: jax.lax has none, that of qr is used; transpose: not linear";

constexpr Row kRows[] = {
    {.name = "householder_product",
     .doc = "q = householder_product(a, taus): the first columns, as many as a has, of the product of the Householder "
            "reflectors that are below the diagonal of a and in taus",
     .flags = RICCI_PRIM_EXPENSIVE,
     .type = ProductType,
     .batch = rules::BatchAllFirst<EmitBatched>,
     .factors_of = BatchFactors,
     .lowerings = kWideLoops<ProductLoops>,
     .missing = kMissing,
     .examples = "(f64[3,3], f64[3]); (f64[2,4,2], f64[2,1]); (c128[3,2], c128[2]); (f64[11,10], f64[9]); "
                 "(c128[9,2], c128[2])"},
    {.name = "ormqr",
     .doc =
         "d = ormqr(a, taus, c): q c if `left`, else c q, where q is the product of the Householder reflectors below "
         "the diagonal of a and in taus, or with `transpose` its inverse",
     .attrs = kAttrs,
     .flags = RICCI_PRIM_EXPENSIVE,
     .type = MultiplyType,
     .batch = rules::BatchAllFirst<EmitBatched>,
     .factors_of = MultiplyFactors,
     .lowerings = kWideLoops<MultiplyLoops>,
     .missing = kMissing,
     .examples = "(f64[3,3], f64[3], f64[3,2]); (f64[2,4,2], f64[2,1], f64[2,2,4]) left=false; "
                 "(c128[3,2], c128[2], c128[3,2]) transpose=true; "
                 "(c128[10,3], c128[3], c128[2,10]) left=false transpose=true; (c128[10,3], c128[3], c128[10,2])"}};

}  // namespace

RowList householder_product_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
