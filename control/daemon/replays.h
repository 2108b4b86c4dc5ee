// The capture files that a live lab's hosts send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/daemon/captures.h"
#include "control/lab/session.h"
#include "dataplane/port/replay_endpoint.h"

namespace railyard::daemon {

// At most one per NIC, beside what the NIC's own traffic is. Called by one thread, which is not the engine's. Throws
// api::ApiError.
class Replays {
 public:
  // All outlive it.
  Replays(lab::Session& session, MakeChange change);
  Replays(const Replays&) = delete;
  Replays& operator=(const Replays&) = delete;

  // Has the NIC at `port`, called `name`, of a host without attachment send the frames of `file` (absolute path), all
  // of which is read first. `options`, all optional: "asap" (bool), "rate" (bit/s), "loop" (bool); see ReplayTiming.
  // One that has ended there is forgotten.
  nlohmann::json start(PortRef port, const std::string& name, const std::string& file, const nlohmann::json& options);
  // Whether there is one at a NIC, whether it goes on or not.
  bool has(PortRef port) const;
  // Those that go on, and those that have sent all.
  nlohmann::json list() const;
  nlohmann::json show(const std::string& id) const;
  // Stops it if it goes on, and forgets it; answers with what it has sent.
  nlohmann::json end(const std::string& id);

 private:
  struct Replay {
    PortRef port;
    std::string name;
    std::string file;
    std::shared_ptr<const ReplayPlan> plan;
    std::shared_ptr<ReplayControl> control;
    ReplayEndpoint* endpoint = nullptr;  // the host's; touched by the thread that runs it
  };
  static nlohmann::json describe(const std::string& id, const Replay& replay);
  Host& host_of(PortRef port);
  void free_plans();

  lab::Session& session_;
  MakeChange change_;
  std::map<std::string, Replay> replays_;  // by id
  std::vector<std::shared_ptr<const ReplayPlan>>
      plans_;  // all that somebody may hold: freed here, where it may take long
  std::uint64_t started_ = 0;
};

}  // namespace railyard::daemon
