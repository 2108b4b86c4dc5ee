// Asks a daemon over its UNIX socket.
#pragma once

#include <chrono>
#include <string>

#include "control/api/message.h"

namespace railyard::api {

// Nobody listens at the socket, or does not answer.
class Unreachable : public std::runtime_error {
 public:
  explicit Unreachable(const std::string& what, bool is_silent = false)
      : std::runtime_error(what), is_silent_(is_silent) {}
  // It listens, and did not answer for as long as was waited.
  bool is_silent() const noexcept { return is_silent_; }

 private:
  bool is_silent_;
};

// One request and its answer. A GET that a crowded daemon sends away is asked again until `patience` ends. Throws
// Unreachable, and ApiError with what the daemon said if that is an error.
nlohmann::json ask(const std::string& socket, const Request& request,
                   std::chrono::milliseconds patience = std::chrono::milliseconds{15'000});
// The same where the answer is a file: its octets.
std::string ask_for_file(const std::string& socket, const Request& request,
                         std::chrono::milliseconds patience = std::chrono::milliseconds{15'000});

}  // namespace railyard::api
