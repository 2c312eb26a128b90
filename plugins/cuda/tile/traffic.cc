#include "cuda/tile/traffic.h"

#include <algorithm>

namespace ricci::cuda {
namespace {

// Of a group, what is the same for all is computed once.
double ShareOf(const Vector& v, uint32_t i) {
  const bool once = v.size > 1 && v.once[i] != 0 && v.each[i] == 0 && v.together[i] == 0;
  return once ? 1 / static_cast<double>(v.size) : 1;
}

}  // namespace

Traffic TrafficOf(const ricci_kernel_table& k, const codegen::Blocks& blocks, const Vector& vector,
                  const std::vector<uint8_t>& in_launch) {
  const std::vector<double> times = codegen::TimesOf(k, blocks);
  const auto points = static_cast<double>(std::max<int64_t>(codegen::PointsOf(k), 1));
  std::vector<double> read(k.n_buffers), written(k.n_buffers);
  Traffic t;
  for (uint32_t i = 1; i < k.n_insts; ++i) {
    const ricci_inst& q = k.insts[i];
    if (!in_launch.empty() && in_launch[i] == 0) continue;
    const double runs = times[blocks.parent[i]] * ShareOf(vector, i);
    t.operations += runs * codegen::OpCost(q.op);
    if (q.op != RICCI_K_LOAD && q.op != RICCI_K_STORE && q.op != RICCI_K_COMBINE) continue;
    const uint32_t buffer = RICCI_BUFFER_OF(q.imm);
    const double bytes = runs * codegen::SizeOfDType(k.buffers[buffer].dtype);
    if (q.op != RICCI_K_STORE) read[buffer] += bytes;
    if (q.op != RICCI_K_LOAD) written[buffer] += bytes;
  }
  for (uint32_t b = 0; b < k.n_buffers; ++b) {
    const double all = static_cast<double>(k.buffers[b].elements) * codegen::SizeOfDType(k.buffers[b].dtype) / points;
    t.read += read[b];
    t.written += written[b];
    t.least_read += std::min(read[b], all);
    t.least_written += std::min(written[b], all);
  }
  return t;
}

}  // namespace ricci::cuda
