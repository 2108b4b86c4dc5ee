// What the front answers: requests of the API for a lab over several sites.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "control/api/message.h"
#include "control/front/front_captures.h"
#include "control/front/lab_watch.h"
#include "control/front/link_map.h"
#include "control/front/site_links.h"
#include "control/front/site_plan.h"

namespace railyard::front {

// Any thread may ask; changes are made one after the other.
class FrontRoutes {
 public:
  // All outlive it. `down` has the lab stopped.
  FrontRoutes(std::string name, const SitePlan& plan, const LinkMap& map, SiteLinks& links, LabWatch& watch,
              std::function<void()> down)
      : name_(std::move(name)), plan_(plan), map_(map), links_(links), watch_(watch), captures_(links), down_(std::move(down)) {}

  // How long a page waits for its turn with a site that others ask: a site that does not answer must not hold up the others.
  static constexpr std::chrono::milliseconds kTurnOfPages{1'000};

  // Throws ApiError. `turn`: as of SiteLink::ask(), for what is asked of all sites.
  api::Response answer(const api::Request& request, std::chrono::milliseconds turn = SiteLink::kPatience);
  // A link to the page is made by this.
  void shown_at(std::function<nlohmann::json()> link) { link_ = std::move(link); }

  nlohmann::json status();

 private:
  struct Asked {
    std::string method;
    std::string path;
    std::string target;    // with the query
    nlohmann::json query;
    nlohmann::json body;
    std::chrono::milliseconds turn;
  };
  nlohmann::json route(const Asked& asked);
  // What the page asks for; null: it is none of it.
  nlohmann::json page_route(const Asked& asked);
  nlohmann::json overview(const std::string& folding);
  nlohmann::json history(const Asked& asked);
  nlohmann::json snapshot(double at);
  nlohmann::json pauses(const Asked& asked);
  // By either end; brought up by the end at which it was taken down.
  nlohmann::json set_link(const nlohmann::json& body);
  nlohmann::json path_of(const nlohmann::json& body);
  nlohmann::json report();
  api::Response site_report(const std::string& name);
  // Of the site that has the node "h1", "leaf1:3".
  SiteLink& site_with(const std::string& node);
  nlohmann::json add_fault(const nlohmann::json& body);
  nlohmann::json remove_fault(const std::string& name);
  // Of a GET with a time of this machine's: each site gets it by its own clock.
  Answers ask_all_at(const std::string& path, double at, std::chrono::milliseconds turn);
  // The answers of all that do not refuse with one of these; if all do, the last refusal.
  Answers ask_willing(const Asked& asked, const std::vector<int>& refusals);
  // The answer of the first site that knows what is asked for; else the last refusal.
  nlohmann::json first_that_knows(const std::string& method, const std::string& target, const nlohmann::json& body);

  std::string name_;
  const SitePlan& plan_;
  const LinkMap& map_;
  SiteLinks& links_;
  LabWatch& watch_;
  FrontCaptures captures_;
  std::function<void()> down_;
  std::function<nlohmann::json()> link_;
  std::mutex one_at_a_time_;  // of those who change something
};

}  // namespace railyard::front
