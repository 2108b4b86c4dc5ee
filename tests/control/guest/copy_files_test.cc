#include "control/guest/copy_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "control/guest/guest_error.h"
#include "tests/control/guest/agent_process.h"

namespace railyard::guest {
namespace {

unsigned mode_of(const std::filesystem::path& file) {
  struct stat st {};
  EXPECT_EQ(stat(file.c_str(), &st), 0);
  return st.st_mode & 07777u;
}

class Copy : public testing::Test {
 protected:
  std::size_t files_in(const std::string& sub) {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(here_.path() / sub), {}));
  }
  AgentProcess agent_;
  TemporaryFolder here_;
  const GuestAddress guest_ = agent_.address();
};

TEST_F(Copy, KeepsContentsAndModeBothWays) {
  const std::string text = std::string(300'000, 'x') + "end";
  const auto source = here_.file("tool", text, 0751);
  copy_to_guest(guest_, source, here_.path() / "in-guest");
  EXPECT_EQ(text_of(here_.path() / "in-guest"), text);
  EXPECT_EQ(mode_of(here_.path() / "in-guest"), 0751u);
  copy_from_guest(guest_, here_.path() / "in-guest", here_.path() / "back");
  EXPECT_EQ(text_of(here_.path() / "back"), text);
  EXPECT_EQ(mode_of(here_.path() / "back"), 0751u);
}

TEST_F(Copy, IntoAFolderKeepsTheName) {
  std::filesystem::create_directory(here_.path() / "a");
  std::filesystem::create_directory(here_.path() / "b");
  copy_to_guest(guest_, here_.file("x.txt", "1"), here_.path() / "a");
  EXPECT_EQ(text_of(here_.path() / "a/x.txt"), "1");
  copy_from_guest(guest_, here_.path() / "a/x.txt", here_.path() / "b");
  EXPECT_EQ(text_of(here_.path() / "b/x.txt"), "1");
}

TEST_F(Copy, AnEmptyFileIsAFile) {
  copy_to_guest(guest_, here_.file("empty", ""), here_.path() / "copy");
  EXPECT_TRUE(std::filesystem::exists(here_.path() / "copy"));
  EXPECT_EQ(text_of(here_.path() / "copy"), "");
}

TEST_F(Copy, WhatIsNotThereIsNamedAndNothingIsLeft) {
  std::filesystem::create_directory(here_.path() / "to");
  const std::string absent = here_.path() / "absent";
  EXPECT_EQ(error_of([&] { copy_to_guest(guest_, absent, "/tmp"); }),
            "cannot read " + absent + ": No such file or directory");
  EXPECT_EQ(error_of([&] { copy_from_guest(guest_, absent, here_.path() / "to/x"); }),
            "g1: cannot read " + absent + ": No such file or directory");
  EXPECT_EQ(files_in("to"), 0u);
  EXPECT_EQ(error_of([&] { copy_to_guest(guest_, here_.path(), "/tmp"); }),
            here_.path().string() + " is a directory; expected a file or a tar archive");
  EXPECT_EQ(error_of([&] { copy_from_guest(guest_, here_.path(), here_.path() / "to/x"); }),
            "g1: cannot read " + here_.path().string() + ": Is a directory");
  EXPECT_EQ(error_of([&] { copy_to_guest(guest_, here_.file("y", "1"), here_.path() / "no/such"); }),
            "g1: cannot write " + here_.path().string() + "/no/such: No such file or directory");
  EXPECT_EQ(error_of([&] { copy_from_guest(guest_, here_.file("y", "1"), here_.path() / "no/such"); }),
            "cannot write " + here_.path().string() + "/no/such: No such file or directory");
}

}  // namespace
}  // namespace railyard::guest
