#include "control/daemon/web_server.h"

#include <array>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace railyard::daemon {
namespace {

// How a browser gets there: at all addresses by the name of this machine.
std::string authority_of(const wire::UdpEndpoint& endpoint) {
  const bool all = to_string(endpoint.address) == "0.0.0.0" || to_string(endpoint.address) == "::";
  std::array<char, 256> name{};
  if (!all || ::gethostname(name.data(), name.size() - 1) != 0) return wire::to_string(endpoint);
  return fmt::format("{}:{}", name.data(), endpoint.port);
}

}  // namespace

WebServer::WebServer(const WebServerConfig& config, WebAccess::Api api) {
  // Requests wait for `access_`, which needs the port: nobody knows that, or a link, before.
  const auto admit = [this, stands = stands_.get_future().share()](const api::Request& request) {
    stands.wait();
    return access_->admit(request);
  };
  server_.emplace(api::HttpServerConfig{.socket = {},
                                        .tcp = config.listen,
                                        .tls = config.tls,
                                        .admit = admit,
                                        .most_clients = config.most_clients},
                  [this](const api::Request& request) { return access_->handle(request); });
  access_.emplace(authority_of(server_->endpoint()), config.token, config.page, std::move(api), config.tls.has_value());
  stands_.set_value();
}

std::optional<api::TlsFiles> tls_said(const std::string& certificate, const std::string& key) {
  if (certificate.empty() && key.empty()) return std::nullopt;
  if (certificate.empty() || key.empty())
    throw std::invalid_argument("--tls-cert and --tls-key go together; expected both");
  return api::TlsFiles{certificate, key};
}

std::optional<wire::UdpEndpoint> endpoint_said(const char* option, const std::string& text, int usual_port, bool has_tls) {
  if (text.empty()) return std::nullopt;
  const bool any_port = text.ends_with(":0");
  auto endpoint = wire::UdpEndpoint::parse(any_port ? text.substr(0, text.size() - 1) + "1" : text);
  if (!endpoint)
    throw std::invalid_argument(
        fmt::format("{}: '{}' is no address with a port; expected one such as 127.0.0.1:{}", option, text, usual_port));
  if (!endpoint->address.is_loopback() && !has_tls)
    throw std::invalid_argument(
        fmt::format("{}: {} is no loopback address, and others need TLS; expected --tls-cert FILE and --tls-key FILE with it, or "
                    "127.0.0.1:PORT, reached from elsewhere by an SSH tunnel (`ssh -L PORT:127.0.0.1:PORT`)",
                    option, text));
  if (any_port) endpoint->port = 0;
  return endpoint;
}

}  // namespace railyard::daemon
