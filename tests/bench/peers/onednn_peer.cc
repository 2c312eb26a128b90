// Matrix products by oneDNN, with its own threads: the third library after JAX's and OpenBLAS. Built if Debian's
// libdnnl-dev is installed.
#include <dnnl.h>

#include <memory>
#include <stdexcept>

#include "../bench_loop.h"

namespace {

using bench::Case;
using bench::Prepared;
using bench::Settings;

Prepared Matmul(const Settings& s, int size) {
  const int n = s.small ? 16 : size;
  using Floats = std::vector<float>;
  auto a = std::make_shared<Floats>(bench::Uniform(n * n)), b = std::make_shared<Floats>(bench::Uniform(n * n, 1)),
       c = std::make_shared<Floats>(static_cast<size_t>(n * n));
  Prepared p;
  p.run = [=] {
    if (dnnl_sgemm('N', 'N', n, n, n, 1, a->data(), n, b->data(), n, 0, c->data(), n) != dnnl_success)
      throw std::runtime_error("dnnl_sgemm failed");
  };
  p.check = [=] { return bench::Magnitude(*c); };
  p.work = 2.0 * n * n * n;
  return p;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Case> cases = {
      {"matmul256", "GFLOP/s", [](const Settings& s) { return Matmul(s, 256); }},
      {"matmul1024", "GFLOP/s", [](const Settings& s) { return Matmul(s, 1024); }},
      {"matmul2048", "GFLOP/s", [](const Settings& s) { return Matmul(s, 2048); }},
  };
  return bench::Serve(argc, argv, "oneDNN", cases, [] {});
}
