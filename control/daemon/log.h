// What a daemon has done and seen, line by line.
#pragma once

#include <cstdio>
#include <mutex>
#include <string>

namespace railyard::daemon {

// Lines with the time of day (UTC, RFC 3339), in a file and, if wanted, on standard error. Any thread may write, but
// the engine's should not, or seldom.
class Log {
 public:
  // Throws std::runtime_error if `file` cannot be written.
  explicit Log(const std::string& file);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void line(const std::string& text);
  // From now on.
  void to_stderr(bool on);

 private:
  std::mutex mutex_;
  std::FILE* file_;
  bool to_stderr_ = false;
};

}  // namespace railyard::daemon
