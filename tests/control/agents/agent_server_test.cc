// The socket that agents come to: what a client does wrong is answered by one sentence, and costs nobody else.
#include "control/agents/agent_server.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/control/agents/agent_lab.h"

namespace railyard::agents {
namespace {

using testing::HasSubstr;

class AgentServerTest : public testing::Test {
 protected:
  explicit AgentServerTest(std::chrono::milliseconds first_guess = std::chrono::milliseconds(1))
      : lab_("{ name: c, size: 12000B, ranks: [a1, a2] }", 2) {
    path_ = testing::TempDir() + fmt::format("agents-{}.sock", ::getpid());
    server_.emplace(AgentServerConfig{.socket = path_,
                                      .most_clients = 1,
                                      .most_strangers = 4,
                                      .most_of_address = 3,
                                      .greeting = std::chrono::milliseconds(300),
                                      .first_guess = first_guess,
                                      .slowest_guess = std::max(first_guess, std::chrono::milliseconds(2)),
                                      .tick = std::chrono::milliseconds(20),
                                      .log = [this](const std::string& line) { log(line); }},
                    *lab_.hosts);
  }
  int connect() {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  static void say(int fd, const std::string& octets) {
    EXPECT_EQ(::send(fd, octets.data(), octets.size(), MSG_NOSIGNAL), static_cast<ssize_t>(octets.size()));
  }
  // Its next message; nothing once the connection is closed.
  static nlohmann::json hear(int fd) {
    FrameReader reader(kMostOfLab);
    for (;;) {
      if (auto message = reader.next()) return *message;
      char octet;  // and nothing of the message behind it
      if (::read(fd, &octet, 1) <= 0) return {};
      reader.append({&octet, 1});
    }
  }
  std::string refusal(const std::string& octets) {
    const int fd = connect();
    say(fd, octets);
    const nlohmann::json answer = hear(fd);
    EXPECT_TRUE(hear(fd).is_null());  // closed
    ::close(fd);
    return answer.value("type", "") == "error" ? answer.value("why", "") : answer.dump();
  }
  static std::string hello(const std::string& token) {
    return frame(to_json(Hello{.version = "1", .host = "a1", .token = token, .devices = {{.device = "rxe1"}}}));
  }

  void log(const std::string& line) {
    const std::lock_guard lock(mutex_);
    log_.push_back(line);
  }
  std::vector<std::string> logged() {
    const std::lock_guard lock(mutex_);
    return log_;
  }

  AgentLab lab_;
  std::mutex mutex_;
  std::vector<std::string> log_;
  std::string path_;
  std::optional<AgentServer> server_;
};

TEST_F(AgentServerTest, RefusesInOneSentence) {
  EXPECT_EQ(refusal(hello("wrong-token")), "wrong token for host 'a1' of lab 'x'");
  EXPECT_THAT(refusal("GET / HTTP/1.1\r\n\r\n"), HasSubstr("bytes; expected at most 65536"));
  EXPECT_EQ(refusal(std::string("\0\0\0\3abc", 7)), "a message is not a JSON object");
  EXPECT_EQ(refusal(frame(message("alive"))), "'alive'; expected 'hello' first");
  const std::string deep = R"({"type":)" + std::string(30'000, '[') + std::string(30'000, ']') + "}";
  const auto length = static_cast<char>(static_cast<unsigned char>(deep.size() >> 8));
  EXPECT_EQ(refusal(std::string("\0\0", 2) + length + static_cast<char>(deep.size() & 0xFF) + deep),
            "a message has more than 64 nested levels");
  EXPECT_EQ(refusal(frame({{"type", "hello"}, {"protocol", kProtocolVersion}})), "hello: 'version' is missing");
  EXPECT_THAT(refusal(""), HasSubstr("it did not identify itself within 300 ms"));
}

TEST_F(AgentServerTest, WelcomesAndKeepsTalking) {
  const int fd = connect();
  say(fd, hello("secret-1"));
  EXPECT_EQ(hear(fd)["type"], "welcome");
  EXPECT_EQ(hear(fd)["type"], "alive");
  // Who has joined and then says what is none is told so, and is gone.
  say(fd, std::string("\0\0\0\1[", 5));
  EXPECT_EQ(hear(fd)["why"], "a message is not a JSON object");
  EXPECT_TRUE(hear(fd).is_null());
  ::close(fd);
  EXPECT_FALSE(lab_.hosts->has_joined(1));
}

TEST_F(AgentServerTest, MoreAgentsThanItTakesAreTurnedAway) {
  const int first = connect();
  say(first, hello("secret-1"));
  EXPECT_EQ(hear(first)["type"], "welcome");
  EXPECT_THAT(refusal(hello("secret-1")), HasSubstr("1 agents are already connected"));
  ::close(first);
}

// The oldest of them goes, and agents come in.
TEST_F(AgentServerTest, SilentClientsKeepNoAgentOut) {
  std::vector<int> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(connect());
  const int agent = connect();
  say(agent, hello("secret-1"));
  EXPECT_EQ(hear(agent)["type"], "welcome");
  EXPECT_EQ(hear(silent[0])["why"], "it did not identify itself, and others are waiting");
  for (const int fd : silent) ::close(fd);
  ::close(agent);
}

// A wrong token makes the next one of that address wait, right or wrong, for a time that doubles.
class SlowGuesses : public AgentServerTest {
 protected:
  SlowGuesses() : AgentServerTest(std::chrono::hours(1)) {}
};

TEST_F(SlowGuesses, AreNotLookedAtBeforeTheirTime) {
  EXPECT_EQ(refusal(hello("guess-1")), "wrong token for host 'a1' of lab 'x'");
  std::vector<int> held;
  for (int i = 0; i < 3; ++i) {
    held.push_back(connect());
    say(held.back(), hello("guess-2"));
  }
  // As many as may wait do; more are turned away without a look at what they say.
  const int next = connect();
  EXPECT_THAT(hear(next)["why"], HasSubstr("too many connections from this address"));
  for (const int fd : held) {
    pollfd answer{fd, POLLIN, 0};
    EXPECT_EQ(::poll(&answer, 1, 0), 0);
    ::close(fd);
  }
  ::close(next);
}

TEST_F(AgentServerTest, ManyGuessesAreFewLines) {
  const auto began = std::chrono::steady_clock::now();
  int guesses = 0;
  for (; guesses < 8; ++guesses) refusal(hello("guess"));
  const auto most = std::chrono::ceil<std::chrono::seconds>(std::chrono::steady_clock::now() - began).count() + 1;
  const std::vector<std::string> lines = logged();
  ASSERT_FALSE(lines.empty());
  EXPECT_LE(static_cast<std::int64_t>(lines.size()), most);
  EXPECT_EQ(lines[0], "agents: refused a connection from the UNIX socket: wrong token for host 'a1' of lab 'x'");
}

TEST_F(AgentServerTest, RemovesItsSocket) {
  EXPECT_TRUE(std::filesystem::exists(path_));
  server_.reset();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace railyard::agents
