#include "control/daemon/log.h"

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace railyard::daemon {
namespace {

using testing::HasSubstr;
using testing::Not;

class LogTest : public testing::Test {
 protected:
  LogTest() {
    std::string name = testing::TempDir() + "log_test.XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~LogTest() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return (folder_ / "log").string(); }
  static std::string read(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  std::filesystem::path folder_;
};

TEST_F(LogTest, LinesHaveATimeAndALevel) {
  Log log(path());
  log.line("up");
  EXPECT_TRUE(std::regex_match(read(path()), std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z info up\n)")))
      << read(path());
}

TEST_F(LogTest, WritesWhatIsOfItsLevelOrAbove) {
  Log quiet(path(), "warning");
  quiet.debug("a look");
  quiet.line("a change");
  quiet.warning("a worry");
  EXPECT_THAT(read(path()), HasSubstr("warning a worry"));
  EXPECT_THAT(read(path()), Not(HasSubstr("a change")));
  Log loud(path(), "debug");
  loud.debug("a look");
  EXPECT_THAT(read(path()), HasSubstr("debug a look"));
  EXPECT_THROW(Log(path(), "loud"), std::invalid_argument);
}

// What a stranger sends is quoted there.
TEST_F(LogTest, IsOneLineWhateverIsInIt) {
  Log log(path());
  log.line("a\nb\x1b[2J {} %n");
  EXPECT_THAT(read(path()), HasSubstr("info a\\nb\\x1b[2J {} %n\n"));
  log.line(std::string(1'000'000, 'x'));
  EXPECT_LT(std::filesystem::file_size(path()), 5'000u);
}

TEST_F(LogTest, HasABound) {
  constexpr std::size_t kMost = 2'000;
  Log log(path(), "info", kMost);
  for (int i = 0; i < 1'000; ++i) log.line("a line of some length, again and again");
  std::size_t all = 0;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    all += entry.file_size();
    ++files;
  }
  EXPECT_LE(all, (Log::kOldFiles + 1) * kMost);
  EXPECT_EQ(files, static_cast<int>(Log::kOldFiles) + 1);
}

TEST_F(LogTest, NamesTheFileThatCannotBeWritten) {
  try {
    Log log("/proc/nowhere/log");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot write /proc/nowhere/log"));
  }
}

}  // namespace
}  // namespace railyard::daemon
