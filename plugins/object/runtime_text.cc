#include "runtime_text.h"

#include <string_view>
#include <utility>
#include <vector>

namespace ricci::object {
namespace {

// Parallel loops, by one thread; library calls, which are functions of the object: a call's record begins with its
// function (object_code.cc).
constexpr char kTasks[] = R"(
declare i64 @llvm.smin.i64(i64, i64)
define internal i32 @ricci_cpu_parallel(ptr %run, ptr %task, ptr %buffers, i64 %units, i64 %grain, ptr %scratch, i64 %stride, i32 %parts) {
entry:
  br label %head
head:
  %begin = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %begin, %units
  br i1 %more, label %body, label %done
body:
  %next = add i64 %begin, %grain
  %end = call i64 @llvm.smin.i64(i64 %next, i64 %units)
  call void %task(ptr %buffers, i64 %begin, i64 %end, ptr %scratch)
  br label %head
done:
  ret i32 0
}
define internal i32 @ricci_cpu_library(ptr %run, ptr %call, ptr %buffers, ptr %scratch, i64 %stride, i32 %parts) {
  %function = load ptr, ptr %call
  call void %function(ptr %buffers, ptr %scratch)
  ret i32 0
}
)";

// For both types: T float or double, F the end of names in f32 (`f` or nothing).
constexpr char kLanes[] = R"(
define internal void @ricci_each_lane1<F>(ptr %f, ptr %x, i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %done
body:
  %at = getelementptr <T>, ptr %x, i64 %i
  %v = load <T>, ptr %at
  %r = call <T> %f(<T> %v)
  store <T> %r, ptr %at
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}
define internal void @ricci_each_lane2<F>(ptr %f, ptr %x, i64 %n, ptr %y) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %done
body:
  %at = getelementptr <T>, ptr %x, i64 %i
  %by = getelementptr <T>, ptr %y, i64 %i
  %v = load <T>, ptr %at
  %w = load <T>, ptr %by
  %r = call <T> %f(<T> %v, <T> %w)
  store <T> %r, ptr %at
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}
declare <T> @tan<F>(<T>)
declare <T> @fmod<F>(<T>, <T>)
define internal <T> @ricci_tan<F>(<T> %x) {
  %y = call <T> @tan<F>(<T> %x)
  ret <T> %y
}
define internal <T> @ricci_fmod<F>(<T> %x, <T> %y) {
  %z = call <T> @fmod<F>(<T> %x, <T> %y)
  ret <T> %z
}
)";

// f32 by f64.
constexpr char kByDouble[] = R"(
define internal float @ricci_<NAME>f(float %x) {
  %d = fpext float %x to double
  %y = call double @ricci_<NAME>(double %d)
  %r = fptrunc double %y to float
  ret float %r
}
)";

