// Entries of a cache whose checksum is right but whose tables are not: their writer knows the format. Each is a status
// of the reader that names what is wrong, and a miss of the cache, after which the program is compiled.
#include <gmock/gmock.h>

#include <functional>

#include "cpu/kept_key.h"
#include "runtime/cache/saved_plan.h"
#include "runtime/compile/saved_executable.h"
#include "support/cached_host.h"

namespace ricci::testing { namespace {

using pass::Lowered;

// ---- what is wrong ----
struct Craft {
  std::string name, said;
  size_t program;  // of KeptPrograms
  std::function<void(Lowered&)> change;
};

void PrintTo(const Craft& c, std::ostream* out) { *out << c.name; }

ricci_plan_step& StepOf(Lowered& l, uint32_t kind) {
  for (ricci_plan_step& s : l.plan.steps) {
    if (s.kind == kind) return s;
  }
  ADD_FAILURE() << "the plan has no step of kind " << kind;
  return l.plan.steps.emplace_back();
}
ricci_plan_buffer& BufferOf(Lowered& l, uint32_t kind) {
  for (ricci_plan_buffer& b : l.plan.buffers) {
    if (b.kind == kind) return b;
  }
  ADD_FAILURE() << "the plan has no buffer of kind " << kind;
  return l.plan.buffers.emplace_back();
}
kernel::Kernel& FirstKernel(Lowered& l) { return l.kernels.at(0); }

constexpr size_t kConstants = 0, kLoop = 1, kSource = 2, kCall = 4, kAliases = 10;  // in KeptPrograms

std::vector<Craft> Buffers() {
  return {
      {"buffer_of_no_kind", "plan: buffer 0 is of no kind", kLoop, [](Lowered& l) { l.plan.buffers[0].kind = 0; }},
      {"buffer_of_an_unknown_kind", "is of no kind", kLoop, [](Lowered& l) { l.plan.buffers[0].kind = 77; }},
      {"input_out_of_range", "an argument", kLoop, [](Lowered& l) { BufferOf(l, RICCI_BUFFER_INPUT).index = 1; }},
      {"output_out_of_range", "a result", kLoop, [](Lowered& l) { BufferOf(l, RICCI_BUFFER_OUTPUT).index = 1u << 31; }},
      {"constant_out_of_range", "a constant", kConstants,
       [](Lowered& l) { BufferOf(l, RICCI_BUFFER_CONSTANT).index = 99; }},
      {"input_of_another_size", "the size of an argument", kLoop,
       [](Lowered& l) { BufferOf(l, RICCI_BUFFER_INPUT).bytes = 8; }},
      {"output_that_is_larger", "the size of a result", kLoop,
       [](Lowered& l) { BufferOf(l, RICCI_BUFFER_OUTPUT).bytes *= 2; }},
      {"constant_that_is_larger", "the size of a constant", kConstants,
       [](Lowered& l) { BufferOf(l, RICCI_BUFFER_CONSTANT).bytes += 1; }},
      {"offset_beyond_the_arena", "leaves the arena", kLoop,
       [](Lowered& l) { BufferOf(l, RICCI_BUFFER_ARENA).offset = l.plan.arena_bytes + 64; }},
      {"offset_that_wraps", "leaves the arena", kLoop,
       [](Lowered& l) { BufferOf(l, RICCI_BUFFER_ARENA).offset = UINT64_MAX - 7; }},
      {"arena_that_no_machine_has", "the size of the arena", kLoop,
       [](Lowered& l) { l.plan.arena_bytes = UINT64_MAX; }},
      {"arena_that_is_too_small", "leaves the arena", kLoop, [](Lowered& l) { l.plan.arena_bytes = 0; }},
  };
}

std::vector<Craft> Steps() {
  return {
      {"step_of_no_kind", "there is no step of kind 0", kLoop, [](Lowered& l) { l.plan.steps[0].kind = 0; }},
      {"collective", "there is no step of kind 9", kLoop,
       [](Lowered& l) { l.plan.steps[0].kind = RICCI_STEP_COLLECTIVE; }},
      {"kernel_out_of_range", "there is no kernel 1000", kLoop,
       [](Lowered& l) { StepOf(l, RICCI_STEP_KERNEL).index = 1000; }},
      {"arguments_that_wrap", "arguments are out of range", kLoop,
       [](Lowered& l) { StepOf(l, RICCI_STEP_KERNEL).args = UINT32_MAX; }},
      {"too_many_arguments", "arguments are out of range", kLoop,
       [](Lowered& l) { StepOf(l, RICCI_STEP_KERNEL).n_args = UINT32_MAX; }},
      {"too_few_arguments", "buffers but gets", kLoop, [](Lowered& l) { --StepOf(l, RICCI_STEP_KERNEL).n_args; }},
      {"argument_that_is_no_buffer", "an argument is not a buffer", kLoop,
       [](Lowered& l) { l.plan.args[StepOf(l, RICCI_STEP_KERNEL).args] = 1u << 20; }},
      {"while_without_an_end", "a block is not closed", kLoop,
       [](Lowered& l) { std::erase_if(l.plan.steps, [](const auto& s) { return s.kind == RICCI_STEP_END; }); }},
      {"while_without_its_bool", "a while takes one buffer", kLoop,
       [](Lowered& l) { StepOf(l, RICCI_STEP_WHILE).n_args = 0; }},
      {"cond_in_no_while", "cond is not in a while", kLoop,
       [](Lowered& l) { StepOf(l, RICCI_STEP_WHILE).kind = RICCI_STEP_COND; }},
      {"end_of_nothing", "end closes no block", kLoop,
       [](Lowered& l) {
         l.plan.steps[0] = {RICCI_STEP_END, 0, 0, 0, 0};
       }},
      {"next_in_a_while", "next is not in a case", kLoop,
       [](Lowered& l) { StepOf(l, RICCI_STEP_COND).kind = RICCI_STEP_NEXT; }},
      {"case_without_branches", "has branches", kLoop,
       [](Lowered& l) {
         ricci_plan_step& s = StepOf(l, RICCI_STEP_WHILE);
         s.kind = RICCI_STEP_CASE, s.index = 0;
       }},
      {"copy_of_another_size", "a copy takes two buffers of one size", kLoop,
       [](Lowered& l) { l.plan.Step(RICCI_STEP_COPY, 0, {0}); }},
  };
}

std::vector<Craft> Kernels() {
  return {
      {"dtype_that_is_none", "has no supported dtype", kLoop,
       [](Lowered& l) { FirstKernel(l).buffers[0].dtype = 4711; }},
      {"dtype_that_is_complex", "has no supported dtype", kLoop,
       [](Lowered& l) { FirstKernel(l).buffers[0].dtype = RICCI_C128; }},
      {"no_access", "no access", kLoop, [](Lowered& l) { FirstKernel(l).buffers[0].access = 0; }},
      {"access_of_all_bits", "no access", kLoop, [](Lowered& l) { FirstKernel(l).buffers[0].access = UINT32_MAX; }},
      {"elements_below_0", "a negative size", kLoop, [](Lowered& l) { FirstKernel(l).buffers[0].elements = -1; }},
      {"elements_beyond_the_buffer", "but the kernel needs", kLoop,
       [](Lowered& l) { FirstKernel(l).buffers[0].elements += 1; }},
      {"elements_whose_bytes_overflow", "but the kernel needs", kLoop,
       [](Lowered& l) { FirstKernel(l).buffers[0].elements = INT64_MAX; }},
      {"domain_below_0", "the domain has an extent of -5", kLoop, [](Lowered& l) { FirstKernel(l).domain = {-5}; }},
      {"domain_beyond_every_type", "the domain has an extent of", kLoop,
       [](Lowered& l) { FirstKernel(l).domain = {INT64_MAX}; }},
      {"domain_of_many_dimensions", "too many dimensions", kLoop,
       [](Lowered& l) { FirstKernel(l).domain.assign(RICCI_MAX_RANK + 1, 1); }},
      {"update_of_no_buffer", "what a kernel updates", kLoop, [](Lowered& l) { FirstKernel(l).updates = 100; }},
      {"update_below_none", "what a kernel updates", kLoop, [](Lowered& l) { FirstKernel(l).updates = -2; }},
      {"input_that_is_written", "is written but must not be", kAliases,
       [](Lowered& l) {
         for (kernel::Kernel& k : l.kernels) {
           for (ricci_kernel_buffer& b : k.buffers) b.access = RICCI_ACCESS_READ_WRITE;
         }
       }},
  };
}

std::vector<Craft> Calls() {
  return {
      {"call_out_of_range", "there is no library call 5", kCall,
       [](Lowered& l) { StepOf(l, RICCI_STEP_LIBRARY).index = 5; }},
      {"call_with_an_argument_more", "the library call takes", kCall,
       [](Lowered& l) {
         l.plan.Step(RICCI_STEP_LIBRARY, 0, {0, 0, 0, 0, 0});
       }},
      {"call_of_another_plan", "a library call", kCall, [](Lowered& l) { l.plan.libraries[0].tasks += 1; }},
      {"call_with_a_small_result", "the size of an argument of a library call", kCall,
       [](Lowered& l) {
         l.plan.arena_bytes = std::max<uint64_t>(l.plan.arena_bytes, 16);
         l.plan.buffers.push_back({RICCI_BUFFER_ARENA, 0, 16, 0, nullptr});
         l.plan.args[StepOf(l, RICCI_STEP_LIBRARY).args + 1] = static_cast<uint32_t>(l.plan.buffers.size() - 1);
       }},
      {"call_that_writes_an_input", "a result of a library call", kCall,
       [](Lowered& l) {
         const ricci_plan_step s = StepOf(l, RICCI_STEP_LIBRARY);
         l.plan.args[s.args + 1] = l.plan.args[s.args];
       }},
      {"source_out_of_range", "there is no source 3", kSource,
       [](Lowered& l) { StepOf(l, RICCI_STEP_SOURCE).index = 3; }},
      {"source_with_too_few_arguments", "the source takes", kSource,
       [](Lowered& l) { StepOf(l, RICCI_STEP_SOURCE).n_args -= 1; }},
      {"result_in_place_of_what_is_kept", "a result in place", kAliases,
       [](Lowered& l) { l.output_alias.assign(l.plan.n_outputs, 7); }},
      {"result_in_place_below_none", "a result in place", kAliases,
       [](Lowered& l) { l.output_alias.assign(l.plan.n_outputs, INT32_MIN); }},
      {"results_in_place_of_another_number", "the number of results in place", kAliases,
       [](Lowered& l) { l.output_alias.assign(l.plan.n_outputs + 1, -1); }},
  };
}

std::vector<Craft> AllCrafts() {
  std::vector<Craft> all;
  for (auto part : {Buffers, Steps, Kernels, Calls}) {
    for (Craft& c : part()) all.push_back(std::move(c));
  }
  return all;
}

// ---- who reads it ----
class KeptCrafted : public ::testing::TestWithParam<Craft> {
 protected:
  void Use(const KeptProgram& e) {
    program_.emplace(ParseKept(runner_, e));
    key_.emplace(KeyOf(*ir::FromAbi(program_->get()), e.donate));
  }
  std::unique_ptr<Lowered> Lower() const {
    auto lowered = pass::Lower(*key_->program, key_->PassOptions());
    EXPECT_TRUE(lowered.ok()) << lowered.status();
    return *std::move(lowered);
  }
  // Puts code with these tables, which need not be its own, into the cache, as compilation does.
  void Store(std::unique_ptr<Lowered> tables) {
    std::string machine_code;
    ASSERT_TRUE(runtime::CompiledCode::Create(*key_, Lower(), {}, &machine_code).ok());
    auto crafted = runtime::CompiledCode::CreateSaved(*key_, std::move(tables), machine_code);
    ASSERT_TRUE(crafted.ok()) << crafted.status();
    runtime::StoreExecutable(cache(), *runtime::ExecutableKey::Of(*key_), **crafted, machine_code);
    ASSERT_EQ(CacheStats(runner_.ctx()).executable_stores, 1u);
  }
  bool Loads() { return bool{runtime::LoadExecutable(cache(), *runtime::ExecutableKey::Of(*key_), *key_)}; }
  runtime::CodeCache& cache() { return runtime::FromAbi(runner_.ctx())->code_cache(); }

