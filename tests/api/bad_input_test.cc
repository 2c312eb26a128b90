// Wrong use of the C ABI: each gives a status with an exact message, leaves outputs alone, and breaks nothing else.
#include "pass/pipeline.h"
#include "support/plugin_that.h"
#include "support/small_program.h"

namespace ricci::testing { namespace {

class BadInput : public SmallProgram {
 protected:
  BadInput() {
    const ricci_type params[] = {Type(RICCI_F32, {4}), Type(RICCI_F32, {3})};
    Ok(ricci_builder_create(ctx, "f", 1, params, 2, &b, vals));
    ricci_builder_set_location(b, "host.cc", 7, "Main");
  }
  ~BadInput() override { ricci_builder_abandon(b); }
  ricci_status* Emit(std::string_view prim, std::vector<ricci_val> in, std::vector<ricci_attr> attrs = {},
                     uint32_t n_out = 1) {
    ricci_val out[4] = {77, 77, 77, 77};
    ricci_status* s = ricci_builder_emit(b, Prim(prim), attrs.data(), static_cast<uint32_t>(attrs.size()), in.data(),
                                         static_cast<uint32_t>(in.size()), out, n_out);
    EXPECT_EQ(out[0] == 77, s != nullptr || n_out == 0) << "outputs are written on success only";
    return s;
  }
  // All passes, as messages list them.
  static std::string Passes() {
    std::string list;
    for (const std::string_view name : pass::StageNames()) list += (list.empty() ? "" : ", ") + std::string(name);
    return list;
  }

  // Of making such a type, which writes no id.
  std::string MakeError(uint32_t dtype, uint32_t rank, const int64_t* dims) const {
    const ricci_type_desc d = ricci_type_desc_of(dtype, rank, dims);
    ricci_type t = 5;
    const std::string error = ErrorOf(ricci_type_make(ctx, &d, &t));
    EXPECT_EQ(t, 5u);
    return error;
  }