// L: the long type, E: the end of its functions' names. The formulas are those of math_library.cc.
constexpr char kSpecial[] = R"(
declare double @lgamma_r(double, ptr)
declare <L> @sin<E>(<L>)
declare <L> @cos<E>(<L>)
declare <L> @tan<E>(<L>)
declare <L> @asin<E>(<L>)
declare <L> @log<E>(<L>)
declare double @llvm.nearbyint.f64(double)
define internal double @ricci_lgamma(double %x) {
  %sign = alloca i32
  %y = call double @lgamma_r(double %x, ptr %sign)
  ret double %y
}
define internal double @ricci_reduce_sine(double %x) {
  %long = <WIDEN> double %x to <L>
  %s = call <L> @sin<E>(<L> %long)
  %a = call <L> @asin<E>(<L> %s)
  %y = <NARROW> <L> %a to double
  ret double %y
}
define internal double @ricci_reduce_cosine(double %x) {
  %long = <WIDEN> double %x to <L>
  %c = call <L> @cos<E>(<L> %long)
  %a = call <L> @asin<E>(<L> %c)
  %y = <NARROW> <L> %a to double
  ret double %y
}
define internal <L> @ricci_ratio(i64 %a, i64 %b) {
  %x = sitofp i64 %a to <L>
  %y = sitofp i64 %b to <L>
  %z = fdiv <L> %x, %y
  ret <L> %z
}
define internal <L> @ricci_upper_digamma(<L> %from) {
entry:
  %zero = sitofp i64 0 to <L>
  %one = sitofp i64 1 to <L>
  %sixteen = sitofp i64 16 to <L>
  br label %head
head:
  %x = phi <L> [ %from, %entry ], [ %up, %body ]
  %r = phi <L> [ %zero, %entry ], [ %less, %body ]
  %low = fcmp olt <L> %x, %sixteen
  br i1 %low, label %body, label %done
body:
  %inverse = fdiv <L> %one, %x
  %less = fsub <L> %r, %inverse
  %up = fadd <L> %x, %one
  br label %head
done:
  %square = fmul <L> %x, %x
  %i = fdiv <L> %one, %square
<SERIES>
  %log = call <L> @log<E>(<L> %x)
  %sum = fadd <L> %r, %log
  %half = call <L> @ricci_ratio(i64 1, i64 2)
  %h = fdiv <L> %half, %x
  %rest = fsub <L> %sum, %h
  %tail = fmul <L> <LAST>, %i
  %y = fsub <L> %rest, %tail
  ret <L> %y
}
define internal double @ricci_digamma(double %x) {
entry:
  %nan = fcmp uno double %x, 0.0
  %lowest = fcmp oeq double %x, 0xFFF0000000000000
  %none = or i1 %nan, %lowest
  br i1 %none, label %undefined, label %defined
undefined:
  ret double 0x7FF8000000000000
defined:
  %highest = fcmp oeq double %x, 0x7FF0000000000000
  br i1 %highest, label %itself, label %finite
itself:
  ret double %x
finite:
  %long = <WIDEN> double %x to <L>
  %positive = fcmp ogt double %x, 0.0
  br i1 %positive, label %above, label %below
above:
  %u = call <L> @ricci_upper_digamma(<L> %long)
  %ud = <NARROW> <L> %u to double
  ret double %ud
below:
  %whole = call double @llvm.nearbyint.f64(double %x)
  %f = fsub double %x, %whole
  %pole = fcmp oeq double %f, 0.0
  br i1 %pole, label %undefined, label %reflect
reflect:
  %one = sitofp i64 1 to <L>
  %mirror = fsub <L> %one, %long
  %v = call <L> @ricci_upper_digamma(<L> %mirror)
  %fl = <WIDEN> double %f to <L>
  %angle = fmul <L> <PI>, %fl
  %t = call <L> @tan<E>(<L> %angle)
  %q = fdiv <L> <PI>, %t
  %y = fsub <L> %v, %q
  %yd = <NARROW> <L> %y to double
  ret double %yd
}
)";

using Words = std::vector<std::pair<std::string_view, std::string>>;

std::string Filled(std::string text, const Words& words) {
  for (const auto& [word, value] : words) {
    for (size_t at = 0; (at = text.find(word, at)) != text.npos; at += value.size()) {
      text.replace(at, word.size(), value);
    }
  }
  return text;
}

// The asymptotic series of digamma, by Horner's rule.
std::string Series(const std::string& type, std::string& last) {
  constexpr std::pair<int, int> kTerms[] = {{-3617, 8160}, {1, 12},  {-691, 32760}, {1, 132},
                                            {-1, 240},     {1, 252}, {-1, 120},     {1, 12}};
  std::string text, sum = "%zero";
  int n = 0;
  for (const auto& [a, b] : kTerms) {
    const std::string i = std::to_string(n++);
    text += "  %p" + i + " = fmul " + type + " " + sum + ", %i\n";
    text += "  %c" + i + " = call " + type + " @ricci_ratio(i64 " + std::to_string(a) + ", i64 " + std::to_string(b) +
            ")\n";
    sum = "%s" + i;
    text += "  " + sum + " = fadd " + type + " %p" + i + ", %c" + i + "\n";
  }
  last = sum;
  return text;
}

}  // namespace

std::string RuntimeText(bool extended) {
  std::string text = kTasks;
  text += Filled(kLanes, {{"<T>", "float"}, {"<F>", "f"}});
  text += Filled(kLanes, {{"<T>", "double"}, {"<F>", ""}});
  for (const char* name : {"lgamma", "digamma", "reduce_sine", "reduce_cosine"}) {
    text += Filled(kByDouble, {{"<NAME>", name}});
  }
  const std::string type = extended ? "x86_fp80" : "double";
  std::string last;
  const std::string series = Series(type, last);
  std::string special = kSpecial;
  if (!extended) special = Filled(special, {{"declare <L> @tan<E>(<L>)\n", ""}});  // it is there already
  return text + Filled(special, {{"<SERIES>\n", series},
                                 {"<LAST>", last},
                                 {"<PI>", extended ? "0xK4000C90FDAA22168C235" : "0x400921FB54442D18"},
                                 {"<WIDEN>", extended ? "fpext" : "bitcast"},
                                 {"<NARROW>", extended ? "fptrunc" : "bitcast"},
                                 {"<L>", type},
                                 {"<E>", extended ? "l" : ""}});
}

}  // namespace ricci::object
