#include "control/daemon/pause_history.h"

#include <algorithm>
#include <utility>

#include "control/base/json_text.h"

namespace railyard::daemon {

using nlohmann::json;

void PauseHistory::add(double unix_seconds, const json& trees) {
  std::string text = json_text(trees);
  octets_ += text.size();
  seen_.push_back({unix_seconds, std::move(text)});
  while (seen_.size() > 1 && (octets_ > kMostOctets || seen_.front().unix_seconds < unix_seconds - kKept)) {
    octets_ -= seen_.front().trees.size();
    seen_.pop_front();
  }
}

json PauseHistory::at(double unix_seconds) const {
  const auto after = std::ranges::upper_bound(seen_, unix_seconds, {}, &Seen::unix_seconds);
  if (after == seen_.begin() || unix_seconds - std::prev(after)->unix_seconds > kHolds)
    return {{"unix_seconds", unix_seconds}, {"trees", json::array()}};
  return {{"unix_seconds", std::prev(after)->unix_seconds}, {"trees", json::parse(std::prev(after)->trees)}};
}

}  // namespace railyard::daemon
