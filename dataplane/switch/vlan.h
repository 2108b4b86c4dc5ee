// VLAN membership of a port and what it does to the tag (IEEE 802.1Q clause 8.6.2 ingress, 8.6.6 egress rules).
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>

namespace railyard {

inline constexpr std::uint16_t kDefaultVid = 1;

// Untagged frames belong to `native`. Frames of the native VLAN leave untagged, those of `tagged` with a tag.
class VlanMembership {
 public:
  explicit VlanMembership(std::uint16_t native = kDefaultVid) : native_(native) {}

  std::uint16_t native() const noexcept { return native_; }
  void allow_tagged(std::uint16_t vid) { tagged_.set(vid & 0xFFF); }
  void allow_all_tagged() { tagged_.set(); }

  // The VLAN of an arriving frame, nothing if the port is not a member of it. VID 0 is a priority tag: no VLAN.
  std::optional<std::uint16_t> classify(bool has_tag, std::uint16_t vid) const noexcept {
    const std::uint16_t vlan = has_tag && vid != 0 ? vid : native_;
    if (vlan != native_ && !tagged_.test(vlan & 0xFFF)) return std::nullopt;
    return vlan;
  }

  enum class Egress : std::uint8_t { kUntagged, kTagged, kNotMember };
  Egress egress(std::uint16_t vlan) const noexcept {
    if (vlan == native_) return Egress::kUntagged;
    return tagged_.test(vlan & 0xFFF) ? Egress::kTagged : Egress::kNotMember;
  }

 private:
  std::uint16_t native_;
  std::bitset<4096> tagged_;
};

}  // namespace railyard