  ricci_builder* b = nullptr;
  ricci_val vals[2] = {};
};

TEST_F(BadInput, NullPointersAreNamed) {
  EXPECT_EQ(ErrorOf(ricci_context_create(nullptr, nullptr)), "ricci_context_create: out is NULL");
  ricci_type t = 0;
  EXPECT_EQ(ErrorOf(ricci_type_make(ctx, nullptr, &t)), "ricci_type_make: d is NULL");
  EXPECT_EQ(MakeError(RICCI_F32, 2, nullptr), "ricci_type_make: dims is NULL");
  EXPECT_EQ(ErrorOf(ricci_builder_emit(nullptr, 1, nullptr, 0, nullptr, 0, nullptr, 0)),
            "ricci_builder_emit: b is NULL");
  EXPECT_EQ(ErrorOf(ricci_builder_emit(b, 1, nullptr, 0, nullptr, 2, nullptr, 0)), "ricci_builder_emit: in is NULL");
  EXPECT_EQ(ErrorOf(ricci_compile(nullptr, nullptr, nullptr)), "ricci_compile: f is NULL");
  EXPECT_EQ(ErrorOf(ricci_executable_run(nullptr, nullptr, 0, nullptr, 0, nullptr)), "ricci_executable_run: x is NULL");
  EXPECT_EQ(ErrorOf(ricci_call_run(nullptr)), "ricci_call_run: k is NULL");
  EXPECT_EQ(ErrorOf(ricci_grad(nullptr, nullptr, 0, 0, nullptr)), "ricci_grad: f is NULL");
}

TEST_F(BadInput, ReleaseAndQueriesTakeNull) {
  ricci_status* const wrong = ricci_status_make(RICCI_INTERNAL, nullptr, 7);
  ricci_status_message(wrong, nullptr);
  ricci_status_site(wrong, nullptr, nullptr, nullptr, nullptr);
  ricci_status_free(wrong);
  ricci_pass_name(0, nullptr);
  EXPECT_EQ(ricci_executable_alias(nullptr, 0), -1);
  ricci_context_release(nullptr);
  ricci_program_release(nullptr);
  ricci_array_release(nullptr);
  ricci_executable_release(nullptr);
  ricci_call_release(nullptr);
  ricci_builder_abandon(nullptr);
  ricci_status_free(nullptr);
  EXPECT_EQ(ricci_array_data(nullptr), nullptr);
  EXPECT_EQ(ricci_array_bytes(nullptr), 0u);
  EXPECT_EQ(ricci_device_count(nullptr), 0u);
  EXPECT_EQ(ricci_device_get(ctx, 99), nullptr);
  EXPECT_EQ(ricci_device_find(ctx, "gpu", 3), nullptr);
  EXPECT_EQ(ricci_prim_at(ctx, UINT32_MAX, nullptr), nullptr);
  EXPECT_EQ(ricci_device_get(ctx, UINT32_MAX), nullptr);
  EXPECT_EQ(ricci_builder_type(b, 12345), 0u);
  EXPECT_EQ(ricci_builder_type(b, RICCI_VAL_ZERO), 0u);
  EXPECT_EQ(ricci_program_hash(nullptr), 0u);
  EXPECT_EQ(ricci_dtype_size(99), 0u);
}

TEST_F(BadInput, Types) {
  const int64_t dims[] = {2, -3}, huge[] = {int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_EQ(MakeError(0, 0, nullptr), "type: there is no dtype with number 0");
  EXPECT_EQ(MakeError(99, 0, nullptr), "type: there is no dtype with number 99");
  EXPECT_EQ(MakeError(RICCI_F32, 2, dims), "type: negative dimension in f32[2,-3]");
  EXPECT_EQ(MakeError(RICCI_F32, 17, dims), "ricci_type_make: rank 17 exceeds 16");
  EXPECT_EQ(MakeError(RICCI_F32, 2, huge), "type: f32[1099511627776,1099511627776] exceeds 2^62 bytes");
}

TEST_F(BadInput, DescriptionsOfTypes) {
  const int64_t three = 3;
  ricci_type_desc d = ricci_type_desc_of(RICCI_F32, 1, &three);
  ricci_type t = 0, again = 0;
  ASSERT_TRUE(Ok(ricci_type_make(ctx, &d, &t)));
  d.hdr.flags = 1;
  EXPECT_EQ(ErrorOf(ricci_type_make(ctx, &d, &again)),
            "ricci_type_make: d: unknown flags in hdr.flags 1; none are known");
  d.hdr = {0, 0, nullptr};
  EXPECT_EQ(ErrorOf(ricci_type_make(ctx, &d, &again)),
            "ricci_type_make: d: hdr.size is 0; set it to the size of the struct");
  EXPECT_EQ(ErrorOf(ricci_type_get(ctx, t, &d)),
            "ricci_type_get: out: hdr.size is 0; set it to the size of the struct");
  EXPECT_EQ(ErrorOf(ricci_type_get(ctx, 999, &d)), "ricci_type_get: type 999 is not known");
  EXPECT_EQ(ErrorOf(ricci_type_get(ctx, t, nullptr)), "ricci_type_get: out is NULL");
  struct {
    ricci_type_desc known;
    uint64_t later;
  } newer{ricci_type_desc_of(RICCI_F32, 1, &three), 0};
  newer.known.hdr.size = sizeof newer;
  ASSERT_TRUE(Ok(ricci_type_make(ctx, &newer.known, &again)));
  EXPECT_EQ(again, t);
  newer.later = 7;
  EXPECT_EQ(ErrorOf(ricci_type_make(ctx, &newer.known, &again)),
            "ricci_type_make: d: struct of 40 bytes has members set that this core (32 bytes) does not know");
  ASSERT_TRUE(Ok(ricci_type_get(ctx, t, &newer.known)));
  EXPECT_EQ(newer.later, 7u) << "what this core does not know stays as it is";
  EXPECT_EQ(newer.known.dtype, uint32_t{RICCI_F32});
  EXPECT_EQ(newer.known.rank, 1u);
  EXPECT_EQ(newer.known.dims[0], 3);
}

TEST_F(BadInput, Emit) {
  EXPECT_EQ(ErrorOf(Emit("add", {vals[0]})), "host.cc:7: add: takes 2 operands (x, y), not 1");
  EXPECT_EQ(ErrorOf(Emit("add", {vals[0], RICCI_VAL_ZERO})),
            "host.cc:7: add: operand 1 is a symbolic zero; materialise it first");
  EXPECT_EQ(ErrorOf(Emit("sin", {vals[0]}, {}, 2)), "host.cc:7: sin: gives 1 result, not 2");
  ricci_attr attr{};
  attr.name = {"angle", 5};
  attr.kind = RICCI_ATTR_INT;
  EXPECT_EQ(ErrorOf(Emit("sin", {vals[0]}, {attr})), "host.cc:7: sin: unknown attribute angle; it takes none");
  EXPECT_EQ(ErrorOf(Emit("reduce_sum", {vals[0]})), "host.cc:7: reduce_sum: attribute axes (ints) is missing");
  EXPECT_EQ(ErrorOf(Emit("reduce_sum", {vals[0]}, {attr})),
            "host.cc:7: reduce_sum: unknown attribute angle; known: axes");
  attr.name = {"axes", 4};
  EXPECT_EQ(ErrorOf(Emit("reduce_sum", {vals[0]}, {attr})),
            "host.cc:7: reduce_sum: attribute axes must be ints, not int");
  attr.kind = RICCI_ATTR_INTS;
  attr.count = 3;
  EXPECT_EQ(ErrorOf(Emit("reduce_sum", {vals[0]}, {attr})),
            "ricci_builder_emit: attribute axes has 3 elements but no data");
  const int64_t axis = 0;
  attr.data = &axis;
  attr.count = 1;
  EXPECT_EQ(ErrorOf(Emit("reduce_sum", {vals[0]}, {attr, attr})),
            "host.cc:7: reduce_sum: attribute axes is given twice");
  EXPECT_TRUE(Ok(Emit("sin", {vals[0]})));
}

TEST_F(BadInput, MismatchNamesBothTypesAndTheSite) {
  ricci_status* s = Emit("add", {vals[0], vals[1]});
  ASSERT_NE(s, nullptr);
  ricci_str prim, rule, file;
  uint32_t line = 0;
  ricci_status_site(s, &prim, &rule, &file, &line);
  EXPECT_EQ(std::string(prim.ptr, prim.len), "add");
  EXPECT_EQ(std::string(rule.ptr, rule.len), "abstract_eval");
  EXPECT_EQ(std::string(file.ptr, file.len), "host.cc");
  EXPECT_EQ(line, 7u);
  const std::string message = ErrorOf(s);
  EXPECT_NE(message.find("f32[4]"), message.npos) << message;
  EXPECT_NE(message.find("f32[3]"), message.npos) << message;
}

TEST_F(BadInput, UnknownPrimitive) {
  ricci_prim p = 9;
  EXPECT_EQ(ErrorOf(ricci_prim_find(ctx, "frobnicate", 10, &p), RICCI_NOT_FOUND),
            "frobnicate: no such primitive; add the plugin that provides it");
  EXPECT_EQ(ErrorOf(ricci_prim_find(ctx, "Sin", 3, &p), RICCI_NOT_FOUND), "Sin: no such primitive; did you mean sin?");
  // The fusion that the compiler makes of a group of equations is not a primitive.
  EXPECT_EQ(ErrorOf(ricci_prim_find(ctx, "fusion", 6, &p), RICCI_NOT_FOUND),
            "fusion: no such primitive; add the plugin that provides it");
  EXPECT_EQ(p, 9u);
  ricci_val out = 0;
  EXPECT_EQ(ErrorOf(ricci_builder_emit(b, 100000, nullptr, 0, nullptr, 0, &out, 1), RICCI_NOT_FOUND),
            "host.cc:7: there is no primitive with that id; ricci_prim_find finds them by name");
}

TEST_F(BadInput, ValuesBelongToTheirBuilder) {
  ricci_builder* other = nullptr;
  const ricci_type t = Type(RICCI_F32, {4});
  ricci_val foreign = 0;
  ASSERT_TRUE(Ok(ricci_builder_create(ctx, "g", 1, &t, 1, &other, &foreign)));
  EXPECT_EQ(ErrorOf(Emit("sin", {foreign})),
            "host.cc:7: sin: operand 0 belongs to another builder; pass it as a parameter");
  ricci_program* p = nullptr;
  EXPECT_EQ(ErrorOf(ricci_builder_finish(b, &foreign, 1, &p)), "result 0 of program f belongs to another builder");
  const ricci_val none = RICCI_VAL_NONE;
  EXPECT_EQ(ErrorOf(Emit("sin", {none})), "host.cc:7: sin: operand 0 is RICCI_VAL_NONE: nothing has given it a value");
  EXPECT_EQ(ErrorOf(ricci_builder_finish(b, &none, 1, &p)),
            "result 0 of program f is RICCI_VAL_NONE: nothing has given it a value");
  EXPECT_EQ(p, nullptr);
  ricci_builder_abandon(other);
}

TEST_F(BadInput, ProgramsOfAnotherContext) {
  CountingHost host2;
  ricci_ctx* ctx2 = nullptr;
  ASSERT_TRUE(Ok(host2.CreateContext(&ctx2)));
  const std::string_view text = "program g(%x: f32[4]) {\n return %x\n}";
  ricci_program *foreign = nullptr, *own = Parse(kAddText), *out = nullptr;
  ASSERT_TRUE(Ok(ricci_program_parse(ctx2, text.data(), text.size(), "t", 1, &foreign)));
  ricci_val v = 0;
  EXPECT_EQ(ErrorOf(ricci_builder_inline(b, foreign, vals, 1, &v, 1)), "program g is of another context");
  EXPECT_NE(ErrorOf(ricci_custom_jvp(own, foreign, &out)), "");
  EXPECT_EQ(out, nullptr);
  EXPECT_EQ(ErrorOf(ricci_custom_linear_solve(own, nullptr, foreign, nullptr, &out)),
            "custom_linear_solve: program g is of another context");
  EXPECT_EQ(out, nullptr);
  ricci_compile_opts o{};
  o.hdr.size = sizeof o;
  o.devices = &device;
  o.n_devices = 1;
  ricci_executable* x = nullptr;
  EXPECT_EQ(ErrorOf(ricci_compile(foreign, &o, &x)),
            "compile: program g and device " + DeviceName() + " belong to different contexts");
  ricci_program_release(foreign);
  ricci_program_release(own);
  ricci_context_release(ctx2);
}

TEST_F(BadInput, Nesting) {
  std::vector<ricci_builder*> builders = {b};
  ricci_status* s = nullptr;
  while (s == nullptr && builders.size() < 1000) {
    ricci_builder* inner = nullptr;
    s = ricci_builder_nest(builders.back(), "inner", 5, nullptr, 0, &inner, nullptr);
    if (s == nullptr) builders.push_back(inner);
  }
  EXPECT_EQ(ErrorOf(s, RICCI_RESOURCE_EXHAUSTED), "programs nested deeper than 256");
  for (size_t i = 1; i < builders.size(); ++i) ricci_builder_abandon(builders[i]);
}

TEST_F(BadInput, Constants) {
  ricci_val out = 0;
  const float data[3] = {};
  EXPECT_EQ(ErrorOf(ricci_builder_const(b, Type(RICCI_F32, {4}), data, sizeof data, &out)),
            "constant: f32[4] takes 16 bytes, or 4 for a splat, not 12");
  EXPECT_EQ(ErrorOf(ricci_builder_const(b, 4711, data, sizeof data, &out)), "constant: type 4711 is not known");
}

TEST_F(BadInput, TextNamesThePlace) {
  ricci_program* p = nullptr;
  const std::string_view text = "program f(%x: f32[4]) {\n  %y: f32[4] = sine(%x)\n  return %y\n}";
  const std::string message = ErrorOf(ricci_program_parse(ctx, text.data(), text.size(), "a.txt", 5, &p));
  EXPECT_EQ(message.substr(0, 8), "a.txt:2:") << message;
  EXPECT_NE(message.find("sine: no such primitive; did you mean sin?"), message.npos) << message;
}

TEST_F(BadInput, Run) {
  ricci_executable* x = CompileText(kAddText);
  ricci_array *a = Floats({1, 2, 3, 4}), *short_one = Floats({1, 2, 3}), *out = nullptr;
  ricci_array* in[2] = {a, short_one};
  EXPECT_EQ(ErrorOf(ricci_executable_run(x, in, 1, &out, 1, nullptr)), "program plus takes 2 arguments, not 1");
  EXPECT_EQ(ErrorOf(ricci_executable_run(x, in, 2, &out, 2, nullptr)), "program plus gives 1 result, not 2");
  EXPECT_EQ(ErrorOf(ricci_executable_run(x, in, 2, &out, 1, nullptr)),
            "argument 1 of program plus is f32[3], not f32[4]");
  in[1] = nullptr;
  EXPECT_EQ(ErrorOf(ricci_executable_run(x, in, 2, &out, 1, nullptr)), "argument 1 of program plus is NULL");
  EXPECT_EQ(ErrorOf(ricci_executable_run(x, nullptr, 2, &out, 1, nullptr)), "ricci_executable_run: in is NULL");
  EXPECT_EQ(out, nullptr);
  in[1] = a;
  EXPECT_TRUE(Ok(ricci_executable_run(x, in, 2, &out, 1, nullptr)));
  EXPECT_EQ(Read(out), (std::vector<float>{2, 4, 6, 8}));
  for (ricci_array* i : {a, short_one, out}) ricci_array_release(i);
  ricci_executable_release(x);
}

TEST_F(BadInput, ArgumentsOfAnotherContext) {
  CountingHost host2;
  ricci_ctx* ctx2 = nullptr;
  ASSERT_TRUE(Ok(host2.CreateContext(&ctx2)));
  ricci_type t = 0;
  const int64_t four = 4;
  const ricci_type_desc vector = ricci_type_desc_of(RICCI_F32, 1, &four);
  ASSERT_TRUE(Ok(ricci_type_make(ctx2, &vector, &t)));
  const float data[4] = {};
  ricci_array *foreign = nullptr, *out = nullptr;
  ASSERT_TRUE(Ok(ricci_array_from_host(ricci_device_get(ctx2, 0), t, data, nullptr, &foreign)));
  ricci_executable* x = CompileText(kAddText);
  ricci_array* in[2] = {foreign, foreign};
  EXPECT_EQ(ErrorOf(ricci_executable_run(x, in, 2, &out, 1, nullptr)),
            "argument 0 of program plus is of another context");
  ricci_array_release(foreign);
  ricci_executable_release(x);
  ricci_context_release(ctx2);
}

TEST_F(BadInput, CompileOptions) {
  ricci_program* f = Parse(kAddText);
  ricci_executable* x = nullptr;
  ricci_compile_opts o{};
  EXPECT_EQ(ErrorOf(ricci_compile(f, &o, &x)), "compile options: hdr.size is 0; set it to the size of the struct");
  o.hdr.size = sizeof o;
  o.opt_level = 9;
  EXPECT_EQ(ErrorOf(ricci_compile(f, &o, &x)), "compile options: opt_level is 9, not 0 to 3");
  o.opt_level = 0;
  o.n_donate = 1;
  EXPECT_EQ(ErrorOf(ricci_compile(f, &o, &x)), "compile options: n_donate is 1, but program plus has 2 parameters");
  o.n_donate = 0;
  o.hdr.flags = 64;
  EXPECT_EQ(
      ErrorOf(ricci_compile(f, &o, &x)),
      "compile options: unknown flags in hdr.flags 64; known: 1 (RICCI_COMPILE_CHECKED), 2 (RICCI_COMPILE_PROFILED)");
  o.hdr.flags = 0;
  o.passes = {"dce,see", 7};
  EXPECT_EQ(ErrorOf(ricci_compile(f, &o, &x)), "passes: unknown pass see; known: " + Passes());
  o.passes = {};
  o.skip = {"inline", 6};
  EXPECT_EQ(ErrorOf(ricci_compile(f, &o, &x)), "skip: pass inline cannot be skipped, because every plan needs it");
  o.skip = {};
  std::string listed;
  ricci_str name{};
  for (uint32_t i = 0; ricci_pass_name(i, &name), name.len != 0; ++i)
    listed += (i == 0 ? "" : ", ") + std::string(name.ptr, name.len);
  EXPECT_EQ(listed, Passes());
  o.progress = [](void*, uint32_t, uint32_t) { return 0u; };
  EXPECT_EQ(ErrorOf(ricci_compile(f, &o, &x), RICCI_CANCELLED), "compile: cancelled by the host");
  ricci_program_release(f);
}

TEST_F(BadInput, StructsFromOtherVersions) {
  struct Newer {
    ricci_context_opts known;
    uint64_t added;
  } newer{};
  newer.known.hdr.size = sizeof newer;
  ricci_ctx* made = nullptr;
  ASSERT_TRUE(Ok(ricci_context_create(&newer.known, &made))) << "unknown members that are zero mean nothing";
  ricci_context_release(made);
  newer.added = 1;
  EXPECT_EQ(ErrorOf(ricci_context_create(&newer.known, &made)),
            "context options: struct of 32 bytes has members set that this core (24 bytes) does not know");
  ricci_context_opts o{};
  o.hdr.size = sizeof(ricci_hdr);  // an older writer
  ASSERT_TRUE(Ok(ricci_context_create(&o, &made)));
  ricci_context_release(made);
  ricci_ext ext{sizeof ext, RICCI_EXT_CRITICAL, 42, nullptr};
  o.hdr.next = &ext;
  EXPECT_EQ(ErrorOf(ricci_context_create(&o, &made)), "context options: unknown critical extension 42");
  ext.flags = 0;
  ASSERT_TRUE(Ok(ricci_context_create(&o, &made)));
  ricci_context_release(made);
}

TEST_F(BadInput, Config) {
  const auto config = [&](std::string_view key, std::string_view value) {
    return ricci_context_config(ctx, key.data(), key.size(), value.data(), value.size());
  };
  EXPECT_EQ(ErrorOf(config("colour", "red")),
            "config: unknown key colour; known: threads, log_compiles, dump_dir, vmap, "
            "cache_dir, cache_bytes, and PLUGIN.KEY");
  EXPECT_EQ(ErrorOf(config("threads", "many")), "config: threads takes a number from 0 (all) to 4096, not many");
  EXPECT_EQ(ErrorOf(config("vmap", "")), "config: vmap takes auto, batched or lanes, not nothing");
  EXPECT_TRUE(Ok(config("vmap", "lanes")));
  EXPECT_TRUE(Ok(config("threads", "2")));
}

// A plugin that has the options `other_settings.size` and `.place`.
std::string options_seen;
ricci_status* AskForOptions(ricci_ctx* c) {
  options_seen.clear();
  for (const std::string_view key : {"other_settings.size", "other_settings.place"}) {
    ricci_str value{};
    const uint32_t found = ricci_context_option(c, key.data(), key.size(), &value);
    options_seen += found == 0 ? "none " : std::string(value.ptr, value.len) + " ";
  }
  return nullptr;
}

TEST_F(BadInput, OptionsOfPlugins) {
  const auto config = [](ricci_ctx* c, std::string_view key, std::string_view value) {
    return ricci_context_config(c, key.data(), key.size(), value.data(), value.size());
  };
  const auto add = [](ricci_ctx* c) { return ricci_context_add_plugin(c, QueryPluginThat<AskForOptions>); };
  const Another right = NewContext(), wrong = NewContext();
  EXPECT_EQ(ErrorOf(config(wrong.ctx, "other_settings.", "1")).substr(0, 43),
            "config: unknown key other_settings.; known:");
  ASSERT_TRUE(Ok(config(wrong.ctx, "other_settings.color", "red")));
  EXPECT_EQ(ErrorOf(add(wrong.ctx)),
            "config: unknown key other_settings.color; the plugin other_settings knows other_settings.place, "
            "other_settings.size");
  ASSERT_TRUE(Ok(config(right.ctx, "other_settings.size", "12")));
  ASSERT_TRUE(Ok(add(right.ctx)));
  EXPECT_EQ(options_seen, "12 none ");
  EXPECT_EQ(ErrorOf(config(right.ctx, "other_settings.size", "13")),
            "config: other_settings.size is read when the plugin other_settings is added: set it before");
  ricci_str value{};
  EXPECT_EQ(ricci_context_option(nullptr, "a.b", 3, &value), 0u);
  EXPECT_EQ(ricci_context_option(right.ctx, nullptr, 3, &value), 0u);
  EXPECT_EQ(ricci_context_option(right.ctx, "a.b", 3, nullptr), 0u);
  ricci_context_release(right.ctx);
  ricci_context_release(wrong.ctx);
}

TEST_F(BadInput, APathHoldsNoNul) {
  const std::string path("a\0b", 3);
  const auto says = [](const char* what) { return base::Cat(what, " has a NUL at byte 1, which no path may hold"); };
  ricci_program* f = Parse("program f() { return }");
  ricci_program* loaded = nullptr;
  ricci_array_file* arrays = nullptr;
  EXPECT_EQ(ErrorOf(ricci_program_save(f, path.data(), 3)), says("ricci_program_save: path"));
  EXPECT_EQ(ErrorOf(ricci_program_load(ctx, path.data(), 3, &loaded)), says("ricci_program_load: path"));
  EXPECT_EQ(ErrorOf(ricci_array_file_load(ctx, path.data(), 3, &arrays)), says("ricci_array_file_load: path"));
  EXPECT_EQ(ErrorOf(ricci_array_file_save(path.data(), 3, RICCI_ARRAYS_NPZ, nullptr, 0)),
            says("ricci_array_file_save: path"));
  EXPECT_EQ(ErrorOf(ricci_context_load_plugin(ctx, path.data(), 3)), says("ricci_context_load_plugin: path"));
  EXPECT_EQ(ErrorOf(ricci_context_config(ctx, "dump_dir", 8, path.data(), 3)), says("config: dump_dir"));
  EXPECT_EQ(ErrorOf(ricci_context_load_plugin(ctx, path.data(), 0)),
            "ricci_context_load_plugin: path is not a file name");
  ricci_program_release(f);
}

TEST_F(BadInput, Dump) {
  ricci_executable* x = CompileText(kAddText);
  std::string text;
  const auto append = [](void* sink, const char* p, size_t n) { static_cast<std::string*>(sink)->append(p, n); };
  EXPECT_EQ(
      ErrorOf(ricci_executable_dump(x, "soul", 4, &text, append)),
      "dump: device " + DeviceName() +
          " has no stage soul; it has program, optimized, decisions, kernels, plan, checks, native, object, and the "
          "passes " +
          Passes());
  if (OnHost()) {  // `ref` runs no pass
    EXPECT_EQ(ErrorOf(ricci_executable_dump(x, "cse", 3, &text, append)), "dump: pass cse does not run on device ref");
  }
  EXPECT_TRUE(Ok(ricci_executable_dump(x, "lower_plan", 10, &text, append)));
  EXPECT_EQ(ErrorOf(ricci_executable_dump(x, "native", 6, &text, append), RICCI_UNIMPLEMENTED),
            "dump: device " + DeviceName() + " has no native form");
  EXPECT_EQ(ErrorOf(ricci_executable_dump(x, "object", 6, &text, append), RICCI_UNIMPLEMENTED),
            "dump: device " + DeviceName() + " writes no object files");
  EXPECT_TRUE(Ok(ricci_executable_dump(x, "plan", 4, &text, append)));
  EXPECT_NE(text, "");
  ricci_executable_release(x);
}

}  // namespace
}  // namespace ricci::testing
