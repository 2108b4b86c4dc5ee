#include "control/api/http_client.h"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>

namespace railyard::api {

namespace beast = boost::beast;
namespace http = beast::http;

namespace {

using Protocol = boost::asio::local::stream_protocol;
using Parser = http::response_parser<http::string_body>;

http::request<http::string_body> to_http(const Request& request) {
  http::request<http::string_body> out{http::string_to_verb(request.method),
                                       fmt::format("/v{}{}", kVersion, request.target), 11};
  out.set(http::field::host, "railyard");
  if (!request.body.is_null()) {
    out.set(http::field::content_type, "application/json");
    try {
      out.body() = request.body.dump();
    } catch (const nlohmann::json::type_error&) {
      // Replaced octets would name another file or host.
      throw ApiError(400, "the request is not UTF-8; expected UTF-8");
    }
  }
  out.prepare_payload();
  return out;
}

// Of a socket that blocks. A full backlog would keep connect() for ever (unix(7)).
void connect(Protocol::socket& to, const std::string& path, std::chrono::milliseconds patience,
             beast::error_code& error) {
  to.open(Protocol(), error);
  if (error) return;
  const timeval limit{.tv_sec = patience.count() / 1000, .tv_usec = patience.count() % 1000 * 1000};
  ::setsockopt(to.native_handle(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  to.connect(Protocol::endpoint(path), error);
  if (error == boost::asio::error::try_again || error == boost::asio::error::would_block)
    error = beast::error::timeout;
}

// Whether it was sent away before anything was answered.
bool exchange(const std::string& path, const http::request<http::string_body>& out, Parser& in,
              std::chrono::milliseconds patience, beast::error_code& error) {
  boost::asio::io_context context;
  beast::basic_stream<Protocol> stream(context);
  connect(stream.socket(), path, patience, error);
  if (error == beast::error::timeout) return false;
  if (error) throw Unreachable(fmt::format("cannot reach {}: {}", path, error.message()));
  stream.expires_after(patience);
  // The stream's deadline works for asynchronous calls only; each is run to its end here.
  const auto finish = [&] {
    context.restart();
    context.run();
  };
  std::size_t received = 0;
  http::async_write(stream, out, [&](beast::error_code e, std::size_t) { error = e; });
  finish();
  beast::flat_buffer buffer;
  if (!error) {
    http::async_read(stream, buffer, in, [&](beast::error_code e, std::size_t n) {
      error = e;
      received = n;
    });
    finish();
  }
  return error && error != beast::error::timeout && received == 0;
}

// The body of the answer, and its status. Throws Unreachable.
std::pair<std::string, int> body_of(const std::string& socket, const Request& request, std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + patience;
  const http::request<http::string_body> out = to_http(request);
  beast::error_code error;
  std::optional<Parser> in;
  for (bool again = true; again;) {
    if (in) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    in.emplace();
    in->body_limit(std::uint64_t{64} << 20);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    error = {};
    again = exchange(socket, out, *in, std::max(left, std::chrono::milliseconds(1)), error) &&
            request.method == "GET" && Clock::now() < until;
  }
  if (error == beast::error::timeout)
    throw Unreachable(fmt::format("{} did not answer within {} s", socket, patience.count() / 1000), true);
  if (error) throw Unreachable(fmt::format("{} broke off: {}", socket, error.message()));
  const int status = static_cast<int>(in->get().result_int());
  return {std::move(in->get().body()), status};
}

}  // namespace

nlohmann::json ask(const std::string& socket, const Request& request, std::chrono::milliseconds patience) {
  const auto [text, status] = body_of(socket, request, patience);
  nlohmann::json body = nlohmann::json::parse(text, nullptr, false);
  if (body.is_discarded()) throw Unreachable(fmt::format("{} did not answer with JSON", socket));
  if (status >= 400) throw ApiError(status, body.value("detail", "the daemon refused without a reason"));
  return body;
}

std::string ask_for_file(const std::string& socket, const Request& request, std::chrono::milliseconds patience) {
  auto [text, status] = body_of(socket, request, patience);
  if (status < 400) return std::move(text);
  const nlohmann::json body = nlohmann::json::parse(text, nullptr, false);
  throw ApiError(status, body.is_object() ? body.value("detail", "") : std::string("the daemon refused without a reason"));
}

}  // namespace railyard::api
