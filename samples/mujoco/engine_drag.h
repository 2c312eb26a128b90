// engine_drag: a plugin of MuJoCo for passive forces, `ricci.drag`, whose formula is a Ricci program: the drag of a
// fluid, -k |v| v for each degree of freedom.
//
// An instance is made with each mjData, so its bound call is too; it is kept where MuJoCo keeps data of plugins.
#ifndef SAMPLES_MUJOCO_ENGINE_DRAG_H_
#define SAMPLES_MUJOCO_ENGINE_DRAG_H_
#include "ricci/ricci.hpp"

namespace engine {

inline constexpr double kDrag = 0.05;  // k

// Compiles the formula for models with `nv` degrees of freedom and registers the plugin, once for the process. The
// context lives on until the process ends.
void RegisterDrag(const ricci::Context& ctx, int64_t nv);

}  // namespace engine
#endif
