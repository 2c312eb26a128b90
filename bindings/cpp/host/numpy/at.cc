// Updates at an index, as scatters.
#include "ricci/at.hpp"

#include "host/core/numpy_steps.h"
#include "host/numpy/indexed_region.h"
#include "ricci/elementwise.hpp"
#include "ricci/operators.hpp"
#include "ricci/shaping.hpp"

namespace ricci { inline namespace v0 {

Value UpdateRegion(std::string_view name, std::string_view prim, const Operand& x, IndexList items,
                   const Operand& updates, const AtOptions& options) {
  const CallSite site = SiteOfIndex(name, x, items, {&updates, 1});
  const Value v = site.Lift(x, DType::kNone);
  if (v.rank() == 0) site.Fail("a scalar has no elements to index");
  const IndexedRegion region = RegionOf(site, v, items);
  if (!region.new_dims.empty()) site.Fail("kNewAxis names no element; leave it out");
  const Value u = lax::convert_element_type(site.Lift(updates, v.dtype(), region.shape), v.dtype());
  Shape shape = region.shape;
  if (!BroadcastInto(shape, u.shape()) || shape != region.shape) {
    site.Fail("updates of shape ", u.shape(), " do not broadcast to ", region.shape, ", the shape of the elements");
  }
  const lax::ScatterDims d{region.window_dims, region.axes, region.axes, {}, {}};
  return lax::scatter_named(prim, v, region.indices, BroadcastValue(u, region.shape), d,
                            ModeOf(site, options, /*otherwise=*/"fill"), options.indices_are_sorted,
                            options.unique_indices);
}

std::string_view ModeOf(const CallSite& site, const AtOptions& o, std::string_view otherwise) {
  if (o.mode.empty()) return otherwise;
  if (o.mode == "drop") return "fill";
  if (o.mode == "fill" || o.mode == "clip" || o.mode == "promise_in_bounds") return o.mode;
  site.Fail("mode is ", o.mode, "; it must be fill, drop, clip or promise_in_bounds");
}

Value IndexedElements::get() const {
  const CallSite site = SiteOfIndex("get", x_, items_, {});
  const Value v = site.Lift(x_, DType::kNone);
  if (v.rank() == 0) site.Fail("a scalar has no elements to index");
  const std::string_view mode = ModeOf(site, options_, "clip");
  return GatherRegion(v, RegionOf(site, v, items_), mode, mode == "fill" ? options_.fill_value : std::nullopt);
}
Value IndexedElements::Update(std::string_view prim, const Operand& x, const Operand& y) const {
  return UpdateRegion("at", prim, x, items_, y, options_);
}
Value IndexedElements::set(const Operand& y) const { return Update("scatter", x_, y); }
Value IndexedElements::add(const Operand& y) const { return Update("scatter-add", x_, y); }
Value IndexedElements::subtract(const Operand& y) const { return Update("scatter-sub", x_, y); }
Value IndexedElements::multiply(const Operand& y) const { return Update("scatter-mul", x_, y); }
Value IndexedElements::min(const Operand& y) const { return Update("scatter-min", x_, y); }
Value IndexedElements::max(const Operand& y) const { return Update("scatter-max", x_, y); }
Value IndexedElements::Factors(const Operand& y) const {
  return Update("scatter-mul", Operand(ones_like(x_), x_.at), y);
}
Value IndexedElements::divide(const Operand& y) const { return ricci::divide(x_, Operand(Factors(y), x_.at)); }
Value IndexedElements::power(const Operand& y) const { return pow(x_, Operand(Factors(y), x_.at)); }

}}  // namespace ricci::v0
