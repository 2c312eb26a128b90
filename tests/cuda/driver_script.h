// Scripts of driver calls: `writes a s; mark e s; wait e t; reads a t`.
//
// Names are those of streams s, t and u, of memory a and b, and of what a script makes itself. Memory is 64 bytes.
//
//   new M S, free M S          memory of the stream-ordered pool, which counts as written; raw M S: unwritten
//                              memory
//   pin M, unpin M             pinned memory
//   reads|writes|adds M S      a kernel; set M S: a memset; copy|peer TO FROM S: copies
//   put M S, get M S           copies from and to memory of the host that is M's; put M S P: from pinned memory
//   look M, fill M             the host reads or writes M's memory of the host, or pinned memory
//   event E, mark E S, wait E S, await E, ask E, lose E   an event; made by its first use
//   sync S, drop S, call S     a stream; call: of a function of the host
//   runs                       all that is enqueued runs, but the host does not wait
//   node G WHAT M AFTER...     a node (reads, writes, set) of graph G, after those numbers
//   move G NUMBER WHAT M       the node's memory, in the executable graph
//   launch G S                 with the nodes of its first launch
//   unload                     the module of the kernels
//   push, pop, thread CALLS    of contexts; in a thread of its own
#ifndef RICCI_TESTS_CUDA_DRIVER_SCRIPT_H_
#define RICCI_TESTS_CUDA_DRIVER_SCRIPT_H_
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "cuda/bare_driver.h"

namespace ricci::testing {

class DriverScript {
 public:
  DriverScript() {
    std::string error;
    static constexpr const char* kKernels =
        "extern \"C\" __global__ void reads(unsigned* m) { const unsigned v = m[threadIdx.x]; }\n"
        "extern \"C\" __global__ void writes(unsigned* m) { m[threadIdx.x] = 1; }\n"
        "extern \"C\" __global__ void adds(unsigned* m) { m[threadIdx.x] += 1; }\n";
    module_ = driver_.Load(kKernels, error);
    for (const char* s : {"s", "t", "u"}) {
      driver_->cuStreamCreate(&streams_[s], 1);
      numbers_[s] = OfStandin<uint64_t(cuda::CuStream)>("ricci_standin_number")(streams_[s]);
    }
    for (const char* m : {"a", "b"}) New(m, "s");
    driver_->cuStreamSynchronize(streams_["s"]);
  }
  DriverScript(const DriverScript&) = delete;

  void Run(const std::string& script) {
    std::istringstream all(script);
    for (std::string line; std::getline(all, line, ';');) {
      std::istringstream words(line);
      Words w;
      for (std::string one; words >> one;) w.push_back(one);
      Statement(w);
    }
  }

  // Gives back what is the script's whatever it does. What was reported since then, and what is left.
  std::string End() {
    OfStandin<void()>("ricci_standin_run")();
    for (const auto& [name, stream] : streams_) {
      if (!is_dropped_[name]) driver_->cuStreamSynchronize(stream);
    }
    for (const char* m : {"a", "b"}) driver_->cuMemFreeAsync(memory_[m], streams_["u"]);
    driver_->cuStreamSynchronize(streams_["u"]);
    for (const auto& [name, g] : graphs_) {
      if (g.exec != nullptr) driver_->cuGraphExecDestroy(g.exec);
      driver_->cuGraphDestroy(g.graph);
    }
    for (const auto& [name, event] : marked_) {
      if (!is_lost_[name]) driver_->cuEventDestroy(event);
    }
    for (const auto& [name, stream] : streams_) {
      if (name != "u" && !is_dropped_[name]) driver_->cuStreamDestroy(stream);
    }
    if (module_ != nullptr) driver_->cuModuleUnload(module_);
    const cuda::CuStream last = streams_["u"];
    std::string found = OfStandin<const char*()>("ricci_standin_report")();
    for (const char* const own : {"1 streams left\n", "1 contexts left\n", "1 pools left\n"}) Replace(found, own, "");
    for (const auto& [name, stream] : streams_) {
      Replace(found, "stream " + std::to_string(numbers_[name]) + " ", "stream " + name + " ");
    }
    for (const auto& [name, p] : live_) driver_->cuMemFreeAsync(p, last);
    for (const auto& [name, p] : pinned_) driver_->cuMemFreeHost(p);
    for (const auto& [name, event] : events_) driver_->cuEventDestroy(event);
    driver_->cuStreamSynchronize(last);
    driver_->cuStreamDestroy(last);
    return found;
  }

 private:
  using Words = std::vector<std::string>;
  struct Graph {
    cuda::CuGraph graph = nullptr;
    cuda::CuGraphExec exec = nullptr;
    std::vector<cuda::CuGraphNode> nodes;
  };
  static constexpr uint64_t kBytes = 64, kCount = kBytes / 4;

