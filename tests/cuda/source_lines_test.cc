// Directives for places of the host's source, and before which lines they are.
#include "cuda/print/source_lines.h"

#include <gtest/gtest.h>

namespace ricci::testing { namespace {

using cuda::LineDirective;
using cuda::WithLineOfEach;

TEST(SourceLines, Directives) {
  EXPECT_EQ(LineDirective("train.cc", 12), "#line 12 \"train.cc\"");
  EXPECT_EQ(LineDirective("a\\b\"c", 1), "#line 1 \"a\\\\b\\\"c\"");
  EXPECT_EQ(LineDirective("", 12), "");
  EXPECT_EQ(LineDirective("train.cc", 0), "") << "a line that is not known";
  EXPECT_EQ(LineDirective("two\nlines", 1), "") << "it would end the directive";
  EXPECT_EQ(LineDirective(static_cast<const ricci_ctx*>(nullptr), 1), "");
}

TEST(SourceLines, AreSaidBeforeEachLine) {
  EXPECT_EQ(WithLineOfEach("a\nb\n"), "a\nb\n");
  EXPECT_EQ(WithLineOfEach("a\n#line 7 \"f\"\nb\nc\n#line 9 \"f\"\nd\n\ne\n\nf\n"),
            "a\n#line 7 \"f\"\nb\n#line 7 \"f\"\nc\n#line 9 \"f\"\nd\n#line 7 \"ricci.cu\"\n\ne\n\nf\n");
}

}}  // namespace ricci::testing
