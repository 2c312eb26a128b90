// SOURCE lowerings: functions written as LLVM assembly, in plugins in C++ and in C. What they compute, alone and among
// other operations, and how wrong ones are refused.
#include "ricci/plugin.hpp"

#include "cpu/source_rows.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

// ---- test.axpy: a x + y by the text for cpu, in tasks of 64 elements; elsewhere by a SCALAR lowering ----

constexpr int64_t kChunk = 64;

std::string AxpyText(DType dtype, int64_t elements) {
  const std::string type = dtype == DType::kF32 ? "float" : "double";
  return Text(
      "%unused = type { i64 }\n"
      "@few = private constant [2 x i64] [i64 1, i64 0]\n"
      "define ",
      type, " @step(", type, " %a, ", type, " %x, ", type, " %y) {\n", "  %p = fmul ", type, " %a, %x\n  %s = fadd ",
      type, " %p, %y\n  ret ", type, " %s\n}\n", "define void @entry(ptr %args, ptr %workspace, i64 %task, ", type,
      " %a, i64 %chunk) {\n"
      "start:\n"
      "  %x = load ptr, ptr %args\n"
      "  %second = getelementptr ptr, ptr %args, i64 1\n"
      "  %y = load ptr, ptr %second\n"
      "  %third = getelementptr ptr, ptr %args, i64 2\n"
      "  %z = load ptr, ptr %third\n"
      "  %one = load i64, ptr @few\n"
      "  %first = mul i64 %task, %chunk\n"
      "  %all = add i64 %first, %chunk\n"
      "  %end = call i64 @llvm.smin.i64(i64 %all, i64 ",
      elements,
      ")\n"
      "  br label %body\n"
      "body:\n"
      "  %i = phi i64 [ %first, %start ], [ %next, %body ]\n"
      "  %xi = getelementptr ",
      type, ", ptr %x, i64 %i\n  %yi = getelementptr ", type, ", ptr %y, i64 %i\n", "  %zi = getelementptr ", type,
      ", ptr %z, i64 %i\n  %xv = load ", type, ", ptr %xi\n", "  %yv = load ", type, ", ptr %yi\n  %zv = call ", type,
      " @step(", type, " %a, ", type, " %xv, ", type, " %yv)\n  store ", type, " %zv, ptr %zi\n",
      "  %next = add i64 %i, %one\n"
      "  %more = icmp slt i64 %next, %end\n"
      "  br i1 %more, label %body, label %done\n"
      "done:\n"
      "  ret void\n"
      "}\n"
      "declare i64 @llvm.smin.i64(i64, i64)\n");
}
Source Axpy(const Eqn& e, ricci_device*) {
  const int64_t n = e.in(0).elements();
  Source s{AxpyText(e.in(0).dtype(), n), "entry"};
  s.grid[0] = (n + kChunk - 1) / kChunk;
  const double a = e.number("a");
  s.scalars = {e.in(0).dtype() == DType::kF32 ? SourceScalar(static_cast<float>(a)) : SourceScalar(a),
               SourceScalar(kChunk)};
  s.flops = 2 * static_cast<uint64_t>(n);
  return s;
}
Scalar AxpyOfElements(KernelBuilder&, const Eqn& e, std::span<const Scalar> in) {
  return in[0] * e.number("a") + in[1];
}
bool IsLarge(const Eqn& e) { return e.in(0).elements() != 1; }

constexpr AttrSpec kAxpyAttrs[] = {{"a", AttrKind::kFloat}};
constexpr Lowering kAxpyLowerings[] = {{.source = Axpy, .match = IsLarge, .target = "cpu", .priority = 1},
                                       {.scalar = AxpyOfElements}};