  CachingHost host_;
  ProgramRunner runner_{&host_.opts};
  std::optional<Program> program_;
  std::optional<runtime::CompileKey> key_;
};

TEST_P(KeptCrafted, IsAStatusAndAMiss) {
  const Craft& c = GetParam();
  Use(KeptPrograms()[c.program]);
  auto tables = Lower();
  c.change(*tables);
  const auto bytes = runtime::WritePlan(*tables);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const auto read = runtime::ReadPlan(*bytes, *key_->program, key_->PassOptions());
  ASSERT_FALSE(read.ok()) << "a plan with " << c.name << " is read";
  EXPECT_THAT(std::string(read.status().message()), ::testing::HasSubstr(c.said));
  Store(std::move(tables));
  EXPECT_FALSE(Loads());
  EXPECT_EQ(CacheStats(runner_.ctx()).executable_hits, 0u);
}
INSTANTIATE_TEST_SUITE_P(Tables, KeptCrafted, ::testing::ValuesIn(AllCrafts()),
                         [](const auto& info) { return info.param.name; });

// So it is the change that makes each of them a miss.
TEST_F(KeptCrafted, TablesAsTheyAreAreAHit) {
  Use(KeptPrograms()[kSource]);
  Store(Lower());
  EXPECT_TRUE(Loads());
}

}}  // namespace ricci::testing
