// Any octets as a message of a trunk.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/trunk/message.h"
#include "tests/fuzz/expect.h"

using namespace railyard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto message = parse_trunk_message(std::as_bytes(std::span(data, size)));
  if (!message) return 0;
  if (const auto* ping = std::get_if<TrunkPing>(&message->body)) {
    std::array<std::byte, kTrunkPingOctets> again{};
    write_ping(again, message->head, *ping);
    const auto same = parse_trunk_message(again);
    FUZZ_EXPECT(same && same->head == message->head && std::get<TrunkPing>(same->body) == *ping);
    return 0;
  }
  const auto& frame = std::get<TrunkFrame>(message->body);
  std::vector<std::byte> again(kTrunkFrameOctets);
  write_frame(std::span<std::byte, kTrunkFrameOctets>(again.data(), kTrunkFrameOctets), message->head, frame);
  again.insert(again.end(), frame.header.begin(), frame.header.end());
  again.insert(again.end(), frame.payload.begin(), frame.payload.end());
  const auto same = parse_trunk_message(again);
  FUZZ_EXPECT(same && same->head == message->head && std::get<TrunkFrame>(same->body).start == frame.start);
  return 0;
}
