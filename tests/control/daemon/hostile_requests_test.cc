// Requests of any octets whatever, to a lab that runs: each is answered by JSON, and the lab goes on.
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/api/http_client.h"
#include "control/api/http_server.h"
#include "control/daemon/routes.h"
#include "tests/control/daemon/running_lab_fixture.h"

namespace railyard::daemon {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

class HostileRequests : public RunningLabFixture {
 protected:
  HostileRequests() : RunningLabFixture(kTwoHosts) {
    // Files that are asked for by a relative name end here.
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(folder_);
    socket_ = (folder_ / "api.sock").string();
    server_ =
        std::make_unique<api::HttpServer>(api::HttpServerConfig{.socket = socket_}, [this](const api::Request& r) {
          return route(
              *lab_, [] {}, r);
        });
  }
  ~HostileRequests() override {
    server_.reset();
    std::filesystem::current_path(before_);
  }

  // All that the server answers until it hangs up.
  std::string answer(const std::string& octets) const {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, socket_.c_str(), socket_.size());
    EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0)
        << "nobody listens any more";
    static_cast<void>(::send(fd, octets.data(), octets.size(), MSG_NOSIGNAL));
    ::shutdown(fd, SHUT_WR);
    std::string out;
    char block[4096];
    for (ssize_t n; (n = ::read(fd, block, sizeof block)) > 0;) out.append(block, static_cast<std::size_t>(n));
    ::close(fd);
    return out;
  }

  // The body of each answer is JSON.
  static void expect_json(const std::string& answer) {
    if (answer.empty()) return;  // what was no request to its end
    ASSERT_THAT(answer, StartsWith("HTTP/1."));
    const std::size_t head = answer.find("\r\n\r\n");
    ASSERT_NE(head, answer.npos);
    EXPECT_FALSE(json::parse(answer.substr(head + 4), nullptr, false).is_discarded()) << answer;
  }
  static std::string request(const std::string& method, const std::string& target, const std::string& body,
                             const std::string& header = "") {
    return fmt::format("{} {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{}Content-Length: {}\r\n\r\n{}", method,
                       target, header, body.size(), body);
  }

  std::filesystem::path before_;
  std::string socket_;
  std::unique_ptr<api::HttpServer> server_;
};

// What is drawn: octets, words of the API, JSON of them.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  std::string octets(std::size_t most) {
    std::string out(below(most + 1), ' ');
    for (char& c : out) c = static_cast<char>(below(256));
    return out;
  }
  std::string one_of(const std::vector<std::string>& words) { return words[below(words.size())]; }

  std::string method() {
    return one_in(20) ? octets(8) : one_of({"GET", "POST", "DELETE", "PUT", "HEAD", "get", "POSTPOST"});
  }
  std::string target() {
    std::string out = one_in(30) ? octets(40) : one_in(20) ? "/v9" : "/v1";
    out += one_of(
        {"/lab",       "/status",    "/audit",   "/pauses",   "/collectives", "/flows",   "/report",      "/agents/",
         "/series",    "/int",       "/hosts/",  "/restart",  "/again",       "/links",   "/attachments", "/hold",
         "/layout",    "/history",   "/snapshot", "/happenings", "/schema",  "/web",      "/openapi.json",
         "/captures",  "/captures/", "/replays", "/replays/", "/faults",      "/faults/", "/faults/log",  "/settings",
         "/settings/", "/",          "//"});
    for (std::size_t i = below(3); i > 0; --i)
      out += one_of({octets(20), "h1", "leaf1", "qos", "/", "?x=", "%ff%00", "..", "\xff\xfe", "\xed\xa0\x80"});
    // These would not arrive as a target.
    std::erase_if(out, [](char c) { return c == ' ' || c == '\r' || c == '\n'; });
    return out;
  }
  std::string value(int depth = 0) {
    switch (below(depth < 3 ? 12 : 9)) {
      case 0:
        return "null";
      case 1:
        return "true";
      case 2:
        return "-1";
      case 3:
        return "1e999";
      case 4:
        return "18446744073709551616";
      case 5:
        return "\"" + octets(12) + "\"";
      case 6:
        return one_of({R"("\ud800")", R"("\u0000")", "\"\xff\"", R"("")", R"("h1")", R"("leaf1:1")", R"("1ms")"});
      case 7:
        return fmt::format("\"{}\"", std::string(below(300), 'x'));
      case 8:
        return one_of({R"("on: leaf1:1, loss: 1%, for: 1ms")", R"("on: h1, \u0007")", R"("run.seed=1")", "\"both\""});
      case 9:
        return fmt::format("[{},{}]", value(depth + 1), value(depth + 1));
      case 10:
        return object(depth + 1);
      default:
        return std::string(below(200), '[');
    }
  }
  std::string object(int depth = 0) {
    std::string out = "{";
    for (std::size_t i = below(4); i > 0; --i)
      out +=
          fmt::format("\"{}\":{}{}",
                      one_of({"file", "every", "what",      "host",  "name",    "link",      "up",   "to",   "attach",
                              "on",   "port",  "direction", "count", "snaplen", "buffer",    "at",   "rate", "loop",
                              "asap", "fault", "set",       "\xff",  "tap",     "namespace", "memif"}),
                      value(depth + 1), i > 1 ? "," : "");
    return out + "}";
  }
  std::string body() {
    switch (below(5)) {
      case 0:
        return "";
      case 1:
        return octets(200);
      case 2:
        return value();
      default:
        return object();
    }
  }

 private:
  std::mt19937_64 random_;
};

