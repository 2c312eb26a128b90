// Sequential steps of a plan: in functions of some length each, and once where they are repeated.
//
// The time to compile one function is not linear in its length, and steps that a program repeats (codegen/repeats)
// would have their code many times. A piece is a function with the parameters of the entry and its first library call,
// from which the others are found, so that each trip of a loop over a piece has its own.
//
// A thousand repeated steps of two kernels take 2 KB instead of 45, and 9 ms to compile instead of 190.
#include <algorithm>
#include <utility>

#include "codegen/repeats.h"
#include "cpu/plan/plan_emitter.h"

namespace ricci::cpu {

// The length of the sequence of steps that begins at `s`.
uint32_t PlanEmitter::Straight(uint32_t s) const {
  uint32_t n = 0;
  while (s + n < plan_.n_steps && IsStraight(plan_.steps[s + n].kind)) ++n;
  return n;
}

// Code of sequential steps. Long sequences are cut into functions, because the time to compile one function is not
// linear in its length; repeated steps have code once.
void PlanEmitter::Sequence(uint32_t first, uint32_t n) {
  const uint32_t most = l_.cuts.piece_steps;
  if (n <= most) {
    for (uint32_t s = first; s < first + n; ++s) Step(plan_.steps[s]);
    return;
  }
  for (const codegen::Repeat& r : codegen::RepeatsOf(NumbersOf(first, n), l_.cuts.repeat_steps)) {
    if (r.times > 1) {
      Repeated(first + r.first, r.period, r.times);
      continue;
    }
    for (uint32_t done = 0; done < r.period; done += most) {
      const uint32_t from = first + r.first + done, left = std::min(most, r.period - done);
      CallPiece(Piece(from, left), LibraryOf(from, left));
    }
  }
}

// Equal steps have equal numbers: they do the same with the same buffers. Library calls count as equal if they follow
// each other in the table.
std::vector<uint32_t> PlanEmitter::NumbersOf(uint32_t first, uint32_t n) {
  std::vector<uint32_t> numbers;
  uint32_t due = FirstLibrary(first, n).value_or(0);
  for (uint32_t s = first; s < first + n; ++s) {
    const ricci_plan_step& step = plan_.steps[s];
    std::vector<uint64_t> key = {step.kind, step.index};
    if (profiled_) key.push_back(s);  // each step reports its own number
    if (step.kind == RICCI_STEP_LIBRARY) {
      const bool in_turn = step.index == due++;
      key[1] = in_turn ? 0 : s + 1;
      key.push_back(plan_.libraries[step.index].scratch_bytes != 0);
    }
    for (uint32_t i = 0; i < step.n_args; ++i) AppendStorage(plan_.args[step.args + i], key);
    numbers.push_back(known_.try_emplace(std::move(key), static_cast<uint32_t>(known_.size())).first->second);
  }
  return numbers;
}

void PlanEmitter::AppendStorage(uint32_t buffer, std::vector<uint64_t>& key) const {
  const ricci_plan_buffer& b = plan_.buffers[buffer];
  const bool constant = b.kind == RICCI_BUFFER_CONSTANT, arena = b.kind == RICCI_BUFFER_ARENA;
  key.insert(key.end(), {b.kind, b.bytes, constant ? buffer : arena ? b.offset : b.index});
}

// The first library call of these steps.
std::optional<uint32_t> PlanEmitter::FirstLibrary(uint32_t first, uint32_t n) const {
  const auto is_call = [](const ricci_plan_step& step) { return step.kind == RICCI_STEP_LIBRARY; };
  const auto* const end = plan_.steps + first + n;
  const auto* const found = std::find_if(plan_.steps + first, end, is_call);
  return found == end ? std::nullopt : std::optional(found->index);
}

V PlanEmitter::LibraryOf(uint32_t first, uint32_t n) {
  const std::optional<uint32_t> number = FirstLibrary(first, n);
  return number ? Library(*number) : LLVMConstNull(l_.ptr());
}

V PlanEmitter::Library(uint32_t number) {
  V first = first_library_ ? LLVMGetParam(function_, 4) : OfArgs(offsetof(ricci_run_args, libraries), "libraries");
  return Offset(first, (uint64_t{number} - first_library_.value_or(0)) * sizeof(ricci_plan_library));
}

PlanEmitter::PlanPiece PlanEmitter::Piece(uint32_t first, uint32_t n) {
  bool ends = false;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l_.b);
  const std::optional<uint32_t> outer = std::exchange(first_library_, FirstLibrary(first, n));
  V piece = Function(
      "piece" + std::to_string(first),
      [&] {
        Sequence(first, n);
        ends = end_ != nullptr;
      },
      /*piece=*/true);
  first_library_ = outer;
  LLVMSetLinkage(piece, LLVMInternalLinkage);
  LLVMPositionBuilderAtEnd(l_.b, here);
  return {piece, ends};
}

void PlanEmitter::CallPiece(PlanPiece piece, V library) {
  V args[] = {LLVMGetParam(function_, 0), LLVMGetParam(function_, 1), LLVMGetParam(function_, 2),
              LLVMGetParam(function_, 3), library};
  V ended = LLVMBuildCall2(l_.b, LLVMGlobalGetValueType(piece.function), piece.function, args, 5, "");
  if (piece.ends) EndIf(ended);
}

// A loop over a piece; each trip takes the next library calls.
void PlanEmitter::Repeated(uint32_t first, uint32_t period, uint32_t times) {
  const PlanPiece piece = Piece(first, period);
  V library = LibraryOf(first, period);
  const auto calls = std::count_if(plan_.steps + first, plan_.steps + first + period,
                                   [](const ricci_plan_step& step) { return step.kind == RICCI_STEP_LIBRARY; });
  LLVMBasicBlockRef before = LLVMGetInsertBlock(l_.b), loop = l_.NewBlock("repeat"), after = l_.NewBlock("repeated");
  LLVMBuildBr(l_.b, loop);
  LLVMPositionBuilderAtEnd(l_.b, loop);
  V trip = LLVMBuildPhi(l_.b, l_.i32(), "trip"), now = LLVMBuildPhi(l_.b, l_.ptr(), "library");
  Poll(first);
  CallPiece(piece, now);
  V trips[] = {l_.I32(0), LLVMBuildAdd(l_.b, trip, l_.I32(1), "")};
  V libraries[] = {library, Offset(now, static_cast<uint64_t>(calls) * sizeof(ricci_plan_library))};
  LLVMBasicBlockRef from[] = {before, LLVMGetInsertBlock(l_.b)};
  LLVMAddIncoming(trip, trips, from, 2);
  LLVMAddIncoming(now, libraries, from, 2);
  V more = LLVMBuildICmp(l_.b, LLVMIntULT, trips[1], l_.I32(static_cast<int32_t>(times)), "");
  LLVMBuildCondBr(l_.b, more, loop, after);
  LLVMPositionBuilderAtEnd(l_.b, after);
}

}  // namespace ricci::cpu
