#include "transports/uet/wire/tss.h"

#include <random>

#include <gtest/gtest.h>

#include "tests/transports/uet/wire/vectors.h"

namespace railyard::uet {
namespace {

using wire::Octets;
using wire::to_hex;

// UET page §15, E13.
TEST(Tss, TheWorkedExamples) {
  const TssValues plain{.an = true, .sdi = 0x1234, .epoch = 1, .counter = 42};
  const TssValues with_ssi{.sdi = 0x1234, .ssi = 0x0A0B0C0D, .epoch = 1, .counter = 42};
  for (const auto& [name, values] : {std::pair{"e13_tss", plain}, std::pair{"e13_tss_ssi", with_ssi}}) {
    const Octets octets = vector_octets(name);
    EXPECT_TRUE(is_secured(octets));
    EXPECT_EQ(decode_tss(octets), values);
    Octets out(values.octets());
    EXPECT_EQ(encode_tss(out, values), out.size());
    EXPECT_EQ(to_hex(out), to_hex(octets));
    EXPECT_EQ(decode(octets).error(), Malformed::kSecured);
  }
}

TEST(Tss, AnyValuesComeBack) {
  std::mt19937_64 draw(5);
  for (int i = 0; i < 2000; ++i) {
    TssValues values{.an = draw() % 2 != 0,
                     .sdi = static_cast<std::uint32_t>(draw() & 0xFF'FFFF),
                     .epoch = static_cast<std::uint16_t>(draw()),
                     .counter = draw() & 0xFFFF'FFFF'FFFF};
    if (draw() % 2 != 0) values.ssi = static_cast<std::uint32_t>(draw());
    Octets out(values.octets(), std::byte{0xFF});
    ASSERT_EQ(encode_tss(out, values), out.size());
    ASSERT_EQ(decode_tss(out), values);
    EXPECT_EQ(encode_tss(std::span(out).first(out.size() - 1), values), 0u);
  }
}

TEST(Tss, OneThatIsCutIsNone) {
  for (const char* name : {"e13_tss", "e13_tss_ssi"}) {
    const Octets octets = vector_octets(name);
    for (std::size_t n = 0; n < octets.size(); ++n) {
      const Octets cut(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(n));
      EXPECT_EQ(decode_tss(cut), std::nullopt) << n;
    }
  }
  EXPECT_EQ(decode_tss(vector_packet("e9_datagram")), std::nullopt);
}

}  // namespace
}  // namespace railyard::uet
