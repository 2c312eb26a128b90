#include "cuda/driver/stream_captures.h"

#include "cuda/driver/gpu.h"

namespace ricci::cuda {
namespace {

// Of a capture that the function has made useless, or has ended itself.
bool SaysItIsBroken(CuResult result) {
  return (result >= kCuCaptureUnsupported && result <= kCuCaptureWrongThread) || result == kCuIllegalState;
}

std::string TextOf(const ricci_status* s) {
  ricci_str text{};
  ricci_status_message(s, &text);
  return {text.ptr, text.len};
}

// `returned`: by the function, or null; this takes it over.
ricci_status* IsBroken(const Enqueued& what, const std::string& driver_says, ricci_status* returned) {
  std::string text = std::string(what.name) +
                     ": its launch breaks RICCI_LIBRARY_ONLY_ENQUEUES: while its stream was captured it waited, "
                     "allocated, or left work in another stream (" +
                     driver_says + "); mend it, or register the library without that flag";
  if (returned != nullptr) text += "; it returned: " + TextOf(returned);
  ricci_status_free(returned);
  return Fail(RICCI_FAILED_PRECONDITION, text);
}

}  // namespace

ricci_status* StreamCaptures::Capture(const Enqueued& what, CuGraph& out) {
  CuStream stream = nullptr;
  const auto made = [&](CuStream& s) {
    return device_.Check("cuStreamCreate", device_.driver().cuStreamCreate(&s, kCuStreamNonBlocking));
  };
  if (ricci_status* failed = streams_.Take(stream, made)) return failed;
  ricci_status* failed = CaptureIn(stream, what, out);
  if (failed == nullptr) failed = FillIfEmpty(out);
  if (failed == nullptr) return streams_.Return(stream), nullptr;
  if (out != nullptr) device_.Note(device_.driver().cuGraphDestroy(out));
  out = nullptr;
  device_.Note(device_.driver().cuStreamDestroy(stream));  // whatever state it is in
  streams_.Lose();
  return failed;
}

ricci_status* StreamCaptures::CaptureIn(CuStream stream, const Enqueued& what, CuGraph& out) const {
  const CuResult begun = device_.driver().cuStreamBeginCapture(stream, kCuCaptureOfThread);
  if (ricci_status* failed = device_.Check("cuStreamBeginCapture", begun)) return failed;
  ricci_status* const returned = EnqueueIn(stream, what);
  const CuResult ended = device_.driver().cuStreamEndCapture(stream, &out);
  if (SaysItIsBroken(ended)) return IsBroken(what, device_.driver().ErrorText("cuStreamEndCapture", ended), returned);
  if (returned != nullptr) return device_.Note(ended), returned;
  return device_.Check("cuStreamEndCapture", ended);
}

// What it throws must not leave the stream captured.
ricci_status* StreamCaptures::EnqueueIn(CuStream stream, const Enqueued& what) const {
  int mode = kCuCaptureOfThread;
  const Driver& d = device_.driver();
  if (ricci_status* failed =
          device_.Check("cuThreadExchangeStreamCaptureMode", d.cuThreadExchangeStreamCaptureMode(&mode))) {
    return failed;
  }
  ricci_status* const returned = Guard([&] { return what.enqueue(stream); });
  device_.Note(d.cuThreadExchangeStreamCaptureMode(&mode));
  return returned;
}

// The guide of the driver wants bodies of conditional nodes to be filled, and whether a child graph may be empty is not
// said.
ricci_status* StreamCaptures::FillIfEmpty(CuGraph graph) const {
  size_t count = 0;
  const Driver& d = device_.driver();
  const CuResult counted = d.cuGraphGetNodes(graph, nullptr, &count);
  if (ricci_status* failed = device_.Check("cuGraphGetNodes", counted)) return failed;
  if (count != 0) return nullptr;
  CuGraphNode node = nullptr;
  return device_.Check("cuGraphAddEmptyNode", d.cuGraphAddEmptyNode(&node, graph, nullptr, 0));
}

void StreamCaptures::Clear() {
  streams_.Clear([&](CuStream stream) { device_.Note(device_.driver().cuStreamDestroy(stream)); });
}

}  // namespace ricci::cuda
