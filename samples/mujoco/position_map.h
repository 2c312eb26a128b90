// position_map: tangents of qpos as Ricci has them (nq numbers) and as MuJoCo has them (nv numbers), both linear maps.
//
// They differ where a joint has a quaternion q, 4 numbers in qpos but 3 in qvel: an angular velocity w in the frame of
// the body. MuJoCo reads q as q / |q|, so with Im the last three parts of a product of quaternions
//
//   w  = 2 Im(conj(q) dq) / |q|^2     for any q but 0: the derivative of mj_differentiatePos by its second position
//   dq = q (0, w) / 2                 for |q| = 1, as mj_step leaves it: that of mj_integratePos by the velocity
#ifndef SAMPLES_MUJOCO_POSITION_MAP_H_
#define SAMPLES_MUJOCO_POSITION_MAP_H_
#include <mujoco/mujoco.h>

#include <cstdint>
#include <vector>

namespace engine {

class PositionMap {
 public:
  explicit PositionMap(const mjModel* m);

  bool has_quaternions() const { return has_quaternions_; }
  // row[nq] = velocity_row[nv] times the map from tangents of qpos to velocities, at `qpos`.
  void ToPositionRow(const double* qpos, const double* velocity_row, double* row) const;
  // rows[nq][n] = the map from velocities to tangents of qpos, at `qpos`, times velocity_rows[nv][n].
  void ToPositionRows(const double* qpos, const double* velocity_rows, int64_t n, double* rows) const;

 private:
  struct Part {
    int64_t position, velocity;  // its first number in qpos and in qvel
    bool quaternion;             // 4 and 3 numbers; else one each
  };
  std::vector<Part> parts_;
  bool has_quaternions_ = false;
};

}  // namespace engine
#endif
