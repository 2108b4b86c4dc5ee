// Any octets as a frame that may hold an Ultra Ethernet packet, of which all was captured or its first octets only.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/wire/parse.h"
#include "tests/fuzz/expect.h"
#include "transports/uet/wire/encapsulation.h"
#include "transports/uet/wire/packet.h"

using namespace railyard;

namespace {

constexpr uet::EncapsulationConfig kConfigs[] = {
    {},
    {.crc = false, .dscp = {.trimmed = 12, .trimmed_lasthop = 14}},
    {.udp = false},
    {.udp = false, .ip_protocol = 47, .crc = false},
    {.udp_port = 4791, .crc = false},
};

void take_out(std::span<const std::byte> frame, std::size_t frame_octets) {
  const auto view = wire::parse_frame(frame, frame_octets);
  if (!view) return;
  for (const uet::EncapsulationConfig& config : kConfigs) {
    const auto inner = uet::decapsulate(frame, *view, config);
    if (!inner) continue;
    FUZZ_EXPECT(inner->octets.size() <= inner->packet_octets);
    FUZZ_EXPECT(inner->packet_octets <= view->ip_octets);
    FUZZ_EXPECT(!inner->crc_checked || (config.crc && !inner->secured && inner->trimmed == uet::Trimmed::kNo));
    const auto packet = uet::decode(inner->octets, inner->packet_octets);
    if (packet) FUZZ_EXPECT(packet->octets() == inner->packet_octets);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto frame = std::as_bytes(std::span(data, size));
  take_out(frame, size);
  // A block of its own: one octet too far is an error of the sanitizer.
  const std::vector<std::byte> first(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size / 2));
  take_out(first, size);
  take_out(first, first.size());
  return 0;
}
