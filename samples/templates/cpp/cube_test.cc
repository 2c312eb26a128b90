// Loads the plugin, checks its rows by the laws of ricci/check.h and prints a gradient: cube_test PLUGIN
#include <ricci/check.h>
#include <cstdio>
#include <ricci/emit.hpp>
#include <ricci/ricci.hpp>

namespace {

ricci::Value Cube(ricci::Value x) { return ricci::Emit1("demo.cube", {x}); }

void PrintLaw(void*, const ricci_check_law* law) {
  std::printf("%-20.*s %s\n", static_cast<int>(law->name.len), law->name.ptr, law->failure.len == 0 ? "ok" : "FAILED");
}

void CheckLaws(const ricci::Context& ctx, std::string_view row) {
  ricci_check_opts opts = ricci_check_opts_default();
  opts.law = PrintLaw;
  ricci::Check(ricci_check_primitive(ctx.handle(), row.data(), row.size(), nullptr, 0, &opts));
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) return std::puts("usage: cube_test PLUGIN"), 2;
  ricci::Context ctx;
  ctx.load_plugin(argv[1]);
  CheckLaws(ctx, "demo.cube");
  const auto slopes = ricci::jit(ricci::vmap(ricci::grad(Cube), 0));
  for (double slope : slopes(ricci::Array(ctx, {1.0, 2.0, 3.0})).to_vector<double>()) std::printf("slope %g\n", slope);
} catch (const ricci::Error& e) {
  std::printf("%s\n", e.what());
  return 1;
}