void TransposeAxpy(const Eqn& e, Transpose& a) {
  for (uint32_t i = 0; i < 2; ++i) {
    const double factor = i == 0 ? e.number("a") : 1;
    if (a.linear[i]) a.in_cts[i] = lax::mul(factor, a.cts[0]);
  }
}
constexpr Row kAxpy = {.name = "test.axpy",
                       .attrs = kAxpyAttrs,
                       .type = rules::Same<2, kFloats>,
                       .jvp = rules::kLinear,
                       .transpose = TransposeAxpy,
                       .batch = rules::kElementwise,
                       .lowerings = kAxpyLowerings};

// ---- y[i] = 2 * x[n - 1 - i]: the doubles go to the workspace, and from there to the result, in two launches ----
Source Reversed(const Eqn& e, ricci_device*) {
  const int64_t n = e.in(0).elements();
  const std::string place = "  %to = getelementptr double, ptr %", begin = "(ptr %args, ptr %workspace, i64 %task) {\n",
                    last = std::to_string(n - 1);
  Source s{"define void @doubles" + begin +
               "  %x = load ptr, ptr %args\n"
               "  %from = getelementptr double, ptr %x, i64 %task\n"
               "  %v = load double, ptr %from\n"
               "  %two = fadd double %v, %v\n" +
               place +
               "workspace, i64 %task\n"
               "  store double %two, ptr %to\n"
               "  ret void\n}\n"
               "define void @moves" +
               begin +
               "  %second = getelementptr ptr, ptr %args, i64 1\n"
               "  %y = load ptr, ptr %second\n"
               "  %other = sub i64 " +
               last +
               ", %task\n"
               "  %from = getelementptr double, ptr %workspace, i64 %other\n"
               "  %v = load double, ptr %from\n" +
               place +
               "y, i64 %task\n"
               "  store double %v, ptr %to\n"
               "  ret void\n}\n",
           "doubles"};
  s.grid[0] = n;
  Source moves = s;
  moves.entry = "moves";
  s.workspace_bytes = 8 * static_cast<uint64_t>(n);
  s.after = {moves};
  return s;
}
Scalar ReversedOfElements(KernelBuilder& k, const Eqn& e, uint32_t, std::span<const Scalar> index) {
  const Scalar v = k.Operand(0).Load({k.At(e.in(0).elements() - 1) - index[0]});
  return v + v;
}
constexpr Lowering kReversedLowerings[] = {{.source = Reversed, .target = "cpu", .priority = 1},
                                           {.index = ReversedOfElements}};
constexpr Row kReversed = {.name = "test.reversed", .type = rules::Same<1, kFloats>, .lowerings = kReversedLowerings};
constexpr Row kRows[] = {kAxpy, kReversed};
RowList Rows() { return kRows; }
RowList (*const kTables[])() = {Rows};
constexpr ricci_plugin kPlugin = Describe("axpy", "1", [](void*, ricci_ctx* ctx) { return AttachRows(ctx, kTables); });
ricci_status* Query(const ricci_host_info*, const ricci_plugin** out) {
  *out = &kPlugin;
  return nullptr;
}

Numbers Ramp(int64_t n, double step = 0.25) {
  Numbers out;
  for (int64_t i = 0; i < n; ++i) out.push_back(1 + step * static_cast<double>(i % 97));
  return out;
}

class SourceRows : public ::testing::Test {
 protected:
  SourceRows() {
    Ok(ricci_context_add_plugin(r_.ctx(), Query));
    Ok(ricci_context_add_plugin(r_.ctx(), query_source_row_in_c));
  }
  static size_t Steps(const std::string& plan, std::string_view what) {
    size_t n = 0;
    for (size_t at = 0; (at = plan.find(what, at)) != plan.npos; ++at) ++n;
    return n;
  }
  ProgramRunner r_;
};

constexpr std::string_view kAxpyProgram =
    "program f(%x: f64[1000], %y: f64[1000]) { %s: f64[1000] = sin(%x) %z: f64[1000] = test.axpy(%s, %y) a=2.5"
    " %w: f64[1000] = mul(%z, %z) return %w }";

