// Every row of every plugin obeys the laws of ricci/check.h, on `ref`, after all passes and on every device, at the
// examples that it carries; a row without examples, or with a rule that no example reaches, fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "ricci/check.h"
#include "support/late_backend.h"
#include "support/program_runner.h"

extern "C" ricci_status* ricci_plugin_query_smooth_abs(const ricci_host_info* host, const ricci_plugin** out);

namespace ricci::testing { namespace {

std::string_view View(ricci_str s) { return {s.ptr, s.len}; }

// Rows that cannot be run, with the reason.
constexpr std::pair<std::string_view, std::string_view> kNotRun[] = {
    {"custom_linear", "stands for an unknown linear map until it is transposed"},
    {"debug_callback", "has no result"},
    {"debug_print", "has no result"}};
bool CannotRun(std::string_view name) {
  for (const auto& [row, reason] : kNotRun) {
    if (row == name) return true;
  }
  return false;
}

// Rows with an example that skips laws of derivatives (`order=`), with the reason.
constexpr std::pair<std::string_view, std::string_view> kLeftOut[] = {
    {"while", "without max_trips it has no reverse mode"},
    {"custom_vjp", "it has no forward mode"},
    {"stop_gradient", "its tangent is zero by definition"},
    {"convert_element_type", "cotangents of 8 and 4 bits are too coarse to compare"},
    {"zeta", "no derivative by operand 0"},
    {"igamma", "igamma_grad_a has no derivative by operand 0"},
    {"igammac", "igamma_grad_a has no derivative by operand 0"},
    {"igamma_grad_a", "no derivative by operand 0"},
    {"random_gamma_grad", "no derivative by operand 0"},
    {"random_gamma", "a change of the shape may change which sample is accepted"},
    {"regularized_incomplete_beta", "no derivative by operands 0 and 1"},
    {"pure_callback", "nothing is known of the function that it calls"},
    {"io_callback", "nothing is known of the function that it calls"},
    {"linear_call", "no derivative by its residuals"},
    {"scaled_dot_general", "it rounds to few bits; its derivative is that of the product"},
    {"tridiagonal_solve", "a matrix of zeros has no derivative"},
    {"approx_top_k", "where it aggregates nothing, a candidate may change"},
    {"eig", "complex, large and empty matrices are checked for their values"},
    {"eigh", "complex and empty matrices are checked for their values"},
    {"svd", "vectors of matrices that are not square, or complex, are fixed up to a phase"},
    {"cholesky", "its derivative is that along Hermitian matrices, which three examples are not"},
    {"clamp", "complex numbers have no derivative, as in JAX"},
    {"reduce_window_max", "complex numbers have no derivative, as in JAX"},
    {"reduce_window_min", "complex numbers have no derivative, as in JAX"},
    {"sign", "complex numbers have the tangent zero, as in JAX"},
    {"sort", "a long line of complex keys is checked for its values"},
};

class AllPlugins : public ProgramRunner {
 public:
  AllPlugins() { EXPECT_TRUE(Ok(ricci_context_add_plugin(ctx(), ricci_plugin_query_smooth_abs))); }
  std::vector<const ricci_prim_def*> Rows() const {
    std::vector<const ricci_prim_def*> out;
    ricci_prim id = 0;
    for (uint32_t i = 0; const ricci_prim_def* row = ricci_prim_at(ctx(), i, &id); ++i) out.push_back(row);
    return out;
  }
};

std::vector<std::string> RowNames() {
  const AllPlugins plugins;
  std::vector<std::string> out;
  for (const ricci_prim_def* row : plugins.Rows()) out.emplace_back(View(row->name));
  return out;
}

// The number of comparisons made for each law.
using Counts = std::map<std::string, uint64_t, std::less<>>;
ricci_check_opts CountInto(Counts& counts) {
  ricci_check_opts o{};
  o.hdr.size = sizeof o;
  o.sink = &counts;
  o.law = [](void* sink, const ricci_check_law* law) {
    (*static_cast<Counts*>(sink))[std::string(View(law->name))] = law->comparisons;
  };
  return o;
}

class RowLaws : public ::testing::TestWithParam<std::string> {
 protected:
  const ricci_prim_def& row() const {
    for (const ricci_prim_def* row : plugins_.Rows()) {
      if (View(row->name) == GetParam()) return *row;
    }
    ADD_FAILURE() << GetParam();
    return *plugins_.Rows()[0];
  }
  AllPlugins plugins_;
};

TEST_P(RowLaws, Hold) {
  if (CannotRun(GetParam())) {
    EXPECT_EQ(row().examples.len, 0u) << "it has examples: take it from the list of rows that nothing can run";
    return;
  }
  Counts counts;
  const ricci_check_opts o = CountInto(counts);
  EXPECT_TRUE(Ok(ricci_check_primitive(plugins_.ctx(), GetParam().data(), GetParam().size(), nullptr, 0, &o)));
  // The rules that an example must reach.
  if (row().batch != nullptr || row().batch_kind != RICCI_BATCH_NONE) {
    EXPECT_GT(counts["batch"], 0u) << "no example reaches the batching rule";
  }
  const bool linear = (row().hdr.flags & RICCI_PRIM_LINEAR) != 0;
  if (row().transpose != nullptr || linear) {
    EXPECT_GT(counts["transpose"], 0u) << "no example reaches the rules of derivatives";
  }
  if (plugins_.Devices().size() > 1) {
    EXPECT_GT(counts["device"], 0u);
  }
}
std::string TestName(const ::testing::TestParamInfo<std::string>& info) {
  std::string out = info.param;
  for (char& c : out) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}
INSTANTIATE_TEST_SUITE_P(Rows, RowLaws, ::testing::ValuesIn(RowNames()), TestName);

// Some rows, on devices with memory and time of their own.
class RowLawsLate : public RowLaws {};
TEST_P(RowLawsLate, Hold) {
  LateDevices late;
  ASSERT_TRUE(Ok(late.AddTo(plugins_.ctx())));
  Counts counts;
  ricci_check_opts o = CountInto(counts);
  o.device = {"late", 4};
  EXPECT_TRUE(Ok(ricci_check_primitive(plugins_.ctx(), GetParam().data(), GetParam().size(), nullptr, 0, &o)));
  EXPECT_GT(counts["device"], 0u);
}
std::vector<std::string> SomeRowNames() {
  constexpr size_t kEvery = 8;
  std::vector<std::string> some;
  const std::vector<std::string> all = RowNames();
  for (size_t i = 0; i < all.size(); i += kEvery) {
    if (!CannotRun(all[i])) some.push_back(all[i]);
  }
  return some;
}
INSTANTIATE_TEST_SUITE_P(Rows, RowLawsLate, ::testing::ValuesIn(SomeRowNames()), TestName);

TEST(Rows, LawsAreLeftOutWithAReason) {
  const AllPlugins plugins;
  std::vector<std::string_view> found, listed;
  for (const ricci_prim_def* row : plugins.Rows()) {
    if (View(row->examples).find("order=") != std::string_view::npos) found.push_back(View(row->name));
  }
  for (const auto& [row, reason] : kLeftOut) listed.push_back(row);
  std::sort(found.begin(), found.end());
  std::sort(listed.begin(), listed.end());
  EXPECT_EQ(found, listed);
}

// The names that a doc may use: operands, results and attributes.
std::set<std::string_view> NamesOf(const ricci_prim_def& row) {
  std::set<std::string_view> out;
  for (uint32_t i = 0; i < row.n_attr_specs; ++i) out.insert(View(row.attr_specs[i].name));
  std::string_view left = View(row.doc).substr(0, View(row.doc).find("): "));
  while (!left.empty()) {
    const size_t end = std::min(left.find_first_of("(=, "), left.size());
    std::string_view name = left.substr(0, end);
    if (name.ends_with("...")) name.remove_suffix(3);
    out.insert(name);
    left.remove_prefix(std::min(left.size(), end + 1));
  }
  return out;
}

TEST(Rows, AllSayWhatTheyCompute) {
  const AllPlugins plugins;
  for (const ricci_prim_def* row : plugins.Rows()) {
    EXPECT_NE(row->doc.len, 0u) << View(row->name);
    for (uint32_t i = 0; i < row->n_attr_specs; ++i) {
      const ricci_attr_spec& a = row->attr_specs[i];
      EXPECT_TRUE((a.flags & RICCI_ATTR_OPTIONAL) == 0 || a.absent.len != 0) << View(row->name) << ": " << View(a.name);
    }
  }
}

// Every name in `` in a doc is one that the row has now.
TEST(Rows, DocsUseNamesThatThereAre) {
  const AllPlugins plugins;
  for (const ricci_prim_def* row : plugins.Rows()) {
    const std::set<std::string_view> names = NamesOf(*row);
    const std::string_view doc = View(row->doc);
    for (size_t at = doc.find('`'); at != doc.npos; at = doc.find('`', at)) {
      const size_t end = doc.find('`', at + 1);
      ASSERT_NE(end, doc.npos) << doc;
      EXPECT_TRUE(names.contains(doc.substr(at + 1, end - at - 1))) << doc;
      at = end + 1;
    }
  }
}

TEST(Rows, AllPluginsAreWalked) {
  const std::vector<std::string> names = RowNames();
  for (const char* name : {"scan", "sin", "scatter-add", "demo.smooth_abs"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
  EXPECT_GE(names.size(), 130u);
}

}  // namespace
}  // namespace ricci::testing
