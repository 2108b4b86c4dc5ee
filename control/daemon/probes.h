// Probes in a lab that is live: trains that somebody asks for, and the rounds of its file.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/daemon/captures.h"
#include "control/daemon/probe_log.h"
#include "control/lab/session.h"
#include "control/probes/train.h"

namespace railyard::daemon {

// Called by one thread, which is not the engine's. Throws api::ApiError.
class LiveProbes {
 public:
  // `session` outlives it.
  LiveProbes(lab::Session& session, MakeChange change) : session_(session), change_(std::move(change)) {}
  // When the engine has ended.
  ~LiveProbes() {
    if (log_ != nullptr) session_.probe_rounds()->on_round(nullptr);
  }
  LiveProbes(const LiveProbes&) = delete;
  LiveProbes& operator=(const LiveProbes&) = delete;

  // Before the lab runs: rounds of the file go to `file` and, where pairs become slow, to `log`.
  void keep(const std::filesystem::path& file, Log& log) {
    probes::Rounds* const rounds = session_.probe_rounds();
    if (rounds == nullptr) return;
    log_ = std::make_unique<ProbeLog>(file, static_cast<std::size_t>(session_.lab().spec().probe->history), log);
    rounds->on_round([this](const probes::History& history) { log_->add(history); });
  }
  // nullptr: rounds are not kept.
  const ProbeLog* log() const noexcept { return log_.get(); }

  // Sends trains now. `body`: "trains", each [from, to, start_ns, frames, gap_ns]; and, all optional, "payload"
  // (octets), "dscp", "ect", "class", "ip" (4, 6). Answers with "trains" (how many), "ends_seconds",
  // "effective_seconds". 409: others are on their way.
  nlohmann::json start(const nlohmann::json& body);
  // "state": "running", "done", "none" (also if a host that came or left has taken them away); done: "trains", one for
  // each, and "latency_ns" of all frames together.
  nlohmann::json result();
  // Takes trains that go on away; what came of them is lost.
  nlohmann::json cancel();
  // Rounds of the file: "every", "pairs", "rounds" (of those that are kept, the last `last`), "slow" now. 409: the file
  // has no `probe`.
  nlohmann::json rounds(std::size_t last);

 private:
  lab::Session& session_;
  MakeChange change_;
  std::unique_ptr<ProbeLog> log_;
  bool asked_ = false;     // trains go on
  std::uint64_t job_ = 0;  // of the prober, theirs
  nlohmann::json done_;    // what came of the last ones; null: nothing yet
};

}  // namespace railyard::daemon