TEST_F(SourceRows, ComputeAmongOtherOperations) {
  const Program f = r_.Parse(kAxpyProgram);
  r_.RunEverywhere(f, {Ramp(1000), Ramp(1000, 0.5)});
  EXPECT_EQ(Steps(r_.Dump(f, "plan", "cpu"), "source 0"), 1u);
  EXPECT_EQ(Steps(r_.Dump(f, "plan", "ref"), "source"), 0u) << "it is for cpu only";
  const Program narrow =
      r_.Parse("program f(%x: f32[70], %y: f32[70]) { %z: f32[70] = test.axpy(%x, %y) a=0.1 return %z }");
  r_.RunEverywhere(narrow, {Ramp(70), Ramp(70)}, 1e-6);
  const Program one = r_.Parse("program f(%x: f64[1], %y: f64[1]) { %z: f64[1] = test.axpy(%x, %y) a=3.0 return %z }");
  r_.RunEverywhere(one, {{2}, {5}});
  EXPECT_EQ(Steps(r_.Dump(one, "plan", "cpu"), "source"), 0u) << "`match` refuses it";
}

TEST_F(SourceRows, HaveDerivativesAndBatches) {
  const Program f = r_.Parse(
      "program f(%x: f64[130], %y: f64[130]) { %s: f64[130] = sin(%x) %z: f64[130] = test.axpy(%s, %y) a=2.5"
      " %w: f64[130] = mul(%z, %z) %r: f64[] = reduce_sum(%w) axes=[0] return %r }");
  const Program gradient = r_.Grad(f, {0, 1});
  r_.RunEverywhere(gradient, {Ramp(130), Ramp(130, 0.5)});
  Ok(ricci_context_config(r_.ctx(), "vmap", 4, "batched", 7));
  const Program batched = r_.Vmap(gradient, {0, 1}, {0, 1}, 3);
  EXPECT_EQ(Steps(r_.Dump(batched, "plan", "cpu"), "source 0"), 1u) << "one launch for the batch";
  r_.RunEverywhere(batched, {Ramp(390), Ramp(390, 0.5)});
}

TEST_F(SourceRows, RunInLoopsAndBranches) {
  const Program f = r_.Parse(
      "program f(%x: f64[100000], %n: i32[]) {"
      " %i: i32[] = constant 0 %j: i32[], %y: f64[100000] = while(%n, %i, %x) cond_nconsts=1 body_nconsts=0"
      " cond=program(%n: i32[], %i: i32[], %a: f64[100000]) { %p: bool[] = lt(%i, %n) return %p }"
      " body=program(%i: i32[], %a: f64[100000]) { %o: i32[] = constant 1 %k: i32[] = add(%i, %o)"
      " %b: f64[100000] = test.axpy(%a, %a) a=0.5 return %k, %b }"
      " %z: f64[100000] = cond(%n, %y) branches=[program(%a: f64[100000]) { %b: f64[100000] = neg(%a) return %b },"
      " program(%a: f64[100000]) { %b: f64[100000] = test.axpy(%a, %a) a=0.5 return %b }] return %z }");
  for (double n : {0.0, 1.0, 7.0}) r_.RunEverywhere(f, {Ramp(100000), {n}});
  EXPECT_EQ(Steps(r_.Dump(f, "plan", "cpu"), "source 0"), 2u) << "equal sources have one number";
}

// The second launch finds what the first one left in the workspace, among other steps that want memory, and in a loop.
TEST_F(SourceRows, LaunchSeveralInOrder) {
  const Program f = r_.Parse(
      "program f(%x: f64[100000], %n: i32[]) {"
      " %a: f64[100000] = test.reversed(%x) %b: f64[100000] = sin(%a) %c: f64[100000] = test.reversed(%b)"
      " %i: i32[] = constant 0 %j: i32[], %y: f64[100000] = while(%n, %i, %c) cond_nconsts=1 body_nconsts=0"
      " cond=program(%n: i32[], %i: i32[], %a: f64[100000]) { %p: bool[] = lt(%i, %n) return %p }"
      " body=program(%i: i32[], %a: f64[100000]) { %o: i32[] = constant 1 %k: i32[] = add(%i, %o)"
      " %b: f64[100000] = test.reversed(%a) return %k, %b } %d: f64[100000] = add(%a, %y) return %d }");
  r_.RunEverywhere(f, {Ramp(100000), {3}});
  EXPECT_EQ(Steps(r_.Dump(f, "plan", "cpu"), " source "), 6u) << r_.Dump(f, "plan", "cpu");
}

