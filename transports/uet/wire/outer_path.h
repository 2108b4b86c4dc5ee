// What stands in front of all packets that go one way: made once, as encode_outer() does; per packet only lengths and
// entropy are new.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "transports/uet/wire/encapsulation.h"

namespace railyard::uet {

class OuterPath {
 public:
  OuterPath() = default;
  // `outer`: its entropy does not count.
  OuterPath(const EncapsulationConfig& config, const OuterHeaders& outer) noexcept;

  // Octets of the headers; 0: as constructed without a way.
  std::size_t octets() const noexcept { return octets_; }
  // Writes the headers in front of `inner_octets` octets, of the UET packet with its trailer, which IP can carry, and
  // returns octets(). There is room for kMostOuterOctets at `out`.
  std::size_t write(std::byte* out, std::size_t inner_octets, std::uint16_t entropy) const noexcept {
    begin(out);
    return complete(out, inner_octets, entropy);
  }
  // The same in two parts, for who knows the length last: all that is alike in all packets, which takes kMostOuterOctets
  // whatever octets() is, and the rest.
  void begin(std::byte* out) const noexcept { std::memcpy(out, header_.data(), header_.size()); }
  std::size_t complete(std::byte* out, std::size_t inner_octets, std::uint16_t entropy) const noexcept;

 private:
  std::array<std::byte, kMostOuterOctets> header_{};
  std::uint32_t sum_ = 0;  // of the IPv4 header without its length, for its checksum
  std::uint8_t octets_ = 0;
  std::uint8_t l4_ = 0;  // where UDP or the entropy header begins
  bool v4_ = true;
  bool udp_ = true;
};

}  // namespace railyard::uet
