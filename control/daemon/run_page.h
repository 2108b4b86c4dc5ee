// The live page of a run under the virtual clock (`railyard run --web`): it is looked at between two windows, and cannot
// be changed.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "control/daemon/live_lab.h"
#include "control/daemon/log.h"
#include "control/daemon/watch.h"
#include "control/daemon/web_server.h"
#include "control/lab/session.h"
#include "dataplane/run/wall_clock.h"

namespace railyard::daemon {

// Results do not depend on it: those who ask read counters, or have the engine rest at the end of a window, where it may
// rest anyway (Engine::settle). At most once in kLeastBetween, however many ask.
class RunPage {
 public:
  static constexpr std::chrono::milliseconds kLeastBetween{50};

  // Serves 127.0.0.1 at a port that the system chooses, from now on. `session`, which has not begun to run, and `page`
  // outlive it. Throws std::runtime_error.
  RunPage(lab::Session& session, std::span<const PageFile> page);
  // Before the session is gone.
  ~RunPage();
  RunPage(const RunPage&) = delete;
  RunPage& operator=(const RunPage&) = delete;

  // To the page, once; and what else opens it. Before end().
  std::string new_link() { return web_->new_link(); }
  const std::string& token() const noexcept { return token_; }
  // The run has ended: those who watch are told, and nobody is served any more. By the thread that ran the session.
  void end();

 private:
  void between_windows();
  api::Response answer(const api::Request& request);

  lab::Session& session_;
  WallClockLive live_;
  Log log_;
  LiveLab lab_;
  std::string token_;
  std::mutex one_at_a_time_;  // of those who look at the lab
  std::unique_ptr<Watch> watch_;  // before the server, whose streams it feeds
  std::unique_ptr<WebServer> web_;
  std::chrono::steady_clock::time_point served_{};
};

}  // namespace railyard::daemon
