// What a daemon did and saw, line by line, by spdlog.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace spdlog {
class logger;
}

namespace railyard::daemon {

// Lines with the time of day (UTC, RFC 3339) and a level, in a file and, if wanted, on standard error. The file is
// rotated: at kMostOctets it becomes FILE.1, and of those there are kOldFiles at most. Any thread may write, but the
// engine's should not, or seldom. A full disk loses lines and ends nothing.
class Log {
 public:
  static constexpr std::size_t kMostOctets = 4 << 20;
  static constexpr std::size_t kOldFiles = 3;

  // `level`: the least that is written: "trace", "debug", "info", "warning", "error", "critical" or "off". Throws
  // std::runtime_error if `file` cannot be written, std::invalid_argument for another level.
  explicit Log(const std::string& file, const std::string& level = "info", std::size_t most_octets = kMostOctets);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // Control characters in `text`, which may quote what strangers sent, are spelt out.
  void debug(const std::string& text);  // what was asked that changes nothing
  void line(const std::string& text);   // level info: what changed
  void warning(const std::string& text);
  // From now on.
  void to_stderr(bool on);
  // Has `see` told each line of level info or above from now on, by the thread that writes it: ("info", text).
  using See = std::function<void(const std::string& level, const std::string& text)>;
  void tell(See see);

 private:
  void tell_of(const char* level, const std::string& text);

  std::shared_ptr<spdlog::logger> logger_;
  std::mutex mutex_;  // of see_
  See see_;
};

}  // namespace railyard::daemon
