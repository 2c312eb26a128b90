#include "pass/plan/plan_writer.h"

#include <algorithm>

namespace ricci { inline namespace v0 { namespace pass {
namespace {

using Binding = KernelBuilder::Binding;

constexpr std::byte kZero[8] = {};  // an element of up to 64 bits

}  // namespace

// ---- buffers ----

uint32_t PlanWriter::AddBuffer(uint32_t kind, uint32_t index, uint64_t bytes, const void* data) {
  plan_.buffers.push_back({kind, index, bytes, 0, data});
  return static_cast<uint32_t>(plan_.buffers.size() - 1);
}

absl::StatusOr<BufferRef> PlanWriter::ScalarInArena(uint32_t dtype) {
  RICCI_ASSIGN(const ir::TypeId t, types_.Intern(dtype, {}));
  return InArena(t);
}

// Constants of a file that have equal bytes share their data, whatever their types.
uint32_t PlanWriter::AddConstant(const std::shared_ptr<const ir::ConstantData>& data, uint32_t dtype) {
  auto [it, fresh] = constant_buffer_.try_emplace(std::pair(data.get(), types::PartOf(dtype)), 0);
  if (fresh) {
    it->second = AddBuffer(RICCI_BUFFER_CONSTANT, plan_.n_constants++, data->bytes.size(), data->bytes.data());
    out_.constants.push_back(data);
  }
  return it->second;
}

// ---- steps ----

void PlanWriter::ReserveLibrary() {
  const size_t n = plan_.libraries.size();
  if (n == plan_.libraries.capacity()) plan_.libraries.reserve(std::max<size_t>(8, 2 * n));
}

uint32_t PlanWriter::AddLibrary(std::string_view name, const ricci_plan_library& call, LibrarySite site) {
  out_.AddLibrary(name, call);
  out_.call_sites.push_back(site);
  return static_cast<uint32_t>(plan_.libraries.size() - 1);
}

// Its key is all of it, as bytes.
uint32_t PlanWriter::AddSource(std::unique_ptr<SourceText> source) {
  const ricci_plan_source& s = source->call;
  const int64_t numbers[] = {s.grid[0],
                             s.grid[1],
                             s.grid[2],
                             s.block[0],
                             s.block[1],
                             s.block[2],
                             s.n_in,
                             s.n_out,
                             static_cast<int64_t>(s.workspace_bytes),
                             static_cast<int64_t>(s.shared_bytes),
                             static_cast<int64_t>(s.flops),
                             static_cast<int64_t>(s.entry.len),
                             static_cast<int64_t>(s.text.len)};
  std::string key(reinterpret_cast<const char*>(numbers), sizeof numbers);
  key += source->entry + source->text;
  for (const ricci_source_scalar& scalar : source->scalars) {
    key.append(reinterpret_cast<const char*>(&scalar.dtype), sizeof scalar.dtype);
    key.append(reinterpret_cast<const char*>(&scalar.bits), sizeof scalar.bits);
  }
  const auto [it, fresh] = source_number_.try_emplace(std::move(key), static_cast<uint32_t>(plan_.sources.size()));
  if (fresh) {
    plan_.sources.push_back(s);
    out_.sources.push_back(std::move(source));
  }
  return it->second;
}

absl::Status PlanWriter::Copy(ir::TypeId t, const BufferRef& from, const BufferRef& to) {
  if (types_.Get(t).elements == 0) return absl::OkStatus();
  if (from.whole() && to.whole()) {
    plan_.Step(RICCI_STEP_COPY, 0, {to.buffer, from.buffer});
    return absl::OkStatus();
  }
  KernelBuilder k(registry_, "copy", target_);
  RICCI_ASSIGN(KernelBuilder::Result lowered, k.LowerCopy(t, from.slot, to.slot));
  return Kernel(std::move(lowered), {from}, {to}, 0);
}

uint32_t PlanWriter::BufferOf(const Binding& binding, uint32_t dtype, const BufferRefs& operands,
                              const BufferRefs& results) {
  switch (binding.kind) {
    case Binding::Kind::kConstant:
      return AddConstant(binding.data, dtype);
    case Binding::Kind::kOperand:
      return operands[binding.index].buffer;
    case Binding::Kind::kResult:
      return results[binding.index].buffer;
    case Binding::Kind::kCounter:
      break;
  }
  return binding.index;  // a loop is identified by its counter's buffer
}

absl::Status PlanWriter::Kernel(KernelBuilder::Result lowered, const BufferRefs& operands, const BufferRefs& results,
                                uint64_t location) {
  std::vector<uint32_t> buffers;
  for (size_t i = 0; i < lowered.bindings.size(); ++i) {
    buffers.push_back(BufferOf(lowered.bindings[i], lowered.kernel.buffers[i].dtype, operands, results));
  }
  // Checks are numbered within the whole plan.
  for (ricci_inst& inst : lowered.kernel.insts) {
    if (inst.op == RICCI_K_CHECK) inst.imm += static_cast<int64_t>(out_.checks.size());
  }
  out_.checks.insert(out_.checks.end(), lowered.checks.begin(), lowered.checks.end());
  KernelStep(std::move(lowered.kernel), buffers, location);
  return absl::OkStatus();
}

void PlanWriter::KernelStep(kernel::Kernel k, const std::vector<uint32_t>& buffers, uint64_t location) {
  plan_.Step(RICCI_STEP_KERNEL, static_cast<uint32_t>(out_.kernels.size()), buffers, location);
  out_.kernels.push_back(std::move(k));
}

absl::Status PlanWriter::Fill(std::string_view name, uint32_t buffer, uint32_t dtype, int64_t elements,
                              const std::byte* element) {
  if (elements == 0) return absl::OkStatus();
  ElementWriter w(name);
  const uint32_t to = w.Buffer(dtype, elements, RICCI_ACCESS_WRITE);
  kernel::Val i = w.Index(0);
  if (elements > 1) w.Parallel({&elements, 1}, &i);
  w.Store(to, i, w.Element(dtype, element));
  if (elements > 1) w.End();
  RICCI_ASSIGN(kernel::Kernel k, w.Finish());
  KernelStep(std::move(k), {buffer}, 0);
  return absl::OkStatus();
}

// ---- counters of loops ----

absl::Status PlanWriter::StartCounter(std::string_view name, uint32_t counter) {
  return Fill(name, counter, RICCI_I64, 1, kZero);
}

absl::Status PlanWriter::CompareCounter(uint32_t counter, uint32_t predicate, int64_t length) {
  kernel::Writer w("counter_less");
  const uint32_t c = w.Buffer(RICCI_I64, 1, RICCI_ACCESS_READ);
  const kernel::Val zero = w.Index(0), now = w.Load(c, zero);
  const uint32_t p = w.Buffer(RICCI_BOOL, 1, RICCI_ACCESS_WRITE);
  w.Store(p, zero, w.Less(now, w.Index(length)));
  RICCI_ASSIGN(kernel::Kernel k, w.Finish());
  KernelStep(std::move(k), {counter, predicate}, 0);
  return absl::OkStatus();
}

absl::Status PlanWriter::CountUp(uint32_t counter) {
  kernel::Writer w("counter_next");
  const uint32_t c = w.Buffer(RICCI_I64, 1, RICCI_ACCESS_READ_WRITE);
  const kernel::Val zero = w.Index(0), now = w.Load(c, zero);
  w.Store(c, zero, w.Add(now, w.Index(1)));
  RICCI_ASSIGN(kernel::Kernel k, w.Finish());
  KernelStep(std::move(k), {counter}, 0);
  return absl::OkStatus();
}

absl::Status PlanWriter::BoundTrips(uint32_t trips, uint32_t predicate, int64_t most, absl::Status otherwise,
                                    uint64_t location) {
  kernel::Writer w("trip_bound");
  const uint32_t t = w.Buffer(RICCI_I64, 1, RICCI_ACCESS_READ_WRITE);
  const uint32_t p = w.Buffer(RICCI_BOOL, 1, RICCI_ACCESS_READ_WRITE);
  const kernel::Val zero = w.Index(0), now = w.Load(t, zero), on = w.Load(p, zero);
  const kernel::Val within = w.Less(now, w.Index(most));
  w.Require(w.Or(within, w.Not(on)), static_cast<uint32_t>(out_.checks.size()));
  w.Store(p, zero, w.And(on, within));
  w.Store(t, zero, w.Add(now, w.Index(1)));
  RICCI_ASSIGN(kernel::Kernel k, w.Finish());
  out_.checks.push_back(std::move(otherwise));
  KernelStep(std::move(k), {trips, predicate}, location);
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::pass
