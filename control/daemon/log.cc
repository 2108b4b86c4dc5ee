#include "control/daemon/log.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace railyard::daemon {

Log::Log(const std::string& file) : file_(std::fopen(file.c_str(), "ae")) {
  if (file_ == nullptr) throw std::runtime_error(fmt::format("cannot write {}: {}", file, std::strerror(errno)));
}

void Log::to_stderr(bool on) {
  const std::lock_guard lock(mutex_);
  to_stderr_ = on;
}

Log::~Log() { std::fclose(file_); }

void Log::line(const std::string& text) {
  using namespace std::chrono;
  const auto now = system_clock::now();
  const auto seconds = time_point_cast<std::chrono::seconds>(now);
  const std::string out =
      fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06d}Z {}\n", fmt::gmtime(system_clock::to_time_t(seconds)),
                  duration_cast<microseconds>(now - seconds).count(), text);
  const std::lock_guard lock(mutex_);
  std::fputs(out.c_str(), file_);
  std::fflush(file_);
  if (to_stderr_) std::fputs(out.c_str(), stderr);
}

}  // namespace railyard::daemon
