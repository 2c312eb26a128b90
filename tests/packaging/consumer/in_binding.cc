// A small host of the C++ binding: in_binding KIND. Device 0 must be of that kind (the CPU backend if that is linked),
// and a traced function must run on it.
#include <cstdio>
#include <ricci/ricci.hpp>

int main(int argc, char** argv) {
  ricci::Context ctx;
  const std::string_view kind = argc > 1 ? argv[1] : "cpu";
  if (ctx.device().kind() != kind) {
    std::puts("the device asked for was not linked");
    return 1;
  }
  const auto f = ricci::jit(ricci::grad([](ricci::Value x) { return ricci::sum(ricci::einsum("i,i->i", x, x)); }));
  const bool right = f(ricci::Array(ctx, {1.0f, 3.0f})).to_vector<float>()[1] == 6;
  std::printf("%s: C++ binding on %s\n", right ? "ok" : "a wrong derivative", std::string(kind).c_str());
  return right ? 0 : 1;
}
