#include "control/base/output_file.h"

#include <filesystem>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "control/base/read_file.h"

namespace railyard {
namespace {

std::string error_of(const auto& what) {
  try {
    what();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "(no error)";
}

TEST(OutputFile, HoldsWhatWasWritten) {
  const std::string path = testing::TempDir() + "output_file." + std::to_string(::getpid());
  OutputFile file(path);
  file.write("one ");
  file.write("two");
  file.flush();
  EXPECT_EQ(read_whole_file(path).value(), "one two");
  file.close();
  file.close();
  EXPECT_FALSE(file.failed());
  std::filesystem::remove(path);
}

TEST(OutputFile, NamesTheFileThatCannotBeMade) {
  EXPECT_EQ(error_of([] { OutputFile("/nowhere/x"); }), "cannot write /nowhere/x: No such file or directory");
}

// /dev/full is a disk without room.
TEST(OutputFile, KeepsTheFirstErrorAndThrowsItWhenItIsClosed) {
  OutputFile file("/dev/full");
  file.write("a");
  EXPECT_FALSE(file.failed()) << "still buffered";
  file.flush();
  EXPECT_EQ(file.error(), "cannot write /dev/full: No space left on device");
  file.write("b");
  EXPECT_EQ(error_of([&] { file.close(); }), "cannot write /dev/full: No space left on device");
}

TEST(OutputFile, FindsOutWithoutAFlush) {
  OutputFile file("/dev/full");
  for (int i = 0; i < 1000 && !file.failed(); ++i) file.write(std::string(1000, 'x'));
  EXPECT_TRUE(file.failed());
}

TEST(OutputFile, FindsOutWhenItIsClosed) {
  OutputFile file("/dev/full");
  file.write("a");
  EXPECT_EQ(error_of([&] { file.close(); }), "cannot write /dev/full: No space left on device");
}

}  // namespace
}  // namespace railyard
