// NICs that are faster than their slots.
#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

using Json = nlohmann::ordered_json;

bool is_known(const std::vector<Diagnosis>& out, const std::string& node) {
  return std::ranges::find(out, node, &Diagnosis::element) != out.end();
}

// What NICs say of their slots themselves: the share of the last second, in percent.
void add_stalled(const Case& c, std::vector<Diagnosis>& out) {
  constexpr std::uint64_t kOften = 10;
  for (const NicCase& n : c.nics())
    for (const char* counter : {"outbound_pci_stalled_wr", "outbound_pci_stalled_rd"})
      if (n.of(counter) >= kOften)
        out.push_back({n.node, 0.85, {fmt::format("{}: PCI Express had no credits for {} % of the time ({})", n.node,
                                                  n.of(counter), counter)}});
}

constexpr double kFramed = 0.85;  // headers leave more than this of the rate with packets of 1 KB

// Slots as `lspci` shows them, of NICs that use them: what they carry, or they pause their switch because they carry no more.
void add_slots(const Case& c, std::vector<Diagnosis>& out) {
  constexpr double kUsed = 0.6;  // of the load interval, with what comes before and after a transfer
  for (const PortCase& p : c.ports()) {
    if (p.is_switch || p.other == nullptr || p.slot_bps <= 0 || p.slot_bps >= kFramed * p.rate_bps) continue;
    const double used = std::max(p.utilisation, p.other->utilisation) * p.rate_bps;
    const auto xoff = std::accumulate(p.classes.begin(), p.classes.end(), std::uint64_t{0},
                                      [](std::uint64_t n, const ClassCase& k) { return n + k.xoff_sent; });
    if ((used < kUsed * p.slot_bps && xoff == 0) || is_known(out, p.node)) continue;
    out.push_back({p.node,
                   0.95,
                   {fmt::format("{} has a link of {:.0f} Gb/s and a slot that carries {:.0f} Gb/s", p.name(), p.rate_bps / 1e9,
                                p.slot_bps / 1e9),
                    fmt::format("it sends {:.1f} Gb/s and receives {:.1f} Gb/s in the mean, and sent {} XOFF", p.utilisation * p.rate_bps / 1e9,
                                p.other->utilisation * p.rate_bps / 1e9, xoff)}});
  }
}

// Uplinks that NICs share: what a flow gets at most says so. A flow's limit is the lesser of its two ends': that of a NIC is the
// largest of its flows, in either direction.
void add_limits(const Case& c, std::vector<Diagnosis>& out) {
  std::map<std::string, double> limits;
  constexpr double kFull = 1000;  // octets of payload: headers take more of small packets
  const auto is_full = [](const Json& f) { return count(f, "packets") == 0 || number(f, "bytes") >= kFull * number(f, "packets"); };
  for (const Json& f : c.flows())
    if (number(f, "offered_bps") <= 0 && is_full(f))
      for (const char* end : {"src", "dst"}) limits[text(f, end)] = std::max(limits[text(f, end)], number(f, "limit_bps"));
  for (const auto& [nic, limit] : limits) {
    const PortCase* at = c.before(nic);
    if (at == nullptr || at->other == nullptr || limit <= 0 || limit >= kFramed * at->rate_bps) continue;
    const bool sends = at->other->utilisation >= at->utilisation;
    const double used = std::max(at->other->utilisation, at->utilisation);
    if (used * at->rate_bps < 0.7 * limit || is_known(out, node_of(nic))) continue;
    out.push_back({node_of(nic),
                   0.8,
                   {fmt::format("{} {} at {:.0f} % of its link's {:.0f} Gb/s; its slot leaves {:.0f} Gb/s", nic,
                                sends ? "sends" : "receives", used * 100, at->rate_bps / 1e9, limit / 1e9)}});
  }
}

std::vector<Diagnosis> find_pcie_limit(const Case& c) {
  std::vector<Diagnosis> out;
  add_stalled(c, out);
  add_slots(c, out);
  add_limits(c, out);
  return out;
}

}  // namespace

const Rule rules::kPcieLimit{"pcie-limit", "A NIC's PCI Express slot carries less than its link.",
                             "A wider or faster slot: `lspci -vv` shows LnkSta; `railyard check` (nic-above-pcie).",
                             "The flow is slow by its own rate.", find_pcie_limit, {Input::kNics}};

}  // namespace railyard::doctor
