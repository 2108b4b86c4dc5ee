// Lossless classes whose buffers can wait for each other in a circle.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/lint/rules/rules.h"
#include "control/routing/buffer_cycles.h"
#include "control/spec/value.h"

namespace railyard::lint {
namespace {

struct Circle {
  std::string key;   // of the class at the first switch
  std::string text;  // "s1:3 -> s2:3 -> s1:3, in class 3"
  bool is_accepted = false;
};

std::vector<Circle> circles(const Facts& facts) {
  const std::vector<routing::WaitingBuffer>& all = facts.buffer_cycle();
  if (all.empty()) return {};
  const auto node = [&](std::size_t n) -> const spec::NodeSpec& { return facts.lab().nodes[n]; };
  const auto part = [&](const routing::WaitingBuffer& b) {
    return spec::format(spec::PortName{node(b.from).name, b.port.value + 1});
  };
  Circle circle;
  constexpr std::size_t kShown = 12;
  std::vector<int> classes;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i < kShown || i + 1 == all.size()) circle.text += part(all[i]) + " -> ";
    if (i == kShown && i + 1 < all.size()) circle.text += fmt::format("({} more) -> ", all.size() - kShown - 1);
    if (std::ranges::find(classes, all[i].priority) == classes.end()) classes.push_back(all[i].priority);
  }
  circle.text += part(all.front());
  std::string numbers;
  for (const int c : classes) numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", c);
  circle.text += fmt::format(" in {} {}", classes.size() == 1 ? "class" : "classes", numbers);
  circle.is_accepted = std::ranges::all_of(all, [&](const routing::WaitingBuffer& b) {
    return facts.qos(node(b.at)).classes[static_cast<std::size_t>(b.priority)].accept_deadlock;
  });
  circle.key = Facts::class_path(facts.qos_name(node(all.front().at)), all.front().priority) + ".lossless";
  return {circle};
}

void find(const Facts& facts, bool accepted, Findings& findings) {
  for (const Circle& c : circles(facts))
    if (c.is_accepted == accepted)
      findings.add(c.key,
                   fmt::format("Deadlock is possible: lossless buffers wait for each other in a circle of links, {}.",
                               c.text),
                   accepted ? "None: accept-deadlock says that it is meant."
                            : "Use paths that go only up, then down, or change the class on one link of the circle "
                              "(remap-to), or set accept-deadlock: true in the class.");
}

void find_cycle(const Facts& facts, Findings& findings) { find(facts, false, findings); }
void find_accepted_cycle(const Facts& facts, Findings& findings) { find(facts, true, findings); }

}  // namespace

const Rule kBufferCycle{.name = "buffer-cycle",
                        .severity = Severity::kError,
                        .summary = "Buffers of lossless classes can wait for each other in a circle: deadlock",
                        .find = find_cycle};
const Rule kAcceptedBufferCycle{.name = "accepted-buffer-cycle",
                                .severity = Severity::kWarning,
                                .summary = "The same, where accept-deadlock says that it is meant",
                                .find = find_accepted_cycle};

}  // namespace railyard::lint
