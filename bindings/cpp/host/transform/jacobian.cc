// Jacobians over lists of leaves.
//
// Each unit vector over all elements of all chosen leaves is one entry of the batch; leaf i gets its own columns of the
// identity. One vmap thus covers any tree.
#include "ricci/jacobian.hpp"

#include "ricci/lax.hpp"
#include "ricci/vectorize.hpp"

namespace ricci { inline namespace v0 {
namespace {

// Some leaves seen as parts of one long vector.
struct Stacked {
  std::vector<ArrayType> types;
  std::vector<int64_t> first;  // element of each
  int64_t size = 0;

  explicit Stacked(std::vector<ArrayType> leaves) : types(std::move(leaves)) {
    for (const ArrayType& t : types) {
      first.push_back(size);
      size += t.elements();
    }
  }
};

Shape Appended(Dims a, Dims b) {
  Shape out(a.begin(), a.end());
  out.insert(out.end(), b.begin(), b.end());
  return out;
}
Value Iota(const CallSite& site, const Shape& shape, int64_t dimension) {
  Value v = lax::iota(site.builder, kDefaultInt, shape, dimension);
  v.scope = site.scope;
  return v;
}
// The part of leaf i in every unit vector: [size, shape of the leaf].
Value UnitVectors(const CallSite& site, const Stacked& s, size_t i) {
  const Shape matrix{s.size, s.types[i].elements()};
  const Value row = Iota(site, matrix, 0), column = Iota(site, matrix, 1);
  const Value one = lax::eq(row, lax::add(column, lax::full_like(column, s.first[i])));
  return lax::reshape(lax::convert_element_type(one, s.types[i].dtype()), Appended(Shape{s.size}, s.types[i].shape()));
}
Values AllUnitVectors(const CallSite& site, const Stacked& s) {
  Values out;
  for (size_t i = 0; i < s.types.size(); ++i) out.push_back(UnitVectors(site, s, i));
  return out;
}
Value Zeros(const CallSite& site, const ArrayType& out, const ArrayType& in) {
  Value zero = lax::zeros(site.builder, out.WithShape(Appended(out.shape(), in.shape())));
  zero.scope = site.scope;
  return zero;
}

// The types of f's results, which must be of `set`.
std::vector<ArrayType> ResultsOf(const CallSite& site, const Program& f, DTypeSet set) {
  std::vector<ArrayType> out;
  for (ricci_type id : f.results()) {
    out.emplace_back(site.context(), id);
    if (In(out.back().dtype(), set)) continue;
    site.Fail("result ", out.size() - 1, " of the function is ", out.back(), "; it must be floating",
              IsComplex(out.back().dtype()) ? "; take its real and imaginary part" : "");
  }
  return out;
}
// f, of which the operands from `first_batched` on have a batch in front; the batch of every result is at its front.
Values ApplyOverBatch(const CallSite& site, const Program& f, const Values& in, size_t first_batched, int64_t size) {
  std::vector<int64_t> in_axes(in.size(), kUnbatched);
  std::fill(in_axes.begin() + static_cast<int64_t>(first_batched), in_axes.end(), 0);
  const std::vector<int64_t> out_axes(f.results().size(), 0);
  const Program v = VmapProgram(site, f, in_axes, out_axes, size, {});
  return Apply(site, v, in);
}
std::vector<ArrayType> TypesOfSelected(const Values& leaves, std::span<const uint8_t> mask) {
  std::vector<ArrayType> out;
  for (const Value& v : Selected(leaves, mask)) out.push_back(v.type());
  return out;
}
// f without its first `n` results.
Program WithoutFirst(const CallSite& site, const Program& f, size_t n) {
  auto rest = [&](const CallSite&, const Values& params) {
    const Values all = Inline(f, params);
    return Part(all, n, all.size() - n);
  };
  return Wrapped(site, f.params(), rest);
}

}  // namespace

Values ForwardJacobian(const CallSite& site, LeafFunction f, const Values& leaves, std::span<const size_t> counts,
                       std::span<const size_t> chosen) {
  auto active = LeavesOfArguments(site, leaves, counts, chosen);
  const Stacked x(TypesOfSelected(leaves, active));
  for (const ArrayType& t : x.types) {
    if (IsComplex(t.dtype()))
      site.Fail("an argument is ", t, "; it must be floating: use jvp, or real and imaginary parts");
  }
  const Closed<Value> closed = Close(site, f, TypesOf(leaves));
  const std::vector<ArrayType> results = ResultsOf(site, closed.program, kInexact);
  active.resize(closed.program.params().size(), 0);
  Program j = MakeProgramAt(site.at, [&](ricci_program** out) {
    return ricci_jvp(closed.program.handle(), active.data(), static_cast<uint32_t>(active.size()), out);
  });
  Values columns;
  if (x.size > 0) {
    const Values known = Joined(leaves, closed.captured);
    j = WithoutFirst(site, j, results.size());
    columns = ApplyOverBatch(site, j, Joined(known, AllUnitVectors(site, x)), known.size(), x.size);
  }
  Values out;
  for (size_t o = 0; o < results.size(); ++o) {
    for (size_t i = 0; i < x.types.size(); ++i) {
      const int64_t n = x.types[i].elements();
      if (x.size == 0) {
        out.push_back(Zeros(site, results[o], x.types[i]));
        continue;
      }
      const Value mine = lax::slice_in_dim(columns[o], x.first[i], x.first[i] + n, 0);
      Shape order = CountFrom(1, results[o].rank());
      order.push_back(0);
      out.push_back(lax::reshape(lax::transpose(mine, order), Appended(results[o].shape(), x.types[i].shape())));
    }
  }
  return out;
}

Values ReverseJacobian(const CallSite& site, LeafFunction f, const Values& leaves, std::span<const size_t> counts,
                       std::span<const size_t> chosen) {
  auto wanted = LeavesOfArguments(site, leaves, counts, chosen);
  const std::vector<ArrayType> in = TypesOfSelected(leaves, wanted);
  const Closed<Value> closed = Close(site, f, TypesOf(leaves));
  const Stacked y(ResultsOf(site, closed.program, kFloats));
  wanted.resize(closed.program.params().size(), 0);
  ricci_program *fwd = nullptr, *bwd = nullptr;
  CheckAt(site.at, ricci_vjp(closed.program.handle(), wanted.data(), static_cast<uint32_t>(wanted.size()), &fwd, &bwd));
  const Program forward(fwd), backward(bwd);
  Values rows;
  if (y.size > 0) {
    const Values all = Apply(site, forward, Joined(leaves, closed.captured));
    const Values residuals = Part(all, y.types.size(), all.size() - y.types.size());
    rows = ApplyOverBatch(site, backward, Joined(residuals, AllUnitVectors(site, y)), residuals.size(), y.size);
  }
  Values out;
  for (size_t o = 0; o < y.types.size(); ++o) {
    const int64_t n = y.types[o].elements();
    for (size_t i = 0; i < in.size(); ++i) {
      if (y.size == 0) {
        out.push_back(Zeros(site, y.types[o], in[i]));
        continue;
      }
      const Value mine = lax::slice_in_dim(rows[i], y.first[o], y.first[o] + n, 0);
      out.push_back(lax::reshape(mine, Appended(y.types[o].shape(), in[i].shape())));
    }
  }
  return out;
}

}}  // namespace ricci::v0
