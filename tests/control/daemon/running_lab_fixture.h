// A lab that runs, as a daemon would have it, through the API. Nothing here depends on how fast it runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "control/daemon/live_lab.h"
#include "control/daemon/settings.h"
#include "control/daemon/watch.h"

namespace railyard::daemon {

class RunningLabFixture : public testing::Test {
 protected:
  using json = nlohmann::json;

  // h1 sends to h2 by way of leaf1, for as long as the lab is up.
  static constexpr const char* kTwoHosts = R"(name: x
nodes: { leaf1: { kind: switch }, h1: { kind: host }, h2: { kind: host } }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2]]
traffic: [ { name: t, from: h1, to: h2, payload: 1KB, rate: 100Mbps } ]
run: { clock: wall, memory: 256MiB }
)";

  // `fabric`: its file, of a lab called x. A thread is its engine's.
  explicit RunningLabFixture(const std::string& fabric);
  ~RunningLabFixture() override;
  void end();

  json ask(const std::string& method, const std::string& target, const json& body = nullptr);
  // What is said when that fails with `status`.
  std::string error_of(int status, const std::string& method, const std::string& target, const json& body = nullptr);
  static const json& port(const json& status, const std::string& node, int n);
  std::uint64_t received_by_h2();
  void wait_for_packets();
  std::string log() const;

  // Where labs are said to be; gone last.
  class StateFolder {
   public:
    StateFolder();
    ~StateFolder();
    StateFolder(const StateFolder&) = delete;
    StateFolder& operator=(const StateFolder&) = delete;
    const std::filesystem::path& path() const noexcept { return path_; }

   private:
    std::filesystem::path path_;
  };

  StateFolder state_;
  std::filesystem::path folder_ = state_.path();
  std::atomic<bool> stop_{false};
  Settings settings_;
  lab::Session session_;
  WallClockLive live_;
  Log log_;
  std::unique_ptr<LiveLab> lab_;
  std::unique_ptr<Watch> watch_;  // not started
  std::thread engine_;
};

}  // namespace railyard::daemon