TEST_F(SourceRows, OfOneProgramKeepApart) {
  const Program f = r_.Parse(
      "program f(%x: f64[64], %y: f64[64]) { %a: f64[64] = test.axpy(%x, %y) a=2.0 %b: f64[64] = test.axpy(%a, %y) "
      "a=3.0"
      " %c: f64[64] = test.axpy(%b, %y) a=2.0 return %c }");
  r_.RunEverywhere(f, {Ramp(64), Ramp(64, 0.5)});
  const std::string plan = r_.Dump(f, "plan", "cpu");
  EXPECT_EQ(Steps(plan, "source 0"), 2u);
  EXPECT_EQ(Steps(plan, "source 1"), 1u);
}

// A product and a sum in a text are not contracted to a fused operation, so they round as written.
TEST_F(SourceRows, RoundAsWritten) {
  const double x = 1 + 0x1p-30, exact_of_square = x * x;
  const Program f = r_.Parse(
      "program f(%x: f64[2], %y: f64[2]) { %z: f64[2] = test.axpy(%x, %y) a=1.000000000931322574615478515625 return %z "
      "}");
  EXPECT_EQ(r_.Run(f, {{x, x}, {-exact_of_square, 0}}, "cpu")[0], (Numbers{0, exact_of_square}));
}

TEST_F(SourceRows, WrittenInC) {
  const Program f = r_.Parse("program f(%x: f64[30,7]) { %y: f64[30] = test.sum_last(%x) return %y }");
  const Numbers x = Ramp(210);
  Numbers want(30);
  for (size_t i = 0; i < 210; ++i) want[i / 7] += x[i];
  EXPECT_EQ(r_.Run(f, {x}, "cpu")[0], want);
  const Program over_last = r_.Vmap(f, {2}, {0}, 4);
  Numbers wide, batched(120);
  for (size_t i = 0; i < 840; ++i) wide.push_back(x[i % 210]);
  for (size_t i = 0; i < 840; ++i) batched[i % 4 * 30 + i / 28] += wide[i];
  EXPECT_EQ(r_.Run(over_last, {wide}, "cpu")[0], batched);
  const Program empty = r_.Parse("program f(%x: f64[0,7]) { %y: f64[0] = test.sum_last(%x) return %y }");
  EXPECT_TRUE(r_.Run(empty, {{}}, "cpu")[0].empty());
  const Program many = r_.Parse("program f(%x: f64[20000,2]) { %y: f64[20000] = test.sum_last(%x) return %y }");
  EXPECT_EQ(r_.Run(many, {Numbers(40000, 0.5)}, "cpu")[0], Numbers(20000, 1));
}

TEST_F(SourceRows, AreNotSeenElsewhere) {
  const Program f = r_.Parse("program f(%x: f64[3,7]) { %y: f64[3] = test.sum_last(%x) return %y }");
  ricci_compile_opts o = ricci_compile_opts_default();
  ricci_device* const on = ricci_device_find(r_.ctx(), "ref", 3);
  o.devices = &on;
  o.n_devices = 1;
  ricci_executable* x = nullptr;
  EXPECT_EQ(Message(ricci_compile(f.get(), &o, &x)),
            "test:1: test.sum_last: no lowering for target ref; SOURCE for `cpu` is for another target");
}

// ---- wrong sources ----

