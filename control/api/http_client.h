// Asks a daemon over its UNIX socket.
#pragma once

#include <chrono>
#include <string>

#include "control/api/message.h"

namespace railyard::api {

// Nobody listens at the socket, or does not answer.
class Unreachable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One request and its answer. Throws Unreachable, and ApiError with what the daemon said if that is an error.
nlohmann::json ask(const std::string& socket, const Request& request,
                   std::chrono::milliseconds patience = std::chrono::milliseconds{15'000});

}  // namespace railyard::api
