// The only place that includes Beast's server side, which takes long to compile.
#include "control/api/http_server.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>
#include <openssl/err.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/api/http_exchange.h"

namespace railyard::api {
namespace {

namespace asio = boost::asio;
using Protocol = asio::generic::stream_protocol;
using Socket = Protocol::socket;
using Acceptor = asio::basic_socket_acceptor<Protocol>;
using Stream = beast::basic_stream<Protocol>;
using TlsStream = asio::ssl::stream<Stream>;
using Error = beast::error_code;

// What OpenSSL says; Asio's own text is "asio.ssl error".
std::string why(const Error& error) {
  const char* const reason = ::ERR_reason_error_string(static_cast<unsigned long>(error.value()));
  return reason != nullptr ? reason : error.message();
}

// Throws if the file cannot be read at all.
void check_readable(const char* option, const std::string& file) {
  if (::access(file.c_str(), R_OK) != 0)
    throw std::invalid_argument(fmt::format("{}: cannot read {}: {}", option, file, std::strerror(errno)));
}

// Neither asks anybody for a passphrase, nor speaks what is older than TLS 1.2 (RFC 8996).
asio::ssl::context tls_context(const TlsFiles& files) {
  asio::ssl::context context(asio::ssl::context::tls_server);
  context.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv2 | asio::ssl::context::no_sslv3 |
                      asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1);
  context.set_password_callback([](std::size_t, asio::ssl::context::password_purpose) { return std::string(); });
  check_readable("--tls-cert", files.certificate);
  check_readable("--tls-key", files.key);
  Error error;
  context.use_certificate_chain_file(files.certificate, error);
  if (error)
    throw std::invalid_argument(
        fmt::format("--tls-cert: cannot use {}: {}; expected a certificate in PEM", files.certificate, why(error)));
  context.use_private_key_file(files.key, asio::ssl::context::pem, error);
  if (error)
    throw std::invalid_argument(fmt::format("--tls-key: cannot use {}: {}; expected the key of {}, in PEM, without a passphrase",
                                            files.key, why(error), files.certificate));
  return context;
}

}  // namespace

