// Programs with loops and branches that are steps of the plan, since they work on arrays.
#ifndef RICCI_TESTS_CUDA_CONDITIONAL_PROGRAMS_H_
#define RICCI_TESTS_CUDA_CONDITIONAL_PROGRAMS_H_
#include <string>
#include <string_view>

#include "cuda/gpu_program.h"

namespace ricci::testing {

inline constexpr std::string_view kWhile = R"(program f(%k: i32[], %x: f32[1000]) {
  %n: i32[], %y: f32[1000] = while(%k, %x) cond_nconsts=0 body_nconsts=0 cond=program(%k: i32[], %v: f32[1000]) {
    %five: i32[] = constant 5
    %less: bool[] = lt(%k, %five)
    return %less
  } body=program(%k: i32[], %v: f32[1000]) {
    %one: i32[] = constant 1
    %j: i32[] = add(%k, %one)
    %r: f32[1000] = rev(%v) dimensions=[0]
    %next: f32[1000] = add(%v, %r)
    return %j, %next
  }
  return %n, %y
})";

// The second branch has no work of its own.
inline constexpr std::string_view kSwitch = R"(program f(%i: i32[], %x: f32[1000]) {
  %y: f32[1000] = cond(%i, %x) branches=[program(%x: f32[1000]) {
    %y: f32[1000] = mul(%x, %x)
    return %y
  }, program(%x: f32[1000]) {
    return %x
  }, program(%x: f32[1000]) {
    %y: f32[1000] = rev(%x) dimensions=[0]
    %z: f32[1000] = sub(%x, %y)
    return %z
  }]
  %m: f32[] = reduce_max(%y) axes=[0]
  return %y, %m
})";

// A list of branches, of which number i adds i times its argument backwards.
inline std::string BranchesOf(int n) {
  std::string text = "program f(%i: i32[], %x: f32[1000]) {\n  %y: f32[1000] = cond(%i, %x) branches=[";
  for (int i = 0; i < n; ++i) {
    text += std::string(i == 0 ? "" : ", ") + "program(%x: f32[1000]) {\n    %k: f32[1000] = constant " +
            std::to_string(i) + ".0\n    %r: f32[1000] = rev(%x) dimensions=[0]\n" +
            "    %s: f32[1000] = mul(%r, %k)\n    %y: f32[1000] = add(%x, %s)\n    return %y\n  }";
  }
  return text + "]\n  return %y, %i\n}";
}

// The carry is another array in each trip, or copied; a trip has slices of its own.
inline std::string ScanOf(int length) {
  const std::string n = std::to_string(length);
  return "program f(%c: f32[1000], %x: f32[" + n + ",1000]) {\n  %d: f32[1000], %y: f32[" + n +
         R"(,1000] = scan(%c, %x) num_consts=0 num_carry=1 length=)" + n +
         R"( body=program(%c: f32[1000], %x: f32[1000]) {
    %r: f32[1000] = rev(%c) dimensions=[0]
    %s: f32[1000] = sub(%r, %x)
    %m: f32[] = reduce_max(%s) axes=[0]
    %b: f32[1000] = broadcast_in_dim(%m) shape=[1000] broadcast_dimensions=[]
    %y: f32[1000] = sub(%b, %s)
    return %s, %y
  }
  return %d, %y
})";
}

// A loop in a branch in a loop.
inline constexpr std::string_view kNested = R"(program f(%n: i32[], %c: f32[1000]) {
  %k: i32[], %d: f32[1000] = scan(%n, %c) length=4 num_consts=0 num_carry=2 body=program(%n: i32[], %c: f32[1000]) {
    %two: i32[] = constant 2
    %odd: i32[] = rem(%n, %two)
    %e: f32[1000] = cond(%odd, %n, %c) branches=[program(%n: i32[], %c: f32[1000]) {
      %r: f32[1000] = rev(%c) dimensions=[0]
      %s: f32[1000] = sub(%c, %r)
      return %s
    }, program(%n: i32[], %c: f32[1000]) {
      %z: i32[], %w: f32[1000] = while(%n, %c) cond_nconsts=0 body_nconsts=0 cond=program(%k: i32[], %v: f32[1000]) {
        %zero: i32[] = constant 0
        %more: bool[] = gt(%k, %zero)
        return %more
      } body=program(%k: i32[], %v: f32[1000]) {
        %one: i32[] = constant 1
        %less: i32[] = sub(%k, %one)
        %r: f32[1000] = rev(%v) dimensions=[0]
        %t: f32[1000] = add(%v, %r)
        return %less, %t
      }
      return %w
    }]
    %one: i32[] = constant 1
    %m: i32[] = add(%n, %one)
    return %m, %e
  }
  return %k, %d
})";

// What asks whether the outer loop goes on is a loop.
inline constexpr std::string_view kLoopThatAsks = R"(program f(%k: i32[], %x: f32[1000]) {
  %n: i32[], %y: f32[1000] = while(%k, %x) cond_nconsts=0 body_nconsts=0 cond=program(%k: i32[], %v: f32[1000]) {
    %j: i32[], %w: f32[1000] = while(%k, %v) cond_nconsts=0 body_nconsts=0 cond=program(%k: i32[], %v: f32[1000]) {
      %three: i32[] = constant 3
      %less: bool[] = lt(%k, %three)
      return %less
    } body=program(%k: i32[], %v: f32[1000]) {
      %one: i32[] = constant 1
      %j: i32[] = add(%k, %one)
      %r: f32[1000] = rev(%v) dimensions=[0]
      %next: f32[1000] = add(%v, %r)
      return %j, %next
    }
    %m: f32[] = reduce_max(%w) axes=[0]
    %most: f32[] = constant 5000.0
    %less: bool[] = lt(%m, %most)
    return %less
  } body=program(%k: i32[], %v: f32[1000]) {
    %next: f32[1000] = add(%v, %v)
    return %k, %next
  }
  return %n, %y
})";

