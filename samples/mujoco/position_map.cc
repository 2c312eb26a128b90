#include "position_map.h"

#include <algorithm>
#include <array>

namespace engine {
namespace {

// Row k: part k of Im(conj(q) p) for the parts of p.
using Imaginary = std::array<std::array<double, 4>, 3>;
Imaginary ImaginaryOf(const double* q) {
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  return {{{-x, w, z, -y}, {-y, -z, w, x}, {-z, y, -x, w}}};
}

}  // namespace

PositionMap::PositionMap(const mjModel* m) {
  for (int j = 0; j < m->njnt; ++j) {
    int64_t position = m->jnt_qposadr[j], velocity = m->jnt_dofadr[j];
    const int type = m->jnt_type[j];
    for (int i = 0; type == mjJNT_FREE && i < 3; ++i) parts_.push_back({position++, velocity++, false});
    const bool quaternion = type == mjJNT_FREE || type == mjJNT_BALL;
    parts_.push_back({position, velocity, quaternion});
    has_quaternions_ |= quaternion;
  }
}

void PositionMap::ToPositionRow(const double* qpos, const double* velocity_row, double* row) const {
  for (const Part& p : parts_) {
    const double *from = velocity_row + p.velocity, *q = qpos + p.position;
    double* const to = row + p.position;
    if (!p.quaternion) {
      *to = *from;
      continue;
    }
    const Imaginary im = ImaginaryOf(q);
    const double scale = 2 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (size_t i = 0; i < 4; ++i) to[i] = scale * (from[0] * im[0][i] + from[1] * im[1][i] + from[2] * im[2][i]);
  }
}

void PositionMap::ToPositionRows(const double* qpos, const double* velocity_rows, int64_t n, double* rows) const {
  for (const Part& p : parts_) {
    const double* const from = velocity_rows + p.velocity * n;
    double* const to = rows + p.position * n;
    if (!p.quaternion) {
      std::copy(from, from + n, to);
      continue;
    }
    const Imaginary im = ImaginaryOf(qpos + p.position);
    for (int64_t i = 0; i < 4 * n; ++i) {
      const auto part = static_cast<size_t>(i / n);
      const int64_t k = i % n;
      to[i] = (im[0][part] * from[k] + im[1][part] * from[n + k] + im[2][part] * from[2 * n + k]) / 2;
    }
  }
}

}  // namespace engine
