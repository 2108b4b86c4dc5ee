#include "control/daemon/lab_dir.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace railyard::daemon {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class LabDirTest : public testing::Test {
 protected:
  LabDirTest() { ::setenv("RAILYARD_STATE_DIR", root_.c_str(), 1); }
  ~LabDirTest() override {
    ::unsetenv("RAILYARD_STATE_DIR");
    fs::remove_all(root_);
  }
  static std::string error_of(const LabDir& dir) {
    try {
      const LabLock lock(dir);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "(no error)";
  }
  fs::path root_ = fs::path(testing::TempDir()) / ("lab_dir_test." + std::to_string(::getpid()));
};

TEST_F(LabDirTest, WhoHoldsTheLockHasTheLab) {
  const LabDir dir("rails");
  EXPECT_FALSE(dir.exists());
  EXPECT_FALSE(dir.running());
  std::optional<LabLock> lock(std::in_place, dir);
  EXPECT_TRUE(dir.running());
  EXPECT_EQ(dir.pid(), ::getpid());
  EXPECT_THAT(LabDir::names(), ElementsAre("rails"));
  EXPECT_EQ(error_of(dir),
            "lab 'rails' is already running; stop it by `railyard down rails`, or use --name for another name");
  EXPECT_EQ(error_of(LabDir("other")), "(no error)");
  lock.reset();
  EXPECT_FALSE(dir.running());
  EXPECT_TRUE(dir.exists()) << "what a daemon leaves is still to be cleaned up";
  dir.remove();
  EXPECT_THAT(LabDir::names(), ElementsAre("other"));
}

TEST_F(LabDirTest, TheLockGoesWithTheProcessHoweverThatEnds) {
  const LabDir dir("rails");
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const LabLock lock(dir);
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    ::pause();
  }
  char c;
  ASSERT_EQ(::read(ready[0], &c, 1), 1);
  EXPECT_TRUE(dir.running());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(dir.running());
  EXPECT_EQ(error_of(dir), "(no error)");
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(LabDirTest, IsForItsOwnerAlone) {
  const LabDir dir("rails");
  const LabLock lock(dir);
  struct stat st {};
  ASSERT_EQ(::stat(dir.path().c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0700u);
}

TEST_F(LabDirTest, NothingElseIsTakenForIt) {
  fs::create_directories(root_);
  fs::create_symlink("/tmp", root_ / "rails");
  EXPECT_THAT(error_of(LabDir("rails")), HasSubstr("is not a directory of yours; set RAILYARD_STATE_DIR"));
}

TEST_F(LabDirTest, NamesThatCannotBe) {
  for (const char* name : {"", ".", "..", "../x", "a/b", "a b", "-a", "name-with-more-than-thirty-two-xxx"})
    EXPECT_THROW(LabDir{name}, std::invalid_argument) << name;
  for (const char* name : {"a", "rails-4x8", "lab_2.1"}) EXPECT_NO_THROW(LabDir{name}) << name;
  EXPECT_THAT(LabDir::names(), IsEmpty());
}

}  // namespace
}  // namespace railyard::daemon
