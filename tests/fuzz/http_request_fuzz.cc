// What a client sends to a daemon over TCP or over its socket, octet by octet, without sockets: HTTP, who may ask, the
// target with its query, the body as JSON. Each request has an answer that is HTTP again, with JSON or a file in it. Over
// TCP nothing is handed on but with the token, a session or a code that the client was given, and never with a foreign
// Host or Origin.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "control/api/http_exchange.h"
#include "control/api/query.h"
#include "control/base/json_text.h"
#include "control/daemon/web_access.h"
#include "tests/fuzz/expect.h"

using namespace railyard;
using namespace railyard::api;

namespace {

constexpr std::string_view kToken = "T0k3n";
constexpr std::size_t kMostBody = 4096;
constexpr std::array<daemon::PageFile, 2> kFiles{
    daemon::PageFile{"/index.html", "text/html", "<!doctype html><title>Lab</title>"},
    daemon::PageFile{"/assets/a.js", "text/javascript", "0;"}};

bool is_known(unsigned status) {
  constexpr std::array kStatuses{200u, 202u, 400u, 401u, 403u, 404u, 405u, 409u, 413u, 500u};
  for (const unsigned s : kStatuses)
    if (s == status) return true;
  return false;
}

class Server {
 public:
  Server(bool over_tcp, std::string_view octets)
      : over_tcp_(over_tcp),
        octets_(octets),
        web_("127.0.0.1:8421", std::string(kToken), kFiles, [this](const Request& r) { return handle(r); }) {}

  // As many requests as a connection brings, handed over in two parts.
  void run(std::size_t cut) {
    beast::flat_buffer buffer;
    std::size_t given = 0;
    for (int i = 0; i < 8; ++i) {
      HttpParser parser;
      parser.eager(true);
      set_limits(parser, kMostBody);
      beast::error_code error;
      while (!parser.is_done()) {
        const std::size_t used = buffer.size() > 0 ? parser.put(buffer.data(), error) : 0;
        buffer.consume(used);
        if (error && error != http::error::need_more) break;
        if (parser.is_done() || (used > 0 && buffer.size() > 0 && error != http::error::need_more)) continue;
        if (given == octets_.size()) return;  // half a request
        const std::size_t n = given == 0 && cut > 0 && cut < octets_.size() ? cut : octets_.size() - given;
        boost::asio::buffer_copy(buffer.prepare(n), boost::asio::buffer(octets_.data() + given, n));
        buffer.commit(n);
        given += n;
        error = {};
      }
      if (error && !parser.is_done()) {
        if (const auto said = answer_to(error, kMostBody)) check(to_http(11, false, *said));
        return;
      }
      const HttpRequest request = parser.release();
      const Exchange exchange{over_tcp_, false, admit_, handler_};
      check(to_http(request.version(), request.keep_alive(), answer(exchange, request)));
      if (!request.keep_alive()) return;
    }
  }

 private:
  Response handle(const Request& r) {
    const Target target = parse_target(r.target);
    if (over_tcp_) {
      FUZZ_EXPECT(octets_.find(kToken) != octets_.npos || octets_.find("railyard-8421=") != octets_.npos);
      FUZZ_EXPECT(r.origin.empty() || r.origin == "http://127.0.0.1:8421" || r.origin == "http://localhost:8421");
    }
    // What is read is written as the same again.
    if (!r.body.is_null()) FUZZ_EXPECT(nlohmann::json::parse(json_text(r.body)) == r.body);
    return {200, {{"path", target.path}, {"query", target.query}, {"body", r.body}}};
  }

  void check(const HttpResponse& response) const {
    FUZZ_EXPECT(is_known(response.result_int()));
    FUZZ_EXPECT(response.result_int() != 500);
    const std::string type(response[http::field::content_type]);
    if (type.ends_with("json")) FUZZ_EXPECT(!nlohmann::json::parse(response.body(), nullptr, false).is_discarded());
    for (const auto& field : response) {
      const std::string_view value(field.value().data(), field.value().size());
      FUZZ_EXPECT(value.find('\r') == value.npos && value.find('\n') == value.npos);
    }
    FUZZ_EXPECT(response.body().find(kToken) == std::string::npos || octets_.find(kToken) != octets_.npos);
  }

  bool over_tcp_;
  std::string_view octets_;
  daemon::WebAccess web_;
  std::function<std::optional<Response>(const Request&)> admit_ = [this](const Request& r) -> std::optional<Response> {
    return over_tcp_ ? web_.admit(r) : std::nullopt;
  };
  std::function<Response(const Request&)> handler_ = [this](const Request& r) {
    return over_tcp_ ? web_.handle(r) : handle(r);
  };
};

}  // namespace

// The first octet: over TCP or not, and where the octets are cut.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  Server server((data[0] & 1) != 0, {reinterpret_cast<const char*>(data) + 1, size - 1});
  server.run(data[0] >> 1);
  return 0;
}
