// mujoco_step.hpp: mujoco.step for hosts in C++: the state of a world as a tree, and a step of it in a traced function.
#ifndef SAMPLES_MUJOCO_MUJOCO_STEP_HPP_
#define SAMPLES_MUJOCO_MUJOCO_STEP_HPP_
#include "ricci/emit.hpp"
#include "ricci/ricci.hpp"

// Of a static archive of the plugin, for Context::add_plugin.
extern "C" ricci_status* ricci_plugin_query_mujoco(const ricci_host_info* host, const ricci_plugin** out);

namespace engine {

// One world, or with further dimensions first, many.
template <typename T>
struct State {
  T qpos, qvel, act;  // f64[nq], f64[nv], f64[na]
  T warmstart;        // u64[nv]: the bits of qacc_warmstart; zeros begin without one
  T time;             // f64[]
};

// At rest: of the model only its number of activations is needed besides the position. nv: the length of qvel.
inline State<ricci::Value> AtRest(const ricci::Value& qpos, int64_t nv, int64_t na) {
  using ricci::DType;
  return {qpos, ricci::zeros(qpos, {nv}, DType::kF64), ricci::zeros(qpos, {na}, DType::kF64),
          ricci::zeros(qpos, {nv}, DType::kU64), ricci::zeros(qpos, {}, DType::kF64)};
}

// The state after one step of the MJCF `model` with the controls `ctrl`, f64[nu].
inline State<ricci::Value> Step(std::string_view model, const State<ricci::Value>& s, const ricci::Value& ctrl,
                                ricci::Location at = ricci::Location::Here()) {
  const ricci::Values in = {s.qpos, s.qvel, s.act, ctrl, s.warmstart, s.time};
  ricci::SetLocation(ricci::Operands(in).builder, at);
  const ricci::Values next = ricci::EmitN(5, "mujoco.step", in, {{"model", model}});
  return {next[0], next[1], next[2], next[3], next[4]};
}

}  // namespace engine
#endif
