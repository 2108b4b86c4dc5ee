// Pause trees: from a root of congestion back to everybody who is held back because of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "control/build/built_lab.h"
#include "control/telemetry/pause_graph.h"
#include "dataplane/base/time.h"

namespace railyard::telemetry {

// levels[0]: the queues that are paused because of the root itself; levels[i]: those that wait for one of levels[i -
// 1]. Nobody is twice in a tree, but may be in several trees.
struct PauseTree {
  PortClass root;
  std::vector<std::vector<PortClass>> levels;
};

// In order of their roots. Queues of a deadlock that has no root are in no tree.
std::vector<PauseTree> pause_trees(const PauseGraph& graph);

// What pause trees come to over a run.
class PauseTreeWatch {
 public:
  struct Named {
    std::string root;  // "leaf1:1 class 3"
    std::vector<std::vector<std::string>> levels;
  };

  // The trees of one instant, by name.
  static std::vector<Named> named(const build::BuiltLab& lab, const PauseGraph& graph);

  // Looks come in order of time.
  void look(const build::BuiltLab& lab, const PauseGraph& graph);

  std::uint64_t looks() const noexcept { return looks_; }
  // The trees of the first look at which most queues were paused; none: nobody ever was.
  const std::vector<Named>& widest() const noexcept { return widest_; }
  Instant widest_at() const noexcept { return widest_at_; }
  // At how many looks (root, victim) were in one tree.
  const std::map<std::pair<std::string, std::string>, std::uint64_t>& held() const noexcept { return held_; }

 private:
  std::uint64_t looks_ = 0;
  std::size_t most_ = 0;
  Instant widest_at_{};
  std::vector<Named> widest_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> held_;
};

}  // namespace railyard::telemetry
