// A live lab, watched: its counters are read a few times a second, so that any number of those who look share that.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/api/message.h"
#include "control/daemon/happenings.h"
#include "control/daemon/link_rates.h"
#include "control/daemon/log.h"
#include "control/daemon/pause_history.h"
#include "control/lab/session.h"
#include "dataplane/run/wall_clock.h"

namespace railyard::daemon {

// Reads counters by a thread of its own, which touches no worker. Any thread may ask it.
class Watch {
 public:
  static constexpr std::chrono::milliseconds kEvery{250};
  static constexpr std::chrono::milliseconds kLeastEvery{100};  // of a stream
  static constexpr std::chrono::milliseconds kMostEvery{60'000};

  // What is asked for once a second while somebody looks, by the thread of the watch: faults and hosts, as JSON. Asking
  // for faults makes the engine look between two windows. Nothing: the lab is busy, try again later.
  using Look = std::function<std::optional<nlohmann::json>()>;

  // All outlive it.
  Watch(lab::Session& session, WallClockLive& live, Log& log);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Begins to sample. Once. `pauses`: asked for once a second while PFC frames with a pause time are seen, watched or not;
  // its key "now" has the pause trees (pauses.h).
  void start(Look look, Look pauses = {});
  // Ends the thread and all streams.
  void stop();
  // Ends all streams with an event `ended`, {"why"}, and waits until those who read them have gone, kFarewell at most;
  // then stop().
  void farewell(const std::string& why);
  static constexpr std::chrono::milliseconds kFarewell{1'000};
  // What start() was given has news: it is asked soon.
  void look_soon();

  // Server-sent events: `hello`, then `sample`, `state`, `happenings`; see docs/live-page.md.
  api::EventStream stream(std::chrono::milliseconds every);
  // The last ten minutes of a node ("leaf1"), a port ("leaf1:3"), or the lab (""): what its hosts send and get. ApiError:
  // 404.
  nlohmann::json history(const std::string& of) const;
  // All links as they were at an instant of these ten minutes, as in a `sample` event. ApiError: 404, nothing is kept yet.
  nlohmann::json snapshot(double at_unix_seconds) const;
  // Whether the link at a port is up, as the engine has told: faults and trunks included.
  bool is_up(PortRef port) const;
  // Which queues paused which at an instant of these ten minutes: "unix_seconds" of when that was seen, "trees" as in
  // pauses.h. No trees: no queue was.
  nlohmann::json pauses(double at_unix_seconds) const;
  // All links now, as in a `sample` event; null before the first sample.
  nlohmann::json last_sample() const;
  // What has happened after number `seen`.
  nlohmann::json happened(std::uint64_t seen) const;
  // All that a stream would say next to one who knows happenings up to number `seen` and state number `state`, in one answer:
  // `unix_seconds` (now), `sample`, `states` (number of the last state), `state` (null: it is known), `happenings`.
  nlohmann::json news(std::uint64_t seen, std::uint64_t state);

 private:
  // What the engine's thread tells. It may do so after the watch is gone.
  struct Links {
    std::mutex mutex;
    std::vector<std::uint8_t> down;  // by end
    Happenings happenings;
  };
  class Stream;

  void run();
  void sample();
  void look();
  void look_at_pauses();
  void note_faults(const nlohmann::json& before, const nlohmann::json& now);
  bool trunk_down(std::size_t link) const;
  std::string name_of(PortRef port) const;
  std::string sample_text(const std::string& up) const;
  std::string up_text() const;
  std::vector<std::size_t> ends_of(const std::string& of) const;
  static void follow(const std::shared_ptr<Links>& links, const LinkRates& rates, lab::Session& session);

  lab::Session& session_;
  WallClockLive& live_;
  Log& log_;
  Look look_;
  Look look_at_pauses_;
  bool paused_ = false;  // at the last look
  std::shared_ptr<Links> links_ = std::make_shared<Links>();
  std::atomic<bool> dirty_{true};
  std::atomic<bool> hurry_{false};  // the next sample is due now
  std::atomic<bool> ends_{false};
  std::shared_ptr<const std::string> goodbye_;  // under mutex_: the last event, if there is one
  std::atomic<int> streams_{0};
  std::atomic<std::int64_t> wanted_{0};  // when somebody last looked, steady clock, ms

  mutable std::mutex mutex_;  // of all below
  LinkRates rates_;
  RateHistory history_;
  PauseHistory pauses_;
  std::int64_t counted_at_ = 0;  // steady clock, ms
  std::uint64_t samples_ = 0;
  std::shared_ptr<const std::string> sample_;  // the last one, as an event
  std::uint64_t states_ = 0;
  std::shared_ptr<const std::string> state_;
  nlohmann::json seen_;
  double busy_before_ = 0;
  double wall_before_ = 0;
  double busy_ = 0;

  std::mutex sleep_;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace railyard::daemon
