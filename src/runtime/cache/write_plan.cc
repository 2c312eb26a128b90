// Plans to bytes: the tables in the order in which read_plan.cc reads them, numbers little-endian.
#include "base/hash_map.h"
#include "file/bytes.h"
#include "file/program_file.h"
#include "runtime/cache/saved_plan.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

using file::ByteWriter;

// Name, domain, buffers, what it updates.
void AddKernel(ByteWriter& w, const kernel::Kernel& k) {
  w.AddText(k.name);
  w.AddCount(k.domain.size());
  for (const int64_t extent : k.domain) w.Add(extent);
  w.AddCount(k.buffers.size());
  for (const ricci_kernel_buffer& b : k.buffers) {
    w.Add(b.dtype);
    w.Add(b.access);
    w.Add(b.elements);
  }
  w.Add(k.updates);
}

void AddBuffers(ByteWriter& w, const kernel::Plan& plan) {
  w.AddCount(plan.buffers.size());
  for (const ricci_plan_buffer& b : plan.buffers) {
    w.Add(b.kind);
    w.Add(b.index);
    w.Add(b.bytes);
    w.Add(b.offset);
  }
}

// Each location once: file, function, line. Then the steps, which have the numbers of theirs.
void AddSteps(ByteWriter& w, const pass::Lowered& l) {
  base::HashMap<uint64_t, uint32_t> numbers;
  ByteWriter locations, steps;
  for (const ricci_plan_step& s : l.plan.steps) {
    const auto [found, isnew] = numbers.emplace(s.location, static_cast<uint32_t>(numbers.size()));
    if (isnew) {
      const ir::Location& at = l.optimized->vocabulary()->GetLocation(static_cast<ir::LocationId>(s.location));
      locations.AddText(at.file);
      locations.AddText(at.func);
      locations.Add(at.line);
    }
    for (const uint32_t v : {s.kind, s.index, s.args, s.n_args, found->second}) steps.Add(v);
  }
  w.AddCount(numbers.size());
  w.AddBytes(locations.bytes());
  w.AddCount(l.plan.steps.size());
  w.AddBytes(steps.bytes());
  w.AddCount(l.plan.args.size());
  for (const uint32_t buffer : l.plan.args) w.Add(buffer);
}

void AddConstants(ByteWriter& w, const pass::Lowered& l) {
  w.AddCount(l.constants.size());
  for (const auto& c : l.constants) {
    w.Add(uint64_t{c->bytes.size()});
    w.AddBytes({reinterpret_cast<const char*>(c->bytes.data()), c->bytes.size()});
  }
}

void AddSources(ByteWriter& w, const pass::Lowered& l) {
  w.AddCount(l.sources.size());
  for (const auto& s : l.sources) {
    w.AddText(s->entry);
    w.Add(s->call.n_in);
    w.Add(s->call.n_out);
    w.Add(s->call.workspace_bytes);
  }
}

void AddChecks(ByteWriter& w, const pass::Lowered& l) {
  w.AddCount(l.checks.size());
  for (const absl::Status& check : l.checks) {
    const base::StatusSite site = base::SiteOf(check);
    w.Add(static_cast<uint32_t>(check.code()));
    w.AddText({check.message().data(), check.message().size()});
    for (const std::string& text : {site.primitive, site.rule, site.file}) w.AddText(text);
    w.Add(site.line);
  }
}

// A program of the equations of all calls, each of parameters of its own.
absl::StatusOr<ir::ProgramRef> CallsOf(const pass::Lowered& l) {
  std::vector<ir::TypeId> types;
  for (const pass::LibrarySite& site : l.call_sites) {
    for (const ir::ValueId v : site.equation->operands) types.push_back(site.program->type_id(v));
  }
  RICCI_ASSIGN(auto b, trace::Builder::Create(prim::Registry::Of(*l.optimized), "calls", types));
  const trace::Vals params = b->params();
  std::span<const trace::Val> rest = params;
  for (const pass::LibrarySite& site : l.call_sites) {
    const size_t n = site.equation->operands.size();
    RICCI_TRY(b->Copy(*site.program, *site.equation, rest.first(n)).status());
    rest = rest.subspan(n);
  }
  return b->Finish({});
}

// What the libraries said, then the program of the calls, if there are any.
absl::Status AddLibraries(ByteWriter& w, const pass::Lowered& l) {
  RICCI_TRY(base::Invariant(l.call_sites.size() == l.plan.libraries.size(), "each library call has a site"));
  w.AddCount(l.plan.libraries.size());
  for (const ricci_plan_library& c : l.plan.libraries) {
    w.Add(c.tasks);
    for (const uint64_t v : {c.workspace_bytes, c.flops, c.scratch_bytes}) w.Add(v);
    for (const uint32_t v : {c.n_in, c.n_out, c.flags}) w.Add(v);
  }
  if (l.plan.libraries.empty()) return absl::OkStatus();
  RICCI_ASSIGN(const ir::ProgramRef calls, CallsOf(l));
  w.AddText(file::WriteProgram(*calls));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> WritePlan(const pass::Lowered& l) {
  ByteWriter w;
  w.Add(l.plan.arena_bytes);
  w.Add(l.flops);
  w.AddCount(l.kernels.size());
  for (const kernel::Kernel& k : l.kernels) AddKernel(w, k);
  AddBuffers(w, l.plan);
  AddSteps(w, l);
  AddConstants(w, l);
  AddSources(w, l);
  AddChecks(w, l);
  w.AddCount(l.output_alias.size());
  for (const int32_t alias : l.output_alias) w.Add(alias);
  RICCI_TRY(AddLibraries(w, l));
  return w.Take();
}

}}}  // namespace ricci::v0::runtime
