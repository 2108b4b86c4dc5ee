// The socket that agents come to: what a client does wrong is answered by one sentence, and costs nobody else.
#include "control/agents/agent_server.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/control/agents/agent_lab.h"

namespace railyard::agents {
namespace {

using testing::HasSubstr;

class AgentServerTest : public testing::Test {
 protected:
  AgentServerTest() : lab_("{ name: c, size: 12000B, ranks: [a1, a2] }", 2) {
    path_ = testing::TempDir() + fmt::format("agents-{}.sock", ::getpid());
    server_.emplace(AgentServerConfig{.socket = path_,
                                      .most_clients = 3,
                                      .greeting = std::chrono::milliseconds(300),
                                      .tick = std::chrono::milliseconds(20)},
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

  AgentLab lab_;
  std::string path_;
  std::optional<AgentServer> server_;
};

TEST_F(AgentServerTest, RefusesInOneSentence) {
  EXPECT_EQ(refusal(hello("wrong-token")), "wrong token for host 'a1' of lab 'x'");
  EXPECT_THAT(refusal("GET / HTTP/1.1\r\n\r\n"), HasSubstr("octets was announced; expected at most 65536"));
  EXPECT_EQ(refusal(std::string("\0\0\0\3abc", 7)), "a message is no JSON object");
  EXPECT_EQ(refusal(frame(message("alive"))), "'alive'; expected 'hello' first");
  EXPECT_EQ(refusal(frame({{"type", "hello"}, {"protocol", kProtocolVersion}})), "hello: 'version' is missing");
  EXPECT_THAT(refusal(""), HasSubstr("it has not said who it is within 300 ms"));
}

TEST_F(AgentServerTest, WelcomesAndKeepsTalking) {
  const int fd = connect();
  say(fd, hello("secret-1"));
  EXPECT_EQ(hear(fd)["type"], "welcome");
  EXPECT_EQ(hear(fd)["type"], "alive");
  // Who has joined and then says what is none is told so, and is gone.
  say(fd, std::string("\0\0\0\1[", 5));
  EXPECT_EQ(hear(fd)["why"], "a message is no JSON object");
  EXPECT_TRUE(hear(fd).is_null());
  ::close(fd);
  EXPECT_FALSE(lab_.hosts->has_joined(1));
}

TEST_F(AgentServerTest, MoreThanItTakesAreTurnedAway) {
  const std::array fds{connect(), connect(), connect(), connect()};
  EXPECT_THAT(hear(fds[3]).value("why", ""), HasSubstr("3 agents are connected already"));
  for (const int fd : fds) ::close(fd);
}

TEST_F(AgentServerTest, RemovesItsSocket) {
  EXPECT_TRUE(std::filesystem::exists(path_));
  server_.reset();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace railyard::agents
