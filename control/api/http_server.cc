// The only place that includes Beast's server side, which takes long to compile.
#include "control/api/http_server.h"

#include <algorithm>
#include <array>
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
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/base/json_text.h"

namespace railyard::api {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Protocol = asio::generic::stream_protocol;
using Socket = Protocol::socket;
using Acceptor = asio::basic_socket_acceptor<Protocol>;
using Stream = beast::basic_stream<Protocol>;
using Error = beast::error_code;

constexpr std::size_t kMostHeaderOctets = 8192;

// All but the body.
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

http::response<http::string_body> to_http(unsigned version, bool keep_alive, const Response& response) {
  http::response<http::string_body> out{static_cast<http::status>(response.status), version};
  set_fields(out, response,
             !response.text.empty()   ? std::string_view(response.media_type)
             : response.status >= 400 ? std::string_view(kProblemType)
                                      : std::string_view("application/json"));
  if (response.status == 401) out.set(http::field::www_authenticate, "Bearer");
  out.keep_alive(keep_alive);
  out.body() = response.text.empty() ? json_text(response.body) + "\n" : response.text;
  out.prepare_payload();
  return out;
}

// Texts end there for whoever takes them as C does, names of files and errors among them.
bool has_nul(const nlohmann::json& json) {
  if (json.is_string()) return json.get_ref<const std::string&>().find('\0') != std::string::npos;
  if (json.is_object())
    for (const auto& [key, value] : json.items())
      if (key.find('\0') != std::string::npos || has_nul(value)) return true;
  return json.is_array() && std::ranges::any_of(json, has_nul);
}

// Whether a Host field names this machine by its address, or as localhost (RFC 9110 §7.2).
bool is_this_machine(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const bool has_port = colon != host.npos && host.find_first_not_of("0123456789", colon + 1) == host.npos &&
                        (host.find(':') == colon || host[colon - 1] == ']');
  if (has_port) host = host.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return host == "localhost" || wire::IpAddress::parse(host).has_value();
}

// The target without its version; as it is where there are no versions. Throws ApiError for another version.
std::string target_of(std::string target, bool versions) {
  if (!versions) return target;
  const std::string prefix = fmt::format("/v{}", kVersion);
  if (!target.starts_with(prefix + "/"))
    throw ApiError(404,
                   fmt::format("there is no {}; this daemon speaks version {}: {}/...", target, kVersion, prefix));
  return target.substr(prefix.size());
}

// What a request says but for its body.
Request request_of(const http::request<http::string_body>& request, bool over_tcp) {
  Request r{std::string(request.method_string()), target_of(std::string(request.target()), !over_tcp), nullptr,
            std::string(request[http::field::accept])};
  if (!over_tcp) return r;
  r.host = std::string(request[http::field::host]);
  r.origin = std::string(request[http::field::origin]);
  r.fetch_site = std::string(request["Sec-Fetch-Site"]);
  r.authorization = std::string(request[http::field::authorization]);
  r.cookie = std::string(request[http::field::cookie]);
  r.accept_encoding = std::string(request[http::field::accept_encoding]);
  return r;
}

// Answers one request; never throws.
Response answer(const HttpServer::Handler& handler, const HttpServerConfig& config,
                const http::request<http::string_body>& request) {
  try {
    const bool over_tcp = config.loopback.has_value();
    if (over_tcp && !is_this_machine(std::string(request[http::field::host])))
      throw ApiError(403, "the Host field of the request is a name; expected an address of this machine");
    Request r = request_of(request, over_tcp);
    if (config.admit)
      if (std::optional<Response> at_once = config.admit(r)) return *std::move(at_once);
    if (!request.body().empty()) {
      if (is_nested_too_deeply(request.body()))
        return problem(400, fmt::format("the body has more than {} nested levels", kDeepestJson));
      r.body = nlohmann::json::parse(request.body(), nullptr, false);
      if (r.body.is_discarded()) return problem(400, "the body is not JSON");
      if (has_nul(r.body)) return problem(400, "the body has a NUL character in a text; expected none");
    }
    return handler(r);
  } catch (const ApiError& error) {
    return problem(error.status(), error.what());
  } catch (const nlohmann::json::exception& error) {
    return problem(400, fmt::format("unexpected body: {}", error.what()));
  } catch (const std::exception& error) {
    return problem(500, error.what());
  }
}

}  // namespace

