// The listener of a lab for browsers and programs: its page, and the API for those who are known.
#pragma once

#include <cstddef>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "control/api/http_server.h"
#include "control/daemon/web_access.h"
#include "dataplane/wire/udp_endpoint.h"

namespace railyard::daemon {

struct WebServerConfig {
  wire::UdpEndpoint listen;  // port 0: any that is free
  std::optional<api::TlsFiles> tls{};
  std::span<const PageFile> page{};  // outlives the server
  std::string token;                 // of programs
  std::size_t most_clients = 512;
};

// Answers by a thread of its own, from when it is made until it is gone.
class WebServer {
 public:
  // Throws as api::HttpServer.
  WebServer(const WebServerConfig& config, WebAccess::Api api);
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  // As of WebAccess.
  std::string new_link() { return access_->new_link(); }
  const std::string& authority() const noexcept { return access_->authority(); }
  std::string_view scheme() const noexcept { return access_->scheme(); }

 private:
  std::promise<void> stands_;  // access_ does
  std::optional<WebAccess> access_;
  std::optional<api::HttpServer> server_;
};

// What command lines say. `option`: "--listen". Nothing: it was not said. Both throw std::invalid_argument.
std::optional<wire::UdpEndpoint> endpoint_said(const char* option, const std::string& text, int usual_port, bool has_tls);
std::optional<api::TlsFiles> tls_said(const std::string& certificate, const std::string& key);

}  // namespace railyard::daemon
