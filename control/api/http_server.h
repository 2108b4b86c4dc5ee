// HTTP/1.1 with JSON bodies over a UNIX socket, over TCP on this machine, or over TLS, on a thread of its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "control/api/message.h"
#include "dataplane/wire/udp_endpoint.h"

namespace railyard::api {

// Files in PEM: the server's certificate, with those that it rests on behind it, and its key.
struct TlsFiles {
  std::string certificate;
  std::string key;
};

struct HttpServerConfig {
  std::string socket;                          // path, made with mode 0600; at most 107 octets
  // In the place of the socket: TCP, at a loopback address; port 0: any that is free. Requests whose Host is neither an
  // address nor "localhost" are refused with 403: they are a web page's, whose name leads here (DNS rebinding). Their
  // targets are handed on as they are, with the version.
  std::optional<wire::UdpEndpoint> tcp{};
  // With it `tcp` may be any address, and Host any name: the client has held it against the certificate.
  std::optional<TlsFiles> tls{};
  // Asked about each request before its body is looked at; what it answers, if anything, is the answer. By the server's
  // thread; may throw ApiError.
  std::function<std::optional<Response>(const Request&)> admit{};
  // More wait until one has its answer, or has kept us waiting for `grace`; nobody keeps a connection meanwhile.
  std::size_t most_clients = 64;
  std::size_t most_watchers = 256;             // clients with a stream of events, which are not among these; more: 503
  std::size_t most_body_octets = 1 << 16;      // of a request; longer: 413
  std::chrono::milliseconds patience{10'000};  // with a client that neither sends nor takes
  std::chrono::milliseconds grace{250};        // the same while others wait to be let in; less if there are many
};

// Clients are served side by side, each waiting for its own; requests are handled one at a time. What a client does
// wrong, or slowly, touches nobody else.
class HttpServer {
 public:
  // Called by the server's thread. May throw ApiError, which becomes problem details (RFC 9457).
  using Handler = std::function<Response(const Request&)>;

  // Listens at once. Throws std::runtime_error with the path and what to do; std::invalid_argument: an address that needs TLS,
  // or files of TLS that are not.
  HttpServer(const HttpServerConfig& config, Handler handler);
  // Ends all connections and removes the socket.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Over TCP: where it listens.
  wire::UdpEndpoint endpoint() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace railyard::api
