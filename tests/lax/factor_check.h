// Checks the factor texts of all equations of a program: one list per operand and result, as many factors as
// dimensions, one size per factor, and kinds only of factors that exist.
#ifndef RICCI_TESTS_LAX_FACTOR_CHECK_H_
#define RICCI_TESTS_LAX_FACTOR_CHECK_H_
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "lax/traced_function.h"

namespace ricci::testing {

// The text of an equation's factors; empty for elementwise rows.
inline std::string FactorText(const ricci_prim_def& row, const ricci_op& op) {
  std::string text(row.factors.ptr == nullptr ? "" : row.factors.ptr, row.factors.len);
  if (row.factors_of == nullptr) return text;
  const auto write = [](void* sink, const char* p, size_t n) { static_cast<std::string*>(sink)->append(p, n); };
  Check(row.factors_of(row.self, &op, &text, write));
  return text;
}

inline std::vector<std::string> SplitText(const std::string& text, char by) {
  std::vector<std::string> out(1);
  for (char c : text) {
    if (c == by) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}
inline std::vector<std::string> Words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

class FactorCheck {
 public:
  explicit FactorCheck(const ricci_op& op) : op_(op) {}

  void Run(const std::string& text) {
    const std::vector<std::string> parts = SplitText(text, ';');
    const size_t arrow = parts[0].find("->");
    ASSERT_NE(arrow, std::string::npos) << text;
    Side(parts[0].substr(0, arrow), op_.n_in, op_.in_types, text);
    Side(parts[0].substr(arrow + 2), op_.n_out, op_.out_types, text);
    for (size_t i = 1; i < parts.size(); ++i) Kind(Words(parts[i]), text);
  }

 private:
  void Side(const std::string& side, uint32_t n, const ricci_type* types, const std::string& text) {
    if (n == 0) return;
    const std::vector<std::string> lists = SplitText(side, ',');
    ASSERT_EQ(lists.size(), n) << text;
    for (uint32_t i = 0; i < n; ++i) {
      const ArrayType type(op_.ctx, types[i]);
      const std::vector<std::string> names = Words(lists[i]);
      ASSERT_EQ(static_cast<int64_t>(names.size()), type.rank()) << text;
      for (size_t d = 0; d < names.size(); ++d) {
        const auto [known, fresh] = sizes_.try_emplace(names[d], type.shape()[d]);
        EXPECT_EQ(known->second, type.shape()[d]) << text << ", factor " << names[d];
      }
    }
  }
  void Kind(const std::vector<std::string>& words, const std::string& text) {
    ASSERT_GE(words.size(), 2u) << text;
    constexpr std::string_view kKinds[] = {"sum", "prod", "max", "min", "and", "or", "xor", "whole", "seq", "window"};
    EXPECT_NE(std::find(std::begin(kKinds), std::end(kKinds), words[0]), std::end(kKinds)) << text;
    for (size_t i = 1; i < words.size(); ++i) EXPECT_TRUE(sizes_.contains(words[i])) << text << ", factor " << words[i];
  }

  const ricci_op& op_;
  std::map<std::string, int64_t> sizes_;
};

inline void CheckFactors(const Bench& bench, const Program& f) {
  std::map<ricci_prim, const ricci_prim_def*> rows;
  ricci_prim id = 0;
  for (uint32_t i = 0; const ricci_prim_def* row = ricci_prim_at(bench.context(), i, &id); ++i) rows[id] = row;
  for (uint32_t i = 0; i < ricci_program_equation_count(f.get()); ++i) {
    ricci_op op{};
    op.hdr.size = sizeof op;
    Check(ricci_program_equation(f.get(), i, &op));
    const std::string text = FactorText(*rows.at(op.prim), op);
    if (!text.empty()) FactorCheck(op).Run(text);
  }
}

}  // namespace ricci::testing
#endif
