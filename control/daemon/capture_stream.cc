#include "control/daemon/capture_stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace railyard::daemon {

using std::chrono::steady_clock;

namespace {

constexpr std::size_t kBatchOctets = 256 * 1024;  // put together before they are sent
constexpr int kIdleMs = 5;                        // until the ring is looked at again: 3 GB/s would fill it
constexpr int kTurnMs = 50;                       // until it is seen that somebody wants it to end

}  // namespace

CaptureStream::CaptureStream(CaptureStreamConfig config, Log& log, Release release)
    : config_(std::move(config)),
      log_(log),
      release_(std::move(release)),
      tap_(std::make_shared<EngineTap>(config_.tap)),
      blocks_(config_.tap.snap_octets, config_.comment),
      interface_(blocks_.add_interface(config_.port, config_.description, config_.rate)) {
  listen();
  try {
    thread_ = std::thread([this] { run(); });
  } catch (...) {
    close_listener();
    throw;
  }
}

CaptureStream::~CaptureStream() {
  begin();
  thread_.join();
}

void CaptureStream::listen() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (config_.socket.size() >= sizeof address.sun_path)
    throw std::runtime_error(fmt::format("the capture's socket path has {} characters; expected at most {}: {}",
                                         config_.socket.size(), sizeof address.sun_path - 1, config_.socket));
  std::memcpy(address.sun_path, config_.socket.data(), config_.socket.size());
  listener_ = FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // The mode of the socket is that of the path (unix(7)); the process's umask is everybody's.
  const bool bound = listener_ && ::fchmod(listener_.get(), 0600) == 0 &&
                     ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  if (!bound || ::listen(listener_.get(), 1) != 0) {
    const int error = errno;
    if (bound) close_listener();
    listener_.close();
    throw std::runtime_error(fmt::format("cannot listen at {}: {}", config_.socket, std::strerror(error)));
  }
}

void CaptureStream::close_listener() noexcept {
  ::unlink(config_.socket.c_str());
  listener_.close();
}

void CaptureStream::begin() noexcept {
  begun_ = true;
  begun_.notify_all();
}

void CaptureStream::finish(Instant at) noexcept {
  if (tap_->in_use()) tap_->let_go(at);
  deadline_ = steady_clock::now() + config_.last_patience;
  ending_ = true;
}

const char* CaptureStream::state() const noexcept {
  if (ending_ || !tap_->in_use()) return "ending";
  return connected_ ? "running" : "waiting";
}

void CaptureStream::run() {
  begun_.wait(false);
  if (accept_client()) stream();
  release();
  if (client_) drain();
  log_.line(fmt::format("capture {} of {} has ended{}: {} frames captured, {} not captured (buffer full), {} delivered",
                        config_.id, config_.port, connected_ ? "" : " without a client", captured(), lost(),
                        delivered()));
  done_ = true;  // before the client sees the end: what it asks then finds the capture ended
  client_.close();
}

bool CaptureStream::accept_client() {
  const auto until = steady_clock::now() + config_.patience;
  // One that has connected already gets what was captured, even if the capture has been ended meanwhile.
  bool last = false;
  do {
    last = ending_ || steady_clock::now() >= until;  // before it looks
    pollfd listening{listener_.get(), POLLIN, 0};
    if (::poll(&listening, 1, last ? 0 : kTurnMs) > 0)
      client_ = FileDescriptor(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  } while (!client_ && !last);
  close_listener();
  connected_ = static_cast<bool>(client_);
  return connected_;
}

void CaptureStream::stream() {
  send();  // the head
  while (!over()) {
    const std::uint64_t frames = fill();
    if (frames == 0) {
      look_at_client(kIdleMs);
    } else {
      send();
      if (!gone_) delivered_.add(frames);
    }
  }
}

// Until the engine has let go.
void CaptureStream::release() {
  while (tap_->in_use() && !release_(tap_)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  while (tap_->in_use()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// What is left in the ring, and the statistics.
void CaptureStream::drain() {
  ending_ = true;
  std::uint64_t frames = 0;
  while (!gone_ && (frames = fill()) != 0) {
    send();
    if (!gone_) delivered_.add(frames);
  }
  if (gone_) return;
  blocks_.add_statistics(interface_, Instant{tap_->let_go_ps.load(std::memory_order_relaxed)},
                         {captured() + lost(), lost(), delivered()});
  send();
}

// Frames out of the ring, up to a batch; how many.
std::uint64_t CaptureStream::fill() {
  std::uint64_t frames = 0;
  while (blocks_.octets().size() < kBatchOctets && tap_->tap.read(blocks_, interface_)) ++frames;
  return frames;
}

// Whether it is still there and still wants more.
void CaptureStream::look_at_client(int timeout_ms) {
  pollfd client{client_.get(), POLLRDHUP, 0};
  if (::poll(&client, 1, timeout_ms) <= 0) return;
  if ((client.revents & (POLLHUP | POLLERR)) != 0) gone_ = true;
  half_closed_ = true;
}

// All that is in blocks_. A client may take its time, but not for ever when the end has come.
void CaptureStream::send() {
  auto octets = blocks_.octets();
  auto progress = steady_clock::now();
  while (!octets.empty() && !gone_) {
    const ssize_t n = ::send(client_.get(), octets.data(), octets.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    const auto now = steady_clock::now();
    if (now > deadline_.load()) gone_ = true;
    if (n > 0) {
      octets = octets.subspan(static_cast<std::size_t>(n));
      progress = now;
    } else if (errno == EAGAIN) {
      if ((ending_ || half_closed_) && now - progress > config_.last_patience) gone_ = true;
      pollfd client{client_.get(), POLLOUT, 0};
      static_cast<void>(::poll(&client, 1, kTurnMs));
    } else if (errno != EINTR) {
      gone_ = true;
    }
  }
  blocks_.clear();
}

}  // namespace railyard::daemon
