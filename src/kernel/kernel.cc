#include "kernel/kernel.h"

namespace ricci { inline namespace v0 { namespace kernel {

ricci_kernel_table Kernel::View() const {
  ricci_kernel_table t{};
  t.hdr.size = sizeof(t);
  t.name = {name.data(), name.size()};
  t.insts = insts.data();
  t.n_insts = static_cast<uint32_t>(insts.size());
  t.domain_rank = static_cast<uint32_t>(domain.size());
  t.domain = domain.data();
  t.buffers = buffers.data();
  t.n_buffers = static_cast<uint32_t>(buffers.size());
  t.inst_size = sizeof(ricci_inst);
  t.buffer_size = sizeof(ricci_kernel_buffer);
  t.locations = locations.empty() ? nullptr : locations.data();
  return t;
}

void Plan::Step(uint32_t kind, uint32_t index, const std::vector<uint32_t>& step_args, uint64_t location) {
  steps.push_back({kind, index, static_cast<uint32_t>(args.size()), static_cast<uint32_t>(step_args.size()), location});
  args.insert(args.end(), step_args.begin(), step_args.end());
}

void Plan::Step(uint32_t kind, uint32_t index, std::initializer_list<uint32_t> step_args, uint64_t location) {
  Step(kind, index, std::vector<uint32_t>(step_args), location);
}

ricci_plan Plan::View() const {
  ricci_plan p{};
  p.hdr.size = sizeof(p);
  p.buffers = buffers.data();
  p.steps = steps.data();
  p.args = args.data();
  p.libraries = libraries.data();
  p.sources = sources.data();
  p.n_buffers = static_cast<uint32_t>(buffers.size());
  p.n_steps = static_cast<uint32_t>(steps.size());
  p.n_args = static_cast<uint32_t>(args.size());
  p.n_libraries = static_cast<uint32_t>(libraries.size());
  p.n_sources = static_cast<uint32_t>(sources.size());
  p.n_inputs = n_inputs;
  p.n_outputs = n_outputs;
  p.arena_bytes = arena_bytes;
  p.n_constants = n_constants;
  p.buffer_size = sizeof(ricci_plan_buffer);
  p.step_size = sizeof(ricci_plan_step);
  p.library_size = sizeof(ricci_plan_library);
  p.source_size = sizeof(ricci_plan_source);
  return p;
}

uint32_t StepAccess(const ricci_plan& p, const ricci_kernel_table* const* kernels, const ricci_plan_step& s,
                    uint32_t arg) {
  switch (s.kind) {
    case RICCI_STEP_KERNEL:
      return kernels[s.index]->buffers[arg].access;
    case RICCI_STEP_LIBRARY:
      return arg < p.libraries[s.index].n_in ? RICCI_ACCESS_READ : RICCI_ACCESS_WRITE;
    case RICCI_STEP_SOURCE:
      return arg < p.sources[s.index].n_in ? RICCI_ACCESS_READ : RICCI_ACCESS_WRITE;
    case RICCI_STEP_COPY:
      return arg == 0 ? RICCI_ACCESS_WRITE : RICCI_ACCESS_READ;
    default:  // the predicate of a WHILE, the number of a CASE
      return RICCI_ACCESS_READ;
  }
}

}}}  // namespace ricci::v0::kernel
