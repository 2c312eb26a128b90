#include "support/late_backend.h"

#include "base/status_abi.h"
#include "support/late_state.h"

namespace ricci::testing {

// ---- LateState ----
LateState::LateState(const LateOptions& o) : options(o), queues(o.seed), failing_call(o.failing_call) {
  for (uint32_t i = 0; i < o.devices; ++i) devices.push_back(std::make_unique<LateDevice>(i, o.memory_bytes));
}

absl::Status LateState::Enter(std::string_view call) {
  if (queues.Announcing()) {
    absl::Status status = absl::InternalError(base::Cat("late: ", call, " is called by `done`"));
    Complain(status);
    return status;
  }
  std::lock_guard lock(mutex);
  if (++calls != failing_call) return absl::OkStatus();
  failing_call = 0;
  return {static_cast<absl::StatusCode>(failing_code),
          base::Cat("late: call ", calls, " (", call, ") fails as requested")};
}

void LateState::EnterVoid(std::string_view call) {
  if (queues.Announcing()) Complain(absl::InternalError(base::Cat("late: ", call, " is called by `done`")));
}

void LateState::Complain(const absl::Status& status) {
  if (status.ok()) return;
  std::lock_guard lock(mutex);
  complaints += base::Cat(std::string(status.message()), "\n");
}

const LateDevice* LateState::DeviceAt(const void* p) const {
  for (const auto& d : devices) {
    if (d->memory.Contains(p)) return d.get();
  }
  return nullptr;
}

// ---- LateDevices ----
LateDevices::LateDevices(const LateOptions& options) : state_(std::make_shared<LateState>(options)) {}
LateDevices::~LateDevices() = default;

ricci_backend LateDevices::Backend(uint32_t i) { return LateTable(state_, i); }

void LateDevices::FailCall(int64_t k, uint32_t code) {
  std::lock_guard lock(state_->mutex);
  state_->calls = 0;
  state_->failing_call = k;
  state_->failing_code = code;
}

int64_t LateDevices::calls() const {
  std::lock_guard lock(state_->mutex);
  return state_->calls;
}

void LateDevices::FailNextRun() { state_->fail_run = true; }
void LateDevices::FailNextCopy() { state_->fail_copy = true; }
uint64_t LateDevices::executed() const { return state_->queues.executed(); }

std::string LateDevices::Report() const {
  std::string report;
  for (const auto& d : state_->devices) {
    const auto add = [&](const std::string& leak) { report += base::Cat("device ", d->number, ": ", leak, "\n"); };
    for (const std::string& leak : d->memory.Leaks()) add(leak);
    for (const std::string& leak : state_->queues.Leaks(d->number)) add(leak);
    if (const int64_t codes = d->codes; codes != 0) add(base::Count(codes, "code"));
  }
  std::lock_guard lock(state_->mutex);
  return report + state_->complaints;
}

// ---- the plugin ----
namespace {

// A query function has no argument to carry the devices that it is called for.
struct Next {
  std::mutex mutex;
  std::shared_ptr<LateState> state;
};
Next& NextToAttach() {
  static Next next;
  return next;
}

std::shared_ptr<LateState> TakeNext() {
  Next& next = NextToAttach();
  std::lock_guard lock(next.mutex);
  std::shared_ptr<LateState> state = std::move(next.state);
  return state != nullptr ? state : std::make_shared<LateState>(LateOptions{});
}

ricci_status* Attach(void*, ricci_ctx* ctx) {
  const std::shared_ptr<LateState> state = TakeNext();
  for (uint32_t i = 0; i < state->devices.size(); ++i) {
    const ricci_backend b = LateTable(state, i);
    if (ricci_status* failed = ricci_backend_register(ctx, &b)) {
      b.drop_self(b.self);
      return failed;
    }
  }
  return nullptr;
}

}  // namespace

ricci_status* LateDevices::AddTo(ricci_ctx* ctx) {
  {
    Next& next = NextToAttach();
    std::lock_guard lock(next.mutex);
    next.state = state_;
  }
  return ricci_context_add_plugin(ctx, ricci_plugin_query_late);
}

}  // namespace ricci::testing

extern "C" ricci_status* ricci_plugin_query_late(const ricci_host_info*, const ricci_plugin** out) {
  static const ricci_plugin plugin = [] {
    ricci_plugin p{};
    p.hdr.size = sizeof p;
    p.abi_major = RICCI_ABI_MAJOR;
    p.abi_minor = RICCI_ABI_MINOR;
    p.name = {"late", 4};
    p.version = {"0.1.0", 5};
    p.attach = ricci::testing::Attach;
    return p;
  }();
  *out = &plugin;
  return nullptr;
}
