// Header fields by the names that capture tools give them ("bth.psn", "ip.dscp"), and tests of their values: what a
// packet match is made of.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dataplane/wire/parse.h"

namespace railyard::wire {

// The header that a field lies in.
enum class HeaderLayer : std::uint8_t { kEthernet, kVlan, kIpv4, kIpv6, kUdp, kTcp, kBth, kUetPds, kUetSes };

// How a value of a field is written: a number, or an address.
enum class HeaderFieldKind : std::uint8_t { kNumber, kMac, kIpAddress };

// `width` bits from bit `first_bit` of a header, counted as in the standard's figure.
struct HeaderField {
  std::string_view name;
  HeaderLayer layer;  // of ip.*: kIpv4; the place in an IPv6 header is in `v6_first_bit`
  HeaderFieldKind kind;
  std::uint16_t first_bit;
  std::uint16_t width;
  std::uint16_t v6_first_bit;  // ip.*, else 0
  std::uint16_t v6_width;
};

// All fields that can be named, in the order of the headers.
std::span<const HeaderField> header_fields() noexcept;
// By name; nullptr: there is none.
const HeaderField* header_field(std::string_view name) noexcept;


// Whether a frame has certain bits in a certain header. A frame without that header has not.
struct FieldTest {
  static constexpr std::size_t kMostOctets = 16;

  HeaderLayer layer = HeaderLayer::kEthernet;
  std::uint8_t first_octet = 0;  // in that header
  std::uint8_t octets = 0;       // 1..kMostOctets
  std::array<std::byte, kMostOctets> value{};
  std::array<std::byte, kMostOctets> mask{};  // the bits that count

  bool operator==(const FieldTest&) const = default;

  // `frame`: the octets that are there, from the Ethernet header on; `view`: what parse_frame() said of them. False for
  // a header that ends beyond `frame`.
  bool holds(std::span<const std::byte> frame, const FrameView& view) const noexcept;
};

// The test that a field of `first_bit` and `width` <= 64 of `layer` is `value`, which fits.
FieldTest number_test(HeaderLayer layer, std::size_t first_bit, std::size_t width, std::uint64_t value) noexcept;
// The test that the first `bits` bits of an octet string at `first_octet` are those of `value`.
FieldTest prefix_test(HeaderLayer layer, std::size_t first_octet, std::span<const std::byte> value,
                      std::size_t bits) noexcept;

}  // namespace railyard::wire