// A row whose source is what the test has set.
struct Chosen {
  std::string text;
  ricci_source source = ricci_source_default();
  int times = 1;  // that it is given

  static ricci_status* Give(void* self, const ricci_op*, const ricci_source_args* a) {
    const auto& c = *static_cast<const Chosen*>(self);
    ricci_status* s = nullptr;
    for (int i = 0; i < c.times && s == nullptr; ++i) s = a->give(a->sink, &c.source);
    return s;
  }
};

class WrongSource : public ::testing::Test {
 protected:
  WrongSource() {
    ricci_lowering l{};
    l.hdr.size = sizeof l;
    l.kind = RICCI_LOWER_SOURCE;
    l.target = {"cpu", 3};
    l.self = &chosen_;
    l.source = Chosen::Give;
    const ricci_lowering* lowerings[] = {&l};
    ricci_prim_def row{};
    row.hdr.size = sizeof row;
    row.name = {"test.chosen", 11};
    row.abstract_eval = [](void*, ricci_builder* b, const ricci_op* op) {
      return ricci_builder_set_out_types(b, op->in_types, 1);
    };
    row.lowerings = lowerings;
    row.n_lowerings = 1;
    Ok(ricci_prim_register(r_.ctx(), &row, nullptr));
    chosen_.source.entry = {"entry", 5};
    SetText("define void @entry(ptr %args, ptr %workspace, i64 %task) {\n  ret void\n}\n");
  }
  void SetText(std::string text) {
    chosen_.text = std::move(text);
    chosen_.source.text = {chosen_.text.data(), chosen_.text.size()};
  }
  // The message without where it is from, which is always the same. Each time of another program: equal ones would be
  // compiled once.
  std::string Error() {
    const std::string type = "f64[" + std::to_string(++programs_) + "]";
    const Program f = r_.Parse("program f(%x: " + type + ") {\n %y: " + type + " = test.chosen(%x) return %y }");
    ricci_executable* x = nullptr;
    ricci_status* s = ricci_compile(f.get(), nullptr, &x);
    ricci_executable_release(x);
    if (s == nullptr) return "";
    EXPECT_EQ(ricci_status_code(s), uint32_t{RICCI_INVALID_ARGUMENT});
    ricci_str primitive, rule;
    ricci_status_site(s, &primitive, &rule, nullptr, nullptr);
    EXPECT_EQ(std::string(primitive.ptr, primitive.len), "test.chosen");
    EXPECT_EQ(std::string(rule.ptr, rule.len), "source");
    const std::string message = Message(s), site = "test:2: test.chosen: ";
    EXPECT_EQ(message.substr(0, site.size()), site);
    return message.substr(std::min(message.size(), site.size()));
  }
  std::string ErrorOf(std::string text) {
    SetText(std::move(text));
    return Error();
  }
  // Of an entry with these instructions, and what else the text has.
  std::string ErrorIn(const std::string& body, const std::string& rest = "") {
    return ErrorOf("define void @entry(ptr %args, ptr %workspace, i64 %task) {\n" + body + "\n  ret void\n}\n" + rest);
  }

  ProgramRunner r_;
  Chosen chosen_;
  int programs_ = 0;
};

TEST_F(WrongSource, RightOnesAreTaken) {
  EXPECT_EQ(Error(), "");
  EXPECT_EQ(ErrorIn("  %x = call double @fma(double 1.0, double 2.0, double 3.0)\n"
                    "  %h = load ptr, ptr %args\n  store atomic i64 7, ptr %h release, align 8",
                    "declare double @fma(double, double, double)\n!llvm.ident = !{!0}\n!0 = !{!\"some compiler\"}\n"),
            "");
}

