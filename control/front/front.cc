#include "control/front/front.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/api/guard.h"
#include "control/api/http_server.h"
#include "control/daemon/log.h"
#include "control/daemon/web_server.h"
#include "control/front/front_routes.h"
#include "control/front/lab_watch.h"
#include "control/front/link_map.h"
#include "control/front/site_links.h"
#include "control/front/site_plan.h"
#include "control/front/site_record.h"

namespace railyard::front {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

SiteRecord record_of(const FrontConfig& config, const SitePlan& plan, const std::string& name) {
  SiteRecord record{.shell = config.shell, .sites = {}, .site_of = plan.site_of};
  for (const std::string& site : plan.sites) {
    record.sites.push_back({site, plan.lab.sites.at(site).ssh, fmt::format("{}-{}", name, site)});
    static_cast<void>(daemon::LabDir(record.sites.back().lab));  // whether it can be a name
  }
  return record;
}

// Until all links between sites are up. Throws std::runtime_error: one does not come up.
void wait_for_trunks(const SitePlan& plan, SiteLinks& links, const std::atomic<bool>& stop) {
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (!stop) {
    std::string missing;
    const Answers answers = links.ask_all("GET", "/status");
    for (const SiteState& s : links.states())
      if (!s.why_gone.empty()) throw std::runtime_error(fmt::format("site {}: {}", s.name, s.why_gone));
    for (const auto& [site, status] : answers)
      for (const json& t : status.at("trunks"))
        if (const auto known = plan.trunks.at(site).find(t.at("name").get<std::string>());
            missing.empty() && known != plan.trunks.at(site).end() && !t.at("up").get<bool>())
          missing = fmt::format("the link at {} from site {} to site {} ({}): {}", t.at("switch_port").get<std::string>(), site,
                                known->second.other, t.at("wire").get<std::string>(), t.at("state").get<std::string>());
    if (missing.empty()) return;
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error(missing + ", for 20 s");
    std::this_thread::sleep_for(100ms);
  }
  throw std::runtime_error("stopped before all links between sites were up");
}

// Tells each site the outages of all others, ten times a second, and the log and those who watch what becomes of sites.
class Messenger {
 public:
  Messenger(SiteLinks& links, daemon::Log& log, LabWatch& watch)
      : links_(links), log_(log), watch_(watch), thread_([this](std::stop_token s) { run(s); }) {}

 private:
  static constexpr auto kEvery = 100ms;
  static constexpr int kRoundsPerRetry = 20;

  void run(const std::stop_token& stop) {
    for (int round = 0; !stop.stop_requested(); ++round) {
      try {
        look(round % kRoundsPerRetry == 0);
      } catch (const std::exception& error) {
        log_.warning(error.what());
      }
      std::this_thread::sleep_for(kEvery);
    }
  }

  void look(bool retry) {
    for (std::size_t i = 0; i < links_.size(); ++i)
      if (retry && !links_[i].why_gone().empty()) try {
          links_[i].reconnect();
        } catch (const SiteGone&) {
          // It is known to be away.
        }
    for (auto& [site, outages] : links_.ask_all("GET", "/outages")) outages_[site] = std::move(outages);
    for (const SiteState& s : links_.states()) {
      const bool is_gone = !s.why_gone.empty();
      if (std::exchange(gone_[s.name], is_gone) != is_gone) {
        if (is_gone)
          log_.warning(fmt::format("site {} is away: {}", s.name, s.why_gone));
        else
          log_.line(fmt::format("site {} answers again", s.name));
        watch_.note_site(s.name, s.why_gone);
        told_.erase(s.name);
      }
      if (is_gone) continue;
      json elsewhere{{"down", json::array()}, {"drained", json::array()}};
      for (const auto& [site, outages] : outages_)
        if (site != s.name)
          for (const char* key : {"down", "drained"})
            for (const json& item : outages.at(key)) elsewhere[key].push_back(item);
      if (const auto told = told_.find(s.name); told != told_.end() && told->second == elsewhere) continue;
      try {
        links_.at(s.name).ask("POST", "/outages", elsewhere);
        told_[s.name] = std::move(elsewhere);
      } catch (const SiteGone&) {
        // The next round says so.
      }
    }
  }

  SiteLinks& links_;
  daemon::Log& log_;
  LabWatch& watch_;
  std::map<std::string, json> outages_;  // by site: its own, as it said last
  std::map<std::string, json> told_;     // by site: those of the others
  std::map<std::string, bool> gone_;
  std::jthread thread_;
};

}  // namespace

void run_front(const FrontConfig& config, std::atomic<bool>& stop, const std::function<void(const std::string& name)>& ready) {
  const auto tls = daemon::tls_said(config.tls_certificate, config.tls_key);
  const auto listen = daemon::endpoint_said("--listen", config.listen, 8421, tls.has_value());
  const SitePlan plan = plan_sites(config.spec_file, config.overrides, config.sites);
  const LinkMap map(plan);
  const daemon::LabDir dir(config.name.empty() ? plan.lab.name : config.name);
  const SiteRecord record = record_of(config, plan, dir.name());
  if (dir.exists() && !dir.running() && read_record(dir))
    if (const auto stays = clean_up_sites(dir); !stays.empty())
      throw std::runtime_error(fmt::format("cannot stop an earlier lab '{}': {}", dir.name(), fmt::join(stays, "; ")));
  const daemon::LabLock lock(dir);
  write_record(dir, record);
  SiteLinks links(record);
  std::vector<std::string> stays;
  try {
    daemon::Log log(dir.log(), config.log_level);
    log.line(fmt::format("lab '{}' from {} over {} sites", dir.name(), config.spec_file, plan.sites.size()));
    links.start(plan.file);
    wait_for_trunks(plan, links, stop);
    {
      LabWatch watch(dir.name(), plan, map, links);
      FrontRoutes routes(dir.name(), plan, map, links, watch, [&stop] { stop = true; });
      const Messenger messenger(links, log, watch);
      std::optional<daemon::WebServer> web;
      if (listen) {
        const std::string token = api::drawn_secret();
        daemon::keep_token(dir.token(), token);
        web.emplace(daemon::WebServerConfig{.listen = *listen, .tls = tls, .page = config.page, .token = token},
                    [&routes](const api::Request& request) { return routes.answer(request, FrontRoutes::kTurnOfPages); });
        routes.shown_at([&web, token_file = dir.token()] {
          return json{{"link", web->new_link()}, {"listens", web->authority()}, {"token_file", token_file}};
        });
        log.line(fmt::format("listening at {}://{}", web->scheme(), web->authority()));
      }
      const api::HttpServer server({.socket = dir.socket()},
                                   [&routes](const api::Request& request) { return routes.answer(request); });
      log.line("up");
      log.to_stderr(config.log_to_stderr);
      ready(dir.name());
      while (!stop) std::this_thread::sleep_for(50ms);
      watch.farewell("The lab was stopped.");
    }
    stays = links.stop();
  } catch (...) {
    links.stop();
    dir.remove();
    throw;
  }
  if (!stays.empty()) throw std::runtime_error(fmt::format("{}", fmt::join(stays, "; ")));
  dir.remove();
}

std::vector<std::string> clean_up_sites(const daemon::LabDir& dir) {
  const std::optional<SiteRecord> record = read_record(dir);
  if (!record) return {};
  const daemon::LabLock nobody_else(dir);
  SiteLinks links(*record);
  std::vector<std::string> stays = links.stop();
  if (stays.empty()) dir.remove();
  return stays;
}

}  // namespace railyard::front
