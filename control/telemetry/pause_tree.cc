#include "control/telemetry/pause_tree.h"

#include <cstddef>

namespace railyard::telemetry {

std::vector<PauseTree> pause_trees(const PauseGraph& graph) {
  std::vector<std::vector<std::size_t>> held_by(graph.paused.size());  // who waits for it
  std::map<PortClass, std::vector<std::size_t>> behind_root;
  for (std::size_t i = 0; i < graph.paused.size(); ++i) {
    for (const std::size_t to : graph.paused[i].waits_for) held_by[to].push_back(i);
    for (const PortClass& root : graph.paused[i].roots) behind_root[root].push_back(i);
  }
  std::vector<PauseTree> trees;
  for (auto& [root, first] : behind_root) {
    PauseTree& tree = trees.emplace_back(PauseTree{root, {}});
    std::vector<bool> in_it(graph.paused.size());
    for (std::vector<std::size_t> level = first; !level.empty();) {
      std::vector<std::size_t> next;
      std::vector<PortClass> queues;
      for (const std::size_t i : level) {
        if (in_it[i]) continue;
        in_it[i] = true;
        queues.push_back(graph.paused[i].queue);
        next.insert(next.end(), held_by[i].begin(), held_by[i].end());
      }
      if (!queues.empty()) tree.levels.push_back(std::move(queues));
      level = std::move(next);
    }
  }
  return trees;
}

std::vector<PauseTreeWatch::Named> PauseTreeWatch::named(const build::BuiltLab& lab, const PauseGraph& graph) {
  std::vector<Named> all;
  for (const PauseTree& tree : pause_trees(graph)) {
    Named& n = all.emplace_back(Named{format(lab, tree.root), {}});
    for (const auto& level : tree.levels) {
      auto& names = n.levels.emplace_back();
      for (const PortClass& queue : level) names.push_back(format(lab, queue));
    }
  }
  return all;
}

void PauseTreeWatch::look(const build::BuiltLab& lab, const PauseGraph& graph) {
  ++looks_;
  if (graph.paused.empty()) return;
  std::vector<Named> trees = named(lab, graph);
  for (const Named& tree : trees)
    for (const auto& level : tree.levels)
      for (const std::string& victim : level) ++held_[{tree.root, victim}];
  if (graph.paused.size() <= most_ || trees.empty()) return;
  most_ = graph.paused.size();
  widest_at_ = graph.at;
  widest_ = std::move(trees);
}

}  // namespace railyard::telemetry
