#include "control/base/output_file.h"

#include <filesystem>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/base/read_file.h"
#include "dataplane/base/file_descriptor.h"

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

// A FIFO, and whoever reads it.
class OutputFifo : public testing::Test {
 protected:
  OutputFifo() {
    ::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
  }
  ~OutputFifo() override { std::filesystem::remove(path); }
  FileDescriptor reader() const { return FileDescriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK)); }
  // All octets that are there.
  static std::string read(const FileDescriptor& from) {
    std::string all;
    char block[65536];
    for (ssize_t n; (n = ::read(from.get(), block, sizeof block)) > 0;) all.append(block, static_cast<std::size_t>(n));
    return all;
  }
  const std::string path = testing::TempDir() + "output_fifo." + std::to_string(::getpid());
  static constexpr auto kNever = OutputFile::Waits::kNever;
};

TEST_F(OutputFifo, WithoutAReaderIsRefusedWhereNothingMayWait) {
  EXPECT_EQ(error_of([&] { OutputFile(path, kNever); }),
            "cannot write " + path + ": nobody reads this FIFO; start its reader first");
}

TEST_F(OutputFifo, ReaderGetsAll) {
  const FileDescriptor from = reader();
  OutputFile file(path, kNever);
  file.write("one ");
  file.write("two");
  file.close();
  EXPECT_EQ(read(from), "one two");
}

// More than a pipe holds (pipe(7): 64 KiB), and nobody reads in between: what does not fit is kept.
TEST_F(OutputFifo, KeepsWhatTheReaderHasNotTakenYet) {
  const FileDescriptor from = reader();
  OutputFile file(path, kNever);
  std::string all;
  for (int i = 0; i < 1000; ++i) {
    const std::string block(1000, static_cast<char>('a' + i % 26));
    file.write(block);
    all += block;
  }
  EXPECT_FALSE(file.failed());
  std::string got;
  while (got.size() < all.size()) {
    got += read(from);
    file.flush();
  }
  EXPECT_EQ(got, all);
  file.close();
}

TEST_F(OutputFifo, AReaderThatStopsEndsTheRecordingAndNotTheWriter) {
  const FileDescriptor from = reader();
  OutputFile file(path, kNever);
  const std::string block(1 << 16, 'x');
  for (std::size_t octets = 0; octets <= OutputFile::kMostUnread + (1 << 20); octets += block.size()) file.write(block);
  EXPECT_EQ(file.error(), "cannot write " + path + ": its reader is too slow, and a live lab does not wait");
}

TEST_F(OutputFifo, AReaderThatGoesEndsTheRecording) {
  FileDescriptor from = reader();
  OutputFile file(path, kNever);
  from.close();
  file.write("x");
  file.flush();
  EXPECT_EQ(file.error(), "cannot write " + path + ": its reader has gone");
}

}  // namespace
}  // namespace railyard
