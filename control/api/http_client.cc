#include "control/api/http_client.h"

#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

namespace railyard::api {

namespace beast = boost::beast;
namespace http = beast::http;

nlohmann::json ask(const std::string& socket, const Request& request, std::chrono::milliseconds patience) {
  using Protocol = boost::asio::local::stream_protocol;
  boost::asio::io_context context;
  beast::basic_stream<Protocol> stream(context);
  stream.expires_after(patience);
  beast::error_code error;
  // The stream's deadline works for asynchronous calls only; each is run to its end here.
  const auto finish = [&] {
    context.restart();
    context.run();
  };

  stream.socket().open(Protocol(), error);
  if (!error) stream.socket().connect(Protocol::endpoint(socket), error);
  if (error) throw Unreachable(fmt::format("cannot reach {}: {}", socket, error.message()));

  http::request<http::string_body> out{http::string_to_verb(request.method),
                                       fmt::format("/v{}{}", kVersion, request.target), 11};
  out.set(http::field::host, "railyard");
  if (!request.body.is_null()) {
    out.set(http::field::content_type, "application/json");
    try {
      out.body() = request.body.dump();
    } catch (const nlohmann::json::type_error&) {
      // Replaced octets would name another file or host.
      throw ApiError(400, "the request holds text that is not UTF-8; the API takes UTF-8 only");
    }
  }
  out.prepare_payload();
  const auto note = [&error](beast::error_code e, std::size_t) { error = e; };
  http::async_write(stream, out, note);
  finish();
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> in;
  in.body_limit(std::uint64_t{64} << 20);
  if (!error) {
    http::async_read(stream, buffer, in, note);
    finish();
  }
  if (error == beast::error::timeout)
    throw Unreachable(fmt::format("{} does not answer within {} s", socket, patience.count() / 1000));
  if (error) throw Unreachable(fmt::format("{} broke off: {}", socket, error.message()));

  nlohmann::json body = nlohmann::json::parse(in.get().body(), nullptr, false);
  if (body.is_discarded()) throw Unreachable(fmt::format("{} answers with something that is not JSON", socket));
  const int status = static_cast<int>(in.get().result_int());
  if (status >= 400) throw ApiError(status, body.value("error", "the daemon refuses and gives no reason"));
  return body;
}

}  // namespace railyard::api
