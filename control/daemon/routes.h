// Which request of the API is what of a lab.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "control/api/message.h"
#include "control/daemon/live_lab.h"

namespace railyard::daemon {

// Answers a request; docs/api.md and openapi.json say which there are. `down`: ends the lab.
// Throws api::ApiError.
api::Response route(LiveLab& lab, const std::function<void()>& down, const api::Request& request);

// What anybody on this machine may ask without a token: GET /metrics, for Prometheus. Throws api::ApiError.
api::Response public_route(LiveLab& lab, const api::Request& request);

// All that route() knows: for the test that holds openapi.json against them. A target that ends in '/' has a name behind.
struct KnownRoute {
  std::string method;
  std::string target;
};
std::vector<KnownRoute> known_routes();

}  // namespace railyard::daemon
