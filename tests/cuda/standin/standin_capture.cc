// Streams that a host captures: what is enqueued to one becomes a node of a graph and does not run.
//
// The rules are those of the driver. A stream joins a capture by waiting for an event in it, and must have come back
// when the capture ends. In a capture no call may wait for the stream or ask how far it is, nor may it wait for what is
// outside of it. Calls that might wait for a stream, whichever it is, are forbidden to the thread that captures, and in
// the mode for all threads (0) to all, unless the capture or the thread has said that it knows (2): mode 1 is that of
// the thread alone. What breaks a rule leaves the capture invalid, and its end gives no graph. The graph may get nodes
// while it is captured.
#include <algorithm>
#include <set>
#include <string_view>

#include "standin_graph.h"

namespace ricci::cuda::standin {
namespace {

thread_local int capture_mode = kCuCaptureGlobal;

bool MightWait(std::string_view call) {
  for (const char* const one :
       {"cuMemHostAlloc", "cuMemFreeHost", "cuModuleLoadData", "cuModuleUnload", "cuEventQuery"}) {
    if (call == one) return true;
  }
  return false;
}

// To this thread, by this capture.
bool IsForbidden(const Capture& c) {
  if (capture_mode == kCuCaptureRelaxed || c.mode == kCuCaptureRelaxed) return false;
  if (c.thread == std::this_thread::get_id()) return true;
  return capture_mode == kCuCaptureGlobal && c.mode == kCuCaptureGlobal;
}

void AddOnce(std::vector<CuGraphNode>& into, const std::vector<CuGraphNode>& more) {
  for (const CuGraphNode node : more) {
    if (std::find(into.begin(), into.end(), node) == into.end()) into.push_back(node);
  }
}

// With all that come before.
std::set<size_t> Reached(const Graph& g, const std::vector<CuGraphNode>& last) {
  std::set<size_t> reached;
  std::vector<size_t> open;
  for (const CuGraphNode node : last) open.push_back(As<Node>(node).number);
  while (!open.empty()) {
    const size_t n = open.back();
    open.pop_back();
    if (reached.insert(n).second) open.insert(open.end(), g.waits[n].begin(), g.waits[n].end());
  }
  return reached;
}

// Whether all that was captured in other streams comes before what is last in the first one.
bool IsJoined(const Machine& m, const Capture& c) {
  const std::set<size_t> reached = Reached(As<Graph>(c.graph), c.origin->last);
  return std::all_of(m.all_streams.begin(), m.all_streams.end(), [&](const Stream& s) {
    return s.capture.get() != &c || std::all_of(s.last.begin(), s.last.end(), [&](CuGraphNode node) {
             return reached.count(As<Node>(node).number) != 0;
           });
  });
}

CuResult End(Machine& m, Stream& s, CuGraph& graph) {
  const std::shared_ptr<Capture> c = s.capture;
  if (c == nullptr) return kIllegalState;
  if (c->origin != &s) return kCaptureUnmatched;
  if (c->mode != kCuCaptureRelaxed && c->thread != std::this_thread::get_id()) return kCaptureWrongThread;
  const CuResult result = c->is_invalid     ? kCaptureInvalidated
                          : IsJoined(m, *c) ? CuResult{kCuSuccess}
                                            : kCaptureUnjoined;
  for (Stream& other : m.all_streams) {
    if (other.capture == c) other.capture = nullptr;
  }
  c->has_ended = true;
  m.captures.erase(std::find(m.captures.begin(), m.captures.end(), c));
  graph = c->graph;
  As<Graph>(graph).is_captured = false;
  return result;
}

}  // namespace

CuResult Invalidate(Machine& m, Capture& capture, const std::string& what, CuResult result) {
  m.Complain(what);
  capture.is_invalid = true;
  return result;
}

CuResult MightWaitForCapture(Machine& m, const char* call) {
  if (!MightWait(call)) return kCuSuccess;
  CuResult result = kCuSuccess;
  for (const std::shared_ptr<Capture>& c : m.captures) {
    if (!IsForbidden(*c)) continue;
    result = Invalidate(m, *c, std::string(call) + " while the host captures a stream", kCaptureUnsupported);
  }
  return result;
}

CuResult WaitInCapture(Machine& m, Stream& s, const Event& e) {
  if (e.capture == nullptr) {
    return Invalidate(m, *s.capture, "cuStreamWaitEvent of a captured stream for what is outside of the capture",
                      kCaptureIsolation);
  }
  if (e.capture->has_ended) {
    return m.Complain("cuStreamWaitEvent for an event of a capture that has ended"), kCapturedEvent;
  }
  if (s.capture != nullptr && s.capture != e.capture) {
    s.capture->is_invalid = true;
    return Invalidate(m, *e.capture, "cuStreamWaitEvent joins two captures", kCaptureMerge);
  }
  if (s.capture == nullptr) s.last.clear();
  s.capture = e.capture;
  AddOnce(s.last, e.last);
  return kCuSuccess;
}

CuResult cuThreadExchangeStreamCaptureMode(int* mode) { return std::swap(*mode, capture_mode), kCuSuccess; }

// Of the default stream it cannot be said while a stream that is in order with it is captured.
CuResult cuStreamIsCapturing(CuStream handle, int* status) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  const Stream* const s = m.Find(handle);
  if (s == nullptr || s->is_destroyed) return kCuInvalidHandle;
  const auto is_implied = [](const Stream& other) { return other.capture != nullptr && other.is_blocking; };
  if (handle == LegacyStream() && std::any_of(m.all_streams.begin(), m.all_streams.end(), is_implied)) {
    return kCuCaptureImplicit;
  }
  *status = s->capture == nullptr ? 0 : s->capture->is_invalid ? int{kCuCaptureIsInvalid} : int{kCuCaptures};
  return kCuSuccess;
}

