// The loops of block_tridiagonal.solve: one system for each point of the batch, its rows in order.
//
// Row i is [d[i] - l[i] g[i-1] | u[i] | b[i] - l[i] y[i-1]], eliminated to [1 | g[i] | y[i]]; then x[i] = y[i] - g[i]
// x[i+1]. y is kept in the result, g in a private array.
#ifndef SAMPLES_BLOCK_ELIMINATION_HPP_
#define SAMPLES_BLOCK_ELIMINATION_HPP_
#include "ricci/plugin.hpp"

namespace block_tridiagonal {

using ricci::Dims;
using ricci::DType;
using ricci::Eqn;
using ricci::Index;
using ricci::KernelArray;
using ricci::KernelBuilder;
using ricci::Scalar;

class Elimination {
 public:
  Elimination(KernelBuilder& k, const Eqn& e, const Index& batch)
      : k_(k),
        rows_(e.in(3).dim(e.in(3).rank() - 3)),
        size_(e.in(3).dim(e.in(3).rank() - 2)),
        columns_(e.in(3).dim(e.in(3).rank() - 1)),
        l_(System(k.Operand(0), batch)),
        d_(System(k.Operand(1), batch)),
        u_(System(k.Operand(2), batch)),
        b_(System(k.Operand(3), batch)),
        x_(System(k.Result(), batch)),
        block_(Private(e, {size_, size_})),
        g_(Private(e, {rows_, size_, size_})),
        largest_(Private(e, {})),
        pivot_(k.Local(e.Type(DType::kI64, {}))) {}

  void Solve() const {
    Row(k_.At(0), /*is_first=*/true);
    k_.Loop(k_.At(1), k_.At(rows_), [&](Scalar i) { Row(i, /*is_first=*/false); });
    k_.Loop(k_.At(1), k_.At(rows_), [&](Scalar step) { SubstituteBack(k_.At(rows_ - 1) - step); });
  }

 private:
  static KernelArray System(KernelArray a, const Index& batch) {
    for (Scalar i : batch) a = a.View(0, i);
    return a;
  }
  KernelArray Private(const Eqn& e, std::initializer_list<int64_t> dims) const {
    return k_.Local(e.Type(e.out().dtype(), Dims(dims.begin(), dims.size())));
  }
  template <typename F>
  void Each(int64_t rows, int64_t columns, F&& f) const {
    k_.Loop(rows, [&](Scalar r) { k_.Loop(columns, [&](Scalar c) { f(r, c); }); });
  }
  // Element (r, c) of block[i] times m.
  template <typename F>
  Scalar Product(KernelArray blocks, Scalar i, Scalar r, F&& m) const {
    return k_.Reduce(RICCI_S_ADD, size_, [&](Scalar j) { return blocks.Load({i, r, j}) * m(j); });
  }

  void Row(Scalar i, bool is_first) const {
    const Scalar before = i - 1;
    Each(size_, size_, [&](Scalar r, Scalar c) {
      const Scalar d = d_.Load({i, r, c});
      const auto known = [&](Scalar j) { return g_.Load({before, j, c}); };
      block_.Store({r, c}, is_first ? d : d - Product(l_, i, r, known));
      g_.Store({i, r, c}, u_.Load({i, r, c}));
    });
    Each(size_, columns_, [&](Scalar r, Scalar c) {
      const Scalar b = b_.Load({i, r, c});
      const auto known = [&](Scalar j) { return x_.Load({before, j, c}); };
      x_.Store({i, r, c}, is_first ? b : b - Product(l_, i, r, known));
    });
    k_.Loop(size_, [&](Scalar step) {
      if (size_ > 1) BringPivot(i, step);
      Clear(i, step);
    });
  }

  // The row with the largest element of column `step`, from row `step` on, takes the place of row `step`.
  void BringPivot(Scalar i, Scalar step) const {
    largest_.Store({}, Like(d_.Load({i, step, step}), -1));
    pivot_.Store({}, step);
    k_.Loop(step, k_.At(size_), [&](Scalar r) {
      const Scalar v = ricci::Apply(RICCI_S_ABS, {block_.Load({r, step})}), best = largest_.Load({});
      const Scalar is_larger = v > best;
      largest_.Store({}, Select(is_larger, v, best));
      pivot_.Store({}, Select(is_larger, r, pivot_.Load({})));
    });
    const Scalar from = pivot_.Load({});
    k_.Loop(size_, [&](Scalar c) {
      Swap(block_, {step, c}, {from, c});
      Swap(g_, {i, step, c}, {i, from, c});
    });
    k_.Loop(columns_, [&](Scalar c) { Swap(x_, {i, step, c}, {i, from, c}); });
  }
  static void Swap(KernelArray a, std::initializer_list<Scalar> to, std::initializer_list<Scalar> from) {
    const Scalar first = a.Load(to), second = a.Load(from);
    a.Store(to, second);
    a.Store(from, first);
  }

  // Row `step` divided by its pivot, and subtracted from all others so that their element of column `step` is 0.
  void Clear(Scalar i, Scalar step) const {
    const Scalar inverse = 1.0 / block_.Load({step, step});
    k_.Loop(size_, [&](Scalar c) {
      block_.Store({step, c}, block_.Load({step, c}) * inverse);
      g_.Store({i, step, c}, g_.Load({i, step, c}) * inverse);
    });
    k_.Loop(columns_, [&](Scalar c) { x_.Store({i, step, c}, x_.Load({i, step, c}) * inverse); });
    k_.Loop(size_, [&](Scalar r) {
      k_.If(r != step, [&] {
        const Scalar factor = block_.Load({r, step});
        k_.Loop(size_, [&](Scalar c) {
          block_.Store({r, c}, block_.Load({r, c}) - factor * block_.Load({step, c}));
          g_.Store({i, r, c}, g_.Load({i, r, c}) - factor * g_.Load({i, step, c}));
        });
        k_.Loop(columns_, [&](Scalar c) { x_.Store({i, r, c}, x_.Load({i, r, c}) - factor * x_.Load({i, step, c})); });
      });
    });
  }

  void SubstituteBack(Scalar i) const {
    const Scalar after = i + 1;
    Each(size_, columns_, [&](Scalar r, Scalar c) {
      const auto known = [&](Scalar j) { return x_.Load({after, j, c}); };
      x_.Store({i, r, c}, x_.Load({i, r, c}) - Product(g_, i, r, known));
    });
  }

  KernelBuilder& k_;
  const int64_t rows_, size_, columns_;
  const KernelArray l_, d_, u_, b_, x_;
  const KernelArray block_;    // the block that is eliminated
  const KernelArray g_;        // of all rows
  const KernelArray largest_;  // the element that would be the pivot, and its row
  const KernelArray pivot_;
};

inline void Eliminate(KernelBuilder& k, const Eqn& e) {
  if (e.out().elements() == 0) return;
  const Dims shape = e.in(3).shape();
  k.Parallel(shape.first(shape.size() - 3), [&](const Index& batch) { Elimination(k, e, batch).Solve(); });
}

}  // namespace block_tridiagonal
#endif
