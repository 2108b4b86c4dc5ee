// A file descriptor that is closed with its owner.
#pragma once

#include <utility>

#include <unistd.h>

namespace railyard {

class FileDescriptor {
 public:
  FileDescriptor() noexcept = default;
  explicit FileDescriptor(int fd) noexcept : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() { close(); }

  int get() const noexcept { return fd_; }
  // Whether it is one: what open() and its like return on an error is not.
  explicit operator bool() const noexcept { return fd_ >= 0; }
  // The caller closes it.
  int release() noexcept { return std::exchange(fd_, -1); }
  void close() noexcept {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

}  // namespace railyard
