#include "tools/agent/serve.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "control/agent_protocol/frames.h"

namespace railyard::agent {
namespace {

using Clock = std::chrono::steady_clock;

Instant now() {
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count() * 1000};
}

class Server {
 public:
  Server(Agent& agent, const LabStream& stream) : agent_(agent), stream_(stream), reader_(agents::kMostOfLab) {
    out_ = agents::frame(agent.hello());
  }

  void run(const std::atomic<bool>& stop, const std::function<void(const std::string&)>& log) {
    heard_ = said_ = Clock::now();
    while (!stop && !closed_) {
      // Ranks come first: what they wait for is there, or is told by a descriptor.
      bool any = agent_.work(now());
      read();
      any = take_messages() || any;
      for (const std::string& line : agent_.take_log()) log(line);
      for (const nlohmann::json& message : agent_.take_outgoing()) out_ += agents::frame(message);
      if (agent_.welcome() && Clock::now() - said_ >= agents::kAliveEvery) {
        out_ += agents::frame(agents::message("alive"));
        said_ = Clock::now();
      }
      write();
      if (Clock::now() - heard_ > agents::kPatience)
        throw std::runtime_error(fmt::format("no message from the lab for {} s", agents::kPatience.count() / 1000));
      if (!any) wait();
    }
  }

 private:
  void read() {
    std::array<char, 1 << 16> some{};
    for (;;) {
      const ssize_t n = ::read(stream_.in(), some.data(), some.size());
      if (n > 0) {
        heard_ = Clock::now();
        reader_.append(std::span(some).first(static_cast<std::size_t>(n)));
        continue;
      }
      if (n < 0 && errno == EINTR) continue;
      if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) closed_ = true;
      return;
    }
  }
  bool take_messages() {
    bool any = false;
    while (const auto message = reader_.next()) {
      any = true;
      agent_.on_message(now(), *message);
    }
    return any;
  }
  void write() {
    while (!out_.empty()) {
      const ssize_t n = ::write(stream_.out(), out_.data(), out_.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
      if (n < 0) {
        closed_ = true;
        return;
      }
      out_.erase(0, static_cast<std::size_t>(n));
    }
  }
  void wait() {
    std::vector<pollfd> fds{{stream_.in(), POLLIN, 0}};
    if (!out_.empty()) fds.push_back({stream_.out(), POLLOUT, 0});
    for (const int fd : agent_.ready_fds()) fds.push_back({fd, POLLIN, 0});
    const auto until_alive = std::chrono::duration_cast<std::chrono::milliseconds>(said_ + agents::kAliveEvery -
                                                                                   Clock::now());
    auto ms = std::clamp<std::int64_t>(until_alive.count() + 1, 1, agents::kAliveEvery.count());
    if (const Instant due = agent_.next_due(); due != Instant::never())
      ms = std::clamp<std::int64_t>((due - now()).ps / 1'000'000'000 + 1, 0, ms);
    ::poll(fds.data(), fds.size(), static_cast<int>(ms));
  }

  Agent& agent_;
  const LabStream& stream_;
  agents::FrameReader reader_;
  std::string out_;
  Clock::time_point heard_;
  Clock::time_point said_;
  bool closed_ = false;
};

}  // namespace

void serve(Agent& agent, const LabStream& stream, const std::atomic<bool>& stop,
           const std::function<void(const std::string&)>& log) {
  Server(agent, stream).run(stop, log);
}

}  // namespace railyard::agent
