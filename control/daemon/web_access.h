// A live lab over TCP: its page, and the API for those who are known.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "control/api/guard.h"
#include "control/api/message.h"

namespace railyard::daemon {

// A file of the page.
struct PageFile {
  std::string_view path;  // "/index.html"
  std::string_view media_type;
  std::string_view octets;
  std::string_view gzip{};  // the same, compressed (RFC 1952); empty: there is no such form
};

// What the listener of `railyard up --listen` answers. Files of the page and POST /v1/session are for anybody on this
// machine; all else asks for the token or a session (api::Guard). Any thread may call it.
class WebAccess {
 public:
  using Api = std::function<api::Response(const api::Request&)>;  // targets without the version

  // `authority`: where it listens, "127.0.0.1:8421". `files`, which outlive it: the page; "/" is "/index.html".
  // `over_tls`: as of api::Guard.
  WebAccess(std::string authority, std::string token, std::span<const PageFile> files, Api api,
            bool over_tls = false);

  // HttpServerConfig::admit.
  std::optional<api::Response> admit(const api::Request& request);
  // HttpServer::Handler; targets with the version.
  api::Response handle(const api::Request& request);

  // A link to the page that works once: the code is in the fragment, which browsers do not send.
  std::string new_link();
  const std::string& authority() const noexcept { return guard_.authority(); }
  std::string_view scheme() const noexcept { return guard_.scheme(); }

 private:
  const PageFile* file_at(std::string_view path) const;

  void add_overview(const api::Request& exchange, api::Response& answer) const;

  std::mutex mutex_;  // of guard_
  api::Guard guard_;
  std::span<const PageFile> files_;
  Api api_;
};

// Keeps `token` in `file`, for its owner alone. Throws std::runtime_error.
void keep_token(const std::string& file, const std::string& token);

}  // namespace railyard::daemon
