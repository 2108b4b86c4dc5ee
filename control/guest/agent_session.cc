#include "control/guest/agent_session.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "control/guest/guest_error.h"
#include "control/guest/guest_files.h"

namespace railyard::guest {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kGiveUpMs = 100;  // until it is asked again whether to go on waiting

Nonce draw_nonce() {
  Nonce nonce;
  if (getrandom(nonce.data(), nonce.size(), 0) != static_cast<ssize_t>(nonce.size()))
    throw GuestError("no random numbers: " + last_error());
  return nonce;
}

int remaining_ms(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max()));
}

// The lock on a port, or nothing if somebody has it.
std::optional<FileDescriptor> lock(const std::filesystem::path& file) {
  FileDescriptor fd(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) throw GuestError(fmt::format("cannot open {}: {}", file.string(), last_error()));
  if (flock(fd.get(), LOCK_EX | LOCK_NB) < 0) return std::nullopt;
  return fd;
}

// Nothing if nobody listens there.
FileDescriptor connect_to(const std::filesystem::path& file) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = file.string();
  if (path.size() >= sizeof address.sun_path)
    throw GuestError(fmt::format("{}: {} characters; expected a socket path of at most 107", path, path.size()));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  FileDescriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) throw GuestError("no socket: " + last_error());
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0) {
    if (errno == ECONNREFUSED || errno == ENOENT) return FileDescriptor();
    throw GuestError(fmt::format("cannot connect to {}: {}", path, last_error()));
  }
  fcntl(fd.get(), F_SETFL, O_NONBLOCK);
  return fd;
}

std::optional<WindowSize> window_size(int terminal) {
  winsize size{};
  if (terminal < 0 || ioctl(terminal, TIOCGWINSZ, &size) < 0 || size.ws_row == 0) return std::nullopt;
  return WindowSize{size.ws_row, size.ws_col};
}

}  // namespace

struct AgentSession::Connection {
  std::string name;
  std::filesystem::path console;
  FileDescriptor port_lock;
  FileDescriptor socket;
  Nonce nonce = draw_nonce();
  AgentReader reader{nonce};
  std::string unsent{};
  GiveUp give_up{};

  [[noreturn]] void gone() const {
    throw GuestError(fmt::format("{}: the guest ended meanwhile; see {}", name, console.string()));
  }

  void send_some() {
    while (!unsent.empty()) {
      const ssize_t n = send(socket.get(), unsent.data(), unsent.size(), MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n < 0) gone();
      unsent.erase(0, static_cast<std::size_t>(n));
    }
  }

  void receive_some() {
    std::array<std::uint8_t, 16384> piece;
    const ssize_t n = recv(socket.get(), piece.data(), piece.size(), 0);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (n <= 0) gone();
    reader.append({piece.data(), static_cast<std::size_t>(n)});
  }

  // Sends and receives until `done()`, which is asked after each piece.
  template <class Done>
  void exchange(Clock::time_point deadline, Done done) {
    while (!done()) {
      if (give_up && give_up()) throw GuestError(fmt::format("{}: timed out", name));
      send_some();
      pollfd p{socket.get(), static_cast<short>(POLLIN | (unsent.empty() ? 0 : POLLOUT)), 0};
      const int ready = poll(&p, 1, give_up ? std::min(remaining_ms(deadline), kGiveUpMs) : remaining_ms(deadline));
      if (ready == 0 && Clock::now() >= deadline)
        throw GuestError(fmt::format("{}: the guest does not answer; see {}", name, console.string()));
      if (ready > 0 && (p.revents & ~POLLOUT) != 0) receive_some();
    }
  }

  AgentReader::Outcome next(AgentFrame& frame) {
    const AgentReader::Outcome outcome = reader.next(frame);
    if (outcome == AgentReader::Outcome::kBroken)
      throw GuestError(fmt::format("{}: the guest's answer is invalid", name));
    return outcome;
  }
};

