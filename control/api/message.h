// A request of the API and its answer, free of how they travel.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace railyard::api {

// Of the API, not of the program. A daemon answers requests of its own version only.
inline constexpr int kVersion = 1;

struct Request {
  std::string method;   // GET, POST, DELETE
  std::string target;   // without the version: "/status"; with the query, if there is one
  nlohmann::json body;  // null without one
  std::string accept{};  // what the client understands (RFC 9110 §12.5.1); empty: anything
  // Fields that say who asks; empty: not sent. Only over TCP.
  std::string host{};           // RFC 9110 §7.2
  std::string origin{};         // RFC 6454 §7
  std::string fetch_site{};     // Sec-Fetch-Site
  std::string authorization{};  // RFC 6750
  std::string cookie{};         // RFC 6265
  std::string accept_encoding{};  // RFC 9110 §12.5.3; empty: as it is
};

// Server-sent events (WHATWG HTML §9.2) in the place of a body, until the client goes.
struct EventStream {
  std::chrono::milliseconds every{};  // asks for more so often; less often while the client is slow to read
  // Called by the server's thread. What is new, as events; empty: nothing is. Nothing: the stream ends.
  std::function<std::optional<std::string>()> next{};
};

struct Response {
  int status = 200;  // as in HTTP (RFC 9110 §15)
  nlohmann::json body;
  // In the place of `body`: a text of this media type. Empty: `body` counts.
  std::string text{};
  std::string media_type{};
  std::vector<std::pair<std::string, std::string>> fields{};  // further fields of the header
  std::optional<EventStream> events{};
};

// What was asked cannot be done; one clear sentence. `status`: 400 the request is wrong, 401 nobody who is known asks,
// 403 not from there, 404 there is no such thing, 409 not in this state, 503 not now.
class ApiError : public std::runtime_error {
 public:
  ApiError(int status, const std::string& what) : std::runtime_error(what), status_(status) {}
  int status() const noexcept { return status_; }

 private:
  int status_;
};

// Problem details (RFC 9457): `type`, `title`, `status`, `detail`. `detail` is one sentence.
Response problem(int status, const std::string& detail);
inline constexpr const char* kProblemType = "application/problem+json";

}  // namespace railyard::api
