// Probes of a lab between its NICs: the pairs that are slow, and the link that they share.
#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

using Json = nlohmann::ordered_json;

struct Measured {
  std::string source, sink;  // "h1:1"
  double bps = 0, rate = 0;
};

// The slower port's rate, less what the lab's own traffic takes there. 0: not known.
double free_bps(const Case& c, const std::string& source, const std::string& sink) {
  const PortCase* const nic = c.port(source);
  const PortCase* const last = c.before(sink);
  if (nic == nullptr || last == nullptr) return 0;
  return std::min(nic->rate_bps * (1 - nic->utilisation), last->rate_bps * (1 - last->utilisation));
}

std::vector<Diagnosis> find_slow_probes(const Case& c) {
  constexpr double kPart = 0.8;  // headers take 0.03
  std::vector<Measured> slow;
  std::map<std::string, std::size_t> all, hit;  // pairs by NIC
  for (const Json& p : items(c.probes(), "pairs")) {
    const Measured m{text(p, "src"), text(p, "dst"), number(p, "last_bps"), free_bps(c, text(p, "src"), text(p, "dst"))};
    if (m.bps <= 0 || m.rate <= 0) continue;
    const bool is_slow = m.bps < kPart * m.rate;
    for (const std::string& nic : {m.source, m.sink}) {
      ++all[nic];
      hit[nic] += is_slow;
    }
    if (is_slow) slow.push_back(m);
  }
  std::vector<Diagnosis> out;
  // One NIC explains all of them, and at least one direction of it is slow throughout.
  const auto worst = std::ranges::max_element(hit, {}, [](const auto& h) { return h.second; });
  if (slow.empty() || worst == hit.end()) return out;
  const auto touches = [&](const Measured& m) { return m.source == worst->first || m.sink == worst->first; };
  if (2 * worst->second < all[worst->first] || !std::ranges::all_of(slow, touches)) return out;
  const PortCase* const at = c.before(worst->first);
  if (at == nullptr || slow.size() < 2) return out;
  const Measured& first = *std::ranges::min_element(slow, {}, [](const Measured& m) { return m.bps / m.rate; });
  out.push_back({at->link(),
                 0.85,
                 {fmt::format("{} of {} pairs of NICs are slow in the last round of probes, all of them from or to {}", slow.size(),
                              items(c.probes(), "pairs").size(), worst->first),
                  fmt::format("{} -> {}: {:.1f} Gb/s; {:.1f} Gb/s were free at these NICs", first.source, first.sink,
                              first.bps / 1e9, first.rate / 1e9)}});
  return out;
}

}  // namespace

const Rule rules::kSlowProbes{"slow-probes", "Probes from or to one NIC are slower than its link.",
                              "Speed, lanes, FEC and module of that link.",
                              "The lab's own traffic filled the link while they were sent: repeat it.", find_slow_probes,
                              {Input::kProbes, Input::kLinks}};

}  // namespace railyard::doctor
