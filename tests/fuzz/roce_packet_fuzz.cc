// Any octets as a RoCEv2 datagram, from the BTH to the ICRC.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/fuzz/expect.h"
#include "transports/roce/wire/packet.h"

using namespace railyard::roce;

namespace {

using Octets = std::vector<std::byte>;

// The headers are all that is looked at. Each cut is a block of its own: one octet too far is an error of the
// sanitizer.
void expect_headers_suffice(std::span<const std::byte> datagram, const Packet& packet) {
  const Octets headers(datagram.begin(), datagram.begin() + static_cast<std::ptrdiff_t>(packet.header_octets()));
  FUZZ_EXPECT(decode(headers, datagram.size()) == packet);
  const Octets less(headers.begin(), headers.end() - 1);
  const auto refused = decode(less, datagram.size());
  FUZZ_EXPECT(!refused && (refused.error() == Malformed::kHeadersCut || refused.error() == Malformed::kTooShort));
}

void expect_encodes_to_the_same(std::span<const std::byte> datagram, const Packet& packet) {
  const auto payload = datagram.subspan(packet.header_octets(), packet.payload_octets);
  Octets out(packet.octets() - railyard::wire::kIcrcOctets);
  FUZZ_EXPECT(encode(out, packet, payload) == out.size());
  // What is sent as padding is zeros; what is received as such is ignored.
  const std::size_t unpadded = packet.header_octets() + packet.payload_octets;
  FUZZ_EXPECT(std::ranges::equal(std::span(out).first(unpadded), datagram.first(unpadded)));
  FUZZ_EXPECT(std::ranges::all_of(std::span(out).subspan(unpadded), [](std::byte b) { return b == std::byte{0}; }));
  FUZZ_EXPECT(out.empty() || encode(std::span(out).first(out.size() - 1), packet, payload) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto datagram = std::as_bytes(std::span(data, size));
  const auto packet = decode(datagram);
  if (!packet) return 0;
  FUZZ_EXPECT(packet->octets() == size);
  FUZZ_EXPECT(packet->info().known());
  expect_headers_suffice(datagram, *packet);
  expect_encodes_to_the_same(datagram, *packet);
  return 0;
}
