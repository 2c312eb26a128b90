// Programs whose best schedules differ.
#ifndef RICCI_TESTS_CPU_SCHEDULED_PROGRAMS_H_
#define RICCI_TESTS_CPU_SCHEDULED_PROGRAMS_H_

namespace ricci::testing {

// Twenty steps of a carry f32[32] under weights that all elements of the batch share.
inline constexpr const char* kRecurrent =
    "program f(%w: f32[32,32], %c: f32[256,32]) { %y: f32[256,32] = vmap(%w, %c) size=256 in_axes=[-1,0] out_axes=[0]"
    " axis_name=\"\" body=program(%w: f32[32,32], %c: f32[32]) { %d: f32[32] = scan(%w, %c) length=20 num_consts=1"
    " num_carry=1 reverse=false body=program(%w: f32[32,32], %c: f32[32]) {"
    " %p: f32[32] = dot_general(%w, %c) lhs_contract=[1] rhs_contract=[0] %t: f32[32] = tanh(%p) return %t }"
    " return %d } return %y }";
// The same, small, and with separate weights for each element: registers hold all of it.
inline constexpr const char* kSmallMatrices =
    "program f(%w: f32[256,4,4], %c: f32[256,4,4]) { %y: f32[256,4,4] = vmap(%w, %c) size=256 in_axes=[0,0]"
    " out_axes=[0] axis_name=\"\" body=program(%w: f32[4,4], %c: f32[4,4]) { %d: f32[4,4] = scan(%w, %c) length=20"
    " num_consts=1 num_carry=1 reverse=false body=program(%w: f32[4,4], %c: f32[4,4]) {"
    " %p: f32[4,4] = dot_general(%w, %c) lhs_contract=[1] rhs_contract=[0] return %p } return %d } return %y }";
// Each element halves until it is small: it has its own trip count.
inline constexpr const char* kHalving =
    "program f(%x: f32[256]) { %y: f32[256] = vmap(%x) size=256 in_axes=[0] out_axes=[0] axis_name=\"\""
    " body=program(%x: f32[]) { %r: f32[] = while(%x) cond_nconsts=0 body_nconsts=0"
    " cond=program(%x: f32[]) { %c: f32[] = constant 0.1 %p: bool[] = gt(%x, %c) return %p }"
    " body=program(%x: f32[]) { %c: f32[] = constant 0.5 %h: f32[] = mul(%x, %c) %s: f32[] = sin(%h) return %s }"
    " return %r } return %y }";
// Rows that are already wide.
inline constexpr const char* kWideRows =
    "program f(%x: f32[16,4096]) { %y: f32[16,4096] = vmap(%x) size=16 in_axes=[0] out_axes=[0] axis_name=\"\""
    " body=program(%x: f32[4096]) { %e: f32[4096] = exp(%x) %s: f32[] = reduce_sum(%e) axes=[0]"
    " %b: f32[4096] = broadcast_in_dim(%s) shape=[4096] broadcast_dimensions=[] %d: f32[4096] = div(%e, %b)"
    " return %d } return %y }";
// Rows that are normalised: a maximum, a sum, and the work between and after them.
inline constexpr const char* kSoftmax =
    "program f(%x: f32[64,4096]) { %m: f32[64] = reduce_max(%x) axes=[1]"
    " %b: f32[64,4096] = broadcast_in_dim(%m) shape=[64,4096] broadcast_dimensions=[0] %d: f32[64,4096] = sub(%x, %b)"
    " %e: f32[64,4096] = exp(%d) %s: f32[64] = reduce_sum(%e) axes=[1]"
    " %c: f32[64,4096] = broadcast_in_dim(%s) shape=[64,4096] broadcast_dimensions=[0] %y: f32[64,4096] = div(%e, %c)"
    " return %y }";
// A chain of 24 operations in front of a broadcast: computed once for each column, or stored.
inline constexpr const char* kBeforeBroadcast =
    "program f(%x: f32[64]) { %t: f32[64] = tanh(%x) %l: f32[64] = log(%t) %b: f32[64,8] = broadcast_in_dim(%l)"
    " shape=[64,8] broadcast_dimensions=[0] %y: f32[64,8] = mul(%b, %b) return %y }";
// A carry of 8 KB that a trip reads at other places than it writes to.
inline constexpr const char* kStencil =
    "program f(%x: f32[2048]) { %y: f32[2048] = scan(%x) length=10 num_consts=0 num_carry=1 reverse=false"
    " body=program(%c: f32[2048]) { %r: f32[2048] = rev(%c) dimensions=[0] %s: f32[2048] = add(%c, %r) return %s }"
    " return %y }";
// Many updates of few elements, of rows, and of rows that belong to a batch.
inline constexpr const char* kUpdates =
    "program f(%x: f32[100], %i: i32[100000,1], %u: f32[100000], %y: f32[5000,64], %j: i32[9000,1], %v: f32[9000,64],"
    " %z: f32[64,100], %k: i32[64,500,1], %w: f32[64,500]) {"
    " %a: f32[100] = scatter-add(%x, %i, %u) update_window_dims=[] inserted_window_dims=[0]"
    " scatter_dims_to_operand_dims=[0] mode=\"fill\""
    " %b: f32[5000,64] = scatter-mul(%y, %j, %v) update_window_dims=[1] inserted_window_dims=[0]"
    " scatter_dims_to_operand_dims=[0] mode=\"clip\""
    " %c: f32[64,100] = scatter-max(%z, %k, %w) update_window_dims=[] inserted_window_dims=[1]"
    " scatter_dims_to_operand_dims=[1] operand_batching_dims=[0] scatter_indices_batching_dims=[0] mode=\"fill\""
    " return %a, %b, %c }";
// A large sum.
inline constexpr const char* kSum = "program f(%x: f32[4194304]) { %s: f32[] = reduce_sum(%x) axes=[0] return %s }";

}  // namespace ricci::testing
#endif
