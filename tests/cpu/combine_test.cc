// Updates that windows combine into one array: single elements, rows, windows that overlap, in all modes and several
// dtypes; few elements and many, so that each way to share the work between tasks is taken.
#include "backend_with.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

struct Case {
  std::string operand, indices, updates;  // shapes
  std::string dims;
  int64_t positions;  // indices run from -2 to this
};
const Case kCases[] = {
    {"[7]", "[100,1]", "[100]", "update_window_dims=[] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0]", 8},
    {"[40]", "[30011,1]", "[30011]", "update_window_dims=[] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0]",
     41},  // copies of all elements
    {"[30,200]", "[800,1]", "[800,200]",
     "update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0]", 31},  // the same
    {"[700,64]", "[3000,1]", "[3000,64]",
     "update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0]", 702},  // trips are shared
    {"[5000]", "[30011,1]", "[30011]",
     "update_window_dims=[] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0]", 5002},
    {"[300,40]", "[2000,1]", "[2000,40]",
     "update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0]", 302},
    {"[300,3]", "[5000,1]", "[5000,3]",
     "update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0]", 302},
    {"[40,300]", "[2000,1]", "[40,2000]",
     "update_window_dims=[0] inserted_window_dims=[1] scatter_dims_to_operand_dims=[1]", 302},
    {"[3000]", "[700,1]", "[700,50]", "update_window_dims=[1] inserted_window_dims=[] scatter_dims_to_operand_dims=[0]",
     2960},
    {"[60,70]", "[300,2]", "[300,9,20]",
     "update_window_dims=[1,2] inserted_window_dims=[] scatter_dims_to_operand_dims=[0,1]", 55},
    {"[30,50]", "[30,900,1]", "[30,900]",
     "update_window_dims=[] inserted_window_dims=[1] scatter_dims_to_operand_dims=[1] operand_batching_dims=[0] "
     "scatter_indices_batching_dims=[0]",
     52},
};

size_t CountOf(const std::string& shape) {
  size_t n = 1;
  for (size_t at = 1; at < shape.size(); at = shape.find_first_of(",]", at) + 1) n *= std::stoul(shape.substr(at));
  return n;
}

std::string Text(const Case& c, const std::string& op, const std::string& dtype, const std::string& mode) {
  return "program f(%x: " + dtype + c.operand + ", %i: i32" + c.indices + ", %u: " + dtype + c.updates +
         ") { %y: " + dtype + c.operand + " = " + op + "(%x, %i, %u) " + c.dims + " mode=\"" + mode + "\" return %y }";
}

// Small integers: sums have the same bits in any order.
std::vector<Numbers> Inputs(const Case& c) {
  std::vector<Numbers> in{Numbers(CountOf(c.operand)), Numbers(CountOf(c.indices)), Numbers(CountOf(c.updates))};
  uint32_t state = 7;
  const auto next = [&](uint32_t n) {
    state = state * 1664525u + 1013904223u;
    return static_cast<double>((state >> 8) % n);
  };
  for (double& v : in[0]) v = next(5) - 2;
  for (double& v : in[1]) v = next(static_cast<uint32_t>(c.positions + 3)) - 2;
  for (double& v : in[2]) v = next(5) - 2;
  return in;
}

TEST(Combine, WindowsOfAllKinds) {
  for (const Case& c : kCases) {
    const std::vector<Numbers> in = Inputs(c);
    for (const std::string op : {"scatter-add", "scatter-sub", "scatter-max", "scatter-min"}) {
      for (const std::string mode : {"clip", "fill"}) {
        ProgramRunner r;
        r.RunEverywhere(r.Parse(Text(c, op, "f32", mode)), in, 0);
      }
    }
    for (const std::string dtype : {"f64", "i32", "i64"}) {
      ProgramRunner r;
      r.RunEverywhere(r.Parse(Text(c, "scatter-max", dtype, "fill")), in, 0);
      r.RunEverywhere(r.Parse(Text(c, "scatter-add", dtype, "clip")), in, 0);
    }
  }
}

// In tasks and copies wherever possible; 16-bit floats in programs of their own.
cpu::Settings SmallTasks() {
  cpu::Settings settings;
  settings.cuts.copy_cycles = 0.01;
  settings.cuts.task_cycles = 50;
  return settings;
}

