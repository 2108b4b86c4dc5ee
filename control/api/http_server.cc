// The only place that includes Beast's server side, which takes long to compile.
#include "control/api/http_server.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace railyard::api {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Protocol = asio::local::stream_protocol;
using Stream = beast::basic_stream<Protocol>;
using Error = beast::error_code;

constexpr std::size_t kMostHeaderOctets = 8192;

http::response<http::string_body> to_http(unsigned version, bool keep_alive, const Response& response) {
  http::response<http::string_body> out{static_cast<http::status>(response.status), version};
  out.set(http::field::server, "railyardd");
  out.set(http::field::content_type, "application/json");
  out.keep_alive(keep_alive);
  out.body() = response.body.dump() + "\n";
  out.prepare_payload();
  return out;
}

Response refused(int status, const std::string& why) { return {status, {{"error", why}}}; }

// Answers one request; never throws.
Response answer(const HttpServer::Handler& handler, const http::request<http::string_body>& request) {
  try {
    const std::string prefix = fmt::format("/v{}", kVersion);
    std::string target(request.target());
    if (!target.starts_with(prefix + "/"))
      return refused(404,
                     fmt::format("there is no {}; this daemon speaks version {}: {}/...", target, kVersion, prefix));
    Request r{std::string(request.method_string()), target.substr(prefix.size()), nullptr};
    if (!request.body().empty()) {
      r.body = nlohmann::json::parse(request.body(), nullptr, false);
      if (r.body.is_discarded()) return refused(400, "the body is no JSON");
    }
    return handler(r);
  } catch (const ApiError& error) {
    return refused(error.status(), error.what());
  } catch (const nlohmann::json::exception& error) {
    return refused(400, fmt::format("the body is not as expected: {}", error.what()));
  } catch (const std::exception& error) {
    return refused(500, error.what());
  }
}

}  // namespace

class HttpServer::State {
 public:
  State(const HttpServerConfig& config, Handler handler)
      : config_(config), handler_(std::move(handler)), acceptor_(context_) {
    listen();
    accept();
    thread_ = std::thread([this] { context_.run(); });
  }
  ~State() {
    context_.stop();
    thread_.join();
    ::unlink(config_.socket.c_str());
  }

 private:
  // One client. Owned by what it waits for.
  class Connection : public std::enable_shared_from_this<Connection> {
   public:
    Connection(State& server, Protocol::socket socket) : server_(server), stream_(std::move(socket)) {}
    ~Connection() { server_.left(); }

    void read() {
      parser_.emplace();
      parser_->body_limit(server_.config_.most_body_octets);
      parser_->header_limit(kMostHeaderOctets);
      stream_.expires_after(server_.config_.patience);
      http::async_read(stream_, buffer_, *parser_,
                       [self = shared_from_this()](Error error, std::size_t) { self->on_read(error); });
    }

   private:
    void on_read(Error error) {
      if (!error) {
        const auto request = parser_->release();
        return write(to_http(request.version(), request.keep_alive(), answer(server_.handler_, request)));
      }
      if (error == http::error::body_limit)
        return write(
            to_http(11, false,
                    refused(413, fmt::format("the body is longer than {} octets", server_.config_.most_body_octets))));
      static const auto& of_http = http::make_error_code(http::error::bad_method).category();
      // Anything else: it has gone, or has been silent for too long.
      if (error.category() == of_http && error != http::error::end_of_stream && error != http::error::partial_message)
        write(to_http(11, false, refused(400, fmt::format("this is no request: {}", error.message()))));
    }
    void write(http::response<http::string_body> response) {
      response_ = std::move(response);
      stream_.expires_after(server_.config_.patience);
      http::async_write(stream_, response_, [self = shared_from_this()](Error error, std::size_t) {
        if (!error && self->response_.keep_alive()) return self->read();
        Error ignored;
        self->stream_.socket().shutdown(Protocol::socket::shutdown_send, ignored);
      });
    }

    State& server_;
    Stream stream_;
    beast::flat_buffer buffer_{kMostHeaderOctets + (1 << 17)};
    std::optional<http::request_parser<http::string_body>> parser_;
    http::response<http::string_body> response_;
  };

  void listen() {
    constexpr std::size_t kMostPath = 107;  // sun_path, unix(7)
    if (config_.socket.size() > kMostPath)
      throw std::runtime_error(fmt::format("the API's socket path has {} characters, at most {} are possible: {}",
                                           config_.socket.size(), kMostPath, config_.socket));
    const mode_t before = ::umask(0177);
    Error error;
    acceptor_.open({}, error);
    if (!error) acceptor_.bind(Protocol::endpoint(config_.socket), error);
    ::umask(before);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) throw std::runtime_error(fmt::format("cannot listen at {}: {}", config_.socket, error.message()));
  }
  void accept() {
    if (clients_ >= config_.most_clients) {
      waiting_ = true;
      return;
    }
    acceptor_.async_accept([this](Error error, Protocol::socket socket) {
      if (!error) {
        ++clients_;
        std::make_shared<Connection>(*this, std::move(socket))->read();
      }
      if (error != asio::error::operation_aborted) accept();
    });
  }
  void left() {
    --clients_;
    if (waiting_ && !context_.stopped()) {
      waiting_ = false;
      accept();
    }
  }

  HttpServerConfig config_;
  Handler handler_;
  std::size_t clients_ = 0;
  bool waiting_ = false;
  asio::io_context context_{1};
  Protocol::acceptor acceptor_;
  std::thread thread_;
};

HttpServer::HttpServer(const HttpServerConfig& config, Handler handler)
    : state_(std::make_unique<State>(config, std::move(handler))) {}
HttpServer::~HttpServer() = default;

}  // namespace railyard::api
