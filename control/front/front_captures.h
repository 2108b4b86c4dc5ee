// Captures that sites keep, of the whole lab.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "control/api/message.h"
#include "control/front/site_links.h"

namespace railyard::front {

// Called "SITE.ID": sites number theirs. All throw api::ApiError and SiteGone.
class FrontCaptures {
 public:
  // `links` outlives it.
  explicit FrontCaptures(SiteLinks& links) : links_(links) {}

  nlohmann::json list(std::chrono::milliseconds turn);
  // `body`: as of POST /captures, with "keep": true. Others have a socket at the site's machine: who wants them goes there.
  nlohmann::json start(SiteLink& site, const nlohmann::json& body);
  nlohmann::json stop(const std::string& name);
  nlohmann::json end(const std::string& name);
  // What was captured, for a browser.
  api::Response file(const std::string& name);

 private:
  // The site of a capture, and what it is called there.
  std::pair<SiteLink*, std::string> find(const std::string& name);

  SiteLinks& links_;
};

}  // namespace railyard::front
