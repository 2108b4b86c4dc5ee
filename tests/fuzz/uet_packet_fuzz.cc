// Any octets as an Ultra Ethernet packet, from the PDS header to the payload, or from the TSS header on.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <span>
#include <vector>

#include "tests/fuzz/expect.h"
#include "transports/uet/wire/packet.h"
#include "transports/uet/wire/tss.h"

using namespace railyard::uet;

namespace {

using Octets = std::vector<std::byte>;

// The headers are all that is looked at. Each cut is a block of its own: one octet too far is an error of the
// sanitizer.
void expect_headers_suffice(std::span<const std::byte> octets, const Packet& packet, const Dialect& dialect) {
  const auto end = octets.begin() + static_cast<std::ptrdiff_t>(packet.header_octets());
  const Octets headers(octets.begin(), end), less(octets.begin(), end - 1);
  FUZZ_EXPECT(decode(headers, octets.size(), dialect) == packet);
  const auto refused = decode(less, octets.size(), dialect);
  FUZZ_EXPECT(!refused && (refused.error() == Malformed::kHeadersCut || refused.error() == Malformed::kTooShort));
}

// Reserved bits are not kept; everything else is.
void expect_says_the_same_again(const Packet& packet, const Dialect& dialect) {
  Octets out(packet.header_octets());
  FUZZ_EXPECT(encode_headers(out, packet, dialect) == out.size());
  FUZZ_EXPECT(decode(out, packet.octets(), dialect) == packet);
  FUZZ_EXPECT(encode_headers(std::span(out).first(out.size() - 1), packet, dialect) == 0);
}

void expect_tss_comes_back(std::span<const std::byte> octets) {
  const auto tss = decode_tss(octets);
  if (!tss) return;
  Octets out(tss->octets());
  FUZZ_EXPECT(encode_tss(out, *tss) == out.size());
  FUZZ_EXPECT(decode_tss(out) == tss);
}

// What was there before leaves nothing behind.
void expect_replaces_what_was_there(std::span<const std::byte> octets, const std::expected<Packet, Malformed>& packet,
                                    const Dialect& dialect) {
  static Packet used;
  const auto bad = decode_into(octets, octets.size(), used, dialect);
  FUZZ_EXPECT(bad.has_value() == !packet.has_value());
  FUZZ_EXPECT(packet ? used == *packet : *bad == packet.error());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto octets = std::as_bytes(std::span(data, size));
  expect_tss_comes_back(octets);
  for (const Dialect& dialect : {kStandard, kRefProv}) {
    const auto packet = decode(octets, dialect);
    expect_replaces_what_was_there(octets, packet, dialect);
    if (!packet) continue;
    FUZZ_EXPECT(packet->octets() == size);
    FUZZ_EXPECT(packet->header_octets() <= kMostPacketHeaderOctets);
    FUZZ_EXPECT(allowed_after(type(packet->pds), next_hdr(packet->pds)));
    expect_headers_suffice(octets, *packet, dialect);
    expect_says_the_same_again(*packet, dialect);
    (void)has_right_length(*packet, 1024);
    (void)has_right_length(*packet, std::numeric_limits<std::size_t>::max());
  }
  return 0;
}
