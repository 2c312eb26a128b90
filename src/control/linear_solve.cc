// custom_linear_solve: the x with A x = b, where held programs say what A does and how the equation is solved.
//
// Each of them takes constants of its own and then a vector, which is a list of arrays of the types of b, and gives a
// vector. The two solvers may give more after it, such as how many steps they took; what `solve` gives is in the
// results of the operation, and has no derivative:
//   matvec           A x
//   solve            the x with A x = b; without a transform the operation runs this program
//   vecmat           A^T y
//   transpose_solve  the y with A^T y = c
// The last two may be left out together; then reverse mode is not supported. Operands are the constants of matvec,
// vecmat, solve and transpose_solve, then b. How many constants a program has follows from its parameters, so no
// attribute says it.
//
// The derivative is taken at the solution and never through the solver, which may hold any loop: from A x = b follows
// dx = A^-1 (db - dA x), where dA x is the derivative of matvec by its constants. In the transposed operation the four
// programs swap roles.
//
// An array of a vector is batched in all four programs or in none, on both sides of the equation. Vectors may hold
// integers, which have no derivative.
#include <array>

#include "control/structural_row.h"
#include "trace/roles.h"
#include "transform/dead_code.h"
#include "transform/vmap.h"

namespace ricci { inline namespace v0 { namespace control {
namespace {

constexpr std::string_view kName = "custom_linear_solve";
enum Part : size_t { kMatvec, kVecmat, kSolve, kTransposeSolve, kParts };
constexpr std::array<std::string_view, kParts> kPartNames = {"matvec", "vecmat", "solve", "transpose_solve"};
// Which program replaces each one in the transposed operation.
constexpr std::array<size_t, kParts> kTransposed = {kVecmat, kMatvec, kTransposeSolve, kSolve};
using Programs = std::array<const Program*, kParts>;  // NULL: left out

Programs ProgramsOf(const StructuralOp& h) {
  Programs out{};
  for (size_t i = 0; i < kParts; ++i) out[i] = trace::ProgramIn(h.attrs, kPartNames[i]);
  return out;
}

// What each operand is. Types have been checked, except in the type rule itself.
struct Operands {
  explicit Operands(const StructuralOp& h) : programs(ProgramsOf(h)), n(programs[kMatvec]->n_results()) {
    for (size_t i = 0; i < kParts; ++i) {
      first[i + 1] = first[i] + (programs[i] == nullptr ? 0 : uint64_t{programs[i]->n_params()} - n);
    }
  }
  // The entries of a list with one entry for each operand that belong to a program's constants.
  template <typename T>
  std::span<const T> Consts(const T* all, size_t part) const {
    return {all + first[part], static_cast<size_t>(first[part + 1] - first[part])};
  }
  template <typename T>
  std::span<T> Vector(T* all) const {
    return {all + first[kParts], n};
  }