TEST_F(HostileRequests, OctetsThatAreNotUtf8ComeBackReplaced) {
  for (const char* target : {"/v1/settings/qos\xff", "/v1/hosts/\xff", "/v1/faults/\xff", "/v1/agents/\xff", "/v1/\xff",
                             "/\xff", "/v1/replays/\xff", "/v1/captures/\xff"}) {
    const std::string got = answer(request("GET", target, ""));
    EXPECT_THAT(got, AnyOf(StartsWith("HTTP/1.1 404"), StartsWith("HTTP/1.1 405"), StartsWith("HTTP/1.1 409")));
    EXPECT_THAT(got, HasSubstr("\xEF\xBF\xBD"));
    expect_json(got);
  }
  expect_json(answer(request("DELETE", "/v1/faults/\xff", "")));
}

TEST_F(HostileRequests, DeepBodiesAreRefused) {
  for (const char* target : {"/v1/attachments", "/v1/settings", "/v1/faults"}) {
    const std::string body = R"({"to":"h1","attach":)" + std::string(30'000, '[') + std::string(30'000, ']') + "}";
    EXPECT_THAT(answer(request("POST", target, body)), HasSubstr("the body has more than 64 nested levels"));
  }
}

TEST_F(HostileRequests, AThousandsOfRandomOnesEndNothing) {
  constexpr std::uint64_t kSeed = 27;
  Draw draw(kSeed);
  for (int i = 0; i < 4000; ++i) {
    std::string text = request(draw.method(), draw.target(), draw.body(),
                               draw.one_in(10) ? fmt::format("X-{}: {}\r\n", i, draw.octets(30)) : std::string());
    if (draw.one_in(10)) text.resize(draw.below(text.size() + 1));
    if (draw.one_in(10)) text[draw.below(text.size() + 1) % std::max<std::size_t>(text.size(), 1)] = '\xff';
    SCOPED_TRACE(testing::PrintToString(text));
    expect_json(answer(text));
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(api::ask(socket_, {"GET", "/lab", nullptr})["name"], "x");
  // Somebody may have paused it.
  if (api::ask(socket_, {"GET", "/lab", nullptr})["held"].get<bool>())
    api::ask(socket_, {"POST", "/hold", {{"on", false}}});
  wait_for_packets();
}

}  // namespace
}  // namespace railyard::daemon
