// The simulated machine: what is allocated, and the operations of streams in their order.
#include "standin.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace ricci::cuda::standin {

namespace {

// With RICCI_STANDIN_STRICT in the environment a process that ends with something to report fails: for programs that
// know nothing of the stand-in.
void FailAtExit() {
  const std::string report = ricci_standin_report();
  if (report.empty()) return;
  std::fflush(nullptr);
  std::fprintf(stderr, "the simulated GPU reports:\n%s", report.c_str());
  _exit(1);
}

}  // namespace

Machine& Machine::Get() {
  static Machine* const machine = [] {
    if (std::getenv("RICCI_STANDIN_STRICT") != nullptr) std::atexit(FailAtExit);
    return new Machine;  // other threads may use it at the end of the process
  }();
  return *machine;
}

bool Machine::Holds(CuPointer p, uint64_t bytes) const {
  auto after = memory.upper_bound(static_cast<uintptr_t>(p));
  if (after == memory.begin()) return false;
  --after;
  const uint64_t offset = p - after->first;
  return offset <= after->second.bytes && bytes <= after->second.bytes - offset;
}

std::pair<uintptr_t, const Allocation*> Machine::AllocationAt(uintptr_t p) const {
  auto after = memory.upper_bound(p);
  if (after == memory.begin()) return {0, nullptr};
  --after;
  return {after->first, p - after->first < after->second.bytes ? &after->second : nullptr};
}

void Machine::Write(uintptr_t begin, uint64_t bytes) {
  const auto [first, a] = AllocationAt(begin);
  if (a != nullptr) a->written->Write(begin - first, std::min(bytes, first + a->bytes - begin));
}

void Machine::CopyWritten(uintptr_t begin, uintptr_t from, uint64_t bytes) {
  const auto [first, a] = AllocationAt(begin);
  const auto [from_first, source] = AllocationAt(from);
  if (a == nullptr || source == nullptr) return Write(begin, bytes);
  a->written->Copy(begin - first, bytes, *source->written, from - from_first);
}

void Machine::CheckWritten(uintptr_t begin, uint64_t bytes, const StepRef& step) {
  const auto [first, a] = AllocationAt(begin);
  if (a == nullptr) return;
  const uint64_t missing = a->written->FirstMissing(begin - first, bytes) - (begin - first);
  if (missing == bytes) return;
  Complain("unwritten memory: " + step->Text() + " reads byte " + std::to_string(missing) + " of " +
           std::to_string(bytes) + ", which was never written");
}

const Allocation* Machine::PieceAt(CuPointer p) const {
  if (!Holds(p, 1)) return nullptr;
  return &std::prev(memory.upper_bound(static_cast<uintptr_t>(p)))->second;
}

std::string Machine::NoSuchMemory(uintptr_t p) const {
  const StepRef freed = steps.FreedBy(p);
  return freed == nullptr ? "no such memory" : "memory that " + freed->Text() + " has freed";
}

StepRef Machine::NewStep(Stream& s, const std::string& name) {
  Step step{name, s.number, ++s.steps, s.clock};
  Join(step.before, steps.host());
  s.clock = step.before;
  s.clock[s.number] = step.number;
  return std::make_shared<const Step>(std::move(step));
}

void Machine::Touch(uintptr_t begin, uint64_t bytes, bool writes, const StepRef& step) {
  if (bytes == 0) return;
  if (const StepRef freed = steps.FreedBy(begin)) {
    return Complain(step->Text() + (writes ? " writes" : " reads") + " memory that " + freed->Text() + " has freed");
  }
  const std::string fault = steps.Note(begin, bytes, writes, step);
  if (!fault.empty()) Complain(fault);
}

void Machine::Push(Stream& s, const std::string& name, Work work, bool gives_back, bool takes_time) {
  s.queue.push_back({std::move(work), gives_back, NewStep(s, name), takes_time});
  ++s.pushed;
}

void Machine::Drain(std::unique_lock<std::mutex>& lock, Stream& s, uint64_t count) {
  while (s.done < count) {
    if (s.running) {  // by another thread
      changed.wait(lock);
      continue;
    }
    s.running = true;
    Operation operation = std::move(s.queue.front());
    s.queue.pop_front();
    const bool runs = !failed_for_good || operation.gives_back;
    lock.unlock();
    if (runs) operation.run(operation.step);
    operation.run = nullptr;
    lock.lock();
    s.running = false;
    s.time += operation.takes_time ? 1 : 0;
    time += operation.takes_time ? 1 : 0;
    ++s.done;
    changed.notify_all();
  }
}

}  // namespace ricci::cuda::standin

extern "C" const char* ricci_standin_report() {
  using ricci::cuda::standin::Machine;
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  static std::string report;
  report = m.complaints;
  const auto count = [](const char* what, int64_t n) {
    if (n != 0) report += std::to_string(n) + " " + what + " left\n";
  };
  count("streams", m.streams);
  count("events", static_cast<int64_t>(m.all_events.size()));
  count("modules", m.modules);
  count("graphs", m.graphs);
  count("executable graphs", m.execs);
  count("contexts", m.contexts);
  count("pools", m.pools);
  count("pieces of pinned memory", static_cast<int64_t>(m.pinned.size()));
  count("pieces of memory", static_cast<int64_t>(m.memory.size()));
  return report.c_str();
}

extern "C" const char* ricci_standin_complaints() {
  using ricci::cuda::standin::Machine;
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  static std::string given;
  given = std::exchange(m.complaints, {});
  return given.c_str();
}

extern "C" void ricci_standin_host(const void* p, uint64_t bytes, int writes) {
  using ricci::cuda::standin::Machine;
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  m.Touch(reinterpret_cast<uintptr_t>(p), bytes, writes != 0, m.steps.HostStep("the host"));
}

extern "C" void ricci_standin_written(ricci::cuda::CuPointer p, uint64_t bytes) {
  using ricci::cuda::standin::Machine;
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  m.Write(static_cast<uintptr_t>(p), bytes);
}

extern "C" uint64_t ricci_standin_number(ricci::cuda::CuStream stream) {
  return ricci::cuda::standin::As<ricci::cuda::standin::Stream>(stream).number;
}

extern "C" void ricci_standin_run() {
  using ricci::cuda::standin::Machine;
  Machine& m = Machine::Get();
  std::unique_lock lock(m.mutex);
  for (size_t i = 0; i < m.all_streams.size(); ++i) m.Drain(lock, m.all_streams[i], m.all_streams[i].pushed);
}

extern "C" void ricci_standin_asking_takes_time(int takes) {
  ricci::cuda::standin::Machine::Get().asking_takes_time = takes != 0;
}

extern "C" void ricci_standin_capability(int capability) {
  ricci::cuda::standin::Machine::Get().capability = capability;
}

extern "C" void ricci_standin_seed(uint64_t seed) {
  using ricci::cuda::standin::Machine;
  Machine& m = Machine::Get();
  m.seed = seed;
  m.launches = 0;
}
