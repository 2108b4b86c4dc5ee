#include "control/daemon/kept_capture.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace railyard::daemon {

KeptCapture::KeptCapture(const std::string& socket) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.size() >= sizeof address.sun_path) throw std::runtime_error(fmt::format("{}: the path is too long", socket));
  std::memcpy(address.sun_path, socket.data(), socket.size());
  if (!socket_ || ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error(fmt::format("cannot connect to {}: {}", socket, std::strerror(errno)));
  thread_ = std::thread([this] { run(); });
}

KeptCapture::~KeptCapture() { thread_.join(); }

std::size_t KeptCapture::octets() const {
  const std::scoped_lock lock(mutex_);
  return file_.size();
}

std::string KeptCapture::file() const {
  const std::scoped_lock lock(mutex_);
  return file_;
}

void KeptCapture::run() {
  std::array<char, 1 << 16> some{};
  for (;;) {
    const ssize_t n = ::recv(socket_.get(), some.data(), some.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    try {
      const std::scoped_lock lock(mutex_);
      file_.append(some.data(), static_cast<std::size_t>(n));
      if (file_.size() < kMostOctets || full_) continue;
    } catch (const std::bad_alloc&) {  // What there is stays.
      break;
    }
    // "No more than what was seen until now."
    full_ = true;
    ::shutdown(socket_.get(), SHUT_WR);
  }
  socket_.close();
  ended_.store(true, std::memory_order_release);
}

}  // namespace railyard::daemon
