// The lowering of the scatters: loops over windows and their elements, with a store or a combination for each element.
//
// Batching dimensions and leading dimensions of windows run in parallel, because they never write the same element.
// Inside of these, windows that are combined may overlap, and windows that are written run in order.
#ifndef RICCI_LAX_SCATTER_LOWERING_HPP_
#define RICCI_LAX_SCATTER_LOWERING_HPP_
#include "scatter_dims.hpp"

namespace ricci { inline namespace v0 { namespace lax {

// The new value of an element: a scalar operation of it and the update, or the update.
enum class Combine : uint32_t {
  kReplace = 0,
  kAdd = RICCI_S_ADD,
  kSub = RICCI_S_SUB,
  kMul = RICCI_S_MUL,
  kMin = RICCI_S_MIN,
  kMax = RICCI_S_MAX
};

inline void Update(const KernelArray& result, Combine how, const Index& to, Scalar update) {
  if (how == Combine::kReplace) return result.Store(to, update);
  if (how == Combine::kSub) return result.Combine(to, RICCI_S_ADD, -update);
  result.Combine(to, static_cast<uint32_t>(how), update);
}

// The number of leading dimensions of the window: they are stored before those that count windows and, wherever the
// window lies, are whole or start at 0, so that different points of them never write the same element.
inline size_t LeadingDims(const WindowDims& d, std::span<const int64_t> counted) {
  const Shape counting = d.Counting(), window = d.WindowOfOperand();
  size_t n = 0;
  const auto leads = [&](size_t i) {
    return !rules::Contains(d.start_map, window[i]) && std::all_of(counted.begin(), counted.end(), [&](int64_t c) {
      return d.window[i] < counting[static_cast<size_t>(c)];
    });
  };
  while (!counted.empty() && n < window.size() && leads(n)) ++n;
  return n;
}

// The position of the window of an index point.
struct WindowPosition {
  Index start;    // in the dimensions of the operand
  Scalar inside;  // id 0: it always is
};

// The position for index point `point`: all dimensions of the index array except the last.
inline WindowPosition PositionOfWindow(KernelBuilder& k, const Eqn& e, const WindowDims& d, const Shape& sizes,
                                       const Index& point) {
  WindowPosition window_at{Index(static_cast<size_t>(d.operand_rank), k.At(0)), {}};
  Index position = point;
  for (size_t i = 0; i < d.operand_batch.size(); ++i) {
    window_at.start[static_cast<size_t>(d.operand_batch[i])] = point[static_cast<size_t>(d.index_batch[i])];
  }
  position.push_back(k.At(0));
  for (size_t j = 0; j < d.start_map.size(); ++j) {
    const auto along = static_cast<size_t>(d.start_map[j]);
    const int64_t last = e.in(0).shape()[along] - sizes[along];
    position.back() = k.At(static_cast<int64_t>(j));
    const Scalar wide = WideIndex(k.Operand(1).Load(position));
    window_at.start[along] = ClampedIndex(wide, last);
    if (e.str("mode") == "clip") continue;
    const Scalar in_range = IsInRange(wide, last);
    window_at.inside = window_at.inside.id == 0 ? in_range : window_at.inside & in_range;
  }
  return window_at;
}

// write(to, from) for each element of the window of `point`, at `from` in the updates, of that shape; `leading` is the
// point in its leading dimensions.
template <typename F>
void OverWindow(KernelBuilder& k, const Eqn& e, const WindowDims& d, Dims updates, const Index& point,
                const Index& leading, F&& write) {
  const Shape sizes = WindowSizes(d, updates), window = d.WindowOfOperand(), counting = d.Counting();
  const WindowPosition window_at = PositionOfWindow(k, e, d, sizes, point);
  const auto all = [&] {
    k.Parallel(rules::Pick(sizes, Dims(window).subspan(leading.size())), [&](const Index& inner) {
      Index offset = leading;
      offset.insert(offset.end(), inner.begin(), inner.end());
      Index to = window_at.start, from(updates.size());
      for (size_t i = 0; i < counting.size(); ++i) from[static_cast<size_t>(counting[i])] = point[i];
      for (size_t i = 0; i < window.size(); ++i) {
        from[static_cast<size_t>(d.window[i])] = offset[i];
        to[static_cast<size_t>(window[i])] = window_at.start[static_cast<size_t>(window[i])] + offset[i];
      }
      write(to, from);
    });
  };
  window_at.inside.id == 0 ? all() : k.If(window_at.inside, all);
}

// All index points of the dimensions `dims`, in order.
template <typename F>
void LoopOver(KernelBuilder& k, Dims extents, std::span<const int64_t> dims, Index& point, F&& body) {
  if (dims.empty()) return body();
  k.Loop(extents[static_cast<size_t>(dims[0])], [&](Scalar i) {
    point[static_cast<size_t>(dims[0])] = i;
    LoopOver(k, extents, dims.subspan(1), point, body);
  });
}

// write(to, from) for each element of all windows of updates of that shape: in the order of the positions, or in any.
template <typename F>
void OverWindows(KernelBuilder& k, const Eqn& e, Dims updates, bool in_order, F&& write) {
  if (WritesNothing(e)) return;
  const WindowDims d(e, kScatterNames);
  const ArrayType x = e.in(0), indices = e.in(1);
  const Shape counted = rules::Complement(d.index_batch, indices.rank() - 1);
  const size_t leads = LeadingDims(d, counted);
  Shape apart = rules::Pick(x.shape(), d.operand_batch);
  for (size_t i = 0; i < leads; ++i) apart.push_back(updates[static_cast<size_t>(d.window[i])]);
  k.Parallel(apart, [&](const Index& at) {
    Index point(static_cast<size_t>(indices.rank() - 1));
    for (size_t i = 0; i < d.index_batch.size(); ++i) point[static_cast<size_t>(d.index_batch[i])] = at[i];
    const Index leading(at.end() - static_cast<ptrdiff_t>(leads), at.end());
    if (in_order) {
      LoopOver(k, indices.shape(), counted, point, [&] { OverWindow(k, e, d, updates, point, leading, write); });
      return;
    }
    k.Parallel(rules::Pick(indices.shape(), counted), [&](const Index& count) {
      for (size_t i = 0; i < counted.size(); ++i) point[static_cast<size_t>(counted[i])] = count[i];
      OverWindow(k, e, d, updates, point, leading, write);
    });
  });
}

template <Combine combine>
void ScatterUpdates(KernelBuilder& k, const Eqn& e) {
  OverWindows(k, e, e.in(2).shape(), /*in_order=*/combine == Combine::kReplace,
              [&](const Index& to, const Index& from) { Update(k.Result(), combine, to, k.Operand(2).Load(from)); });
}

}}}  // namespace ricci::v0::lax
#endif
