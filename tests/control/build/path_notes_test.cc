#include "control/build/path_notes.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/load.h"

namespace railyard::build {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> notes(const std::string& path, int spines = 2) {
  BuiltLab lab(spec::parse("name: x\nqos: { default: { classes: { 3: { lossless: true, path: " + path +
                                    " } } } }\ntopology: { preset: leaf-spine, leaves: 2, spines: " +
                                    std::to_string(spines) + ", hosts-per-leaf: 2 }\n",
                           "x.yaml"));
  return path_notes(lab);
}

TEST(PathNotes, AFixedOrderIsWarnedOf) {
  EXPECT_THAT(notes("{ policy: spray, order: round-robin }"),
              ElementsAre(HasSubstr("qos.default.classes.3.path: order round-robin is fixed")));
  EXPECT_THAT(notes("{ policy: spray, order: least-loaded }"), ElementsAre(HasSubstr("least-loaded")));
}

TEST(PathNotes, NothingIsSaidOfTheOthers) {
  for (const char* path : {"ecmp", "wcmp", "flowlet", "spray", "{ policy: spray, order: random }", "adaptive", "drill"})
    EXPECT_THAT(notes(path), IsEmpty()) << path;
}

TEST(PathNotes, NothingIsSaidWhereThereIsNoChoice) {
  EXPECT_THAT(notes("{ policy: spray, order: round-robin }", 1), IsEmpty());
}

}  // namespace
}  // namespace railyard::build
