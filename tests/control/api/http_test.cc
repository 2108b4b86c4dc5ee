// The server and the client of the API, and clients that do not behave.
#include <atomic>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/api/http_client.h"
#include "control/api/http_server.h"

namespace railyard::api {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A client by hand.
class Raw {
 public:
  explicit Raw(const std::string& path) : Raw() { connect(path); }
  Raw() : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {}
  void connect(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size());
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Raw() { ::close(fd_); }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;

  void say(const std::string& text) const {
    ASSERT_TRUE(connected_);
    ASSERT_EQ(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  // All that comes until the server hangs up.
  std::string rest() const {
    std::string out;
    char block[4096];
    for (ssize_t n; (n = ::read(fd_, block, sizeof block)) > 0;) out.append(block, static_cast<std::size_t>(n));
    return out;
  }

  // What comes first.
  std::string some() const {
    char block[4096];
    const ssize_t n = ::read(fd_, block, sizeof block);
    return {block, n > 0 ? static_cast<std::size_t>(n) : 0};
  }

 private:
  int fd_;
  bool connected_ = false;
};

class Http : public testing::Test {
 protected:
  Http() { start(); }
  ~Http() override {
    server.reset();
    std::filesystem::remove(path);
  }
  void start() {
    config.socket = path;
    server = std::make_unique<HttpServer>(config, [this](const Request& r) { return handle(r); });
  }
  Response handle(const Request& r) {
    ++handled;
    if (r.target == "/no") throw ApiError(409, "not now");
    if (r.target == "/bug") throw std::runtime_error("a bug");
    if (r.target == "/needs") return {200, r.body.at("key")};
    return {200, {{"method", r.method}, {"target", r.target}, {"body", r.body}}};
  }
  std::string error_of(const Request& r, int* status = nullptr) {
    try {
      ask(path, r);
    } catch (const ApiError& error) {
      if (status != nullptr) *status = error.status();
      return error.what();
    }
    return "(no error)";
  }

  std::string path = testing::TempDir() + "railyard-http." + std::to_string(::getpid()) + ".sock";
  HttpServerConfig config{.socket = {}, .most_clients = 4, .patience = std::chrono::milliseconds{300}};
  std::atomic<int> handled = 0;
  std::unique_ptr<HttpServer> server;
};

TEST_F(Http, ARequestAndItsAnswer) {
  const auto got = ask(path, {"POST", "/links?x=1", {{"link", "leaf1:3"}}});
  EXPECT_EQ(got["method"], "POST");
  EXPECT_EQ(got["target"], "/links?x=1");
  EXPECT_EQ(got["body"]["link"], "leaf1:3");
  EXPECT_TRUE(ask(path, {"GET", "/status", nullptr})["body"].is_null());
}

TEST_F(Http, OnlyTheOwnerMayAsk) {
  struct stat st {};
  ASSERT_EQ(::stat(path.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
}

TEST_F(Http, ErrorsAreSentencesWithTheirStatus) {
  int status = 0;
  EXPECT_EQ(error_of({"GET", "/no", nullptr}, &status), "not now");
  EXPECT_EQ(status, 409);
  EXPECT_EQ(error_of({"GET", "/bug", nullptr}, &status), "a bug");
  EXPECT_EQ(status, 500);
  EXPECT_THAT(error_of({"POST", "/needs", {{"other", 1}}}, &status), HasSubstr("key 'key' not found"));
  EXPECT_EQ(status, 400);
}

TEST_F(Http, ErrorsAreProblemDetails) {
  const Raw raw(path);
  raw.say("GET /v1/no HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string answer = raw.rest();
  EXPECT_THAT(answer, HasSubstr("Content-Type: application/problem+json\r\n"));
  EXPECT_EQ(nlohmann::json::parse(answer.substr(answer.find("\r\n\r\n"))),
            (nlohmann::json{{"type", "about:blank"}, {"title", "Conflict"}, {"status", 409}, {"detail", "not now"}}));
}

TEST_F(Http, ABodyThatIsTooLargeIsRefused) {
  int status = 0;
  EXPECT_EQ(error_of({"POST", "/x", std::string(70'000, 'a')}, &status), "the body is longer than 65536 bytes");
  EXPECT_EQ(status, 413);
  EXPECT_EQ(handled, 0);
}

TEST_F(Http, AnotherVersionIsToldWhichOneThisIs) {
  const Raw raw(path);
  raw.say("GET /v2/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(raw.rest(), HasSubstr("there is no /v2/status; this daemon speaks version 1: /v1/..."));
}

TEST_F(Http, WhatIsNoRequestOrNoJsonIsRefused) {
  const Raw noise(path);
  noise.say("\x16\x03\x01 what?\r\n\r\n");
  EXPECT_THAT(noise.rest(), StartsWith("HTTP/1.1 400"));
  const Raw no_json(path);
  no_json.say("POST /v1/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\n{\"a\":");
  EXPECT_THAT(no_json.rest(), HasSubstr("the body is not JSON"));
  const Raw long_header(path);
  long_header.say("GET /v1/" + std::string(9000, 'x') + " HTTP/1.1\r\n\r\n");
  EXPECT_THAT(long_header.rest(), StartsWith("HTTP/1.1 400"));
  EXPECT_EQ(handled, 0);
}

TEST_F(Http, ANulInATextIsRefused) {
  using namespace std::string_literals;
  for (const nlohmann::json& body :
       {nlohmann::json("a\0b"s), nlohmann::json{{"a\0b"s, 1}}, nlohmann::json{{"a", {1, "\0"s}}}}) {
    int status = 0;
    EXPECT_EQ(error_of({"POST", "/x", body}, &status), "the body has a NUL character in a text; expected none");
    EXPECT_EQ(status, 400);
  }
  EXPECT_EQ(handled, 0);
}

// Silent, half a request, gone in the middle: nobody else waits for them, and they are let go.
TEST_F(Http, ClientsThatDoNotBehaveDisturbNobody) {
  const Raw silent(path);
  const Raw half(path);
  half.say("POST /v1/x HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{");
  {
    const Raw gone(path);
    gone.say("GET /v1/x");
  }
  EXPECT_EQ(ask(path, {"GET", "/status", nullptr})["target"], "/status");
  EXPECT_EQ(silent.rest(), "");
  EXPECT_EQ(half.rest(), "");
}

TEST_F(Http, MoreClientsThanAllowedWaitTheirTurn) {
  std::vector<std::unique_ptr<Raw>> silent;
  for (int i = 0; i < 4; ++i) silent.push_back(std::make_unique<Raw>(path));
  EXPECT_EQ(ask(path, {"GET", "/x", nullptr})["target"], "/x") << "after the silent ones were let go";
}

// More than there is room for, each with half a request that grows by an octet now and then: others do not wait for the
// patience with them.
TEST_F(Http, HalfRequestsStarveNobody) {
  server.reset();
  config.patience = std::chrono::hours(1);
  config.grace = std::chrono::milliseconds(1);
  start();
  std::vector<std::unique_ptr<Raw>> half;
  for (int i = 0; i < 40; ++i) {
    half.push_back(std::make_unique<Raw>(path));
    half.back()->say("GET /v1/lab HTTP/1.1\r\nX: a");
  }
  EXPECT_EQ(ask(path, {"GET", "/x", nullptr})["target"], "/x");
}

// Clients that keep their connections and come again sooner than `grace`: one more gets in all the same, and all are
// served.
TEST_F(Http, ClientsThatPollStarveNobody) {
  server.reset();
  config.patience = std::chrono::hours(1);
  config.grace = std::chrono::hours(1);
  start();
  std::atomic<bool> stop = false;
  std::vector<std::thread> pollers;
  std::atomic<int> started = 0;
  for (std::size_t c = 0; c < config.most_clients; ++c)
    pollers.emplace_back([&] {
      while (!stop) {
        const Raw client(path);
        std::string got;
        bool first = true;
        do {
          client.say("GET /v1/poll HTTP/1.1\r\n\r\n");
          got = client.some();
          if (std::exchange(first, false)) ++started;
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        } while (!stop && !got.empty() && got.find("Connection: close") == got.npos);
      }
    });
  while (started < static_cast<int>(config.most_clients)) std::this_thread::yield();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(ask(path, {"GET", "/x", nullptr})["target"], "/x");
  stop = true;
  for (std::thread& t : pollers) t.join();
}

// Without room for another file, accept(2) fails at once each time.
TEST_F(Http, WaitsUntilThereAreFilesAgain) {
  server.reset();
  config.patience = std::chrono::hours(1);
  config.grace = std::chrono::hours(1);
  start();
  Raw waiting;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int lowest_free = ::dup(0);
  ::close(lowest_free);
  const rlimit none{static_cast<rlim_t>(lowest_free), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  waiting.connect(path);
  const auto cpu = [] {
    timespec t{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
  };
  const auto began = cpu();
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  const auto used = cpu() - began;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_LT(used, std::chrono::milliseconds(100)) << "it asks again and again";
  waiting.say("GET /v1/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(waiting.rest(), StartsWith("HTTP/1.1 200"));
}

TEST_F(Http, TextThatIsNotUtf8IsNotSent) {
  EXPECT_THAT(error_of({"POST", "/x", {{"file", "a\xff"}}}), HasSubstr("is not UTF-8"));
  EXPECT_EQ(handled, 0);
}

TEST_F(Http, ManyAtOnceAllGetTheirs) {
  std::vector<std::thread> clients;
  std::atomic<int> right = 0;
  for (int c = 0; c < 8; ++c)
    clients.emplace_back([&, c] {
      for (int i = 0; i < 20; ++i)
        right += ask(path, {"GET", "/" + std::to_string(c * 100 + i), nullptr})["target"] ==
                 "/" + std::to_string(c * 100 + i);
    });
  for (std::thread& t : clients) t.join();
  EXPECT_EQ(right, 160);
}

TEST_F(Http, ItsSocketGoesWithIt) {
  server.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_THROW(ask(path, {"GET", "/x", nullptr}), Unreachable);
}

TEST_F(Http, APathThatCannotBeIsRefused) {
  config.socket = path;  // in use
  EXPECT_THROW(HttpServer(config, {}), std::runtime_error);
  config.socket = "/" + std::string(108, 'x');
  EXPECT_THROW(HttpServer(config, {}), std::runtime_error);
}

// ---- Streams of events -----------------------------------------------------------------------------------------------

class Streams : public Http {
 protected:
  Streams() {
    server.reset();
    config.most_watchers = 3;
    server = std::make_unique<HttpServer>(config, [this](const Request& r) { return answer(r); });
  }
  Response answer(const Request& r) {
    if (r.target != "/events") return {200, {{"target", r.target}}};
    Response out{200, nullptr};
    out.events = EventStream{std::chrono::milliseconds(1), [this, n = 0]() mutable -> std::optional<std::string> {
                               if (ends) return std::nullopt;
                               return quiet ? std::string() : "data: " + std::to_string(++n) + padding + "\n\n";
                             }};
    return out;
  }
  static constexpr const char* kAsk = "GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n";

  std::atomic<bool> ends = false;
  std::atomic<bool> quiet = false;
  std::string padding;
};

TEST_F(Streams, EventsComeUntilTheyEnd) {
  const Raw raw(path);
  raw.say(kAsk);
  std::string got;
  while (got.find("data: 3\n\n") == got.npos) got += raw.some();
  EXPECT_THAT(got, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(got, HasSubstr("Content-Type: text/event-stream\r\n"));
  EXPECT_THAT(got, HasSubstr("\r\n\r\ndata: 1\n\ndata: 2\n\n"));
  ends = true;
  raw.rest();  // the server hangs up
}

// A silent stream is no client that has nothing to say: it is not sent away, and others get in beside it.
TEST_F(Streams, ThoseWhoWaitForEventsTakeNobodysPlace) {
  quiet = true;
  std::vector<std::unique_ptr<Raw>> watchers;
  for (int i = 0; i < 3; ++i) {
    watchers.push_back(std::make_unique<Raw>(path));
    watchers.back()->say(kAsk);
    EXPECT_THAT(watchers.back()->some(), HasSubstr("text/event-stream"));
  }
  std::vector<std::unique_ptr<Raw>> silent;
  for (int i = 0; i < 4; ++i) silent.push_back(std::make_unique<Raw>(path));
  EXPECT_EQ(ask(path, {"GET", "/x", nullptr})["target"], "/x");
  std::this_thread::sleep_for(config.patience * 2);
  quiet = false;
  for (const auto& w : watchers) EXPECT_THAT(w->some(), StartsWith("data: 1"));
}

TEST_F(Streams, ThereIsALimitOfThem) {
  std::vector<std::unique_ptr<Raw>> watchers;
  for (int i = 0; i < 3; ++i) {
    watchers.push_back(std::make_unique<Raw>(path));
    watchers.back()->say(kAsk);
    EXPECT_THAT(watchers.back()->some(), HasSubstr("text/event-stream"));
  }
  const Raw late(path);
  late.say(kAsk);
  EXPECT_THAT(late.some(), StartsWith("HTTP/1.1 503"));
  watchers.pop_back();
  // Room again, once the server has seen that it went.
  std::string got;
  for (int i = 0; i < 1000 && got.find(" 200 ") == got.npos; ++i) {
    const Raw next(path);
    next.say(kAsk);
    got = next.some();
  }
  EXPECT_THAT(got, HasSubstr("text/event-stream"));
}

// Who does not read gets fewer events, and the server keeps one of them.
TEST_F(Streams, ASlowReaderCostsNobodyAnything) {
  padding = std::string(100'000, '.');
  const Raw slow(path);
  slow.say(kAsk);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ask(path, {"GET", "/x", nullptr})["target"], "/x");
  std::this_thread::sleep_for(config.patience * 3);
  slow.rest();  // what was on its way; then the server has hung up
}

// ---- TCP, on this machine ------------------------------------------------------------------------------------------

class Loopback : public testing::Test {
 protected:
  // A port that was free a moment ago.
  static std::uint16_t free_port() {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
    ::close(fd);
    return ntohs(address.sin_port);
  }
  std::string get(const std::string& host) const {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    const std::string text = "GET /metrics HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n";
    EXPECT_EQ(::send(fd, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    std::string out;
    char block[4096];
    for (ssize_t n; (n = ::read(fd, block, sizeof block)) > 0;) out.append(block, static_cast<std::size_t>(n));
    ::close(fd);
    return out;
  }

  std::uint16_t port = free_port();
  HttpServer server{HttpServerConfig{.socket = {}, .tcp = wire::UdpEndpoint{wire::IpAddress{0x7F000001u}, port}},
                    [](const Request& r) { return Response{200, nullptr, "target " + r.target + "\n", "text/plain"}; }};
};

TEST_F(Loopback, ATextAndItsMediaType) {
  const std::string got = get("127.0.0.1:9420");
  EXPECT_THAT(got, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(got, HasSubstr("Content-Type: text/plain\r\n"));
  EXPECT_THAT(got, testing::EndsWith("\r\n\r\ntarget /metrics\n"));
}

// A page in a browser may have a name that its owner lets point at this machine (DNS rebinding).
TEST_F(Loopback, ANameInTheHostFieldIsRefused) {
  for (const char* host : {"127.0.0.1", "127.0.0.1:80", "localhost", "localhost:9420", "[::1]:9420", "[::1]"})
    EXPECT_THAT(get(host), StartsWith("HTTP/1.1 200 ")) << host;
  for (const char* host : {"example.org", "example.org:9420", "", "localhost.example.org", "127.0.0.1.example.org", ":9420"})
    EXPECT_THAT(get(host), StartsWith("HTTP/1.1 403 ")) << host;
}

TEST_F(Loopback, APortOfZeroIsAnyThatIsFree) {
  const HttpServer other(HttpServerConfig{.socket = {}, .tcp = wire::UdpEndpoint{wire::IpAddress{0x7F000001u}, 0}},
                         [](const Request&) { return Response{200, {{"other", true}}}; });
  EXPECT_NE(other.endpoint().port, 0);
  EXPECT_NE(other.endpoint().port, port);
  port = other.endpoint().port;
  EXPECT_THAT(get("127.0.0.1"), HasSubstr("{\"other\":true}"));
}

TEST_F(Loopback, WhoIsNotAdmittedIsNotHeard) {
  int heard = 0;
  const HttpServer guarded(
      HttpServerConfig{.socket = {},
                       .tcp = wire::UdpEndpoint{wire::IpAddress{0x7F000001u}, 0},
                       .admit = [](const Request& r) -> std::optional<Response> {
                         if (r.authorization.empty()) throw ApiError(401, "who?");
                         return std::nullopt;
                       }},
      [&](const Request&) { return ++heard, Response{200, {{"known", true}}}; });
  port = guarded.endpoint().port;
  const std::string got = get("127.0.0.1");
  EXPECT_THAT(got, StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(got, HasSubstr("WWW-Authenticate: Bearer\r\n"));
  EXPECT_THAT(get("127.0.0.1\r\nAuthorization: x"), HasSubstr("\"known\":true"));
  EXPECT_EQ(heard, 1);
}

TEST_F(Loopback, OtherAddressesAndPortsInUseAreRefused) {
  const auto at = [](std::uint32_t address, std::uint16_t n) {
    return HttpServerConfig{.socket = {}, .tcp = wire::UdpEndpoint{wire::IpAddress{address}, n}};
  };
  EXPECT_THROW(HttpServer(at(0x0A000001, port), {}), std::invalid_argument);
  EXPECT_THROW(HttpServer(at(0, port), {}), std::invalid_argument);
  EXPECT_THROW(HttpServer(at(0x7F000001, port), {}), std::runtime_error);
}

}  // namespace
}  // namespace railyard::api