TEST_F(WrongSource, SyntaxHasItsLine) {
  EXPECT_EQ(ErrorIn("  %x = lod ptr, ptr %args"), "cpu: line 2, column 8: expected instruction opcode");
  EXPECT_EQ(ErrorIn("  store i64 %y, ptr %args"), "cpu: line 2, column 13: use of undefined value '%y'");
  EXPECT_EQ(ErrorOf("int main() {}"), "cpu: line 1, column 1: expected top-level entity");
  EXPECT_EQ(ErrorOf(std::string("define void @entry() {\0", 23)),
            "cpu: line 1, column 24: found end of file when expecting more instructions");
  EXPECT_EQ(ErrorOf(std::string(100000, '{')), "cpu: more than 256 brackets within each other");
  chosen_.source.file = {"rows.cc", 7};
  chosen_.source.line = 40;
  EXPECT_EQ(ErrorIn("  %x = lod ptr, ptr %args"), "cpu: rows.cc:41, column 8: expected instruction opcode");
}

TEST_F(WrongSource, EntryIsWhatIsCalled) {
  EXPECT_EQ(ErrorOf("define void @other() {\n  ret void\n}"), "cpu: it does not define the entry @entry");
  EXPECT_EQ(ErrorOf("declare void @entry(ptr, ptr, i64)"), "cpu: it does not define the entry @entry");
  EXPECT_EQ(ErrorOf("@entry = constant i64 1"), "cpu: it does not define the entry @entry");
  EXPECT_EQ(ErrorOf("define i32 @entry(ptr %a) {\n  ret i32 0\n}"),
            "cpu: the entry @entry is i32 (ptr), not void (ptr, ptr, i64)");
  const ricci_source_scalar scalars[] = {{RICCI_F32, 0, 0}, {RICCI_BOOL, 0, 1}, {RICCI_F64, 0, 0}};
  chosen_.source.scalars = scalars;
  chosen_.source.n_scalars = 3;
  EXPECT_EQ(Error(), "cpu: the entry @entry is i32 (ptr), not void (ptr, ptr, i64, float, i8, double)");
}

// LLVM would end the process for some of these.
TEST_F(WrongSource, IsRefusedByTheVerifier) {
  const std::string body =
      "  br label %next\nback:\n  %y = add i64 %task, 1\n  br label %next\nnext:\n  store i64 %y, ptr %workspace";
  const std::string error =
      "cpu: Instruction does not dominate all uses!:   %y = add i64 %task, 1:   store i64 %y, ptr %workspace, align 8";
  EXPECT_EQ(ErrorIn(body), error);
  EXPECT_EQ(ErrorIn(body, "!llvm.module.flags = !{!0}\n!0 = !{i32 2, !\"Debug Info Version\", i32 3}\n"), error);
}

TEST_F(WrongSource, CallsOnlyWhatCodeMayCall) {
  EXPECT_EQ(ErrorIn("  call void @puts(ptr %args)", "declare void @puts(ptr)"),
            "cpu: @puts is not a function that code for cpu may call");
  EXPECT_EQ(ErrorIn("  call void @ricci_cpu_stopped()", "declare void @ricci_cpu_stopped()"),
            "cpu: @ricci_cpu_stopped is not a function that code for cpu may call");
  EXPECT_EQ(ErrorIn("  call void @llvm.x86.sse2.lfence()", "declare void @llvm.x86.sse2.lfence()"),
            "cpu: @llvm.x86.sse2.lfence is not an intrinsic that code for cpu may call");
  EXPECT_EQ(ErrorIn("  call void @llvm.nvvm.barrier0()", "declare void @llvm.nvvm.barrier0()"),
            "cpu: @llvm.nvvm.barrier0 is not an intrinsic that code for cpu may call");
  EXPECT_EQ(ErrorIn("  call void asm \"nop\", \"\"()"),
            "cpu: @entry: code for cpu does not have:  call void asm \"nop\", \"\"()");
  EXPECT_EQ(ErrorIn("  %x = frem double 1.0, 2.0"),
            "cpu: @entry: code for cpu does not have:  %x = frem double 1.000000e+00, 2.000000e+00");
}

