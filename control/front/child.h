// A program that is talked to line by line over its standard streams.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "dataplane/base/file_descriptor.h"

namespace railyard::front {

// It has a process group of its own, so that Ctrl-C at the terminal does not reach it.
class Child {
 public:
  // Throws std::runtime_error: it cannot be started.
  explicit Child(const std::vector<std::string>& command);
  // Its standard input is closed; if it does not end within a second, it is killed.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // False: it has closed its end, or has not taken it for 10 s.
  bool write_line(const std::string& line);
  // Nothing: it has closed its end, or the time is over; or the line is longer than kMostLine, and nothing more is read.
  std::optional<std::string> read_line(std::chrono::milliseconds patience);
  static constexpr std::size_t kMostLine = 96u << 20;
  // No more comes from it.
  bool has_ended() const noexcept { return ended_; }
  // The last line that it has written to standard error; empty: none.
  std::string last_words();

 private:
  pid_t pid_ = -1;
  FileDescriptor in_;
  FileDescriptor out_;
  FileDescriptor error_;
  std::string received_;
  std::size_t searched_ = 0;  // octets of it without an end of a line
  bool ended_ = false;
};

}  // namespace railyard::front