// A choice of two in a choice of three, of which one has no steps, in a loop.
inline constexpr std::string_view kChoices = R"(program f(%n: i32[], %c: f32[1000]) {
  %k: i32[], %d: f32[1000] = scan(%n, %c) length=5 num_consts=0 num_carry=2 body=program(%n: i32[], %c: f32[1000]) {
    %one: i32[] = constant 1
    %zero: i32[] = constant 0
    %two: i32[] = constant 2
    %e: f32[1000] = cond(%n, %n, %c) branches=[program(%n: i32[], %c: f32[1000]) {
      %r: f32[1000] = rev(%c) dimensions=[0]
      %s: f32[1000] = sub(%c, %r)
      return %s
    }, program(%n: i32[], %c: f32[1000]) {
      return %c
    }, program(%n: i32[], %c: f32[1000]) {
      %two: i32[] = constant 2
      %odd: i32[] = rem(%n, %two)
      %w: f32[1000] = cond(%odd, %c) branches=[program(%c: f32[1000]) {
        %r: f32[1000] = rev(%c) dimensions=[0]
        %m: f32[] = reduce_max(%r) axes=[0]
        %b: f32[1000] = broadcast_in_dim(%m) shape=[1000] broadcast_dimensions=[]
        %t: f32[1000] = sub(%b, %r)
        return %t
      }, program(%c: f32[1000]) {
        %r: f32[1000] = rev(%c) dimensions=[0]
        %m: f32[] = reduce_min(%r) axes=[0]
        %b: f32[1000] = broadcast_in_dim(%m) shape=[1000] broadcast_dimensions=[]
        %t: f32[1000] = add(%b, %r)
        return %t
      }]
      return %w
    }]
    %m: i32[] = add(%n, %one)
    return %m, %e
  }
  return %k, %d
})";

// Branches that hold a batch of sorts, a batch of loops whose rows end at different trips, and a loop around a batch.
inline constexpr std::string_view kBatches = R"(program f(%i: i32[], %x: f32[4,250]) {
  %y: f32[4,250] = cond(%i, %i, %x) branches=[program(%i: i32[], %x: f32[4,250]) {
    %s: f32[4,250] = vmap(%x) body=program(%e: f32[250]) {
      %t: f32[250] = sort(%e) dimension=0 is_stable=true num_keys=1
      return %t
    } in_axes=[0] out_axes=[0] size=4 axis_name=""
    return %s
  }, program(%i: i32[], %x: f32[4,250]) {
    %s: f32[4,250] = vmap(%x) body=program(%e: f32[250]) {
      %w: f32[250] = while(%e) cond_nconsts=0 body_nconsts=0 cond=program(%v: f32[250]) {
        %m: f32[] = reduce_max(%v) axes=[0]
        %most: f32[] = constant 100.0
        %less: bool[] = lt(%m, %most)
        return %less
      } body=program(%v: f32[250]) {
        %one: f32[250] = constant 17.0
        %next: f32[250] = add(%v, %one)
        return %next
      }
      return %w
    } in_axes=[0] out_axes=[0] size=4 axis_name=""
    return %s
  }, program(%i: i32[], %x: f32[4,250]) {
    %n: i32[], %w: f32[4,250] = while(%i, %x) cond_nconsts=0 body_nconsts=0 cond=program(%k: i32[], %v: f32[4,250]) {
      %five: i32[] = constant 5
      %less: bool[] = lt(%k, %five)
      return %less
    } body=program(%k: i32[], %v: f32[4,250]) {
      %s: f32[4,250] = vmap(%v) body=program(%e: f32[250]) {
        %r: f32[250] = rev(%e) dimensions=[0]
        %m: f32[] = reduce_max(%r) axes=[0]
        %b: f32[250] = broadcast_in_dim(%m) shape=[250] broadcast_dimensions=[]
        %t: f32[250] = sub(%b, %r)
        return %t
      } in_axes=[0] out_axes=[0] size=4 axis_name=""
      %one: i32[] = constant 1
      %j: i32[] = add(%k, %one)
      return %j, %s
    }
    return %w
  }]
  return %y
})";

// Halving never reaches 1.
inline constexpr std::string_view kEndless = R"(program f(%x: f32[1000]) {
  %y: f32[1000] = while(%x) cond_nconsts=0 body_nconsts=0 cond=program(%v: f32[1000]) {
    %m: f32[] = reduce_max(%v) axes=[0]
    %one: f32[] = constant 1.0
    %less: bool[] = lt(%m, %one)
    return %less
  } body=program(%v: f32[1000]) {
    %half: f32[1000] = constant 0.5
    %next: f32[1000] = mul(%v, %half)
    return %next
  }
  return %y
})";

inline Floats Some(size_t n) {
  Floats out(n);
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<float>((i * 29) % 47) - 20;
  return out;
}

}  // namespace ricci::testing
#endif
