#include "control/base/read_file.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace railyard {
namespace {

class ReadWholeFile : public testing::Test {
 protected:
  ReadWholeFile() {
    std::string name = testing::TempDir() + "read_file.XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~ReadWholeFile() override { std::filesystem::remove_all(folder_); }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  std::filesystem::path folder_;
};

TEST_F(ReadWholeFile, HasEveryOctet) {
  std::string text(200'000, 'x');
  text[70'000] = '\0';
  std::ofstream(path("a"), std::ios::binary) << text;
  EXPECT_EQ(read_whole_file(path("a")).value(), text);
  EXPECT_EQ(read_whole_file("/dev/null").error(), "it is a device; expected a file");
  std::ofstream(path("empty"));
  EXPECT_EQ(read_whole_file(path("empty")).value(), "");
}

TEST_F(ReadWholeFile, ComesToAnEndWhateverItIs) {
  EXPECT_EQ(read_whole_file(path("none")).error(), "No such file or directory");
  EXPECT_EQ(read_whole_file(folder_).error(), "Is a directory");
  EXPECT_EQ(read_whole_file("/dev/zero").error(), "it is a device; expected a file");
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(read_whole_file(path("fifo")).error(), "it is a FIFO; expected a file");
}

TEST_F(ReadWholeFile, IsNotLargerThanAllowed) {
  std::ofstream(path("sparse"));
  std::filesystem::resize_file(path("sparse"), std::uintmax_t{1} << 40);
  EXPECT_EQ(read_whole_file(path("sparse")).error(), "it is larger than 1024 MiB");
  std::ofstream(path("a")) << "12345";
  EXPECT_EQ(read_whole_file(path("a"), 4).error(), "it is larger than 4 bytes");
  EXPECT_EQ(read_whole_file(path("a"), 5).value(), "12345");
}

// As a shell's <(command) is.
TEST_F(ReadWholeFile, MayBeAPipeThatSomebodyHasOpened) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  ASSERT_EQ(::write(pipe[1], "abc", 3), 3);
  ::close(pipe[1]);
  EXPECT_EQ(read_whole_file("/dev/fd/" + std::to_string(pipe[0])).value(), "abc");
  ::close(pipe[0]);
}

}  // namespace
}  // namespace railyard
