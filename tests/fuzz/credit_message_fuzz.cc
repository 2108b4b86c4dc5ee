// Any octets as a message about credits.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/wire/credit_message.h"
#include "tests/fuzz/expect.h"

using namespace railyard::wire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto frame = std::as_bytes(std::span(data, size));
  const auto message = parse_credit_message(frame);
  if (!message) return 0;
  FUZZ_EXPECT(is_credit_message(frame));
  FUZZ_EXPECT(message->epoch < kCreditEpochs);
  for (std::size_t c = 0; c < railyard::kPriorities; ++c)
    FUZZ_EXPECT((message->classes >> c & 1) != 0 || message->count[c] == 0);
  std::array<std::byte, kMinFrameOctets> again{};
  write_credit_message(again, read<Ethernet::Source>(frame.data()), *message);
  FUZZ_EXPECT(parse_credit_message(again) == message);
  return 0;
}
