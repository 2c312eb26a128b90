// A process that did not make the object file of the CPU backend: it loads the file and runs it.
//
//   ricci_object_host OBJECT WORKING_BYTES INPUT_BYTES,... OUTPUT_BYTES,... [PROGRAM] < inputs > outputs
//
// Library calls are not part of an object. If there are any, PROGRAM is the text whose plan lists them.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "cpu/backend_with.h"
#include "cpu/llvm/code_symbols.h"
#include "cpu/llvm/jit.h"
#include "cpu/llvm/object_loader.h"
#include "cpu/run/pool.h"
#include "cpu/run/run_state.h"
#include "ricci/backend.h"

namespace ricci::testing { namespace {

[[noreturn]] void Stop(const std::string& what) {
  std::fprintf(stderr, "ricci_object_host: %s\n", what.c_str());
  std::exit(1);
}

void Check(ricci_status* s) {
  if (s == nullptr) return;
  ricci_str text;
  ricci_status_message(s, &text);
  Stop(std::string(text.ptr, text.len));
}

std::string ReadFile(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) Stop(std::string("cannot read ") + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<size_t> Sizes(const char* list) {
  std::vector<size_t> sizes;
  std::istringstream text(list);
  for (std::string one; std::getline(text, one, ',');) sizes.push_back(std::stoull(one));
  return sizes;
}

// ---- library calls ----
const ricci_plan_library* g_libraries = nullptr;

// A backend of kind `cpu` that compiles nothing: it keeps the library calls of the plan.
ricci_status* AttachListing(ricci_ctx* ctx) {
  ricci_backend b{};
  b.hdr.size = sizeof b;
  b.kind = {"cpu", 3};
  b.name = {"listing", 7};
  b.compile = [](void*, const ricci_compile_args* a, void**, ricci_code_info*) -> ricci_status* {
    g_libraries = a->plan->libraries;
    return nullptr;
  };
  b.run = [](void*, const ricci_run_args*) -> ricci_status* { return nullptr; };
  b.drop_code = [](void*) {};
  return ricci_backend_register(ctx, &b);
}

// The executable that has the tables.
ricci_executable* ListLibraries(ricci_ctx* ctx, const std::string& text) {
  Check(ricci_context_add_plugin(ctx, ricci_plugin_query_lax));
  Check(ricci_context_add_plugin(ctx, ricci_plugin_query_cpu));
  Check(ricci_context_add_plugin(ctx, QueryPluginThat<AttachListing>));
  ricci_program* f = nullptr;
  ricci_executable* x = nullptr;
  Check(ricci_program_parse(ctx, text.data(), text.size(), "host", 4, &f));
  Check(ricci_compile(f, nullptr, &x));
  ricci_program_release(f);
  return x;
}

// ---- the run ----
std::vector<std::vector<char>> Buffers(const std::vector<size_t>& sizes) {
  std::vector<std::vector<char>> buffers;
  for (size_t bytes : sizes) buffers.emplace_back(bytes);
  return buffers;
}

std::vector<void*> Pointers(std::vector<std::vector<char>>& buffers) {
  std::vector<void*> pointers;
  for (auto& b : buffers) pointers.push_back(b.data());
  return pointers;
}

void Run(const cpu::LoadedObject& object, const ricci_hooks* hooks, size_t working_bytes, const char* in_sizes,
         const char* out_sizes) {
  std::vector<std::vector<char>> in = Buffers(Sizes(in_sizes)), out = Buffers(Sizes(out_sizes));
  for (auto& b : in) std::cin.read(b.data(), static_cast<std::streamsize>(b.size()));
  if (!std::cin) Stop("the inputs are short");
  const std::vector<void*> inputs = Pointers(in), outputs = Pointers(out);
  constexpr size_t kAlign = 64;
  void* arena = std::aligned_alloc(kAlign, (working_bytes / kAlign + 1) * kAlign);
  ricci_run_args args{};
  args.hdr.size = sizeof args;
  args.inputs = inputs.data();
  args.outputs = outputs.data();
  args.libraries = g_libraries;
  args.arena = arena;
  cpu::Pool pool(hooks);
  cpu::RunState state{&pool, &args, nullptr, 0, 0};
  const auto entry = reinterpret_cast<cpu::EntryFn>(object.entry());
  if (entry(inputs.data(), outputs.data(), arena, &state) != 0) Check(state.status);
  std::free(arena);
  for (const auto& b : out) std::cout.write(b.data(), static_cast<std::streamsize>(b.size()));
}

int Main(int argc, char** argv) {
  if (argc != 5 && argc != 6) Stop("usage: OBJECT WORKING_BYTES INPUT_BYTES,... OUTPUT_BYTES,... [PROGRAM]");
  ricci_ctx* ctx = nullptr;
  Check(ricci_context_create(nullptr, &ctx));
  ricci_executable* libraries = argc == 6 ? ListLibraries(ctx, ReadFile(argv[5])) : nullptr;
  const std::string file = ReadFile(argv[1]);
  std::string error;
  const auto object = cpu::LoadedObject::Load(file, cpu::kEntryName, cpu::FindCodeSymbol, error);
  if (object == nullptr) Stop(error);
  Run(*object, ricci_context_hooks(ctx), std::stoull(argv[2]), argv[3], argv[4]);
  ricci_executable_release(libraries);
  ricci_context_release(ctx);
  return 0;
}

}  // namespace
}  // namespace ricci::testing

int main(int argc, char** argv) { return ricci::testing::Main(argc, argv); }
