// What the front answers: requests of the API for a lab over several sites.
#pragma once

#include <functional>
#include <string>

#include "control/api/message.h"
#include "control/front/site_links.h"
#include "control/front/site_plan.h"

namespace railyard::front {

class FrontRoutes {
 public:
  // All outlive it. `down` has the lab stopped.
  FrontRoutes(std::string name, const SitePlan& plan, SiteLinks& links, std::function<void()> down)
      : name_(std::move(name)), plan_(plan), links_(links), down_(std::move(down)) {}

  // Throws ApiError.
  api::Response answer(const api::Request& request);

  nlohmann::json status();

 private:
  nlohmann::json route(const std::string& method, const std::string& path, const std::string& target, const nlohmann::json& body);
  // Of the site that has the node "h1", "leaf1:3".
  SiteLink& site_with(const std::string& node);
  nlohmann::json add_fault(const nlohmann::json& body);
  nlohmann::json remove_fault(const std::string& name);
  // New links to the pages of all sites.
  nlohmann::json pages();
  // The answer of the first site that knows what is asked for; else the last refusal.
  nlohmann::json first_that_knows(const std::string& method, const std::string& target, const nlohmann::json& body);

  std::string name_;
  const SitePlan& plan_;
  SiteLinks& links_;
  std::function<void()> down_;
};

}  // namespace railyard::front
