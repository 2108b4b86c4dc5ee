// Which request of the API is what of a lab.
#pragma once

#include <chrono>
#include <cstdint>
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

// Of the query of GET /events: the interval. Throws api::ApiError.
std::chrono::milliseconds asked_every(const nlohmann::json& query);
// Of a query: an instant, and the number of the last happening that is known. Throw api::ApiError.
double asked_at(const nlohmann::json& query);
std::uint64_t asked_after(const nlohmann::json& query);

// One of the files of a report (LiveLab::report()), as a browser may show it. Throws api::ApiError (404).
api::Response report_file(const nlohmann::json& files, const std::string& name);

// All that route() knows: for the test that holds openapi.json against them. A target that ends in '/' has a name behind.
struct KnownRoute {
  std::string method;
  std::string target;
};
std::vector<KnownRoute> known_routes();

}  // namespace railyard::daemon
