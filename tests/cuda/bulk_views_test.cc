// Views of arrays as products read them - heads beside positions, parts, every second row, groups of queries - of which
// the GPU copies exactly those that the driver's rules for tensor maps allow (plugins/cuda/tile/tensor_form.h). The
// text says which boxes they are copied in, or why threads copy them; either way the bytes are those of `ref`.
#include "cuda/bulk_programs.h"

namespace ricci::testing { namespace {

struct View {
  const char* name;
  const char *arguments, *view;  // of %x and %y, then equations that make %a and %b of them
  const char *dimensions, *result;
  Sizes sizes;
  const char *left, *right;  // boxes, the outermost dimension first; of a view that is refused why, and null
};

// Scores of attention: the batch is the dimensions 0 and 2 of both.
constexpr const char* kScores = "lhs_contract=[3] rhs_contract=[3] lhs_batch=[0,2] rhs_batch=[0,2]";

constexpr View kViews[] = {
    {"Heads",
     "%x: T[12,R,4,K], %y: T[12,C,4,K]",
     "",
     kScores,
     "12,4,R,C",
     {128, 16, 64},
     "1 x 128 x 1 x 64",
     "1 x 16 x 1 x 64"},
    {"HeadsTransposed",
     "%x: T[12,4,K,R], %y: T[12,4,C,K]",
     "",
     "lhs_contract=[2] rhs_contract=[3] lhs_batch=[0,1] rhs_batch=[0,1]",
     "12,4,R,C",
     {128, 16, 64},
     "1 x 64 x 64",
     "1 x 16 x 64"},
    {"WeightedValues",
     "%x: T[12,4,R,K], %y: T[12,K,4,C]",
     "",
     "lhs_contract=[3] rhs_contract=[1] lhs_batch=[0,1] rhs_batch=[0,2]",
     "12,4,R,C",
     {128, 16, 64},
     "1 x 128 x 64",
     "1 x 64 x 1 x 16"},
    {"EverySecondPosition",
     "%x: T[12,256,4,K], %y: T[12,C,4,K]",
     "%a: T[12,R,4,K] = slice(%x) start_indices=[0,1,0,0] limit_indices=[12,256,4,64] strides=[1,2,1,1]",
     kScores,
     "12,4,R,C",
     {128, 16, 64},
     "1 x 128 x 1 x 64",
     "1 x 16 x 1 x 64"},
    {"SomeOfTheBatch",
     "%x: T[20,R,4,K], %y: T[12,C,4,K]",
     "%a: T[12,R,4,K] = slice(%x) start_indices=[3,0,0,0] limit_indices=[15,128,4,64] strides=[1,1,1,1]",
     kScores,
     "12,4,R,C",
     {128, 16, 64},
     "1 x 128 x 1 x 64",
     "1 x 16 x 1 x 64"},
    {"PartOfHeads",
     "%x: T[12,R,4,96], %y: T[12,C,4,K]",
     "%a: T[12,R,4,K] = slice(%x) start_indices=[0,0,0,16] limit_indices=[12,128,4,80] strides=[1,1,1,1]",
     kScores,
     "12,4,R,C",
     {128, 16, 64},
     "1 x 128 x 1 x 64",
     "1 x 16 x 1 x 64"},
    // 136 bytes of lines of 144.
    {"LinesOfNoMultipleOf16",
     "%x: T[12,R,4,72], %y: T[12,C,4,72]",
     "%a: T[12,R,4,K] = slice(%x) start_indices=[0,0,0,0] limit_indices=[12,128,4,68] strides=[1,1,1,1]\n  "
     "%b: T[12,C,4,K] = slice(%y) start_indices=[0,0,0,0] limit_indices=[12,16,4,68] strides=[1,1,1,1]",
     kScores,
     "12,4,R,C",
     {128, 16, 68},
     "1 x 128 x 1 x 64",
     "1 x 16 x 1 x 64"},
    // Rows are positions and the queries of a group: boxes over both.
    {"GroupsOfQueries",
     "%x: T[12,32,4,4,K], %y: T[12,C,4,K]",
     "",
     "lhs_contract=[4] rhs_contract=[3] lhs_batch=[0,2] rhs_batch=[0,2]",
     "12,4,32,4,C",
     {128, 16, 64},
     "1 x 32 x 1 x 4 x 64",
     "1 x 16 x 1 x 64"},
    {"GroupsAtTheEdge",
     "%x: T[12,29,4,4,K], %y: T[12,C,4,K]",
     "",
     "lhs_contract=[4] rhs_contract=[3] lhs_batch=[0,2] rhs_batch=[0,2]",
     "12,4,29,4,C",
     {116, 16, 72},
     "1 x 32 x 1 x 4 x 64",
     "1 x 16 x 1 x 64"},
    // The sum and the rows are two dimensions each, which do not go on in each other; then only the rows are.
    {"Projection",
     "%x: T[24,8,256,K], %y: T[8,K,C]",
     "",
     "lhs_contract=[1,3] rhs_contract=[0,1]",
     "24,256,C",
     {6144, 16, 64},
     "1 x 1 x 128 x 64",
     "64 x 16"},
    {"ProjectionTransposed",
     "%x: T[24,8,K,256], %y: T[8,K,C]",
     "",
     "lhs_contract=[1,2] rhs_contract=[0,1]",
     "24,256,C",
     {6144, 16, 64},
     "1 x 64 x 64",
     "64 x 16"},
    // Six dimensions, of which two are one.
    {"BatchOfFour",
     "%x: T[2,3,R,4,2,K], %y: T[2,3,C,4,2,K]",
     "",
     "lhs_contract=[5] rhs_contract=[5] lhs_batch=[0,1,3,4] rhs_batch=[0,1,3,4]",
     "2,3,4,2,R,C",
     {128, 16, 64},
     "1 x 128 x 1 x 64",
     "1 x 16 x 1 x 64"},
};

// What is refused, by the factor of the rows.
constexpr View kRefused[] = {
    {"GroupsOfThree",
     "%x: T[12,44,4,3,K], %y: T[12,C,4,K]",
     "",
     "lhs_contract=[4] rhs_contract=[3] lhs_batch=[0,2] rhs_batch=[0,2]",
     "12,4,44,3,C",
     {132, 16, 64},
     "a step takes 128 elements, which are in parts of 3",
     nullptr},
    {"LinesOf136Bytes",
     "%x: T[48,R,K], %y: T[48,K,C]",
     "",
     "lhs_contract=[2] rhs_contract=[1] lhs_batch=[0] rhs_batch=[0]",
     "48,R,C",
     {128, 16, 68},
     "a distance is 136 bytes, no multiple of 16",
     nullptr},
    {"BeginsAt8Bytes",
     "%x: T[48,R,72], %y: T[48,K,C]",
     "%a: T[48,R,K] = slice(%x) start_indices=[0,0,4] limit_indices=[48,128,68] strides=[1,1,1]",
     "lhs_contract=[2] rhs_contract=[1] lhs_batch=[0] rhs_batch=[0]",
     "48,R,C",
     {128, 16, 64},
     "it begins at element 4, not at a multiple of 16 bytes",
     nullptr},
    {"EverySecondNeighbour",
     "%x: T[48,R,128], %y: T[48,K,C]",
     "%a: T[48,R,K] = slice(%x) start_indices=[0,0,0] limit_indices=[48,128,128] strides=[1,1,2]",
     "lhs_contract=[2] rhs_contract=[1] lhs_batch=[0] rhs_batch=[0]",
     "48,R,C",
     {128, 16, 64},
     "neighbours are 2 elements from each other",
     nullptr},
    {"OddLines",
     "%x: T[48,R,72], %y: T[48,72,C]",
     "%a: T[48,R,K] = slice(%x) start_indices=[0,0,0] limit_indices=[48,128,65] strides=[1,1,1]\n  "
     "%b: T[48,K,C] = slice(%y) start_indices=[0,0,0] limit_indices=[48,65,16] strides=[1,1,1]",
     "lhs_contract=[2] rhs_contract=[1] lhs_batch=[0] rhs_batch=[0]",
     "48,R,C",
     {128, 16, 65},
     "its lines have odd lengths",
     nullptr},
    {"Backwards",
     "%x: T[48,R,K], %y: T[48,K,C]",
     "%a: T[48,R,K] = rev(%x) dimensions=[1]",
     "lhs_contract=[2] rhs_contract=[1] lhs_batch=[0] rhs_batch=[0]",
     "48,R,C",
     {128, 16, 64},
     "neighbours are -64 elements from each other",
     nullptr},
    {"SixDimensions",
     "%x: T[5,5,R,3,3,K], %y: T[4,4,C,2,2,K]",
     "%a: T[4,4,R,2,2,K] = slice(%x) start_indices=[0,0,0,0,0,0] limit_indices=[4,4,128,2,2,64] "
     "strides=[1,1,1,1,1,1]",
     "lhs_contract=[5] rhs_contract=[5] lhs_batch=[0,1,3,4] rhs_batch=[0,1,3,4]",
     "4,4,2,2,R,C",
     {128, 16, 64},
     "it has 6 dimensions",
     nullptr},
    {"ABatchOfNeighbours",
     "%x: T[R,K,48], %y: T[48,K,C]",
     "",
     "lhs_contract=[1] rhs_contract=[1] lhs_batch=[2] rhs_batch=[0]",
     "48,R,C",
     {128, 16, 64},
     "neighbours in memory are of the batch",
     nullptr},
};

class BulkViews : public BulkProducts {
 protected:
  Program ProgramOf(const View& v) {
    const std::string made = v.view, a = made.find("%a:") != made.npos ? "%a" : "%x",
                      b = made.find("%b:") != made.npos ? "%b" : "%y";
    return Of("program f(" + std::string(v.arguments) + ") {\n  " + made + (made.empty() ? "" : "\n  ") + "%z: S[" +
                  v.result + "] = dot_general(" + a + ", " + b + ") " + v.dimensions +
                  " preferred_element_type=S\n  return %z\n}",
              v.sizes, "bf16");
  }
};

TEST_F(BulkViews, AreTaken) {
  for (const View& v : kViews) {
    SCOPED_TRACE(v.name);
    const Program f = ProgramOf(v);
    ExpectText(f, std::string("// left: map0: boxes of ") + v.left + "\n");
    ExpectText(f, std::string("// right: map1: boxes of ") + v.right + "\n");
    Calls();
    ExpectSameBytes(f);
    EXPECT_EQ(Encoded(Calls()), 2u);
    EXPECT_NE(runner_.Dump(f, "decisions", "cuda").find("the GPU copies boxes of both factors"), std::string::npos);
  }
}

TEST_F(BulkViews, AreRefused) {
  for (const View& v : kRefused) {
    SCOPED_TRACE(v.name);
    const Program f = ProgramOf(v);
    ExpectNoCopies(f);
    const std::string said = runner_.Dump(f, "decisions", "cuda");
    EXPECT_NE(said.find(std::string("threads copy both factors; of the rows no tensor map: ") + v.left), said.npos)
        << said;
  }
}

// Of arrays that no GPU has room for, whose batches are so many rows of 128 bytes from each other.
TEST_F(BulkViews, DistancesAreBelow2To40) {
  const auto said = [this](int64_t rows) {
    const Program f = Of("program f(%x: T[48," + std::to_string(rows) +
                             ",K], %y: T[48,K,C]) {\n  %a: T[48,R,K] = slice(%x) start_indices=[0,0,0] "
                             "limit_indices=[48,128,64] strides=[1,1,1]\n  %z: S[48,R,C] = dot_general(%a, %y) "
                             "lhs_contract=[2] rhs_contract=[1] lhs_batch=[0] rhs_batch=[0] "
                             "preferred_element_type=S\n  return %z\n}",
                         {128, 16, 64}, "bf16");
    return runner_.Dump(f, "decisions", "cuda");
  };
  constexpr int64_t kMost = int64_t{1} << 33;
  EXPECT_NE(said(kMost - 8).find("the GPU copies boxes of both factors"), std::string::npos) << said(kMost - 8);
  EXPECT_NE(said(kMost).find("no tensor map: a distance is 2^40 bytes or more"), std::string::npos) << said(kMost);
}

}}  // namespace ricci::testing
