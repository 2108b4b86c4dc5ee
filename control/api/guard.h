// Who may ask over TCP: programs with the token of the lab, and the page of the lab in a browser that has exchanged a
// code for a cookie. What other pages in the browser send is refused.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "control/api/message.h"

namespace railyard::api {

// 256 bits that nobody can guess, as hexadecimal digits.
std::string drawn_secret();

// Used by one thread at a time.
class Guard {
 public:
  // `authority`: address and port of the listener, "127.0.0.1:8421". `token`: what programs send. `over_tls`: Host may be any
  // name, which the browser has held against the certificate; cookies are for https alone.
  Guard(std::string authority, std::string token, bool over_tls = false);

  // Refuses (ApiError) what does not come from this machine's own page or a program: 403 for a Host or Origin that is
  // not the listener's (DNS rebinding, CSRF), 401 without a token or session that is known.
  void check_origin(const Request& request) const;
  void check_known(const Request& request) const;

  // A code for one exchange. Of those that nobody has used, the last kMostCodes are known.
  std::string new_code();
  // Exchanges {"code": ...} or {"token": ...} for a session: the Set-Cookie field (HttpOnly, SameSite=Strict). A code works
  // once. ApiError: 401.
  Response exchange(const nlohmann::json& body);
  // Ends the session of the request.
  Response leave(const Request& request);

  const std::string& authority() const noexcept { return authority_; }
  std::string_view scheme() const noexcept { return over_tls_ ? "https" : "http"; }

  static constexpr std::size_t kMostCodes = 16;
  static constexpr std::size_t kMostSessions = 64;  // the oldest are forgotten

 private:
  std::string cookie_name() const;
  std::optional<std::string> session_of(const Request& request) const;

  std::string authority_;
  std::string token_;
  bool over_tls_;
  std::deque<std::string> codes_;
  std::deque<std::string> sessions_;
};

}  // namespace railyard::api
