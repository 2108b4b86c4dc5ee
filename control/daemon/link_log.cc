#include "control/daemon/link_log.h"

#include <fmt/format.h>

namespace railyard::daemon {

void LinkLog::add(const std::string& port, bool up, Instant effective) {
  using Kind = fault::LoggedEvent::Kind;
  const std::scoped_lock lock(mutex_);
  const auto note = [&](Kind kind, const std::string& name, const std::string& text = {}) {
    events_.push_back({.kind = kind, .fault = name, .what = "down", .where = port, .requested = effective,
                       .effective = effective, .frames = std::nullopt, .text = text});
  };
  if (!up) {
    const std::string name = fmt::format("link-down-{}", ++count_);
    down_[port] = name;
    note(Kind::kAdded, name, fmt::format("{{name: {}, on: \"{}\", down: true}}", name, port));
    note(Kind::kBegin, name);
  } else if (const auto found = down_.find(port); found != down_.end()) {
    note(Kind::kEnd, found->second);
    note(Kind::kRemoved, found->second);
    down_.erase(found);
  }
}

std::vector<fault::LoggedEvent> LinkLog::events() const {
  const std::scoped_lock lock(mutex_);
  return events_;
}

}  // namespace railyard::daemon
