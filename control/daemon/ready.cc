#include "control/daemon/ready.h"

#include <cerrno>

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace railyard::daemon {

using nlohmann::json;

void tell_ready(int fd, const Ready& ready) {
  const std::string text = json{{"lab", ready.lab}, {"error", ready.error}, {"exit_code", ready.exit_code}}.dump(
      -1, ' ', false, json::error_handler_t::replace);
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(fd, text.data() + at, text.size() - at);
    if (n < 0 && errno != EINTR) break;  // nobody waits any more
    if (n > 0) at += static_cast<std::size_t>(n);
  }
  ::close(fd);
}

std::optional<Ready> wait_ready(int fd) {
  std::string text;
  char block[1024];
  for (;;) {
    const ssize_t n = ::read(fd, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(block, static_cast<std::size_t>(n));
  }
  const json told = json::parse(text, nullptr, false);
  if (!told.is_object()) return {};
  return Ready{told.value("lab", ""), told.value("error", ""), told.value("exit_code", 1)};
}

}  // namespace railyard::daemon