AgentSession::AgentSession(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
AgentSession::AgentSession(AgentSession&&) noexcept = default;
AgentSession& AgentSession::operator=(AgentSession&&) noexcept = default;
AgentSession::~AgentSession() = default;

AgentSession AgentSession::greet(std::unique_ptr<Connection> connection, milliseconds limit) {
  Connection& c = *connection;
  std::optional<unsigned> version;
  c.unsent = greeting_octets(c.nonce);
  c.exchange(Clock::now() + limit, [&] { return (version = c.reader.find_welcome()).has_value(); });
  if (*version != RY_AGENT_VERSION)
    throw GuestError(
        fmt::format("{}: its image has agent version {}, expected {}: run tools/softroce/build-image.sh and restart it",
                    c.name, *version, static_cast<int>(RY_AGENT_VERSION)));
  return AgentSession(std::move(connection));
}

AgentSession AgentSession::open(const std::filesystem::path& directory, const std::string& name, milliseconds limit) {
  const GuestFiles files{directory};
  int ports = 0;
  for (; std::filesystem::exists(files.agent_socket(ports)); ++ports) {
    std::optional<FileDescriptor> port_lock = lock(files.agent_lock(ports));
    if (!port_lock) continue;
    FileDescriptor socket = connect_to(files.agent_socket(ports));
    if (!socket) throw GuestError(fmt::format("{}: the guest no longer runs; see {}", name, files.console().string()));
    return greet(
        std::unique_ptr<Connection>(new Connection{
            .name = name, .console = files.console(), .port_lock = *std::move(port_lock), .socket = std::move(socket)}),
        limit);
  }
  if (ports == 0)
    throw GuestError(fmt::format("{}: the guest is not running (no {})", name, files.agent_socket(0).string()));
  throw GuestError(fmt::format("{}: all {} sessions are in use; wait for one to end", name, ports));
}

AgentSession AgentSession::open_control(const std::filesystem::path& directory, const std::string& name,
                                        milliseconds limit, GiveUp give_up) {
  const GuestFiles files{directory};
  std::optional<FileDescriptor> port_lock = lock(files.control_lock());
  if (!port_lock) throw GuestError(fmt::format("{}: another process is starting or stopping the guest", name));
  FileDescriptor socket = connect_to(files.control_socket());
  if (!socket)
    throw GuestError(
        fmt::format("{}: the guest is not running (nobody listens on {})", name, files.control_socket().string()));
  return greet(std::unique_ptr<Connection>(new Connection{.name = name,
                                                          .console = files.console(),
                                                          .port_lock = *std::move(port_lock),
                                                          .socket = std::move(socket),
                                                          .give_up = std::move(give_up)}),
               limit);
}

std::string AgentSession::ping(milliseconds limit) {
  Connection& c = *connection_;
  AgentFrame frame{};
  c.unsent += frame_octets(RY_PING);
  c.exchange(Clock::now() + limit,
             [&] { return c.next(frame) == AgentReader::Outcome::kFrame && frame.type == RY_PONG; });
  return std::string(frame.payload);
}

void AgentSession::power_off() {
  connection_->unsent += frame_octets(RY_POWER_OFF);
  connection_->send_some();
}

namespace {

// What run() keeps in mind of one command.
class Pump {
 public:
  Pump(const AgentCommand& command, const AgentStreams& streams)
      : streams_(streams), has_terminal_(command.terminal.has_value()), input_open_(streams.input >= 0) {}

  bool wants_input(const std::string& unsent) const {
    return input_open_ && credit_ > 0 && unsent.size() < 4 * RY_FRAME_PAYLOAD;
  }
  bool input_open() const { return input_open_; }
  bool has_output() const { return !pending_.empty(); }
  int output() const { return pending_to_; }
  const std::optional<AgentExit>& end() const { return end_; }

  // One read, at most a frame; what is to be sent.
  std::string read_input() {
    std::array<char, RY_FRAME_PAYLOAD> piece;
    const ssize_t n = read(streams_.input, piece.data(), std::min<std::size_t>(piece.size(), credit_));
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return {};
    if (n > 0) {
      credit_ -= static_cast<std::size_t>(n);
      return frame_octets(RY_STDIN, {piece.data(), static_cast<std::size_t>(n)});
    }
    input_open_ = false;  // an error ends it like its end
    return frame_octets(RY_STDIN_EOF);
  }

  void write_output() {
    const ssize_t n = write(pending_to_, pending_.data(), pending_.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (n < 0) {
      if (errno != EPIPE) throw GuestError("cannot write the output: " + last_error());
      end_ = AgentExit{.signal = SIGPIPE};
      pending_.clear();
      return;
    }
    pending_.erase(0, static_cast<std::size_t>(n));
  }

  // What is to be sent for a signal of ours.
  std::string read_signal() {
    signalfd_siginfo info;
    if (read(streams_.signals, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return {};
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGWINCH) {
      const std::optional<WindowSize> size = window_size(streams_.window_of);
      return has_terminal_ && size ? window_octets(*size) : std::string();
    }
    if (has_terminal_ && (number == SIGTERM || number == SIGHUP)) {
      end_ = AgentExit{.signal = number};
      return {};
    }
    return signal_octets(number);
  }

  void handle(const AgentFrame& f) {
    const auto first = [&] {
      return f.payload.empty() ? 0 : static_cast<int>(static_cast<unsigned char>(f.payload[0]));
    };
    switch (f.type) {
      case RY_STDOUT:
        show(streams_.output, f.payload);
        break;
      case RY_STDERR:
        show(streams_.error, f.payload);
        break;
      case RY_CREDIT:
        if (f.payload.size() == 4) credit_ += ry_get32(reinterpret_cast<const std::uint8_t*>(f.payload.data()));
        break;
      case RY_EXITED:
        end_ = AgentExit{.code = first()};
        break;
      case RY_SIGNALED:
        end_ = AgentExit{.signal = first()};
        break;
      case RY_FAILED:
        end_ = AgentExit{.code = first(),
                         .failure = std::string(f.payload.substr(std::min<std::size_t>(1, f.payload.size())))};
        break;
      default:
        break;
    }
  }

 private:
  void show(int to, std::string_view text) {
    if (to < 0) return;
    pending_to_ = to;
    pending_ = text;
  }

  AgentStreams streams_;
  bool has_terminal_;
  bool input_open_;
  std::size_t credit_ = RY_STDIN_CREDIT;
  std::string pending_;  // at most a frame; the next is not looked at before it is written
  int pending_to_ = -1;
  std::optional<AgentExit> end_;
};

}  // namespace

AgentExit AgentSession::run(const AgentCommand& command, const AgentStreams& streams) {
  Connection& c = *connection_;
  Pump pump(command, streams);
  c.unsent += request_octets(command);
  if (!pump.input_open()) c.unsent += frame_octets(RY_STDIN_EOF);
  for (;;) {
    AgentFrame frame{};
    while (!pump.has_output() && !pump.end() && c.next(frame) == AgentReader::Outcome::kFrame) pump.handle(frame);
    if (pump.end()) break;
    c.send_some();
    enum { kSocket, kInput, kOutput, kSignals };
    std::array<pollfd, 4> p{};
    const bool reading = !pump.has_output();
    // -1 is passed over.
    p[kSocket] = {c.socket.get(), static_cast<short>((reading ? POLLIN : 0) | (c.unsent.empty() ? 0 : POLLOUT)), 0};
    p[kInput] = {pump.wants_input(c.unsent) ? streams.input : -1, POLLIN, 0};
    p[kOutput] = {pump.has_output() ? pump.output() : -1, POLLOUT, 0};
    p[kSignals] = {streams.signals, POLLIN, 0};
    if (poll(p.data(), p.size(), -1) < 0) {
      if (errno == EINTR) continue;
      throw GuestError("cannot wait for the guest: " + last_error());
    }
    if (p[kSignals].revents != 0) c.unsent += pump.read_signal();
    if (p[kInput].revents != 0) c.unsent += pump.read_input();
    if (p[kOutput].revents != 0) pump.write_output();
    // A guest that goes while we cannot read is noticed, too.
    if ((p[kSocket].revents & (reading ? ~POLLOUT : 0)) != 0) c.receive_some();
    if (!reading && (p[kSocket].revents & (POLLHUP | POLLERR)) != 0) c.receive_some();
  }
  c.socket.close();  // ends what still runs
  return *pump.end();
}

}  // namespace railyard::guest
