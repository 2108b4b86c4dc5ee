// Many clients at once over TCP, and clients that drip, stop half-way or go: everybody who asks properly is answered, nothing
// is left open, and nobody can hold a place.
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/api/http_server.h"

namespace railyard::api {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

class Client {
 public:
  explicit Client(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
  }
  ~Client() { ::close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const noexcept { return connected_; }
  bool say(std::string_view text) const {
    return ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  void end_of_sending() const { ::shutdown(fd_, SHUT_WR); }
  // All that comes until the server hangs up.
  std::string rest() const {
    std::string out;
    char block[4096];
    for (ssize_t n; (n = ::read(fd_, block, sizeof block)) > 0;) out.append(block, static_cast<std::size_t>(n));
    return out;
  }

 private:
  int fd_;
  bool connected_ = false;
};

std::size_t open_files() {
  std::size_t n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++n;
  return n;
}

constexpr std::string_view kRequest = "GET /v1/lab HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";

class Crowd : public testing::Test {
 protected:
  void start() {
    config.tcp = wire::UdpEndpoint::parse("127.0.0.1:1");
    config.tcp->port = 0;
    server = std::make_unique<HttpServer>(config, [](const Request&) { return Response{200, {{"lab", "x"}}}; });
    port = server->endpoint().port;
  }
  std::string asked() const {
    const Client client(port);
    return client.say(kRequest) ? client.rest() : "(not sent)";
  }
  // The server notices that clients have gone.
  void wait_for_files(std::size_t most) const {
    while (open_files() > most) std::this_thread::sleep_for(5ms);
  }

  HttpServerConfig config{.socket = {}, .most_clients = 64, .patience = 500ms, .grace = 50ms};
  std::unique_ptr<HttpServer> server;
  std::uint16_t port = 0;
};

TEST_F(Crowd, FiveHundredAtOnceAreAllAnsweredAndNothingIsLeftOpen) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur < 1200) {
    files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  start();
  asked();
  const std::size_t before = open_files();
  {
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < 500; ++i) {
      clients.push_back(std::make_unique<Client>(port));
      ASSERT_TRUE(clients.back()->connected()) << i;
      ASSERT_TRUE(clients.back()->say(kRequest)) << i;
    }
    int answered = 0;
    for (const auto& client : clients) {
      const std::string got = client->rest();
      // One that was too slow for those who waited is sent away: a clear end, which a client may repeat.
      if (!got.empty()) EXPECT_THAT(got, StartsWith("HTTP/1.1 200"));
      answered += got.empty() ? 0 : 1;
    }
    EXPECT_EQ(answered, 500);
  }
  wait_for_files(before);
  EXPECT_THAT(asked(), StartsWith("HTTP/1.1 200"));
}

TEST_F(Crowd, FiveHundredThatSayNothingAreSentAwayAndNothingIsLeftOpen) {
  start();
  asked();
  const std::size_t before = open_files();
  {
    std::vector<std::unique_ptr<Client>> silent;
    for (int i = 0; i < 500; ++i) silent.push_back(std::make_unique<Client>(port));
    EXPECT_THAT(asked(), StartsWith("HTTP/1.1 200")) << "who asks gets in";
    for (const auto& client : silent) EXPECT_EQ(client->rest(), "");
  }
  wait_for_files(before);
}

TEST_F(Crowd, ADripOfOctetsDoesNotBuyTime) {
  config.patience = 200ms;
  start();
  const Client slow(port);
  // Octets come all the time, and the request never ends: its time counts from its first one.
  std::thread drip([&] {
    if (!slow.say("GET /v1/lab HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")) return;
    while (slow.say("a")) std::this_thread::sleep_for(20ms);
  });
  EXPECT_EQ(slow.rest(), "");
  drip.join();
  EXPECT_THAT(asked(), StartsWith("HTTP/1.1 200"));
}

TEST_F(Crowd, AConnectionThatIsHalfClosedIsAnswered) {
  start();
  const Client whole(port);
  ASSERT_TRUE(whole.say(kRequest));
  whole.end_of_sending();
  EXPECT_THAT(whole.rest(), StartsWith("HTTP/1.1 200"));
  const Client half(port);
  ASSERT_TRUE(half.say(kRequest.substr(0, 30)));
  half.end_of_sending();
  EXPECT_EQ(half.rest(), "") << "what is no request to its end has no answer";
  EXPECT_THAT(asked(), StartsWith("HTTP/1.1 200"));
}

TEST_F(Crowd, AHeaderThatIsTooLongIsRefused) {
  start();
  const Client client(port);
  ASSERT_TRUE(client.say("GET /v1/lab HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + std::string(9000, 'a')));
  const std::string got = client.rest();
  EXPECT_THAT(got, StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(got, HasSubstr("not an HTTP request: header limit exceeded"));
}

}  // namespace
}  // namespace railyard::api
