#include "control/guest/monitor.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "control/guest/guest_files.h"

namespace railyard::guest {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using nlohmann::json;

constexpr std::size_t kLongestLine = 1 << 20;

}  // namespace

std::optional<Monitor> Monitor::open(const std::filesystem::path& directory, milliseconds limit) {
  const std::string path = GuestFiles{directory}.monitor_socket().string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
    return std::nullopt;
  Monitor monitor(std::move(socket));
  const std::optional<std::string> greeting = monitor.line(Clock::now() + limit);
  if (!greeting || !json::parse(*greeting, nullptr, false).contains("QMP")) return std::nullopt;
  if (!monitor.command(R"({"execute": "qmp_capabilities"})", limit)) return std::nullopt;
  return monitor;
}

bool Monitor::set_link(std::size_t nic, bool up, milliseconds limit) {
  // By the name of the network behind it (qemu_arguments.cc): QEMU tells the device in front.
  return command(fmt::format(R"({{"execute": "set_link", "arguments": {{"name": "net{}", "up": {}}}}})", nic, up), limit);
}

bool Monitor::is_open() {
  std::array<char, 4096> piece;
  for (;;) {
    const ssize_t n = ::recv(socket_.get(), piece.data(), piece.size(), 0);
    if (n > 0) continue;  // events, which nobody waits for
    read_.clear();
    return n < 0 && (errno == EAGAIN || errno == EINTR);
  }
}

bool Monitor::command(const std::string& text, milliseconds limit) {
  error_.clear();
  const Clock::time_point deadline = Clock::now() + limit;
  // A command is short: the socket takes it whole.
  if (::send(socket_.get(), (text + "\n").data(), text.size() + 1, MSG_NOSIGNAL) != static_cast<ssize_t>(text.size() + 1))
    return false;
  while (const std::optional<std::string> answer = line(deadline)) {
    const json said = json::parse(*answer, nullptr, false);
    if (said.contains("return")) return true;
    if (!said.contains("error")) continue;  // an event
    error_ = said["error"].value("desc", "QEMU refuses it");
    return false;
  }
  return false;
}

// The next one. Nothing: none has come in time, or QEMU is gone.
std::optional<std::string> Monitor::line(Clock::time_point deadline) {
  for (;;) {
    if (const std::size_t end = read_.find('\n'); end != read_.npos) {
      std::string first = read_.substr(0, end);
      read_.erase(0, end + 1);
      return first;
    }
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
    if (left <= 0 || read_.size() > kLongestLine) return std::nullopt;
    pollfd wait{socket_.get(), POLLIN, 0};
    if (::poll(&wait, 1, static_cast<int>(left)) <= 0 && errno != EINTR) return std::nullopt;
    std::array<char, 4096> piece;
    const ssize_t n = ::recv(socket_.get(), piece.data(), piece.size(), 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return std::nullopt;
    if (n > 0) read_.append(piece.data(), static_cast<std::size_t>(n));
  }
}

}  // namespace railyard::guest