class HttpServer::State {
 public:
  State(const HttpServerConfig& config, Handler handler)
      : config_(config), handler_(std::move(handler)), acceptor_(context_), again_(context_) {
    if (config_.tls) tls_.emplace(tls_context(*config_.tls));
    listen();
    accept();
    thread_ = std::thread([this] { run(); });
  }
  ~State() {
    ends_ = true;
    context_.stop();
    thread_.join();
    if (!config_.tcp) ::unlink(config_.socket.c_str());
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  wire::UdpEndpoint endpoint() const { return *config_.tcp; }

 private:
  using Clock = std::chrono::steady_clock;

  // One client. Owned by what it waits for.
  class Connection : public std::enable_shared_from_this<Connection> {
   public:
    Connection(State& server, Socket socket) : server_(server) {
      if (server.tls_)
        tls_.emplace(Stream(std::move(socket)), *server.tls_);
      else
        plain_.emplace(std::move(socket));
    }
    ~Connection() {
      if (watches_) --server_.watchers_;
      if (joined_) server_.left(place_);
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void join() {
      place_ = server_.clients_.insert(server_.clients_.end(), this);
      joined_ = true;
      if (!tls_) return read();
      stream().expires_after(server_.config_.patience);
      tls_->async_handshake(asio::ssl::stream_base::server, [self = shared_from_this()](Error error) {
        if (!error) self->read();
      });
    }
    // Since when the client has kept us waiting: for its request, or until it takes the answer. Nothing: it waits for us.
    std::optional<Clock::time_point> waiting_since() const noexcept { return since_; }
    void hang_up() {
      Error ignored;
      stream().socket().close(ignored);
    }

   private:
    // What has the timer and the socket; and what octets go through, as `use` takes it.
    Stream& stream() noexcept { return tls_ ? tls_->next_layer() : *plain_; }
    template <class Use>
    void through(Use&& use) {
      if (tls_)
        use(*tls_);
      else
        use(*plain_);
    }

    void read() {
      parser_.emplace();
      set_limits(*parser_, server_.config_.most_body_octets);
      since_ = Clock::now();
      stream().expires_after(server_.config_.patience);
      through([this](auto& s) {
        http::async_read(s, buffer_, *parser_,
                         [self = shared_from_this()](Error error, std::size_t) { self->on_read(error); });
      });
    }
    void on_read(Error error) {
      if (!error) {
        const auto request = parser_->release();
        Response response = answer({server_.config_.tcp.has_value(), server_.config_.tls.has_value(), server_.config_.admit,
                                    server_.handler_},
                                   request);
        if (response.events) {
          if (server_.watchers_ >= server_.config_.most_watchers)
            response = problem(503, fmt::format("there are {} streams of events already", server_.watchers_));
          else
            return follow(response);
        }
        // Who comes again makes room for those who wait.
        return write(to_http(request.version(), request.keep_alive() && !server_.waiting_, std::move(response)));
      }
      // Nothing to say: the client has gone, or was silent for too long.
      if (const std::optional<Response> said = answer_to(error, server_.config_.most_body_octets))
        write(to_http(11, false, *said));
    }
    void write(http::response<http::string_body> response) {
      response_ = std::move(response);
      since_ = Clock::now();
      stream().expires_after(server_.config_.patience);
      through([this](auto& s) {
        http::async_write(s, response_, [self = shared_from_this()](Error error, std::size_t) {
          if (!error && self->response_.keep_alive()) return self->read();
          self->part();
        });
      });
    }
    // Nothing more is sent.
    void part() {
      if (tls_) return tls_->async_shutdown([self = shared_from_this()](Error) { self->hang_up(); });
      Error ignored;
      stream().socket().shutdown(Socket::shutdown_send, ignored);
    }

    // A stream of events: what is new, then a pause, and so on, until the client hangs up or takes nothing.
    void follow(Response& response) {
      ++server_.watchers_;
      watches_ = true;
      since_.reset();
      events_ = *std::move(response.events);
      pause_.emplace(server_.context_);
      http::response<http::empty_body> head{http::status::ok, 11};
      set_fields(head, response, "text/event-stream");
      head.keep_alive(false);
      std::ostringstream text;
      text << head.base();
      text_ = std::move(text).str();
      // What there is to say at once goes with the head.
      std::optional<std::string> first;
      try {
        first = events_.next();
      } catch (const std::exception&) {  // No memory: the client may come again.
      }
      if (!first) return hang_up();
      text_ += *first;
      stream().expires_never();
      watch_for_end();
      send();
    }
    // Nothing more is expected from the client but that it goes.
    void watch_for_end() {
      through([this](auto& s) {
        s.async_read_some(asio::buffer(ignored_), [self = shared_from_this()](Error error, std::size_t) {
          if (!error) return self->watch_for_end();
          self->pause_->cancel();
          self->hang_up();
        });
      });
    }
    void send() {
      stream().expires_after(server_.config_.patience);
      through([this](auto& s) {
        asio::async_write(s, asio::buffer(text_), [self = shared_from_this()](Error error, std::size_t) {
          if (error) return self->hang_up();
          self->said_ = Clock::now();
          self->pause();
        });
      });
    }
    void pause() {
      pause_->expires_after(events_.every);
      pause_->async_wait([self = shared_from_this()](Error error) {
        if (!error) self->more();
      });
    }
    void more() {
      std::optional<std::string> news;
      try {
        news = events_.next();
      } catch (const std::exception&) {  // No memory: the client may come again.
      }
      if (!news) return hang_up();
      // Comments keep what stands between from taking the connection for dead.
      if (news->empty() && Clock::now() - said_ > kSilence) news = ":\n\n";
      if (news->empty()) return pause();
      text_ = *std::move(news);
      send();
    }

    static constexpr std::chrono::seconds kSilence{15};

    State& server_;
    std::optional<Stream> plain_;  // one of these
    std::optional<TlsStream> tls_;
    beast::flat_buffer buffer_{kMostHeaderOctets + (1 << 17)};
    std::optional<http::request_parser<http::string_body>> parser_;
    http::response<http::string_body> response_;
    std::optional<Clock::time_point> since_ = Clock::now();
    // Of a stream of events:
    EventStream events_;
    std::optional<asio::steady_timer> pause_;
    std::string text_;
    std::array<char, 64> ignored_{};
    Clock::time_point said_{};
    bool watches_ = false;
    std::list<Connection*>::iterator place_{};
    bool joined_ = false;
  };

  // Whatever escapes a handler of one client ends that client, and not the lab.
  void run() {
    while (!context_.stopped()) {
      try {
        context_.run();
        return;
      } catch (const std::exception&) {  // Its connection is gone with the handler.
      }
    }
  }

  void listen() {
    Error error;
    if (config_.tcp) {
      listen_tcp(error);
      if (error)
        throw std::runtime_error(
            fmt::format("cannot listen at {}: {}", wire::to_string(*config_.tcp), error.message()));
      return;
    }
    constexpr std::size_t kMostPath = 107;  // sun_path, unix(7)
    if (config_.socket.size() > kMostPath)
      throw std::runtime_error(fmt::format("the API's socket path has {} characters; expected at most {}: {}",
                                           config_.socket.size(), kMostPath, config_.socket));
    const mode_t before = ::umask(0177);
    const asio::local::stream_protocol::endpoint here(config_.socket);
    acceptor_.open(Protocol(here.protocol()), error);
    if (!error) listen_at(Protocol::endpoint(here), error);
    ::umask(before);
    if (error) throw std::runtime_error(fmt::format("cannot listen at {}: {}", config_.socket, error.message()));
  }
  void listen_tcp(Error& error) {
    const wire::IpAddress& a = config_.tcp->address;
    if (!a.is_loopback() && !config_.tls)
      throw std::invalid_argument(
          fmt::format("{} is no loopback address; expected one such as 127.0.0.1:9420", wire::to_string(*config_.tcp)));
    const asio::ip::address address = a.is_v4() ? asio::ip::address(asio::ip::address_v4(a.v4()))
                                                : asio::ip::address(asio::ip::address_v6(a.octets));
    const asio::ip::tcp::endpoint here(address, config_.tcp->port);
    acceptor_.open(Protocol(here.protocol()), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) listen_at(Protocol::endpoint(here), error);
    if (error || config_.tcp->port != 0) return;
    asio::ip::tcp::endpoint chosen;
    const Protocol::endpoint local = acceptor_.local_endpoint(error);
    if (error) return;
    std::memcpy(chosen.data(), local.data(), std::min<std::size_t>(local.size(), chosen.capacity()));
    config_.tcp->port = chosen.port();
  }
  void listen_at(const Protocol::endpoint& endpoint, Error& error) {
    acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  }

  void accept() {
    if (clients_.size() - watchers_ >= config_.most_clients)
      return acceptor_.async_wait(Acceptor::wait_read, [this](Error error) {
        if (!error) make_room();
      });
    acceptor_.async_accept([this](Error error, Socket socket) {
      if (error == asio::error::operation_aborted) return;
      // EMFILE and ENFILE stay until somebody closes a file: asking again at once would keep a core busy.
      if (error) return make_room();
      waiting_ = false;
      try {
        std::make_shared<Connection>(*this, std::move(socket))->join();
      } catch (const std::exception&) {  // No memory for this one.
      }
      accept();
    });
  }

  // Somebody waits to be let in, and there is no room: clients that have sent half a request or none, or do not take
  // their answer, must go. Those who are let in meanwhile have waited outside, where they could send: they have less
  // time each time.
  void make_room() {
    waiting_ = true;
    const auto now = Clock::now();
    if (now - crowded_ > config_.grace) grace_ = config_.grace;
    crowded_ = now;
    std::vector<Connection*> slow;
    Clock::duration next = kAgain;
    for (Connection* c : clients_) {
      if (!c->waiting_since()) continue;
      const Clock::duration left = *c->waiting_since() + grace_ - now;
      if (left <= Clock::duration::zero())
        slow.push_back(c);
      else
        next = std::min(next, left);
    }
    if (!slow.empty()) {
      for (Connection* c : slow) c->hang_up();
      grace_ = std::max(grace_ / 2, std::min<Clock::duration>(config_.grace, kLeastGrace));
      next = Clock::duration::zero();
    }
    again_.expires_after(next);
    again_.async_wait([this](Error) { accept(); });
  }
  void left(std::list<Connection*>::iterator client) {
    clients_.erase(client);
    if (!ends_ && waiting_) again_.expires_after(Clock::duration::zero());
  }

  static constexpr std::chrono::milliseconds kAgain{50};
  static constexpr std::chrono::milliseconds kLeastGrace{10};

  HttpServerConfig config_;
  std::optional<asio::ssl::context> tls_;
  Handler handler_;
  std::list<Connection*> clients_;
  std::size_t watchers_ = 0;  // of these, with a stream of events
  bool ends_ = false;
  bool waiting_ = false;  // somebody is not let in yet
  Clock::duration grace_ = config_.grace;
  Clock::time_point crowded_{};  // when somebody was last kept out
  asio::io_context context_{1};
  Acceptor acceptor_;
  asio::steady_timer again_;
  std::thread thread_;
};

HttpServer::HttpServer(const HttpServerConfig& config, Handler handler)
    : state_(std::make_unique<State>(config, std::move(handler))) {}
HttpServer::~HttpServer() = default;

wire::UdpEndpoint HttpServer::endpoint() const { return state_->endpoint(); }

}  // namespace railyard::api
