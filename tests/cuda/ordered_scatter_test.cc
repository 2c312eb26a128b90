// Scatters of many updates, sorted by element: the same bytes as on `ref`, which makes them in sequence.
#include "cuda/same_bytes.h"

namespace ricci::testing { namespace {

struct Case {
  const char *x, *indices, *updates, *dims;
};
constexpr Case kNumbers = {"[25]", "[300,1]", "[300]",
                           "update_window_dims=[] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0]"};

class OrderedScatter : public SameBytes {
 protected:
  // Of f32 and f64 the updates are fractions, whose sums depend on the order.
  Program Scatter(const std::string& row, const std::string& dtype, const Case& c, const std::string& mode,
                  const std::string& index = "i32") {
    const std::string x = dtype + c.x, u = dtype + c.updates, indices = index + c.indices;
    std::string text = "program f(%x: " + x + ", %j: i64" + c.indices + ", %u: " + u + ") {\n  %i: " + indices +
                       " = convert_element_type(%j) new_dtype=" + index + "\n";
    std::string updates = "%u";
    if (dtype[0] == 'f' && dtype.size() == 3) {
      text += "  %three: " + u + " = constant 3.0\n  %third: " + u + " = div(%u, %three)\n";
      updates = "%third";
    }
    text +=
        "  %y: " + x + " = " + row + "(%x, %i, " + updates + ") " + c.dims + " mode=\"" + mode + "\"\n  return %y\n}";
    return runner_.Parse(text);
  }
  size_t Sources(const Program& f) {
    const std::string plan = runner_.Dump(f, "plan", "cuda");
    size_t n = 0;
    for (size_t at = 0; (at = plan.find(" source ", at)) != plan.npos; ++at) ++n;
    return n;
  }
  // In two orders of threads.
  void Expect(const Program& f, size_t sources) {
    EXPECT_EQ(Sources(f), sources);
    const auto order = OfStandin<void(uint64_t)>("ricci_standin_seed");
    for (const uint64_t seed : {2, 1}) {
      order(seed);
      ExpectSameBytes(f);
    }
  }
};

constexpr const char* kModes[] = {"fill", "clip", "promise_in_bounds"};

TEST_F(OrderedScatter, OfSingleNumbers) {
  for (const char* row : {"scatter", "scatter-add", "scatter-sub", "scatter-mul", "scatter-min", "scatter-max"}) {
    for (const char* mode : kModes) {
      SCOPED_TRACE(std::string(row) + " " + mode);
      Expect(Scatter(row, "f32", kNumbers, mode), 3);
    }
  }
}

// Integers only where no atomic operation makes the update.
TEST_F(OrderedScatter, OfAllTypes) {
  for (const char* dtype : {"f64", "f16", "bf16", "i8", "u8"}) {
    for (const char* row : {"scatter", "scatter-add", "scatter-mul", "scatter-max"}) {
      SCOPED_TRACE(std::string(row) + " " + dtype);
      Expect(Scatter(row, dtype, kNumbers, "fill"), 3);
    }
  }
  Expect(Scatter("scatter-mul", "i32", kNumbers, "clip"), 3);
  Expect(Scatter("scatter", "i64", kNumbers, "clip"), 3);
  Expect(Scatter("scatter", "bool", kNumbers, "fill"), 3);
  Expect(Scatter("scatter-add", "i32", kNumbers, "clip"), 0);
  Expect(Scatter("scatter-min", "i64", kNumbers, "clip"), 0);
}

// Negative ones are too large as unsigned numbers.
TEST_F(OrderedScatter, IndicesOfAllTypes) {
  for (const char* index : {"i8", "u8", "i16", "u32", "i64", "u64"}) {
    for (const char* mode : {"fill", "clip"}) {
      SCOPED_TRACE(std::string(index) + " " + mode);
      Expect(Scatter("scatter-add", "f32", kNumbers, mode, index), 3);
    }
  }
}

// More than a tile of the sort: one, two and three merges, so that each of the two buffers is where the sort ends.
TEST_F(OrderedScatter, OfManyUpdates) {
  for (size_t merges = 1; merges <= 3; ++merges) {
    const std::string n = std::to_string(merges == 3 ? 9001 : 2500 * merges), indices = "[" + n + ",1]",
                      updates = "[" + n + "]";
    const size_t sources = 3 + merges;
    for (const char* x : {"[1]", "[25]", "[40000]"}) {
      SCOPED_TRACE(updates + " into " + x);
      const Case c = {x, indices.c_str(), updates.c_str(), kNumbers.dims};
      Expect(Scatter("scatter-add", "f32", c, "clip"), sources);
      Expect(Scatter("scatter", "f32", c, "fill"), sources);
    }
  }
}

constexpr Case kWindows[] = {
    // Rows, whose elements are columns.
    {"[25,3]", "[300,1]", "[300,3]",
     "update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0]"},
    // Rows as columns of the updates.
    {"[25,3]", "[300,1]", "[3,300]",
     "update_window_dims=[0] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0]"},
    // Two coordinates, in the other order.
    {"[5,4]", "[20,20,2]", "[20,20]",
     "update_window_dims=[] inserted_window_dims=[0,1] scatter_dims_to_operand_dims=[1,0]"},
    // Windows that begin anywhere and overlap, one of their dimensions whole.
    {"[9,3,7]", "[300,2]", "[2,300,3,4]",
     "update_window_dims=[0,2,3] inserted_window_dims=[] scatter_dims_to_operand_dims=[0,2]"},
    // A part of a row that begins at 0, and rows that begin only there.
    {"[25,3]", "[300,1]", "[300,2]",
     "update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0]"},
    {"[25,3]", "[300,2]", "[300,3]",
     "update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0,1]"},
    // Batches, which are apart.
    {"[3,24,2]", "[300,3,1]", "[300,3,2]",
     "update_window_dims=[2] inserted_window_dims=[1] scatter_dims_to_operand_dims=[1] operand_batching_dims=[0] "
     "scatter_indices_batching_dims=[1]"},
    {"[24,3]", "[3,2500,1]", "[3,2500]",
     "update_window_dims=[] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] operand_batching_dims=[1] "
     "scatter_indices_batching_dims=[0]"},
    // No coordinates at all.
    {"[2]", "[300,0]", "[300,2]", "update_window_dims=[1] inserted_window_dims=[] scatter_dims_to_operand_dims=[]"},
};

TEST_F(OrderedScatter, OfWindows) {
  for (const Case& c : kWindows) {
    for (const char* mode : kModes) {
      SCOPED_TRACE(std::string(c.updates) + " into " + c.x + " " + mode);
      const Program add = Scatter("scatter-add", "f32", c, mode), replace = Scatter("scatter", "f64", c, mode);
      EXPECT_GE(Sources(add), 3u);
      Expect(add, Sources(add));
      EXPECT_GE(Sources(replace), 3u);
      Expect(replace, Sources(replace));
    }
  }
}

// Their parts are added and replaced apart; they are multiplied by a kernel.
TEST_F(OrderedScatter, OfComplexNumbers) {
  const auto of = [&](const std::string& row) {
    return runner_.Parse(
        "program f(%a: f32[25,2], %i: i32[300,1], %u: f32[300,2]) {\n  %three: f32[300,2] = constant 3.0\n"
        "  %t: f32[300,2] = div(%u, %three)\n  %x: c64[25,2] = complex(%a, %a)\n  %v: c64[300,2] = complex(%u, %t)\n"
        "  %z: c64[25,2] = " +
        row +
        "(%x, %i, %v) update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] mode=\"fill\"\n"
        "  %r: f32[25,2] = real(%z)\n  %s: f32[25,2] = imag(%z)\n  return %r, %s\n}");
  };
  Expect(of("scatter-add"), 3);
  Expect(of("scatter-sub"), 3);
  Expect(of("scatter"), 3);
  EXPECT_EQ(Sources(of("scatter-mul")), 0u);
}

// Infinities, NaN, and zeros of both signs. Which NaN comes out is not said, so all become one.
TEST_F(OrderedScatter, OfUnusualNumbers) {
  for (const char* row : {"scatter-add", "scatter-min", "scatter-max", "scatter-mul", "scatter"}) {
    SCOPED_TRACE(row);
    const auto with = [&](const std::string& updates) {
      return runner_.Parse(
          "program f(%x: f32[25], %i: i32[300,1], %u: f32[300]) {\n  %zero: f32[300] = constant 0.0\n" + updates +
          "  %y: f32[25] = " + row + "(%x, %i, %m) " + kNumbers.dims +
          " mode=\"fill\"\n  %nan: f32[25] = constant nan\n  %is: bool[25] = ne(%y, %y)\n  %z: f32[25] = select_n(%is, "
          "%y, %nan)\n"
          "  return %z\n}");
    };
    Expect(with("  %v: f32[300] = max(%u, %zero)\n  %m: f32[300] = div(%u, %v)\n"), 3);
    Expect(with("  %m: f32[300] = mul(%u, %zero)\n"), 3);
  }
}

// Few updates, and few for so large an operand that its copy takes longer.
TEST_F(OrderedScatter, FewStayAKernel) {
  Expect(Scatter("scatter-add", "f32", {"[25]", "[255,1]", "[255]", kNumbers.dims}, "clip"), 0);
  EXPECT_EQ(Sources(Scatter("scatter-add", "f32", {"[30000000]", "[300,1]", "[300]", kNumbers.dims}, "clip")), 0u);
  EXPECT_EQ(Sources(Scatter("scatter-add", "f32", {"[0,4]", "[300,1]", "[300,4]", kWindows[0].dims}, "fill")), 0u);
}

// The loop's body gets new arrays in each trip.
TEST_F(OrderedScatter, InALoopOfThePlan) {
  Expect(runner_.Parse(std::string(R"(program f(%x: f32[25], %i: i32[300,1], %u: f32[300]) {
  %k: i32[] = constant 3
  %n: i32[], %z: f32[25], %ii: i32[300,1], %uu: f32[300] = while(%k, %x, %i, %u) cond_nconsts=0 body_nconsts=0 cond=program(%c: i32[], %v: f32[25], %i: i32[300,1], %u: f32[300]) {
    %zero: i32[] = constant 0
    %more: bool[] = gt(%c, %zero)
    return %more
  } body=program(%c: i32[], %v: f32[25], %i: i32[300,1], %u: f32[300]) {
    %one: i32[] = constant 1
    %less: i32[] = sub(%c, %one)
    %w: f32[25] = scatter-add(%v, %i, %u) )") +
                       kNumbers.dims + " mode=\"fill\"\n    return %less, %w, %i, %u\n  }\n  return %z\n}"),
         3);
}

// ---- cuda.scatter=atomics ----
class AtomicScatter : public OrderedScatter {
 protected:
  AtomicScatter() {
    const auto set = [this](std::string_view key, std::string_view value) {
      EXPECT_TRUE(Ok(ricci_context_config(with_atomics_.ctx(), key.data(), key.size(), value.data(), value.size())));
    };
    set("cuda.driver", RICCI_STANDIN);
    set("cuda.compiler", RICCI_STANDIN);
    set("cuda.scatter", "atomics");
    EXPECT_TRUE(Ok(ricci_context_add_plugin(with_atomics_.ctx(), ricci_plugin_query_cuda)));
  }
  std::string Text(const std::string& row, const std::string& dtype) {
    return with_atomics_.Dump(Parse(row, dtype), "source", "cuda");
  }
  Program Parse(const std::string& row, const std::string& dtype) {
    return with_atomics_.Parse("program f(%x: " + dtype + "[25], %i: i32[300,1], %u: " + dtype +
                               "[300]) {\n  %y: " + dtype + "[25] = " + row + "(%x, %i, %u) " + kNumbers.dims +
                               " mode=\"fill\"\n  return %y\n}");
  }

  ProgramRunner with_atomics_;
};

TEST_F(AtomicScatter, SumsOfFloats) {
  Numbers x(25, 1), i(300), u(300);
  for (size_t n = 0; n < 300; ++n) i[n] = static_cast<double>(n * 7 % 31) - 3, u[n] = static_cast<double>(n) / 8;
  for (const char* dtype : {"f32", "f64"}) {
    for (const char* row : {"scatter-add", "scatter-sub"}) {
      const std::string text = Text(row, dtype);
      EXPECT_NE(text.find(": atomic additions, in any order (cuda.scatter=atomics)"), text.npos) << text;
      EXPECT_NE(text.find("atomicAdd(y + "), text.npos) << text;
      EXPECT_EQ(text.find("sort_tiles"), text.npos) << text;
      with_atomics_.RunEverywhere(Parse(row, dtype), {x, i, u}, 1e-6);
    }
  }
}

TEST_F(AtomicScatter, AllElseIsInOrder) {
  constexpr const char* kOthers[][2] = {{"scatter-mul", "f32"},
                                        {"scatter-max", "f64"},
                                        {"scatter-add", "f16"},
                                        {"scatter-add", "i8"},
                                        {"scatter", "f32"}};
  for (const auto& other : kOthers) {
    const std::string text = Text(other[0], other[1]);
    EXPECT_NE(text.find(": sorted by element, the updates of each in their order"), text.npos) << text;
  }
  EXPECT_NE(Text("scatter-add", "i32").find("atomicAdd((u32*)&"), std::string::npos);
}

}}  // namespace ricci::testing