  static void Replace(std::string& text, const std::string& what, const std::string& by) {
    for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size())) {
      text.replace(at, what.size(), by);
    }
  }

  void Statement(const Words& w) {
    static const std::map<std::string, void (DriverScript::*)(const Words&)> kStatements = {
        {"reads", &DriverScript::Kernel},    {"writes", &DriverScript::Kernel}, {"adds", &DriverScript::Kernel},
        {"set", &DriverScript::Copies},      {"copy", &DriverScript::Copies},   {"peer", &DriverScript::Copies},
        {"put", &DriverScript::Copies},      {"get", &DriverScript::Copies},    {"new", &DriverScript::Memory},
        {"free", &DriverScript::Memory},     {"pin", &DriverScript::Memory},    {"unpin", &DriverScript::Memory},
        {"look", &DriverScript::Host},       {"fill", &DriverScript::Host},     {"call", &DriverScript::Host},
        {"runs", &DriverScript::Host},       {"sync", &DriverScript::Streams},  {"drop", &DriverScript::Streams},
        {"event", &DriverScript::Events},    {"mark", &DriverScript::Events},   {"wait", &DriverScript::Events},
        {"await", &DriverScript::Events},    {"ask", &DriverScript::Events},    {"lose", &DriverScript::Events},
        {"node", &DriverScript::Node},       {"move", &DriverScript::Move},     {"launch", &DriverScript::Launch},
        {"unload", &DriverScript::Contexts}, {"push", &DriverScript::Contexts}, {"pop", &DriverScript::Contexts},
        {"thread", &DriverScript::Contexts}, {"raw", &DriverScript::Memory},
    };
    (this->*kStatements.at(w[0]))(w);
  }

  void New(const std::string& name, const std::string& stream) {
    memory_[name] = driver_.Allocate(kBytes, streams_[stream]);
    OfStandin<void(cuda::CuPointer, uint64_t)>("ricci_standin_written")(memory_[name], kBytes);
  }
  void* HostOf(const std::string& name) {
    const auto pinned = memory_.find(name);
    if (is_pinned_[name]) return reinterpret_cast<void*>(static_cast<uintptr_t>(pinned->second));
    host_[name].resize(kBytes);
    return host_[name].data();
  }
  cuda::CuEvent EventOf(const std::string& name) {
    if (marked_.count(name) == 0) driver_->cuEventCreate(&marked_[name], 2);
    return marked_[name];
  }
  Graph& GraphOf(const std::string& name) {
    Graph& g = graphs_[name];
    if (g.graph == nullptr) driver_->cuGraphCreate(&g.graph, 0);
    return g;
  }

  void Kernel(const Words& w) {
    void* arguments[] = {&memory_[w[1]]};
    driver_->cuLaunchKernel(driver_.Find(module_, w[0]), 1, 1, 1, kCount, 1, 1, 0, streams_[w[2]], arguments, nullptr);
  }
  void Copies(const Words& w) {
    const cuda::CuPointer to = memory_[w[1]];
    const cuda::CuStream stream = streams_[w[0] == "copy" || w[0] == "peer" ? w[3] : w[2]];
    if (w[0] == "set") driver_->cuMemsetD32Async(to, 0, kCount, stream);
    if (w[0] == "put") driver_->cuMemcpyHtoDAsync(to, HostOf(w.size() > 3 ? w[3] : w[1]), kBytes, stream);
    if (w[0] == "get") driver_->cuMemcpyDtoHAsync(HostOf(w[1]), to, kBytes, stream);
    if (w[0] == "copy") driver_->cuMemcpyDtoDAsync(to, memory_[w[2]], kBytes, stream);
    if (w[0] == "peer") {
      driver_->cuMemcpyPeerAsync(to, driver_.context(), memory_[w[2]], driver_.context(), kBytes, stream);
    }
  }
  void Memory(const Words& w) {
    cuda::CuPointer& m = memory_[w[1]];
    if (w[0] == "new" || w[0] == "raw") {
      if (w[0] == "new") New(w[1], w[2]);
      if (w[0] == "raw") m = driver_.Allocate(kBytes, streams_[w[2]]);
      if (m != 0) live_[w[1]] = m;
    } else if (w[0] == "free") {
      driver_->cuMemFreeAsync(m, streams_[w[2]]);
      live_.erase(w[1]);
    } else if (w[0] == "pin") {
      driver_->cuMemHostAlloc(&pinned_[w[1]], kBytes, 0);
      m = static_cast<cuda::CuPointer>(reinterpret_cast<uintptr_t>(pinned_[w[1]]));
      is_pinned_[w[1]] = true;
    } else {
      driver_->cuMemFreeHost(HostOf(w[1]));
      pinned_.erase(w[1]);
    }
  }
  void Host(const Words& w) {
    if (w[0] == "runs") return OfStandin<void()>("ricci_standin_run")();
    if (w[0] == "call") {
      driver_->cuLaunchHostFunc(
          streams_[w[1]], [](void*) {}, nullptr);
      return;
    }
    OfStandin<void(const void*, uint64_t, int)>("ricci_standin_host")(HostOf(w[1]), kBytes, w[0] == "fill" ? 1 : 0);
  }
  void Streams(const Words& w) {
    if (w[0] == "sync") {
      driver_->cuStreamSynchronize(streams_[w[1]]);
      return;
    }
    driver_->cuStreamDestroy(streams_[w[1]]);
    is_dropped_[w[1]] = true;
  }
  void Events(const Words& w) {
    if (w[0] == "event") driver_->cuEventCreate(&events_[w[1]], 2);
    if (w[0] == "mark") driver_->cuEventRecord(EventOf(w[1]), streams_[w[2]]);
    if (w[0] == "wait") driver_->cuStreamWaitEvent(streams_[w[2]], EventOf(w[1]), 0);
    if (w[0] == "await") driver_->cuEventSynchronize(EventOf(w[1]));
    while (w[0] == "ask" && driver_->cuEventQuery(EventOf(w[1])) == cuda::kCuNotReady) {
    }
    if (w[0] != "lose") return;
    std::map<std::string, cuda::CuEvent>& of = events_.count(w[1]) != 0 ? events_ : marked_;
    driver_->cuEventDestroy(of[w[1]]);
    is_lost_[w[1]] = true;
    events_.erase(w[1]);
  }

  cuda::CuKernelNode KernelNode(const std::string& kernel, void** arguments) const {
    return {driver_.Find(module_, kernel), {1, 1, 1}, {kCount, 1, 1}, 0, arguments, nullptr, nullptr, nullptr};
  }
  void Node(const Words& w) {
    Graph& g = GraphOf(w[1]);
    std::vector<cuda::CuGraphNode> after;
    for (size_t i = 4; i < w.size(); ++i) after.push_back(g.nodes[static_cast<size_t>(std::stoi(w[i]))]);
    g.nodes.emplace_back();
    void* arguments[] = {&memory_[w[3]]};
    if (w[2] == "set") {
      const cuda::CuMemsetNode node{memory_[w[3]], 0, 0, 4, kCount, 1};
      driver_->cuGraphAddMemsetNode(&g.nodes.back(), g.graph, after.data(), after.size(), &node, driver_.context());
    } else {
      const cuda::CuKernelNode node = KernelNode(w[2], arguments);
      driver_->cuGraphAddKernelNode(&g.nodes.back(), g.graph, after.data(), after.size(), &node);
    }
  }
  void Move(const Words& w) {
    Graph& g = GraphOf(w[1]);
    void* arguments[] = {&memory_[w[4]]};
    const cuda::CuKernelNode node = KernelNode(w[3], arguments);
    driver_->cuGraphExecKernelNodeSetParams(g.exec, g.nodes[static_cast<size_t>(std::stoi(w[2]))], &node);
  }
  void Launch(const Words& w) {
    Graph& g = GraphOf(w[1]);
    if (g.exec == nullptr) driver_->cuGraphInstantiateWithFlags(&g.exec, g.graph, 0);
    driver_->cuGraphLaunch(g.exec, streams_[w[2]]);
  }
  void Contexts(const Words& w) {
    cuda::CuContext context = driver_.context();
    if (w[0] == "push") driver_->cuCtxPushCurrent(context);
    if (w[0] == "pop") driver_->cuCtxPopCurrent(&context);
    if (w[0] == "thread") {
      std::thread([&] {
        for (size_t i = 1; i < w.size(); ++i) Contexts({w[i]});
      }).join();
    }
    if (w[0] != "unload") return;
    driver_->cuModuleUnload(module_);
    module_ = nullptr;
  }

  const BareDriver driver_;
  cuda::CuModule module_ = nullptr;
  std::map<std::string, cuda::CuStream> streams_;
  std::map<std::string, uint64_t> numbers_;  // of streams, as the stand-in names them
  std::map<std::string, cuda::CuPointer> memory_, live_;
  std::map<std::string, bool> is_pinned_, is_dropped_, is_lost_;
  std::map<std::string, void*> pinned_;
  std::map<std::string, cuda::CuEvent> marked_, events_;  // those that a script must give back itself
  std::map<std::string, std::vector<char>> host_;
  std::map<std::string, Graph> graphs_;
};

inline std::string RunDriverScript(const std::string& text) {
  DriverScript script;
  script.Run(text);
  return script.End();
}

}  // namespace ricci::testing
#endif