  Programs programs;
  uint32_t n;                                // the number of arrays of a vector
  std::array<uint64_t, kParts + 1> first{};  // the first constant of each program, then the first array of b
};

// The vector, and the types of what a solver gives besides.
std::vector<TypeId> ResultTypes(size_t part, const Program& p, std::span<const TypeId> vector) {
  std::vector<TypeId> types(vector.begin(), vector.end());
  const bool is_solver = part == kSolve || part == kTransposeSolve;
  for (size_t i = vector.size(); is_solver && i < p.n_results(); ++i) types.push_back(p.result_types[i]);
  return types;
}

absl::Status CheckCountsOfParams(const StructuralOp& h) {
  const Programs programs = ProgramsOf(h);
  const uint32_t n = programs[kMatvec]->n_results();
  for (size_t i = 0; i < kParts; ++i) {
    if (programs[i] == nullptr || programs[i]->n_params() >= n) continue;
    return base::InvalidArgument(kName, ": ", kPartNames[i], " takes ", base::Count(programs[i]->n_params(), "array"),
                                 ", fewer than the ", n, " of a vector, which matvec gives");
  }
  const uint64_t wanted = Operands(h).first[kParts] + n;
  if (wanted == h.op.n_in) return absl::OkStatus();
  return base::InvalidArgument(kName, ": its programs take ", wanted, " operands, constants and b, not ", h.op.n_in);
}

absl::Status Type(Builder& b, const StructuralOp& h) {
  const Programs programs = ProgramsOf(h);
  if ((programs[kVecmat] == nullptr) != (programs[kTransposeSolve] == nullptr)) {
    return base::InvalidArgument(kName, ": vecmat and transpose_solve must be given together, or neither");
  }
  RICCI_TRY(CheckCountsOfParams(h));
  const Operands operands(h);
  const std::span<const TypeId> vector = operands.Vector(h.op.in_types);
  for (size_t i = 0; i < kParts; ++i) {
    if (programs[i] == nullptr) continue;
    const std::span<const TypeId> consts = operands.Consts(h.op.in_types, i);
    std::vector<TypeId> params(consts.begin(), consts.end());
    params.insert(params.end(), vector.begin(), vector.end());
    RICCI_TRY(CheckParams(b, kName, kPartNames[i], *programs[i], params));
    RICCI_TRY(CheckResults(b, kName, kPartNames[i], *programs[i], ResultTypes(i, *programs[i], vector)));
  }
  return SetOutTypes(b, ResultTypes(kSolve, *programs[kSolve], vector));
}

absl::StatusOr<Vals> EmitSolve(Builder& b, const Programs& programs, std::span<const Val> in) {
  std::array<ricci_program*, kParts> slots{};
  std::vector<ricci_attr> attrs;
  for (size_t i = 0; i < kParts; ++i) {
    if (programs[i] != nullptr) attrs.push_back(trace::ProgramAttr(kPartNames[i], *programs[i], slots[i]));
  }
  return b.Emit(kName, attrs, in);
}

// dA x, with symbolic zeros for arrays that do not depend on a constant with a tangent.
absl::StatusOr<Vals> TangentOfMap(Builder& b, const Operands& operands, const ricci_jvp_args& a, const Vals& x) {
  const std::span<const Val> tangents = operands.Consts(a.tangents, kMatvec);
  if (Count(NonZero(tangents)) == 0) return Vals(operands.n, kZero);
  const std::span<const Val> consts = operands.Consts(a.primals, kMatvec);
  Mask active = NonZero(tangents);
  active.resize(operands.programs[kMatvec]->n_params(), 0);
  RICCI_ASSIGN(const transform::JvpProgram jvp, transform::Jvp(*operands.programs[kMatvec], active));
  Mask used(operands.n, 0);
  used.resize(jvp.program->n_results(), 1);
  RICCI_ASSIGN(const transform::PrunedProgram only, transform::Prune(*jvp.program, used));
  Vals in(consts.begin(), consts.end());
  in.insert(in.end(), x.begin(), x.begin() + operands.n);
  const Vals live = Where(tangents, NonZero(tangents));
  in.insert(in.end(), live.begin(), live.end());
  RICCI_ASSIGN(const Vals nonzero, b.Inline(*only.program, in));
  Vals out(operands.n, kZero);
  Scatter(jvp.nonzero, nonzero, out.data());
  return out;
}

absl::Status Jvp(Builder& b, const StructuralOp& h, const ricci_jvp_args& a) {
  const Operands operands(h);
  RICCI_ASSIGN(const Vals x, EmitSolve(b, operands.programs, {a.primals, h.op.n_in}));
  std::copy(x.begin(), x.end(), a.out_primals);
  RICCI_ASSIGN(const Vals map, TangentOfMap(b, operands, a, x));
  const std::span<const Val> db = operands.Vector(a.tangents);
  if (Count(NonZero(map)) + Count(NonZero(db)) == 0) return absl::OkStatus();
  Vals in(a.primals, a.primals + operands.first[kParts]);
  for (uint32_t i = 0; i < operands.n; ++i) {
    RICCI_ASSIGN(Val right, b.Instantiate(db[i], h.op.out_types[i]));
    if (map[i] != kZero) {
      RICCI_ASSIGN(right, trace::Sub(b, right, map[i]));
    }
    in.push_back(right);
  }
  RICCI_ASSIGN(const Vals dx, EmitSolve(b, operands.programs, in));
  std::copy_n(dx.begin(), operands.n, a.out_tangents);
  return absl::OkStatus();
}

absl::Status Transpose(Builder& b, const StructuralOp& h, const ricci_transpose_args& a) {
  const Operands operands(h);
  if (operands.programs[kTransposeSolve] == nullptr) {
    return absl::UnimplementedError(
        base::Cat(kName, ": reverse mode needs vecmat and transpose_solve, which were not given"));
  }
  Programs programs{};
  Vals in;
  for (size_t i = 0; i < kParts; ++i) {
    programs[i] = operands.programs[kTransposed[i]];
    const std::span<const Val> consts = operands.Consts(a.operands, kTransposed[i]);
    in.insert(in.end(), consts.begin(), consts.end());
  }
  for (uint32_t i = operands.n; i < h.op.n_out; ++i) {
    if (a.cts[i] == kZero) continue;
    return absl::UnimplementedError(
        base::Cat(kName, ": only the solution has a transpose, not result ", i, ", which the solver gives besides"));
  }
  for (uint32_t i = 0; i < operands.first[kParts]; ++i) {
    if (a.linear[i]) return absl::UnimplementedError(base::Cat(kName, ": it is linear only in b, not in operand ", i));
  }
  for (uint32_t i = 0; i < operands.n; ++i) {
    RICCI_ASSIGN(Val ct, b.Instantiate(a.cts[i], h.op.out_types[i]));
    in.push_back(ct);
  }
  RICCI_ASSIGN(const Vals out, EmitSolve(b, programs, in));
  const std::span<const uint8_t> linear = operands.Vector(a.linear);
  for (uint32_t i = 0; i < operands.n; ++i) {
    if (linear[i]) operands.Vector(a.in_cts)[i] = out[i];
  }
  return absl::OkStatus();
}

struct BatchedParts {
  std::array<ProgramRef, kParts> programs;
  Mask results;  // of solve: which are batched
};

// All programs batched. The arrays of their vectors that `vector` marks are batched, and others if a program makes them
// so, which are then marked too.
absl::StatusOr<BatchedParts> BatchParts(const Operands& operands, const ricci_batch_args& a, const Mask& batched,
                                        Mask& vector) {
  const std::string_view axis(a.axis_name.ptr, a.axis_name.len);
  BatchedParts out;
  const Mask before = vector;
  for (size_t i = 0; i < kParts; ++i) {
    if (operands.programs[i] == nullptr) continue;
    const MaskView consts = operands.Consts(batched.data(), i);
    Mask params(consts.begin(), consts.end());
    params.insert(params.end(), before.begin(), before.end());
    Mask wanted = before;
    wanted.resize(operands.programs[i]->n_results(), 0);
    RICCI_ASSIGN(auto batch, transform::Batch(*operands.programs[i], params, a.axis_size, axis, wanted));
    for (uint32_t k = 0; k < operands.n; ++k) vector[k] |= batch.out_batched[k];
    if (i == kSolve) out.results = batch.out_batched;
    out.programs[i] = std::move(batch.program);
  }
  return out;
}

// Each array of a vector is batched in all programs, both as argument and as result, or in none: matvec takes x and
// gives b, solve takes b and gives x.
absl::Status Batch(Builder& b, const StructuralOp& h, const ricci_batch_args& a) {
  const Operands operands(h);
  const Mask batched = IsBatched(a, h.op.n_in);
  const MaskView right = operands.Vector(batched.data());
  Mask vector(right.begin(), right.end()), before;
  BatchedParts parts;
  do {
    before = vector;
    RICCI_ASSIGN(parts, BatchParts(operands, a, batched, vector));
  } while (vector != before);
  RICCI_ASSIGN(Vals in, BatchFront(b, a, h.op.n_in));
  for (uint32_t i = 0; i < operands.n; ++i) {
    if (!vector[i] || right[i]) continue;
    Val& v = operands.Vector(in.data())[i];
    RICCI_ASSIGN(v, trace::BroadcastLeading(b, v, a.axis_size));
  }
  Programs programs{};
  for (size_t i = 0; i < kParts; ++i) programs[i] = parts.programs[i].get();
  RICCI_ASSIGN(const Vals out, EmitSolve(b, programs, in));
  GiveBatch(a, parts.results, out);
  return absl::OkStatus();
}

absl::StatusOr<Vals> InlineSolve(Builder& b, const StructuralOp& h, std::span<const Val> in) {
  const Operands operands(h);
  const std::span<const Val> consts = operands.Consts(in.data(), kSolve), right = operands.Vector(in.data());
  Vals all(consts.begin(), consts.end());
  all.insert(all.end(), right.begin(), right.end());
  return b.Inline(*operands.programs[kSolve], all);
}

// A (x, y) = (d x + y, d y), whose transpose differs from it; then a diagonal, which is symmetric.
constexpr std::string_view kExamples =
    "program (%d: f64[3] in 1..2, %b: f64[3], %c: f64[3]) {\n"
    "  %x: f64[3], %y: f64[3] = custom_linear_solve(%d, %d, %d, %d, %b, %c) matvec=program(%d: f64[3], %x: f64[3], "
    "%y: f64[3]) {\n"
    "    %m: f64[3] = mul(%d, %x)\n"
    "    %a: f64[3] = add(%m, %y)\n"
    "    %b: f64[3] = mul(%d, %y)\n"
    "    return %a, %b\n"
    "  } vecmat=program(%d: f64[3], %x: f64[3], %y: f64[3]) {\n"
    "    %a: f64[3] = mul(%d, %x)\n"
    "    %m: f64[3] = mul(%d, %y)\n"
    "    %b: f64[3] = add(%x, %m)\n"
    "    return %a, %b\n"
    "  } solve=program(%d: f64[3], %a: f64[3], %b: f64[3]) {\n"
    "    %y: f64[3] = div(%b, %d)\n"
    "    %r: f64[3] = sub(%a, %y)\n"
    "    %x: f64[3] = div(%r, %d)\n"
    "    return %x, %y\n"
    "  } transpose_solve=program(%d: f64[3], %a: f64[3], %b: f64[3]) {\n"
    "    %x: f64[3] = div(%a, %d)\n"
    "    %r: f64[3] = sub(%b, %x)\n"
    "    %y: f64[3] = div(%r, %d)\n"
    "    return %x, %y\n"
    "  }\n"
    "  return %x, %y\n"
    "};\n"
    "program (%d: f64[2] in 1..2, %b: f64[2]) {\n"
    "  %x: f64[2] = custom_linear_solve(%d, %d, %d, %d, %b) matvec=program(%d: f64[2], %x: f64[2]) {\n"
    "    %m: f64[2] = mul(%d, %x)\n"
    "    return %m\n"
    "  } vecmat=program(%d: f64[2], %x: f64[2]) {\n"
    "    %m: f64[2] = mul(%d, %x)\n"
    "    return %m\n"
    "  } solve=program(%d: f64[2], %b: f64[2]) {\n"
    "    %r: f64[2] = rsqrt(%d)\n"
    "    %y: f64[2] = mul(%b, %r)\n"
    "    %x: f64[2] = mul(%y, %r)\n"
    "    return %x\n"
    "  } transpose_solve=program(%d: f64[2], %b: f64[2]) {\n"
    "    %x: f64[2] = div(%b, %d)\n"
    "    return %x\n"
    "  }\n"
    "  return %x\n"
    "};\n"
    "program (%d: f64[2] in 1..2, %b: f64[2]) {\n"
    "  %x: f64[2], %n: i32[], %e: f64[2] = custom_linear_solve(%d, %d, %d, %d, %b) matvec=program(%d: f64[2], "
    "%x: f64[2]) {\n"
    "    %m: f64[2] = mul(%d, %x)\n"
    "    return %m\n"
    "  } vecmat=program(%d: f64[2], %x: f64[2]) {\n"
    "    %m: f64[2] = mul(%d, %x)\n"
    "    return %m\n"
    "  } solve=program(%d: f64[2], %b: f64[2]) {\n"
    "    %x: f64[2] = div(%b, %d)\n"
    "    %n: i32[] = constant 1\n"
    "    %m: f64[2] = mul(%d, %x)\n"
    "    %e: f64[2] = sub(%m, %b)\n"
    "    return %x, %n, %e\n"
    "  } transpose_solve=program(%d: f64[2], %b: f64[2]) {\n"
    "    %x: f64[2] = div(%b, %d)\n"
    "    return %x\n"
    "  }\n"
    "  return %x, %n, %e\n"
    "}";
constexpr ricci_attr_spec kAttrs[] = {
    Spec("matvec", RICCI_ATTR_PROGRAM), Spec("vecmat", RICCI_ATTR_PROGRAM, "none; there is no reverse mode then"),
    Spec("solve", RICCI_ATTR_PROGRAM),
    Spec("transpose_solve", RICCI_ATTR_PROGRAM, "none; there is no reverse mode then")};
constexpr ricci_lowering kInline = Decomposition<InlineSolve>();
constexpr const ricci_lowering* kLowerings[] = {&kInline};

}  // namespace

constinit const StructuralRow kCustomLinearSolveRow = {
    .name = kName,
    .doc =
        "ys... = custom_linear_solve(xs...): the solution of `matvec`(y) = b, by the program `solve`, "
        "differentiated at the solution, then what else `solve` gives, which has no derivative; xs are the constants "
        "of "
        "the programs, then b",
    .attrs = kAttrs,
    .lowerings = kLowerings,
    .type = Type,
    .jvp = Jvp,
    .transpose = Transpose,
    .batch = Batch,
    .examples = kExamples,
};

}}}  // namespace ricci::v0::control
