// ricci_point_programs: prints programs of functions of the C++ binding, which points_cases.py compares with JAX.
//
// Each line of the standard input asks for one: NAME ROWS TYPE..., with types such as f64[3]. The program has operands
// of these types; with ROWS above 0 each operand is that many of them, stacked (f64[ROWS,3]), and the function is
// applied to each by itself, so that nothing of it is a batch. The answer is `program BYTES` and the text; with a name
// that is not in the tables, `none`.
#include <iostream>
#include <sstream>
#include <string>

#include "point_functions.h"

namespace points { namespace {

using ricci::Shape;
using ricci::ShapeDType;
using ricci::Value;
using ricci::Values;

struct Request {
  std::string name;
  int64_t rows = 0;
  std::vector<ShapeDType> operands;
};

// `f64[2,3]`: only f32 and f64 occur.
ShapeDType TypeOf(const std::string& text, int64_t rows) {
  ShapeDType out{{}, text.substr(0, 3) == "f32" ? ricci::DType::kF32 : ricci::DType::kF64};
  if (rows > 0) out.shape.push_back(rows);
  std::istringstream sizes(text.substr(4, text.size() - 5));
  for (std::string size; std::getline(sizes, size, ',');) out.shape.push_back(std::stoll(size));
  return out;
}
Request Parsed(const std::string& line) {
  std::istringstream words(line);
  Request out;
  words >> out.name >> out.rows;
  for (std::string type; words >> type;) out.operands.push_back(TypeOf(type, out.rows));
  return out;
}

// Calls use(f) with the function of that name, which takes Values.
template <typename Use>
bool WithFunction(const std::string& name, const Use& use) {
  for (const Unary& row : UnaryFunctions()) {
    if (row.name == name) return use([&](const Values& x) { return row.f(x[0]); }), true;
  }
  for (const Binary& row : BinaryFunctions()) {
    if (row.name == name) return use([&](const Values& x) { return row.f(x[0], x[1]); }), true;
  }
  for (const auto rows : {OtherElementwise(), OfVectors(), OfMatrices()}) {
    for (const Function& row : rows) {
      if (row.name == name) return use(row.f), true;
    }
  }
  return false;
}

template <typename F>
Value OfEachRow(const F& f, const Values& x, int64_t rows) {
  std::vector<ricci::Operand> out;
  for (int64_t i = 0; i < rows; ++i) {
    Values row;
    for (const Value& v : x) row.push_back(v[i]);
    out.emplace_back(f(row));
  }
  return ricci::stack(out);
}

void Answer(const ricci::Context& ctx, const Request& request) {
  const bool found = WithFunction(request.name, [&](const auto& f) {
    const auto traced = [&](const Values& x) { return request.rows > 0 ? OfEachRow(f, x, request.rows) : f(x); };
    const std::string text = ricci::make_program(ctx, traced, request.operands).text();
    std::cout << "program " << text.size() << "\n" << text;
  });
  if (!found) std::cout << "none\n";
}

}  // namespace
}  // namespace points

int main() {
  try {
    const ricci::Context ctx;
    for (std::string line; std::getline(std::cin, line);) points::Answer(ctx, points::Parsed(line));
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
