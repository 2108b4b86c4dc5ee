// A request of the API and its answer, free of how they travel.
#pragma once

#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

namespace railyard::api {

// Of the API, not of the program. A daemon answers requests of its own version only.
inline constexpr int kVersion = 1;

struct Request {
  std::string method;   // GET, POST, DELETE
  std::string target;   // without the version: "/status"
  nlohmann::json body;  // null without one
  std::string accept{};  // what the client understands (RFC 9110 §12.5.1); empty: anything
};

struct Response {
  int status = 200;  // as in HTTP (RFC 9110 §15)
  nlohmann::json body;
  // In the place of `body`: a text of this media type. Empty: `body` counts.
  std::string text{};
  std::string media_type{};
};

// What was asked cannot be done; one clear sentence. `status`: 400 the request is wrong, 404 there is no such thing,
// 409 not in this state, 503 not now.
class ApiError : public std::runtime_error {
 public:
  ApiError(int status, const std::string& what) : std::runtime_error(what), status_(status) {}
  int status() const noexcept { return status_; }

 private:
  int status_;
};

}  // namespace railyard::api