CuResult cuStreamGetCaptureInfo(CuStream handle, int* status, unsigned long long* id, CuGraph* graph,
                                const CuGraphNode** last, size_t* n_last) {
  if (const CuResult failed = cuStreamIsCapturing(handle, status)) return failed;
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  const Stream& s = *m.Find(handle);
  if (*status != kCuCaptures) return kCuSuccess;
  if (id != nullptr) *id = reinterpret_cast<uintptr_t>(s.capture.get());
  *graph = s.capture->graph;
  *last = s.last.data();
  *n_last = s.last.size();
  return kCuSuccess;
}

CuResult cuStreamUpdateCaptureDependencies(CuStream handle, CuGraphNode* last, size_t n_last, unsigned flags) {
  constexpr const char* kCall = "cuStreamUpdateCaptureDependencies";
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (!IsLive(m, kCall, handle)) return kInvalidHandle;
  Stream& s = *m.Find(handle);
  if (s.capture == nullptr) return m.Complain(std::string(kCall) + ": the stream is not captured"), kIllegalState;
  if (s.capture->is_invalid) return kCaptureInvalidated;
  if (flags > kCuSetLast) return m.Complain(std::string(kCall) + ": no such flags"), kInvalidValue;
  for (size_t i = 0; i < n_last; ++i) {
    if (As<Graph>(s.capture->graph).Has(&As<Node>(last[i]))) continue;
    return m.Complain(std::string(kCall) + ": a node is not in the graph"), kInvalidValue;
  }
  if (flags == kCuSetLast) s.last.clear();
  AddOnce(s.last, {last, last + n_last});
  return kCuSuccess;
}

CuResult cuStreamBeginCapture(CuStream handle, int mode) {
  Machine& m = Machine::Get();
  if (reinterpret_cast<uintptr_t>(handle) <= 2) return kCaptureUnsupported;  // a default stream
  CuGraph graph = nullptr;
  {
    const std::lock_guard lock(m.mutex);
    if (!IsLive(m, "cuStreamBeginCapture", handle)) return kInvalidHandle;
    if (mode < kCuCaptureGlobal || mode > kCuCaptureRelaxed) return kInvalidValue;
    if (As<Stream>(handle).capture != nullptr) return kIllegalState;
  }
  cuGraphCreate(&graph, 0);
  const std::lock_guard lock(m.mutex);
  auto& s = As<Stream>(handle);
  As<Graph>(graph).is_captured = true;
  s.capture = std::make_shared<Capture>(Capture{graph, &s, mode, std::this_thread::get_id()});
  s.last.clear();
  m.captures.push_back(s.capture);
  return kCuSuccess;
}

CuResult cuStreamEndCapture(CuStream handle, CuGraph* out) {
  Machine& m = Machine::Get();
  CuGraph graph = nullptr;
  CuResult result = kCuSuccess;
  {
    const std::lock_guard lock(m.mutex);
    if (!IsLive(m, "cuStreamEndCapture", handle)) return kInvalidHandle;
    result = End(m, As<Stream>(handle), graph);
  }
  *out = result == kCuSuccess ? graph : nullptr;
  if (result != kCuSuccess && graph != nullptr) cuGraphDestroy(graph);
  return result;
}

}  // namespace ricci::cuda::standin

extern "C" int ricci_standin_begin_capture(ricci::cuda::CuStream handle, int mode) {
  return ricci::cuda::standin::cuStreamBeginCapture(handle, mode);
}
extern "C" int ricci_standin_end_capture(ricci::cuda::CuStream handle, ricci::cuda::CuGraph* out) {
  return ricci::cuda::standin::cuStreamEndCapture(handle, out);
}
