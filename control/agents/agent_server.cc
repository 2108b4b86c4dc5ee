#include "control/agents/agent_server.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/agent_protocol/frames.h"
#include "control/base/short_quote.h"
#include "dataplane/base/file_descriptor.h"

namespace railyard::agents {
namespace {

using Clock = std::chrono::steady_clock;

// What waits to be taken by a client that does not.
constexpr std::size_t kMostWaiting = 4 * kMostOfLab;

[[noreturn]] void fail(const std::string& where) {
  throw std::runtime_error(fmt::format("cannot listen for agents at {}: {}", where, std::strerror(errno)));
}

FileDescriptor listen_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw std::runtime_error(fmt::format("the path of the agents' socket has {} characters; expected at most {}: {}",
                                         path.size(), sizeof address.sun_path - 1, path));
  std::memcpy(address.sun_path, path.c_str(), path.size());
  FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const mode_t before = ::umask(0177);
  const bool bound =
      fd.get() >= 0 && ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::umask(before);
  if (!bound || ::listen(fd.get(), SOMAXCONN) != 0) fail(path);
  return fd;
}

FileDescriptor listen_tcp(const wire::UdpEndpoint& at) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(at.port);
  // An IPv4 address is the one mapped into IPv6.
  std::memcpy(&address.sin6_addr, at.address.octets.data(), at.address.octets.size());
  FileDescriptor fd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  const int off = 0;
  if (fd.get() < 0 || ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0 ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), SOMAXCONN) != 0)
    fail(wire::to_string(at));
  return fd;
}

// Who is at the other end, as far as limits go.
std::string address_of(const sockaddr_storage& peer) {
  if (peer.ss_family != AF_INET6) return "the UNIX socket";
  sockaddr_in6 v6{};
  std::memcpy(&v6, &peer, sizeof v6);
  const auto& octets = v6.sin6_addr.s6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr))
    return fmt::format("{}.{}.{}.{}", octets[12], octets[13], octets[14], octets[15]);
  // Whoever has one address of a subnet has all 2^64.
  std::string prefix;
  for (std::size_t i = 0; i < 8; i += 2) prefix += fmt::format("{:x}:", octets[i] << 8 | octets[i + 1]);
  return prefix + ":/64";
}

struct Connection {
  FileDescriptor fd;
  std::string address{};
  // Its first message, while it waits for its turn to have its token looked at.
  std::optional<nlohmann::json> hello{};
  FrameReader reader{kMostOfStranger};
  std::string out{};
  Clock::time_point since = Clock::now();
  Clock::time_point heard = Clock::now();
  bool joined = false;
  bool closing = false;  // when what waits is written

  bool is_stranger() const noexcept { return !joined && !closing && fd.get() >= 0; }
};

// Wrong tokens that came from one address.
struct Guesses {
  int wrong = 0;
  Clock::time_point last{};
  Clock::time_point next{};  // when the next token is looked at
};

constexpr std::chrono::seconds kForgiven{60};
constexpr std::chrono::seconds kBetweenLines{1};
constexpr std::chrono::milliseconds kAcceptAgain{100};

}  // namespace

