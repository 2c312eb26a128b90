// What a kernel computes for a point. Instruction 12 becomes the variable v12, unless it is a constant or a coordinate;
// other values with one use could stand in its place too, which compilers do anyway.
#include <algorithm>

#include "codegen/identity.h"
#include "cuda/print/kernel_printer.h"
#include "ricci/float_format.h"

namespace ricci::cuda {

std::string_view AtomicName(uint32_t combiner, uint32_t dtype) {
  if (dtype == RICCI_BOOL || IsFloat(dtype) || BitsOf(dtype) < 32) return {};
  switch (combiner) {
    case RICCI_S_ADD:
      return "atomicAdd";
    case RICCI_S_MAX:
      return "atomicMax";
    case RICCI_S_MIN:
      return "atomicMin";
    default:
      return {};
  }
}

void KernelPrinter::Body(uint32_t first, uint32_t last) {
  for (uint32_t i = first; i < last && error_.empty(); ++i) {
    if (phases_.parts != 0 && (in_parts_ ? phases_.first : phases_.second)[i] == 0) continue;
    if (!IsForPoints(i)) continue;
    if (tile_->IsUsed() && At(i).op == RICCI_K_REDUCE) {
      i = SumOfTile(i);
      continue;
    }
    if (joined_.Has(i)) {  // its leader's loop has computed it
      i = blocks_.close[i];
      continue;
    }
    Instruction(i);
    if (IsGrouped(i) || (IsInParts(i) && !in_parts_)) i = blocks_.close[i] - 1;
    if (At(i).op == RICCI_K_SCAN) i = codegen::ScanParts(k_, blocks_, i).body - 1;
    if (At(i).op == RICCI_K_PREFIX) i += codegen::ScanParts(k_, blocks_, blocks_.parent[i]).states - 1;
  }
}

// A sum that the tile has computed; its end.
uint32_t KernelPrinter::SumOfTile(uint32_t reduce) {
  const uint32_t yield = blocks_.close[reduce];
  Let(yield, "s" + std::to_string(yield));
  return yield;
}

std::string KernelPrinter::V(uint32_t i) const {
  if (At(i).op == RICCI_K_CONST) return PrintConstant(device_, DTypeOf(i), static_cast<uint64_t>(At(i).imm));
  if (IsCoordinate(i)) return CoordinateName(static_cast<uint32_t>(At(i).imm));
  return IsPair(i) ? HalfOfPair(PairName(i), half_) : Variable(i);
}

// It is the variable of a coordinate, of the same type; those that differ within a group have variables of their own.
bool KernelPrinter::IsCoordinate(uint32_t i) const {
  if (At(i).op != RICCI_K_DOMAIN || Type(i) != PointType()) return false;
  return !in_group_ || !vector_.of_points || (!vector_.flat && At(i).imm + 1 != k_.domain_rank);
}

// A sum, difference or product of indices in 32 bits, unsigned: with a sign NVRTC makes more of neighbours' addresses
// than it needs (89 instructions for `rev` instead of 73). Empty if it is something else.
std::string KernelPrinter::IndexArithmetic(uint32_t i) const {
  const ricci_inst& q = At(i);
  if (q.op != RICCI_S_ADD && q.op != RICCI_S_SUB && q.op != RICCI_S_MUL) return {};
  if (!ranges_.IsShort(i) || !ranges_.IsShort(q.a) || !ranges_.IsShort(q.b)) return {};
  const std::string sign = q.op == RICCI_S_ADD ? " + " : q.op == RICCI_S_SUB ? " - " : " * ";
  const int64_t a = codegen::ConstantOf(k_, q.a).value_or(-1), b = codegen::ConstantOf(k_, q.b).value_or(0);
  if (q.op == RICCI_S_ADD && b < 0) return V(q.a) + " - " + std::to_string(-b) + "u";
  if (At(q.b).op == RICCI_K_CONST && b >= 0) return V(q.a) + sign + V(q.b) + "u";
  // NVRTC warns of a negative number that becomes unsigned without a cast.
  return (a >= 0 ? V(q.a) + "u" : "(u32)" + V(q.a)) + sign + (b < 0 ? "(u32)" : "") + V(q.b);
}

// A quotient or remainder of indices that C gives as it is.
bool KernelPrinter::IsPlainQuotient(const ricci_inst& q) const {
  if ((q.op != RICCI_S_DIV && q.op != RICCI_S_REM) || !ranges_.Of(q.a) || !ranges_.Of(q.b)) return false;
  return ranges_.Of(q.a)->lo >= 0 && ranges_.Of(q.b)->lo > 0;
}

void KernelPrinter::Scalar(uint32_t i) {
  const ricci_inst& q = At(i);
  if (divisors_.IsUsed() && divisors_.of[i] != 0 && (in_runs_ || divisors_.loop != 0)) return Quotient(i);
  if (IsWidenedF8(i)) return Let(i, Converted(q.a, q.dtype));
  const uint32_t operands[] = {q.a, q.b, q.c};
  const uint32_t n = q.c != 0 ? 3 : q.b != 0 ? 2 : 1, typed = q.op == RICCI_S_SELECT ? q.b : q.a;
  std::string in[3];
  for (uint32_t o = 0; o < n; ++o) in[o] = V(operands[o]);
  if (const std::string sum = IndexArithmetic(i); !sum.empty()) return Let(i, sum);
  if (IsPlainQuotient(q)) return Let(i, in[0] + (q.op == RICCI_S_DIV ? " / " : " % ") + in[1]);
  // Of indices in 32 bits only if no operand and no result needs more.
  uint32_t from = At(typed).dtype;
  if (from == RICCI_I64 && (q.dtype != RICCI_I64 || ranges_.IsShort(i))) {
    bool is_short = ranges_.IsShort(typed);
    for (uint32_t o = 0; o < n; ++o) is_short &= At(operands[o]).dtype != RICCI_I64 || ranges_.IsShort(operands[o]);
    if (is_short) from = RICCI_I32;
  }
  const uint32_t to =
      from == RICCI_I32 && At(typed).dtype == RICCI_I64 && q.dtype == RICCI_I64 ? uint32_t{RICCI_I32} : q.dtype;
  const std::string r = PrintScalar(device_, q.op, from, to, in, n);
  if (r.empty()) {
    Fail(OperationName(q.op) + " of " + std::string(DTypeName(At(typed).dtype)) + " is not known");
    return;
  }
  Let(i, r);
}

// Integers may be combined in any order, so their updates are atomic.
void KernelPrinter::Update(uint32_t i) {
  const ricci_inst& q = At(i);
  const uint32_t combiner = RICCI_COMBINER_OF(q.imm), dtype = At(q.b).dtype;
  const std::string element = "b" + std::to_string(RICCI_BUFFER_OF(q.imm)) + "[" + V(q.a) + "]";
  const std::string_view atomic = AtomicName(combiner, dtype);
  if (atomic.empty()) return Line(element + " = " + Combined(combiner, dtype, element, V(q.b)) + ";");
  // Sums wrap, with a sign too; there is none for i64.
  const std::string as = combiner == RICCI_S_ADD ? std::string(UnsignedName(dtype)) : Type(q.b);
  Line(std::string(atomic) + "((" + as + "*)&" + element + ", (" + as + ")" + V(q.b) + ");");
}

// `a` combined with `b`.
std::string KernelPrinter::Combined(uint32_t combiner, uint32_t dtype, const std::string& a, const std::string& b) {
  const std::string in[] = {a, b};
  return PrintScalar(device_, codegen::CombinerOf(combiner, dtype), dtype, dtype, in, 2);
}

// Its number among the threads that share the trips of a loop.
std::string KernelPrinter::LaneOf(uint32_t loop) const {
  return team_.OverRows(loop) != 0 && team_.size > kWarp ? "(lane % 32)" : "lane";
}

bool KernelPrinter::IsOverRows(uint32_t loop) const {
  return std::find(team_.over_rows.begin(), team_.over_rows.end(), loop) != team_.over_rows.end();
}

// Each warp of the team takes a row.
void KernelPrinter::LoopOverRows(uint32_t i) {
  const auto [begin, end] = BoundsOf(i);
  const bool one_warp = team_.size == kWarp;
  Open("for (" + Type(i) + " " + V(i) + " = " + (one_warp ? begin : Sum(begin, "lane / 32")) + "; " + V(i) + " < " +
       end + "; " + (one_warp ? "++" + V(i) : V(i) + " += " + std::to_string(team_.size / kWarp)) + ")");
}

void KernelPrinter::Loop(uint32_t i) {
  if (IsWrittenOut(i)) return WrittenOutLoop(i);
  if (IsGrouped(i)) return GroupedTrips(i);
  if (IsUnrolled(i)) return UnrolledLoop(i);
  if (IsOverRows(i)) return LoopOverRows(i);
  const auto [begin, end] = BoundsOf(i);
  const bool by_lanes = launch_.lanes > 1 && launch_.loop == i, is_shared = by_lanes || team_.shared[i] != 0;
  Open("for (" + Type(i) + " " + V(i) + " = " + (is_shared ? Sum(begin, LaneOf(i)) : begin) + "; " + V(i) + " < " +
       end + "; " +
       (is_shared ? V(i) + " += " + std::to_string(by_lanes ? launch_.lanes : team_.LanesOf(i)) : "++" + V(i)) + ")");
}

// One thread of a team stores an element that others of it have read, if a run gives operand and result one memory
// (in_place_access.cc): none may be late. All have read what is not in a loop that they share, and the last trip of a
// scan those beyond it, which repeat it.
bool KernelPrinter::MayBeOverOperand(uint32_t store) const {
  if (team_.size == 1 || (team_.inside[store] != 0 && !IsInCutScan(store))) return false;
  const ricci_kernel_buffer& to = k_.buffers[RICCI_BUFFER_OF(At(store).imm)];
  for (uint32_t i = 1; i < store; ++i) {
    if (At(i).op != RICCI_K_LOAD || At(i).a != At(store).a) continue;
    const ricci_kernel_buffer& from = k_.buffers[RICCI_BUFFER_OF(At(i).imm)];
    if (from.access == RICCI_ACCESS_READ && from.elements == to.elements) return true;
  }
  return false;
}

// One thread of a team stores what all of it has computed.
std::string KernelPrinter::StoreGuard(uint32_t store) const {
  if (IsInCutScan(store)) return "if (is_trip) ";
  const bool by_first = team_.size > 1 && team_.inside[store] == 0;
  if (by_first) return IsCut() ? "if (lane == 0 && is_point) " : "if (lane == 0) ";
  return IsCut() ? "if (is_point) " : "";
}

void KernelPrinter::End(uint32_t i) {
  CloseBlock(i);
  if (!in_parts_ || !phases_.of_scans) return;
  for (uint32_t scan = 1; scan < i; ++scan) {
    if (phases_.trips[scan] != 0 && blocks_.close[scan] == i) StoreTotals(scan);
  }
}

// The coordinate of a point, or of number e of its group.
std::string KernelPrinter::DomainValue(uint32_t dimension) const {
  const bool of_group = in_group_ && vector_.of_points;
  if (of_group && vector_.flat) return Coordinate(dimension, "(p + " + NumberOfGroup() + ")");
  return CoordinateName(dimension) + (of_group && dimension + 1 == k_.domain_rank ? " + " + NumberOfGroup() : "");
}

// Constants and facts are code of no location.
void KernelPrinter::SourceLine(uint32_t i) {
  const uint16_t op = At(i).op;
  if (k_.locations == nullptr || op == RICCI_K_CONST || op == RICCI_K_NOP || op == RICCI_K_ASSUME_LESS) return;
  std::string line = line_of_ ? line_of_(k_.locations[i]) : std::string();
  if (line.empty() || line == source_line_) return;
  text_ += line + "\n";
  source_line_ = std::move(line);
}

void KernelPrinter::Instruction(uint32_t i) {
  if (joined_.Name(i) != i) return;
  if ((in_runs_ && runs_.IsUnused(i)) || (rows_.IsUsed() && rows_.unused[i] != 0)) return;
  if (taken_in_[i] != 0 && !(rows_.IsUsed() && (rows_.keeps[i] != 0 || !rows_.IsComputed(i)))) return;
  SourceLine(i);
  if (in_group_ && vector_.pairs) return BothOfPair(i);
  if (!rows_.IsComputed(i)) return Let(i, KeptElement(i, rows_.of[i]));
  Compute(i);
  if (rows_.IsUsed() && rows_.keeps[i] != 0) Line(KeptElement(i, i) + " = " + V(i) + ";");
}

void KernelPrinter::Compute(uint32_t i) {
  const ricci_inst& q = At(i);
  const std::string buffer = "b" + std::to_string(RICCI_BUFFER_OF(q.imm));
  if (codegen::IsScalar(q.op)) return Scalar(i);
  switch (q.op) {
    case RICCI_K_NOP:
    case RICCI_K_ASSUME_LESS:
    case RICCI_K_CONST:
      return;
    case RICCI_K_DOMAIN:
      return IsCoordinate(i) ? void() : Let(i, DomainValue(static_cast<uint32_t>(q.imm)));
    case RICCI_K_LOAD:
      if (IsBrought(i)) return Let(i, Brought(i, "row"));
      if (IsOnlyWidened(i)) return;
      if (in_runs_ && runs_.Has(i)) return LoadOfRun(i);
      if (OtherOfPair(i) != 0) return LoadPair(i);
      return Let(
          i, IsTogether(i) ? "x" + std::to_string(i) + ".at[" + NumberOfGroup() + "]" : buffer + "[" + V(q.a) + "]");
    case RICCI_K_STORE:
      if (IsTogether(i)) return Line(GroupToStore(i) + ".at[" + NumberOfGroup() + "] = " + V(q.b) + ";");
      if (OtherOfPair(i) != 0) return StorePair(i);
      if (in_runs_ && runs_.Has(i)) return StoreOfRun(i);
      if (MayBeOverOperand(i)) Line(team_.size == kWarp ? "__syncwarp();" : "__syncthreads();");
      return Line(StoreGuard(i) + buffer + "[" + V(q.a) + "] = " + V(q.b) + ";");
    case RICCI_K_COMBINE:
      return Update(i);
    case RICCI_K_LOCAL:
      return PrivateArray(i);
    case RICCI_K_GET:
      return Let(i, ElementOf(q.a, q.b));
    case RICCI_K_SET:
      return Line(ElementOf(q.a, q.b) + " = " + V(q.c) + ";");
    case RICCI_K_FOR:
      return Loop(i);
    case RICCI_K_WHILE:
      return Open("for (;;)");
    case RICCI_K_COND:
      return Line("if (!" + V(q.a) + ") break;");
    case RICCI_K_IF:
      return Open("if (" + V(q.a) + ")");
    case RICCI_K_ELSE:
      return Else();
    case RICCI_K_END:
      return End(i);
    case RICCI_K_REDUCE:
      return Reduce(i);
    case RICCI_K_YIELD:
      return Yield(i);
    case RICCI_K_SCAN:
      return Scan(i);
    case RICCI_K_PREFIX:
      return Prefixes(i);
    case RICCI_K_CHECK:  // what repeats a point may read what the point has just written over an operand
      return Line("if (" +
                  std::string(IsInCutScan(i) ? "is_trip && "
                              : IsCut()      ? "is_point && "
                                             : "") +
                  "!" + V(q.a) + ") atomicMin(failed, " + std::to_string(q.imm) + "u);");
    default:
      Fail("instruction " + std::to_string(q.op) + " is not known");
  }
}

}  // namespace ricci::cuda
