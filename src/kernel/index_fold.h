// IndexFolder: arithmetic on integers that is folded while it is written (i32 and i64 as linear forms, other widths by
// ranges).
//
// The identities used, each with a test of its name in index_fold_test.cc:
//   SumsAndMultiplesOfForms        terms and constants of forms collect, modulo 2^32 or 2^64
//   QuotientOfAMultipleAndARest    (c*q + r) / c = q + r / c           if r >= 0
//   RemainderOfAMultipleAndARest   (c*q + r) % c = r % c               if r >= 0
//   QuotientByACommonDivisor       (g*q + r) / (g*c) = q / c           if 0 <= r < g
//   RemainderByACommonDivisor      (g*q + r) % (g*c) = g*(q % c) + r   if 0 <= r < g
//   QuotientOfAQuotient            (x / a) / b = x / (a*b)
//   QuotientOfARemainder           (x % (a*b)) / a = (x / a) % b
//   RemainderOfARemainder          (x % (a*b)) % a = x % a
//   DigitsMerge                    m*c*(q / c) + m*(q % c) = m*q
//   ComparisonsByTheRangeOfTheDifference
// Those of quotients and remainders are applied to values known not to be negative and forms known not to wrap only;
// that of digits holds for all.
#ifndef RICCI_KERNEL_INDEX_FOLD_H_
#define RICCI_KERNEL_INDEX_FOLD_H_
#include "kernel/node_table.h"

namespace ricci { inline namespace v0 { namespace kernel {

class IndexFolder {
 public:
  explicit IndexFolder(NodeTable& table) : table_(table) {}

  // Operands have one dtype with HasForms.
  Val Add(Val x, Val y) { return AddScaled(x, y, 1); }
  Val Sub(Val x, Val y) { return AddScaled(x, y, -1); }
  Val Mul(Val x, Val y);
  Val MulByConstant(Val x, int64_t c);
  Val Div(Val x, Val y);
  Val Rem(Val x, Val y);
  // Any integer dtype or bool. LT, LE, EQ or NE: the result if it is known.
  std::optional<bool> Decide(uint32_t op, Val x, Val y) const;
  Val MinMax(uint32_t op, Val x, Val y);
  Val Convert(Val x, uint32_t to);

  // The value of a form.
  Val Make(const LinearForm& f, uint32_t dtype);

 private:
  Val AddScaled(Val x, Val y, int64_t sign);
  Val AddConstant(Val base, int64_t c, const LinearForm& form);
  Val MakeSum(const LinearForm& f, uint32_t dtype);
  Val Emit(uint32_t op, Val a, Val b, const LinearForm& form);
  Val EmitOpaque(uint32_t op, Val x, Val y, Range range);
  Val WithoutConstant(Val v);
  Val Known(const LinearForm& f, uint32_t dtype);
  LinearForm MergeDigits(LinearForm f, uint32_t dtype) const;
  Val DivByConstant(Val x, int64_t c);
  Val RemByConstant(Val x, int64_t c);
  Val DivOfMultiple(const LinearForm& f, uint32_t dtype, int64_t c);
  Val RemOfMultiple(const LinearForm& f, uint32_t dtype, int64_t c);
  Val DivOfDigits(Val x, int64_t c);
  int64_t BestDivisor(const LinearForm& f, uint32_t dtype, int64_t c) const;
  LinearForm ExactForm(Val v) const;

  NodeTable& table_;
};

}}}  // namespace ricci::v0::kernel
#endif