class HttpServer::State {
 public:
  State(const HttpServerConfig& config, Handler handler)
      : config_(config), handler_(std::move(handler)), acceptor_(context_), again_(context_) {
    listen();
    accept();
    thread_ = std::thread([this] { run(); });
  }
  ~State() {
    ends_ = true;
    context_.stop();
    thread_.join();
    if (!config_.loopback) ::unlink(config_.socket.c_str());
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  wire::UdpEndpoint endpoint() const { return *config_.loopback; }

 private:
  using Clock = std::chrono::steady_clock;

  // One client. Owned by what it waits for.
  class Connection : public std::enable_shared_from_this<Connection> {
   public:
    Connection(State& server, Socket socket) : server_(server), stream_(std::move(socket)) {}
    ~Connection() {
      if (watches_) --server_.watchers_;
      if (joined_) server_.left(place_);
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void join() {
      place_ = server_.clients_.insert(server_.clients_.end(), this);
      joined_ = true;
      read();
    }
    // Since when the client has kept us waiting: for its request, or until it takes the answer. Nothing: it waits for us.
    std::optional<Clock::time_point> waiting_since() const noexcept { return since_; }
    void hang_up() {
      Error ignored;
      stream_.socket().close(ignored);
    }

   private:
    void read() {
      parser_.emplace();
      parser_->body_limit(server_.config_.most_body_octets);
      parser_->header_limit(kMostHeaderOctets);
      since_ = Clock::now();
      stream_.expires_after(server_.config_.patience);
      http::async_read(stream_, buffer_, *parser_,
                       [self = shared_from_this()](Error error, std::size_t) { self->on_read(error); });
    }
    void on_read(Error error) {
      if (!error) {
        const auto request = parser_->release();
        Response response = answer(server_.handler_, server_.config_, request);
        if (response.events) {
          if (server_.watchers_ >= server_.config_.most_watchers)
            response = problem(503, fmt::format("there are {} streams of events already", server_.watchers_));
          else
            return stream(response);
        }
        // Who comes again makes room for those who wait.
        return write(to_http(request.version(), request.keep_alive() && !server_.waiting_, response));
      }
      if (error == http::error::body_limit)
        return write(
            to_http(11, false,
                    problem(413, fmt::format("the body is longer than {} bytes", server_.config_.most_body_octets))));
      static const auto& of_http = http::make_error_code(http::error::bad_method).category();
      // Anything else: the client has gone, or was silent for too long.
      if (error.category() == of_http && error != http::error::end_of_stream && error != http::error::partial_message)
        write(to_http(11, false, problem(400, fmt::format("not an HTTP request: {}", error.message()))));
    }
    void write(http::response<http::string_body> response) {
      response_ = std::move(response);
      since_ = Clock::now();
      stream_.expires_after(server_.config_.patience);
      http::async_write(stream_, response_, [self = shared_from_this()](Error error, std::size_t) {
        if (!error && self->response_.keep_alive()) return self->read();
        Error ignored;
        self->stream_.socket().shutdown(Socket::shutdown_send, ignored);
      });
    }

    // A stream of events: what is new, then a pause, and so on, until the client hangs up or takes nothing.
    void stream(Response& response) {
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
      stream_.expires_never();
      watch_for_end();
      send();
    }
    // Nothing more is expected from the client but that it goes.
    void watch_for_end() {
      stream_.async_read_some(asio::buffer(ignored_), [self = shared_from_this()](Error error, std::size_t) {
        if (!error) return self->watch_for_end();
        self->pause_->cancel();
        self->hang_up();
      });
    }
    void send() {
      stream_.expires_after(server_.config_.patience);
      asio::async_write(stream_, asio::buffer(text_), [self = shared_from_this()](Error error, std::size_t) {
        if (error) return self->hang_up();
        self->said_ = Clock::now();
        self->pause();
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
    Stream stream_;
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
    if (config_.loopback) {
      listen_tcp(error);
      if (error)
        throw std::runtime_error(
            fmt::format("cannot listen at {}: {}", wire::to_string(*config_.loopback), error.message()));
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
    const wire::IpAddress& a = config_.loopback->address;
    if (!a.is_loopback())
      throw std::invalid_argument(
          fmt::format("{} is no loopback address; expected one such as 127.0.0.1:9420", wire::to_string(*config_.loopback)));
    const asio::ip::address address = a.is_v4() ? asio::ip::address(asio::ip::address_v4(a.v4()))
                                                : asio::ip::address(asio::ip::address_v6(a.octets));
    const asio::ip::tcp::endpoint here(address, config_.loopback->port);
    acceptor_.open(Protocol(here.protocol()), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) listen_at(Protocol::endpoint(here), error);
    if (error || config_.loopback->port != 0) return;
    asio::ip::tcp::endpoint chosen;
    const Protocol::endpoint local = acceptor_.local_endpoint(error);
    if (error) return;
    std::memcpy(chosen.data(), local.data(), std::min<std::size_t>(local.size(), chosen.capacity()));
    config_.loopback->port = chosen.port();
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
