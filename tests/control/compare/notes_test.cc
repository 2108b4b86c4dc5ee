// What of a comparison's background differs between its columns.
#include "control/compare/notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/load.h"

namespace railyard::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

spec::Lab column(const std::string& classes, int dscp = 26) {
  return spec::parse(
      "name: x\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 2 }\n"
      "qos: { default: { classes: { 1: {}, 3: " +
          classes +
          ", 5: { strict: true } } } }\n"
          "traffic:\n"
          "  - { name: t, from: h1, to: h2, bytes: 1MB, transport: uet }\n"
          "  - { name: load, from: h1, to: h2, rate: 1Gbps, stop: 1ms, dscp: " +
          std::to_string(dscp) + " }\n",
      "x.yaml");
}

TEST(Notes, NameBackgroundInAClassThatTheColumnsChange) {
  EXPECT_THAT(background_notes({column("{ path: ecmp }"), column("{ path: spray }")}),
              ElementsAre(HasSubstr(
                  "background traffic load runs in class 3, and path of this class differs between columns")));
  EXPECT_THAT(background_notes({column("{ lossless: true }"), column("{ trim: { class: 5, dscp: 40 } }")}),
              ElementsAre(HasSubstr("and lossless, trim of this class differs")));
}

TEST(Notes, SayNothingOfBackgroundThatIsTheSame) {
  EXPECT_THAT(background_notes({column("{ path: ecmp }"), column("{ path: ecmp }")}), IsEmpty());
  EXPECT_THAT(background_notes({column("{ path: ecmp }", 8), column("{ path: spray }", 8)}), IsEmpty())
      << "it is in a class of its own";
  EXPECT_THAT(background_notes({}), IsEmpty());
}

}  // namespace
}  // namespace railyard::compare
