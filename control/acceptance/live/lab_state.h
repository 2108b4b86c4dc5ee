// What a running lab is, so that a change while it is measured is noticed.
#pragma once

#include <map>
#include <string>

#include <nlohmann/json.hpp>

namespace railyard::acceptance::live {

struct LabState {
  long pid = 0;                                 // of the daemon
  bool held = false;                            // paused
  std::string spec{};                           // lab.yaml as it is now
  std::map<std::string, bool> links{};          // by port: whether it is up
  std::map<std::string, std::string> faults{};  // by name: "loss on leaf1:3"; those that were removed are left out
  std::map<std::string, bool> traffic{};        // by name: whether it is stopped
};

// Of GET /status, /faults, /flows and lab.yaml of /report.
LabState state_of(const nlohmann::json& status, const nlohmann::json& faults, const nlohmann::json& flows,
                  std::string lab_yaml);

// The first thing that is different, one clause: "link leaf1:3 went down". Empty: nothing is.
std::string change(const LabState& before, const LabState& after);

}  // namespace railyard::acceptance::live
