#include "control/spec/pcie.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

namespace railyard::spec {
namespace {

// Whether its frames are Railyard's own, so that they can be held up here.
bool is_modelled(const NicSpec& nic) noexcept {
  return std::holds_alternative<std::monostate>(nic.attach) || std::holds_alternative<AttachPcap>(nic.attach) ||
         std::holds_alternative<AttachApplication>(nic.attach);
}

}  // namespace

BitRate rate_of(PcieSlot slot) noexcept {
  constexpr std::int64_t kThird = 8'000'000'000;  // transfers per second of a lane, generation 3; twice as many each time
  const std::int64_t raw = (kThird << (slot.generation - 3)) * slot.lanes;
  return BitRate{slot.generation >= 6 ? raw / 256 * 236 : raw / 130 * 128};
}

std::optional<BitRate> pcie_rate(const Lab& lab, const NodeSpec& host) {
  if (host.kind != NodeSpec::Kind::kHost) return std::nullopt;
  const std::optional<PcieSpec>& pcie = lab.hosts.at(host.profile).pcie;
  if (!pcie) return std::nullopt;
  return std::min(rate_of(pcie->slot), rate_of(pcie->uplink.value_or(pcie->slot)));
}

std::vector<PcieGroup> pcie_groups(const Lab& lab, const NodeSpec& host) {
  if (host.kind != NodeSpec::Kind::kHost) return {};
  const std::optional<PcieSpec>& pcie = lab.hosts.at(host.profile).pcie;
  if (!pcie || pcie->shared_by == 1) return {};
  std::vector<PcieGroup> groups;
  const auto share = static_cast<std::size_t>(pcie->shared_by);
  for (std::size_t first = 0; first < host.nics.size(); first += share) {
    PcieGroup group{.nics = {}, .uplink = rate_of(pcie->uplink.value_or(pcie->slot))};
    for (std::size_t n = first; n < std::min(first + share, host.nics.size()); ++n)
      if (is_modelled(host.nics[n])) group.nics.push_back(static_cast<int>(n) + 1);
    if (group.nics.size() > 1) groups.push_back(std::move(group));
  }
  return groups;
}

std::string format(const NodeSpec& host, const PcieGroup& group) {
  return fmt::format("{}:{}-{}", host.name, group.nics.front(), group.nics.back());
}

}  // namespace railyard::spec