TEST_F(WrongSource, HasOnlyFunctionsAndConstants) {
  EXPECT_EQ(ErrorIn("", "@g = global i64 0"), "cpu: @g is not a constant");
  EXPECT_EQ(ErrorIn("", "@g = external constant i64"), "cpu: @g is not a constant");
  EXPECT_EQ(ErrorIn("", "@g = constant i64 0, section \".init_array\""), "cpu: @g has a section or an address space");
  EXPECT_EQ(ErrorIn("", "@a = alias void (ptr, ptr, i64), ptr @entry"), "cpu: @a is an alias");
  EXPECT_EQ(ErrorIn("", "module asm \"nop\""), "cpu: it has assembly of the processor");
  EXPECT_EQ(ErrorIn("", "define void @g() gc \"none\" {\n  ret void\n}"), "cpu: @g is more than a plain function");
  EXPECT_EQ(ErrorIn("  %x = zext i64 %task to i128\n  %y = udiv i128 %x, %x"),
            "cpu: @entry: code for cpu does not have:  %x = zext i64 %task to i128");
  EXPECT_EQ(ErrorIn("  %x = alloca <vscale x 4 x i32>\n  %y = load <vscale x 4 x i32>, ptr %x"),
            "cpu: @entry: code for cpu does not have:  %y = load <vscale x 4 x i32>, ptr %x, align 16");
}

TEST_F(WrongSource, IsForAnotherTarget) {
  EXPECT_EQ(ErrorOf("target triple = \"nvptx64-nvidia-cuda\"\n" + chosen_.text).substr(0, 35),
            "cpu: it is for nvptx64-nvidia-cuda,");
  EXPECT_EQ(ErrorOf("target datalayout = \"e-p:32:32\"\n").substr(0, 38), "cpu: its data layout is e-p:32:32, not");
}

TEST_F(WrongSource, LaunchesWhatCannotBe) {
  ricci_source& s = chosen_.source;
  s.block[0] = 32;
  EXPECT_EQ(Error(), "cpu: its block is 32 x 1 x 1; a block is one thread here");
  s.block[0] = 0;
  EXPECT_EQ(Error(), "its block is 0 x 1 x 1; each must be at least 1");
  s.block[0] = 1;
  s.shared_bytes = 64;
  EXPECT_EQ(Error(), "cpu: it wants 64 bytes of shared memory; a block is one thread here");
  s.shared_bytes = 0;
  s.grid[1] = -1;
  EXPECT_EQ(Error(), "its grid is 1 x -1 x 1; each must be at least 0");
  s.grid[1] = s.grid[2] = int64_t{1} << 40;
  EXPECT_EQ(Error(), "its grid is 1 x 1099511627776 x 1099511627776, more than 2^62 in all");
}

TEST_F(WrongSource, IsNotFilledIn) {
  ricci_source& s = chosen_.source;
  const ricci_source good = s;
  s.entry.len = 0;
  EXPECT_EQ(Error(), "`entry` is empty");
  s = good;
  s.text.len = 0;
  EXPECT_EQ(Error(), "its text is empty");
  s = good;
  s.hdr.flags = 4;
  EXPECT_EQ(Error(), "source: unknown flags in hdr.flags 4; none are known");
  s = good;
  s.n_scalars = 1;
  EXPECT_EQ(Error(), "its scalars are NULL, but n_scalars is 1");
  ricci_source_scalar scalar{RICCI_BF16, 0, 0};
  s.scalars = &scalar;
  EXPECT_EQ(Error(), "scalar 0 has dtype 11; it must be bool, an integer, f32 or f64");
  scalar = {RICCI_F32, 0, uint64_t{1} << 40};
  EXPECT_EQ(Error(), "scalar 0 has bits above the lowest 32 of its dtype");
  s = good;
  chosen_.times = 0;
  EXPECT_EQ(Error(), "rule source of the host: gave no source");
}

}  // namespace
}  // namespace ricci::testing