TEST(Combine, SmallTasksAndCopies) {
  for (const Case& c : kCases) {
    ProgramRunner r;
    ASSERT_TRUE(Ok(ricci_context_add_plugin(r.ctx(), QueryBackendWith<SmallTasks>)));
    const std::vector<Numbers> in = Inputs(c);
    for (const std::string op : {"scatter-add", "scatter-max"}) {
      for (const std::string dtype : {"f32", "i32"}) {
        r.RunEverywhere(r.Parse(Text(c, op, dtype, "fill")), in, 0);
      }
      for (const std::string dtype : {"bf16", "u8"}) {
        const auto to = [&](const char* from, const char* name, const std::string& shape) {
          return std::string("%") + name + ": " + dtype + shape + " = convert_element_type(%" + from +
                 ") new_dtype=" + dtype + " ";
        };
        const std::string signs = dtype == "u8"
                                      ? "%p: f32" + c.operand + " = mul(%x, %x) %v: f32" + c.updates + " = mul(%u, %u) "
                                      : "%p: f32" + c.operand + " = neg(%x) %v: f32" + c.updates + " = neg(%u) ";
        const std::string narrow = op == "scatter-add" ? "scatter-min" : op;  // sums of this many are rounded
        r.RunEverywhere(r.Parse("program f(%x: f32" + c.operand + ", %i: i32" + c.indices + ", %u: f32" + c.updates +
                                ") { " + signs + to("p", "a", c.operand) + to("v", "b", c.updates) + "%c: " + dtype +
                                c.operand + " = " + narrow + "(%a, %i, %b) " + c.dims + " mode=\"clip\" %y: f32" +
                                c.operand + " = convert_element_type(%c) new_dtype=f32 return %y }"),
                        in, 0);
      }
    }
  }
}

TEST(Combine, Products) {
  for (const Case& c : kCases) {
    std::vector<Numbers> in = Inputs(c);
    for (double& v : in[2]) v = 1 + v / 64;
    ProgramRunner r;
    r.RunEverywhere(r.Parse(Text(c, "scatter-mul", "f32", "fill")), in, 1e-3);
  }
}

// Updates in lanes of a batch, of arrays in a loop, of a slice of a stack: one point does them all, in order.
TEST(Combine, WithinLanesAndLoops) {
  const std::string body =
      "scatter-add(%c, %i, %u) update_window_dims=[] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] mode=\"fill\"";
  ProgramRunner r;
  Numbers x(7 * 17), u(17 * 30), i(30);
  for (size_t n = 0; n < x.size(); ++n) x[n] = static_cast<double>(n % 5);
  for (size_t n = 0; n < u.size(); ++n) u[n] = static_cast<double>(n % 7);
  for (size_t n = 0; n < i.size(); ++n) i[n] = static_cast<double>((3 * n) % 9) - 1;
  for (const std::string schedule : {"lanes", "batched"}) {
    r.RunEverywhere(
        r.Parse("program f(%x: f32[17,7], %i: i32[30,1], %u: f32[17,30]) { %y: f32[17,7] = vmap(%x, %i, %u) "
                "size=17 in_axes=[0,-1,0] out_axes=[0] axis_name=\"\" schedule=\"" +
                schedule +
                "\" body=program(%x: f32[7], %i: i32[30,1], %u: f32[30]) { %y: f32[7] = "
                "scan(%i, %u, %x) length=3 num_consts=2 num_carry=1 body=program(%i: i32[30,1], %u: "
                "f32[30], %c: f32[7]) { %y: f32[7] = " +
                body + " return %y } return %y } return %y }"),
        {x, i, u}, 1e-6);
  }
  r.RunEverywhere(r.Parse("program f(%x: f32[17,7], %i: i32[30,1], %u: f32[17,30]) { %y: f32[17,7] = scan(%i, %x, %u) "
                          "length=17 num_consts=1 num_carry=0 body=program(%i: i32[30,1], %c: f32[7], %u: f32[30]) { "
                          "%y: f32[7] = " +
                          body + " return %y } return %y }"),
                  {x, i, u}, 1e-6);
}

}  // namespace
}  // namespace ricci::testing
