// One request of HTTP/1.1 and its answer, as octets: all of the server that needs no socket. Includes Beast's parsers, which
// take long to compile.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include <boost/beast/core/error.hpp>
#include <boost/beast/http.hpp>

#include "control/api/message.h"

namespace railyard::api {

namespace beast = boost::beast;
namespace http = beast::http;
using HttpRequest = http::request<http::string_body>;
using HttpResponse = http::response<http::string_body>;
using HttpParser = http::request_parser<http::string_body>;

inline constexpr std::size_t kMostHeaderOctets = 8192;
void set_limits(HttpParser& parser, std::size_t most_body_octets);

// Who answers. As of HttpServerConfig.
struct Exchange {
  bool over_tcp = false;
  bool over_tls = false;
  const std::function<std::optional<Response>(const Request&)>& admit;
  const std::function<Response(const Request&)>& handler;
};
// Answers one request; never throws.
Response answer(const Exchange& exchange, const HttpRequest& request);

// What a client gets whose request could not be read; nothing: it has gone, or was silent for too long.
std::optional<Response> answer_to(const beast::error_code& error, std::size_t most_body_octets);

// All but the body, of a response or of the head of a stream.
template <class Message>
void set_fields(Message& out, const Response& response, std::string_view media_type) {
  out.set(http::field::server, "railyardd");
  out.set(http::field::content_type, std::string(media_type));
  out.set("X-Content-Type-Options", "nosniff");
  bool says_caching = false;
  for (const auto& [name, value] : response.fields) {
    out.set(name, value);
    says_caching = says_caching || name == "Cache-Control";
  }
  if (!says_caching) out.set(http::field::cache_control, "no-store");
}
// `version`: 10 or 11.
HttpResponse to_http(unsigned version, bool keep_alive, Response response);

}  // namespace railyard::api
