// The whole lab, watched: each site is asked for its news, and what they say is one stream of events.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/api/message.h"
#include "control/front/link_map.h"
#include "control/front/merge.h"
#include "control/front/merged_happenings.h"
#include "control/front/site_clock.h"
#include "control/front/site_links.h"

namespace railyard::front {

// Asks while somebody looks. A site that is slow or away holds up nobody: what it said last stays until it is known to be away. Any
// thread may ask it.
class LabWatch {
 public:
  static constexpr std::chrono::milliseconds kEvery{250};
  static constexpr std::chrono::milliseconds kLeastEvery{100};  // of a stream
  static constexpr std::chrono::milliseconds kMostEvery{60'000};

  // All outlive it.
  LabWatch(std::string name, const SitePlan& plan, const LinkMap& map, SiteLinks& links);
  ~LabWatch();
  LabWatch(const LabWatch&) = delete;
  LabWatch& operator=(const LabWatch&) = delete;

  // Server-sent events, as those of a daemon.
  api::EventStream stream(std::chrono::milliseconds every);
  // All links now, as in a `sample` event; null before the first sample.
  nlohmann::json last_sample();
  // What has happened after number `seen`.
  nlohmann::json happened(std::uint64_t seen);
  // The clock of a site's machine minus this one's, in seconds.
  double unix_offset(const std::string& site) const;
  // Its simulated time minus that of the first site, in seconds; 0 where it is not known.
  double modelled_offset(const std::string& site) const;

  // Those who watch are told at once. A site is away, and why; or, empty, answers again.
  void note_site(const std::string& site, const std::string& why_gone);
  // Something was changed.
  void look_soon();
  // Ends all streams with an event `ended`.
  void farewell(const std::string& why);

 private:
  class Stream;
  struct Seen {
    nlohmann::json sample;
    nlohmann::json state;
    nlohmann::json trunks = nlohmann::json::array();
    std::uint64_t happenings = 0;
    std::uint64_t states = 0;
    bool has_answered = false;
    SiteClock clock;
    std::optional<double> modelled_offset;
  };

  void follow(SiteLink& link, const std::stop_token& stop);
  void take(const std::string& site, const nlohmann::json& news, double asked, double answered);
  void want();
  bool is_wanted() const;
  // The rest under mutex_.
  void compose();
  void compose_state(const std::vector<SiteState>& sites);
  void measure_clocks();
  bool have_answered(const std::vector<SiteState>& sites) const;

  const std::string name_;
  const SitePlan& plan_;
  const LinkMap& map_;
  SiteLinks& links_;
  std::atomic<std::int64_t> wanted_{0};  // when somebody last looked, steady clock, ms

  mutable std::mutex mutex_;  // of all below
  std::map<std::string, Seen> seen_;
  MergedHappenings happenings_;
  std::int64_t wanted_since_ = 0;
  std::int64_t composed_at_ = 0;
  bool has_news_ = false;
  bool has_new_state_ = true;
  std::uint64_t samples_ = 0;
  nlohmann::json sample_;
  std::shared_ptr<const std::string> sample_event_;
  std::uint64_t states_ = 0;
  std::shared_ptr<const std::string> state_event_;
  std::shared_ptr<const std::string> goodbye_;
  std::atomic<int> streams_{0};

  std::mutex sleep_;
  std::condition_variable_any wake_;
  std::uint64_t hurries_ = 0;          // under sleep_
  std::vector<std::jthread> threads_;  // gone first
};

}  // namespace railyard::front
