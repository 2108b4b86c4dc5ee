// Any frames in a row as what a trunk's port receives: fragments that are read and put together. Each frame of the
// input stands behind its length, two octets; the highest bit of that lets time pass.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/trunk/reassembler.h"
#include "dataplane/wire/ethernet.h"
#include "tests/fuzz/expect.h"

using namespace railyard;

namespace {

constexpr Duration kPatience{1000};

void expect_fits_together(const TrunkFragment& f) {
  FUZZ_EXPECT(f.cut.message_octets > 0 && f.cut.message_octets <= kMostTrunkMessageOctets);
  FUZZ_EXPECT(f.index < f.cut.fragments() && f.cut.fragments() <= kMostTrunkFragments);
  FUZZ_EXPECT(f.octets.size() == f.cut.octets(f.index));
  FUZZ_EXPECT(f.index * f.cut.piece + f.octets.size() <= f.cut.message_octets);
}

// Written again it is read the same.
void expect_same_again(const TrunkCarrier& c) {
  std::vector<std::byte> message(c.fragment.cut.message_octets);
  std::ranges::copy(c.fragment.octets, message.begin() + c.fragment.index * c.fragment.cut.piece);
  std::vector<std::byte> frame(trunk_carrier_octets(c.fragment.cut.octets(c.fragment.index)));
  write_trunk_carrier(frame, c, {message, {}});
  const auto again = parse_trunk_carrier(frame);
  FUZZ_EXPECT(again && again->source == c.source && again->destination == c.destination);
  FUZZ_EXPECT(again->fragment.message == c.fragment.message && again->fragment.index == c.fragment.index);
  FUZZ_EXPECT(again->fragment.cut == c.fragment.cut && std::ranges::equal(again->fragment.octets, c.fragment.octets));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Reassembler reassembler(kPatience, 2);
  Instant now{};
  for (std::span<const std::byte> rest = std::as_bytes(std::span(data, size)); rest.size() >= 2;) {
    const auto said = wire::read<wire::Field<0, 16>>(rest.data());
    rest = rest.subspan(2);
    const std::size_t octets = std::min<std::size_t>(said & 0x7FFF, rest.size());
    // A block of its own: one octet too far is an error of the sanitizer.
    const std::vector<std::byte> frame(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(octets));
    rest = rest.subspan(octets);
    if ((said & 0x8000) != 0) reassembler.expire(now = now + kPatience / 2);
    const auto carrier = parse_trunk_carrier(frame);
    if (!carrier) continue;
    expect_fits_together(carrier->fragment);
    expect_same_again(*carrier);
    if (!reassembler.has_room()) reassembler.recycle();
    const auto whole = reassembler.put(now, carrier->fragment);
    if (whole.empty()) continue;
    FUZZ_EXPECT(whole.size() == carrier->fragment.cut.message_octets);
    const auto own =
        whole.subspan(carrier->fragment.index * carrier->fragment.cut.piece, carrier->fragment.octets.size());
    FUZZ_EXPECT(std::ranges::equal(own, carrier->fragment.octets));
  }
  return 0;
}
