// What passes through a port to the outside, as far as is known when it stands.
#pragma once

#include <cstdint>
#include <string_view>

namespace railyard {

struct PortAbilities {
  // PFC frames (IEEE 802.1Q clause 36), both ways, as any other frame.
  enum class Pfc {
    kYes,         // there is nothing between that would keep them
    kUnverified,  // many NICs and drivers keep them to themselves; `railyard port test` shows it
  };
  Pfc pfc = Pfc::kUnverified;
  // Longest frame that the port carries, octets with one tag and without FCS.
  std::uint32_t largest_frame = 0;
  // Whether checksums and segmentation that a sender outside leaves to its NIC are done as its frames come in; else it
  // must do them itself.
  bool completes_checksums = false;
};

constexpr std::string_view text(PortAbilities::Pfc pfc) noexcept {
  return pfc == PortAbilities::Pfc::kYes ? "yes" : "unverified";
}

}  // namespace railyard
