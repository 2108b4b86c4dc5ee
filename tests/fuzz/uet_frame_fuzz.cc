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
#include "transports/uet/wire/plain_frame.h"

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
  for (const uet::EncapsulationConfig& config : kConfigs) {
    const auto plain = uet::take_plain(frame, frame_octets, config);
    FUZZ_EXPECT(!plain || view);
    if (!view) continue;
    const auto inner = uet::decapsulate(frame, *view, config);
    FUZZ_EXPECT(!plain || inner);
    if (plain)
      FUZZ_EXPECT(plain->source == view->source && plain->destination == view->destination &&
                  plain->traffic_class_octet == view->traffic_class_octet &&
                  plain->inner.octets.data() == inner->octets.data() &&
                  plain->inner.octets.size() == inner->octets.size() &&
                  plain->inner.packet_octets == inner->packet_octets && plain->inner.entropy == inner->entropy &&
                  plain->inner.trimmed == inner->trimmed && plain->inner.secured == inner->secured &&
                  plain->inner.crc_checked == inner->crc_checked);
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
