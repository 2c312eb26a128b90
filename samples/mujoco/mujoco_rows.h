// The rows of the plugin, one file each.
#ifndef SAMPLES_MUJOCO_MUJOCO_ROWS_H_
#define SAMPLES_MUJOCO_MUJOCO_ROWS_H_
#include "ricci/plugin.hpp"

namespace engine {

ricci::RowList step_rows();
ricci::RowList jacobian_rows();
ricci::RowList transition_rows();

// All operands with the batch as dimension 0: more worlds.
inline ricci::Values MoreWorlds(const ricci::Eqn& e, std::span<const ricci::Value> in, int64_t) { return e.EmitN(in); }

}  // namespace engine
#endif
