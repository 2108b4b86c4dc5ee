// Any octets as a MAC control frame.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/wire/pfc.h"
#include "tests/fuzz/expect.h"

using namespace railyard::wire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto frame = std::as_bytes(std::span(data, size));
  const auto pfc = parse_pfc(frame);
  if (!pfc) return 0;
  std::array<std::byte, kMinFrameOctets> again{};
  write_pfc(again, read<Ethernet::Source>(frame.data()), *pfc);
  FUZZ_EXPECT(parse_pfc(again) == pfc);
  FUZZ_EXPECT(read<Ethernet::Source>(again.data()) == read<Ethernet::Source>(frame.data()));
  return 0;
}
