// A file descriptor that is closed when its owner goes.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace railyard::guest {

class FileDescriptor {
 public:
  FileDescriptor() noexcept = default;
  explicit FileDescriptor(int fd) noexcept : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor();

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  void close() noexcept;

 private:
  int fd_ = -1;
};

// A file in memory that holds `text`, read from its beginning.
FileDescriptor memory_file(std::string_view text);
// All that is in the file, wherever it is being read or written.
std::string contents(const FileDescriptor& file);

// Why the last system call failed, in words.
std::string last_error();

}  // namespace railyard::guest