class AgentServer::State {
 public:
  State(const AgentServerConfig& config, AgentHosts& hosts)
      : config_(config), hosts_(hosts), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (wake_.get() < 0) fail("an eventfd");
    listeners_.push_back(listen_unix(config_.socket));
    try {
      if (config_.listen) listeners_.push_back(listen_tcp(*config_.listen));
    } catch (...) {
      ::unlink(config_.socket.c_str());
      throw;
    }
    hosts_.wake_with([this] { wake(); });
    thread_ = std::thread([this] { run(); });
  }
  ~State() {
    hosts_.wake_with([] {});
    stop_ = true;
    wake();
    thread_.join();
    ::unlink(config_.socket.c_str());
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

 private:
  void wake() {
    const std::uint64_t one = 1;
    // It looks by itself before long.
    if (::write(wake_.get(), &one, sizeof one) < 0) return;
  }

  void run() {
    auto ticked = Clock::now();
    auto alive = Clock::now();
    while (!stop_) {
      wait();
      const auto now = Clock::now();
      if (now - ticked >= config_.tick) {
        ticked = now;
        hosts_.tick();
      }
      greet_those_whose_turn_it_is();
      hand_out();
      if (now - alive >= kAliveEvery) {
        alive = now;
        for (auto& [id, c] : connections_)
          if (c.joined && !c.closing) c.out += frame(message("alive"));
      }
      for (auto& [id, c] : connections_) write(id, c);
      drop_silent(now);
      log_refused(now);
      std::erase_if(connections_, [](const auto& entry) {
        return entry.second.fd.get() < 0 || (entry.second.closing && entry.second.out.empty());
      });
    }
  }

  void wait() {
    std::vector<pollfd> fds{{wake_.get(), POLLIN, 0}};
    const bool accepts = Clock::now() >= accept_again_;
    for (const FileDescriptor& l : listeners_) fds.push_back({accepts ? l.get() : -1, POLLIN, 0});
    std::vector<AgentHosts::Client> who;
    for (const auto& [id, c] : connections_) {
      // One that waits for its turn is not read meanwhile.
      const int reads = c.hello ? 0 : POLLIN;
      fds.push_back({c.fd.get(), static_cast<short>(c.out.empty() ? reads : reads | POLLOUT), 0});
      who.push_back(id);
    }
    if (::poll(fds.data(), fds.size(), time_to_wait()) <= 0) return;
    if (fds[0].revents != 0) {
      std::uint64_t n;
      if (::read(wake_.get(), &n, sizeof n) < 0) n = 0;
    }
    const std::size_t first = 1 + listeners_.size();
    for (std::size_t i = 0; i < who.size(); ++i)
      if ((fds[first + i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) read(who[i], connections_.at(who[i]));
    for (std::size_t i = 1; i < first; ++i)
      if (fds[i].revents != 0) accept(listeners_[i - 1]);
  }

  int time_to_wait() const {
    auto until = Clock::now() + config_.tick;
    if (Clock::now() < accept_again_) until = std::min(until, accept_again_);
    for (const auto& [id, c] : connections_)
      if (c.hello) until = std::min(until, guesses_.at(c.address).next);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    return static_cast<int>(std::max<std::int64_t>(left, 0));
  }

  void accept(const FileDescriptor& listener) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    FileDescriptor fd(
        ::accept4(listener.get(), reinterpret_cast<sockaddr*>(&peer), &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd.get() < 0) {
      // EMFILE stays until somebody closes a file, and poll would return at once.
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) accept_again_ = Clock::now() + kAcceptAgain;
      return;
    }
    const int on = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    Connection c{.fd = std::move(fd), .address = address_of(peer)};
    const auto same = [&c](const Connection& other) { return other.address == c.address; };
    if (!make_room(config_.most_of_address, same) ||
        !make_room(config_.most_strangers, [](const auto&) { return true; }))
      refuse(c, "too many connections from this address; try again in a few seconds");
    connections_.emplace(next_++, std::move(c));
  }

  // For one more stranger among those of `group`, of which `most` may be: the oldest goes that has not said who it is.
  // False: all of them have.
  template <class Group>
  bool make_room(std::size_t most, Group&& group) {
    std::size_t strangers = 0;
    Connection* oldest = nullptr;
    for (auto& [id, c] : connections_) {
      if (!c.is_stranger() || !group(c)) continue;
      ++strangers;
      if (oldest == nullptr && !c.hello) oldest = &c;
    }
    if (strangers < most) return true;
    if (oldest == nullptr) return false;
    refuse(*oldest, "it did not identify itself, and others are waiting");
    return true;
  }

  // A client that has not joined.
  void refuse(Connection& c, const std::string& why) {
    ++refused_;
    last_refused_ = printable(with_short_quotes(fmt::format("{}: {}", c.address, why)));
    turn_away(c, why);
  }

  // Strangers without a valid token cannot make the log grow faster than this.
  void log_refused(Clock::time_point now) {
    if (refused_ == 0 || now - logged_ < kBetweenLines) return;
    if (config_.log)
      config_.log(refused_ == 1
                      ? fmt::format("agents: refused a connection from {}", last_refused_)
                      : fmt::format("agents: refused {} connections, the last from {}", refused_, last_refused_));
    refused_ = 0;
    logged_ = now;
  }

  bool is_its_turn(const Connection& c) const {
    const auto found = guesses_.find(c.address);
    return found == guesses_.end() || Clock::now() >= found->second.next;
  }

  void greet_those_whose_turn_it_is() {
    for (auto& [id, c] : connections_)
      if (c.hello && c.is_stranger() && is_its_turn(c)) take_messages(id, c);
    const auto now = Clock::now();
    std::erase_if(guesses_, [&](const auto& g) { return now - g.second.last > kForgiven && !waits(g.first); });
  }
  bool waits(const std::string& address) const {
    return std::ranges::any_of(
        connections_, [&](const auto& entry) { return entry.second.hello && entry.second.address == address; });
  }

  // Who it is; throws if it must not join.
  void greet(AgentHosts::Client id, Connection& c, const nlohmann::json& hello) {
    const auto is_agent = [](const auto& entry) { return entry.second.joined && !entry.second.closing; };
    if (std::ranges::count_if(connections_, is_agent) >= static_cast<std::ptrdiff_t>(config_.most_clients))
      throw NotTaken(fmt::format("{} agents are already connected; the limit is reached", config_.most_clients));
    try {
      hosts_.on_message(id, hello);
    } catch (const WrongToken&) {
      Guesses& g = guesses_[c.address];
      const auto delay = config_.first_guess * (1LL << std::min(g.wrong, 16));
      ++g.wrong;
      g.last = Clock::now();
      g.next = g.last + std::min<std::chrono::milliseconds>(delay, config_.slowest_guess);
      throw;
    }
    c.joined = true;
    c.reader.allow(kMostOfAgent);
  }

  static void turn_away(Connection& c, const std::string& why) {
    nlohmann::json error = message("error");
    error["why"] = why;
    c.out += frame(error);
    c.closing = true;
  }

  // The socket has gone, or is of no use any more.
  void lose(AgentHosts::Client id, Connection& c, const std::string& why) {
    if (c.joined && !c.closing) hosts_.on_closed(id, why);
    c.fd = FileDescriptor();
  }

  void read(AgentHosts::Client id, Connection& c) {
    std::array<char, 1 << 16> some{};
    const ssize_t n = ::read(c.fd.get(), some.data(), some.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (n <= 0) return lose(id, c, n == 0 ? "it closed its connection" : std::strerror(errno));
    if (c.closing) return;
    c.heard = Clock::now();
    c.reader.append(std::span(some).first(static_cast<std::size_t>(n)));
    take_messages(id, c);
  }

  void take_messages(AgentHosts::Client id, Connection& c) {
    try {
      while (auto message = c.hello ? std::exchange(c.hello, std::nullopt) : c.reader.next()) {
        if (c.joined) {
          hosts_.on_message(id, *message);
        } else if (is_its_turn(c)) {
          greet(id, c, *message);
        } else {
          c.hello = std::move(message);
          return;
        }
      }
    } catch (const std::exception& error) {
      if (!c.joined) return refuse(c, error.what());
      // A message that made sense to nobody has ended it there, too; what was no message has not.
      hosts_.on_closed(id, error.what());
      turn_away(c, error.what());
    }
  }

  void hand_out() {
    for (AgentHosts::Outgoing& o : hosts_.take_outgoing()) {
      const auto found = connections_.find(o.to);
      if (found == connections_.end() || found->second.closing) continue;
      found->second.out += frame(o.message);
      if (found->second.out.size() > kMostWaiting) lose(o.to, found->second, "it does not read its messages");
    }
  }

  void write(AgentHosts::Client id, Connection& c) {
    while (c.fd.get() >= 0 && !c.out.empty()) {
      const ssize_t n = ::send(c.fd.get(), c.out.data(), c.out.size(), MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n < 0) return lose(id, c, std::strerror(errno));
      c.out.erase(0, static_cast<std::size_t>(n));
    }
  }

  void drop_silent(Clock::time_point now) {
    for (auto& [id, c] : connections_) {
      if (c.fd.get() < 0) continue;
      if (c.closing && now - c.since > config_.greeting) {
        c.fd = FileDescriptor();
      } else if (!c.joined && !c.closing && !c.hello && now - c.since > config_.greeting) {
        refuse(c, fmt::format("it did not identify itself within {} ms", config_.greeting.count()));
      } else if (c.joined && now - c.heard > config_.patience) {
        lose(id, c, fmt::format("no message from it for {} ms", config_.patience.count()));
      }
    }
  }

  AgentServerConfig config_;
  AgentHosts& hosts_;
  FileDescriptor wake_;
  std::vector<FileDescriptor> listeners_;
  std::map<AgentHosts::Client, Connection> connections_;
  AgentHosts::Client next_ = 1;
  std::map<std::string, Guesses> guesses_;  // by address
  Clock::time_point accept_again_{};
  std::uint64_t refused_ = 0;  // since the last line about it
  std::string last_refused_;
  Clock::time_point logged_{};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

AgentServer::AgentServer(const AgentServerConfig& config, AgentHosts& hosts)
    : state_(std::make_unique<State>(config, hosts)) {}
AgentServer::~AgentServer() = default;

}  // namespace railyard::agents
