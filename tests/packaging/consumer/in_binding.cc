// The smallest host of the C++ binding: its context has to hold the CPU backend where that is linked.
#include <cstdio>
#include <ricci/ricci.hpp>

int main() {
  ricci::Context ctx;
  const bool found = ctx.device().kind() == "cpu";
  std::puts(found ? "ok: C++ binding, device 0 is cpu" : "the CPU backend was not linked");
  return found ? 0 : 1;
}
