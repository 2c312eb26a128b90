// vmap: as one structural equation (Vmap), or by the batching rules of the rows (Batch).
#ifndef RICCI_TRANSFORM_VMAP_H_
#define RICCI_TRANSFORM_VMAP_H_
#include "transform/jvp.h"
#include "transform/vmap_schedule.h"

namespace ricci { inline namespace v0 { namespace transform {

// A program with one equation vmap{body = f}; with the batch of `f` if it holds a batching rule of the host, which is
// asked now, so that derivatives of the batch are those of what it makes. in_axes / out_axes: the batched axis of each
// parameter / result, or -1.
absl::StatusOr<ir::ProgramRef> Vmap(const ir::Program& f, std::span<const int32_t> in_axes,
                                    std::span<const int32_t> out_axes, int64_t size, std::string_view axis_name,
                                    Schedule schedule);

struct BatchProgram {
  ir::ProgramRef program;  // batched parameters and results have the batch as axis 0
  Mask out_batched;
};
// `force[i] != 0` (empty = none): result i is batched even if it does not depend on a batched parameter.
absl::StatusOr<BatchProgram> Batch(const ir::Program& f, MaskView in_batched, int64_t size, std::string_view axis_name,
                                   MaskView force = {});
// The same with the batch of parameter i as axis in_axes[i], or -1; it is still axis 0 of batched results.
absl::StatusOr<BatchProgram> BatchAt(const ir::Program& f, std::span<const int32_t> in_axes, int64_t size,
                                     std::string_view axis_name, MaskView force = {});

// Appends `body` on each slice of `in` along `in_axes` (-1: the same for all), as operations on whole batches; gives
// its results, stacked along `out_axes`.
absl::StatusOr<trace::Vals> InlineBatch(trace::Builder& b, const ir::Program& body, std::span<const int64_t> in_axes,
                                        std::span<const int64_t> out_axes, int64_t size, std::string_view axis_name,
                                        std::span<const trace::Val> in);
// Refuses lanes for a body with an operation that has a batching rule of the host.
absl::Status CheckSchedule(const ir::Program& body, std::string_view schedule);

}}}  // namespace ricci::v0::transform
#endif
