// How an agent comes to a lab: its own way of speaking, over TCP and over a serial line, against the server that waits
// for it. Who may not join hears one sentence, and so does whoever started it.
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/agents/agent_server.h"
#include "dataplane/base/file_descriptor.h"
#include "tests/control/agents/agent_lab.h"
#include "tools/agent/lab_stream.h"
#include "tools/agent/serve.h"

namespace railyard::agents {
namespace {

using testing::HasSubstr;

// A pseudo-terminal whose other end is connected to the lab's socket, as QEMU connects a guest's serial line.
class SerialLine {
 public:
  explicit SerialLine(const std::string& socket) : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    ::grantpt(master_.get());
    ::unlockpt(master_.get());
    path_ = ::ptsname(master_.get());
    // Held open, so that the line does not hang up before the agent has opened it.
    held_ = FileDescriptor(::open(path_.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
    lab_ = FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(lab_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    thread_ = std::thread([this] { pass_on(); });
  }
  ~SerialLine() {
    stop_ = true;
    thread_.join();
  }
  const std::string& path() const { return path_; }

 private:
  void pass_on() {
    while (!stop_) {
      std::array<pollfd, 2> fds{{{master_.get(), POLLIN, 0}, {lab_.get(), POLLIN, 0}}};
      ::poll(fds.data(), fds.size(), 20);
      if ((fds[0].revents & POLLIN) != 0) copy(master_.get(), lab_.get());
      if ((fds[1].revents & POLLIN) != 0 && !copy(lab_.get(), master_.get())) return;
    }
  }
  static bool copy(int from, int to) {
    std::array<char, 512> some;
    const ssize_t n = ::read(from, some.data(), some.size());
    for (ssize_t at = 0; at < n;) {
      const ssize_t written = ::write(to, some.data() + at, static_cast<std::size_t>(n - at));
      if (written <= 0) return false;
      at += written;
    }
    return n > 0;
  }

  FileDescriptor master_;
  FileDescriptor held_;
  FileDescriptor lab_;
  std::string path_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

std::uint16_t free_port() {
  FileDescriptor fd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  socklen_t length = sizeof address;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0)
    return 0;
  return ntohs(address.sin6_port);
}

class AgentJoinTest : public testing::TestWithParam<std::string> {
 protected:
  AgentJoinTest() : lab_("{ name: c, size: 12000B, ranks: [a1, a2] }", 2) {
    socket_ = testing::TempDir() + fmt::format("join-{}.sock", ::getpid());
    const std::uint16_t port = free_port();
    server_.emplace(AgentServerConfig{.socket = socket_,
                                      .listen = wire::UdpEndpoint{*wire::IpAddress::parse("127.0.0.1"), port},
                                      .greeting = std::chrono::milliseconds(3000),
                                      .tick = std::chrono::milliseconds(20)},
                    *lab_.hosts);
    if (GetParam() == "serial") {
      line_ = std::make_unique<SerialLine>(socket_);
      where_ = "serial:" + line_->path();
    } else {
      where_ = fmt::format("127.0.0.1:{}", port);
    }
  }
  // What ends it, in words; `done`: asked now and then whether it has lived long enough.
  std::string run(agent::AgentConfig config, const std::function<bool()>& done) {
    agent::FakeVerbs verbs(network_, "10.9.0.1");
    agent::Agent agent(verbs, std::move(config));
    std::atomic<bool> stop = false;
    std::string why = "it was stopped";
    std::thread watch([&] {
      for (int i = 0; i < 1000 && !done() && !stop; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      stop = true;
    });
    try {
      const agent::LabStream stream = agent::LabStream::open(where_);
      agent::serve(agent, stream, stop, [this](const std::string& line) {
        log_ += line + "\n";
        said_ = true;
      });
    } catch (const std::exception& error) {
      why = error.what();
    }
    stop = true;
    watch.join();
    return why;
  }
  static bool never() { return false; }

  AgentLab lab_;
  agent::FakeNetwork network_;
  std::string socket_;
  std::string where_;
  std::unique_ptr<SerialLine> line_;
  std::string log_;
  std::atomic<bool> said_ = false;  // something of it
  std::optional<AgentServer> server_;
};

TEST_P(AgentJoinTest, IsWelcome) {
  const auto joined = [this] { return lab_.hosts->has_joined(1) && said_; };
  EXPECT_EQ(run({"a1", "secret-1", "1"}, joined), "it was stopped");
  EXPECT_EQ(log_, "joined lab 'x' as a1\n");
}

TEST_P(AgentJoinTest, AWrongTokenIsRefused) {
  EXPECT_EQ(run({"a1", "secret-2", "1"}, never), "wrong token for host 'a1' of lab 'x'");
  EXPECT_FALSE(lab_.hosts->has_joined(1));
}

TEST_P(AgentJoinTest, AHostThatHasNoAgentIsRefused) {
  EXPECT_THAT(run({"b", "secret-1", "1"}, never), HasSubstr("lab 'x' has no host 'b' with an agent"));
}

// An agent of another release is told by a lab of this one, whatever else its hello says.
TEST_P(AgentJoinTest, AnotherVersionIsRefused) {
  const agent::LabStream stream = agent::LabStream::open(where_);
  const std::string octets =
      frame({{"type", "hello"}, {"protocol", kProtocolVersion + 1}, {"news", "of that version"}});
  ASSERT_EQ(::write(stream.out(), octets.data(), octets.size()), static_cast<ssize_t>(octets.size()));
  FrameReader reader(kMostOfLab);
  std::optional<nlohmann::json> answer;
  while (!answer) {
    pollfd fd{stream.in(), POLLIN, 0};
    ASSERT_GT(::poll(&fd, 1, 10'000), 0);
    std::array<char, 256> some;
    const ssize_t n = ::read(stream.in(), some.data(), some.size());
    ASSERT_GT(n, 0);
    reader.append(std::span(some).first(static_cast<std::size_t>(n)));
    answer = reader.next();
  }
  EXPECT_EQ((*answer)["type"], "error");
  EXPECT_EQ((*answer)["why"], fmt::format("the agent has protocol version {}, lab 'x' (railyard 1) has version {}; "
                                          "expected an agent of the same release",
                                          kProtocolVersion + 1, kProtocolVersion));
}

INSTANTIATE_TEST_SUITE_P(Over, AgentJoinTest, testing::Values("tcp", "serial"),
                         [](const auto& way) { return way.param; });

std::string failure_to_open(const std::string& where) {
  try {
    agent::LabStream::open(where);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "opened";
}

TEST(AgentLabStream, WhereNobodyIsIsSaid) {
  const std::uint16_t port = free_port();
  EXPECT_EQ(failure_to_open(fmt::format("127.0.0.1:{}", port)),
            fmt::format("cannot connect to the lab at 127.0.0.1:{}: Connection refused", port));
  EXPECT_EQ(failure_to_open("serial:/dev/no-such-line"),
            "cannot connect to the lab at serial:/dev/no-such-line: No such file or directory");
  EXPECT_EQ(failure_to_open("unix:/tmp/no/such.sock"),
            "cannot connect to the lab at unix:/tmp/no/such.sock: No such file or directory");
  EXPECT_EQ(failure_to_open("somewhere"), "'somewhere'; expected HOST:PORT, unix:PATH, serial:PATH or stdio");
}

}  // namespace
}  // namespace railyard::agents
