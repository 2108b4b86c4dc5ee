// Keys that have a new name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/keys/table.h"
#include "control/spec/spec_error.h"
#include "control/spec/warning.h"
#include "control/spec/yaml/parse.h"
#include "control/spec/yaml/print.h"

namespace railyard::spec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Box {
  int width = 1;
  int height = 2;
};

const Table<Box>& box_keys() {
  static const Table<Box> table{"box",
                                "A box",
                                {key("width", &Box::width, integer(1, 9), "how wide").alias("breadth").alias("size"),
                                 key("height", &Box::height, integer(1, 9), "how high").require()}};
  return table;
}

class Alias : public testing::Test {
 protected:
  Alias() {
    on_warning([this](const std::string& line) { told_.push_back(line); });
  }
  ~Alias() override { on_warning({}); }

  Box read(const std::string& text) {
    Tree tree = parse_yaml(text, "x.yaml");
    finish(tree, "box");
    Box box;
    box_keys().read(tree, box);
    return box;
  }
  std::string error(const std::string& text) {
    try {
      read(text);
    } catch (const SpecError& e) {
      return e.what();
    }
    return "(no error)";
  }

  std::vector<std::string> told_;
};

TEST_F(Alias, AnOldNameIsReadAndWarnedOfOnce) {
  for (int i = 0; i < 2; ++i) {
    const Box box = read("breadth: 3\nheight: 4\n");
    EXPECT_EQ(box.width, 3);
    EXPECT_EQ(box.height, 4);
  }
  EXPECT_THAT(told_,
              ElementsAre("x.yaml:1:10: warning: box.breadth: renamed to 'width'; the old name will be removed"));
  EXPECT_EQ(read("size: 5\nheight: 4\n").width, 5);
  EXPECT_EQ(told_.size(), 2u);
}

TEST_F(Alias, TheNewNameIsNotWarnedOf) {
  EXPECT_EQ(read("width: 3\nheight: 4\n").width, 3);
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(Alias, BothAreRefused) {
  EXPECT_EQ(error("width: 3\nbreadth: 3\nheight: 4\n"),
            "x.yaml:2:10: box.breadth: found with width, its new name; expected one of the two");
}

TEST_F(Alias, OnlyTheNewNameIsShown) {
  EXPECT_EQ(box_keys().write(Box{3, 4}).entries[0].key, "width");
  EXPECT_EQ(box_keys().schema().find("properties")->find("breadth"), nullptr);
  const std::string unknown = error("widht: 3\nheight: 4\n");
  EXPECT_NE(unknown.find("did you mean 'width'"), std::string::npos) << unknown;
  EXPECT_EQ(unknown.find("breadth"), std::string::npos) << unknown;
}

}  // namespace
}  // namespace railyard::spec
