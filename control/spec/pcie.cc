#include "control/spec/pcie.h"

namespace railyard::spec {

BitRate rate_of(PcieSlot slot) noexcept {
  constexpr std::int64_t kThird = 8'000'000'000;  // transfers per second of a lane, generation 3; twice as many each time
  const std::int64_t raw = (kThird << (slot.generation - 3)) * slot.lanes;
  return BitRate{slot.generation >= 6 ? raw / 256 * 236 : raw / 130 * 128};
}

std::optional<BitRate> pcie_rate(const Lab& lab, const NodeSpec& host) {
  if (host.kind != NodeSpec::Kind::kHost) return std::nullopt;
  const std::optional<PcieSlot>& slot = lab.hosts.at(host.profile).pcie;
  return slot ? std::optional(rate_of(*slot)) : std::nullopt;
}

}  // namespace railyard::spec
