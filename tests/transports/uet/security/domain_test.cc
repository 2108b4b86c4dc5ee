// A sender and a receiver of a security domain: what is opened, and why the rest is dropped.
#include <algorithm>
#include <array>
#include <optional>

#include <gtest/gtest.h>

#include "tests/dataplane/wire/octets.h"
#include "transports/uet/security/opener.h"
#include "transports/uet/security/sealer.h"

namespace railyard::uet {
namespace {

using enum SecurityDrop;

const wire::IpAddress kA(0x0A000001), kB(0x0A000002);
const wire::IpAddress kA6 = *wire::IpAddress::parse("fd00::1"), kB6 = *wire::IpAddress::parse("fd00::2");

SecurityKey key_of(std::uint8_t seed) {
  SecurityKey key;
  key.fill(std::byte{seed});
  return key;
}
SecurityConfig config(SecurityMode mode = SecurityMode::kDirect) {
  return {.mode = mode, .sdi = 0x1234, .ssi = 9, .key = key_of(1)};
}

struct Sealed {
  TssValues tss{};
  wire::IpAddress source = kA, destination = kB;
  wire::Octets additional = wire::hex("0102030405060708");
  wire::Octets octets{};
  std::array<std::byte, kIcvOctets> icv{};
};

const wire::Octets kText = wire::hex("48656c6c6f2c2066616272696321");

Sealed seal(Sealer& sealer, const wire::IpAddress& from = kA, const wire::IpAddress& to = kB, Instant now = {}) {
  Sealed s{.source = from, .destination = to, .octets = kText};
  s.tss = sealer.next(now, from.is_v4());
  AesGcm& cipher = sealer.begin(s.tss, from, to, s.additional);
  cipher.transform(s.octets, s.octets.data());
  cipher.finish(s.icv);
  return s;
}

std::optional<SecurityDrop> open(Opener& opener, const Sealed& s) {
  wire::Octets out(s.octets.size());
  const auto drop = opener.open({s.tss, s.source, s.destination, s.additional, s.octets, s.icv}, out.data());
  if (!drop) {
    EXPECT_EQ(out, kText);
  }
  return drop;
}

TEST(SecurityDomain, EveryModeOverBothFamiliesComesBack) {
  using enum SecurityMode;
  for (const auto [sends, receives] :
       {std::pair{kDirect, kDirect}, {kCluster, kCluster}, {kClient, kServer}, {kServer, kClient}}) {
    for (const bool v4 : {true, false}) {
      Sealer sealer(config(sends));
      Opener opener(config(receives));
      for (int i = 0; i < 10; ++i) {
        const Sealed s = seal(sealer, v4 ? kA : kA6, v4 ? kB : kB6);
        EXPECT_EQ(s.tss.counter, static_cast<std::uint64_t>(i));
        EXPECT_EQ(s.tss.ssi.has_value(), !v4);
        EXPECT_NE(s.octets, kText);
        EXPECT_EQ(open(opener, s), std::nullopt);
        EXPECT_EQ(open(opener, s), kReplayed);
      }
    }
  }
}

TEST(SecurityDomain, ClientsDoNotTalkToEachOther) {
  Sealer sealer(config(SecurityMode::kClient));
  Opener opener(config(SecurityMode::kClient));
  EXPECT_EQ(open(opener, seal(sealer)), kAuthenticationFailed);
}

TEST(SecurityDomain, EveryReasonToDrop) {
  SecurityConfig other = config();
  Opener opener(config());
  other.sdi = 1;
  Sealer elsewhere(other);
  EXPECT_EQ(open(opener, seal(elsewhere)), kUnknownDomain);
  other = config();
  other.an = true;
  Sealer unknown(other);
  EXPECT_EQ(open(opener, seal(unknown)), kUnknownAssociation);
  other = config();
  other.epoch = 0;
  Sealer stale(other);
  EXPECT_EQ(open(opener, seal(stale)), kStaleEpoch);
  other = config();
  other.key = key_of(2);
  Sealer wrong(other);
  EXPECT_EQ(open(opener, seal(wrong)), kAuthenticationFailed);
  EXPECT_EQ(opener.sources(), 0u) << "nothing forged takes memory";

  // Any octet that changes, in whatever part.
  Sealer sealer(config());
  const Sealed good = seal(sealer);
  for (int part = 0; part < 6; ++part) {
    Sealed bad = good;
    if (part == 0) bad.octets[3] ^= std::byte{4};
    if (part == 1) bad.icv[0] ^= std::byte{1};
    if (part == 2) bad.additional[7] ^= std::byte{128};
    if (part == 3) bad.tss.counter += 1;
    if (part == 4) bad.tss.epoch += 1;
    if (part == 5) bad.source = wire::IpAddress(0x0A000003);
    EXPECT_EQ(open(opener, bad), kAuthenticationFailed) << part;
  }
  EXPECT_EQ(open(opener, good), std::nullopt) << "forgeries change nothing";
}

TEST(SecurityDomain, RotationsAlternateAndOldEpochsGetStale) {
  for (const SecurityMode mode : {SecurityMode::kDirect, SecurityMode::kCluster}) {
    SecurityConfig c = config(mode);
    c.next_key = key_of(2);
    c.rotate_after = 4;
    Sealer sealer(c);
    Opener opener(c);
    std::vector<Sealed> sent;
    for (int i = 0; i < 16; ++i) sent.push_back(seal(sealer));
    EXPECT_EQ(sealer.rotations(), 3u);
    for (std::size_t i = 0; i < 16; ++i) {
      EXPECT_EQ(sent[i].tss.an, i / 4 % 2 != 0);
      EXPECT_EQ(sent[i].tss.epoch, 1u + i / 4);
      EXPECT_EQ(sent[i].tss.counter, i % 4);
    }
    // Packets of two associations overtake each other: none is lost.
    for (const std::size_t i : {4u, 0u, 5u, 1u, 6u, 2u, 7u, 3u}) EXPECT_EQ(open(opener, sent[i]), std::nullopt) << i;
    EXPECT_EQ(open(opener, sent[8]), std::nullopt);
    EXPECT_EQ(open(opener, sent[0]), kStaleEpoch);
    // Who has no rotation does not know the other key.
    Opener without(config(mode));
    EXPECT_EQ(open(without, sent[0]), std::nullopt);
    EXPECT_EQ(open(without, sent[4]), kUnknownAssociation);
  }
}

TEST(SecurityDomain, RotatesOnceInTime) {
  SecurityConfig c = config();
  c.rotate_at = Instant{1000};
  Sealer sealer(c);
  Opener opener(c);
  for (const std::int64_t t : {0, 999, 1000, 1001, 5000}) {
    const Sealed s = seal(sealer, kA, kB, Instant{t});
    EXPECT_EQ(s.tss.an, t >= 1000);
    EXPECT_EQ(open(opener, s), std::nullopt);
  }
  EXPECT_EQ(sealer.rotations(), 1u);
}

// Derived keys change by the counter alone; packets around a change may overtake each other.
TEST(SecurityDomain, DerivedKeysChangeWithTheCounter) {
  SecurityConfig c = config(SecurityMode::kCluster);
  c.rekey_bits = 3;
  Sealer sealer(c);
  Opener opener(c);
  std::vector<Sealed> sent;
  for (int i = 0; i < 64; ++i) sent.push_back(seal(sealer));
  for (std::size_t i = 0; i + 1 < sent.size(); i += 2) std::swap(sent[i], sent[i + 1]);
  std::swap(sent[7], sent[8]);
  for (const Sealed& s : sent) EXPECT_EQ(open(opener, s), std::nullopt) << s.tss.counter;
  EXPECT_EQ(opener.sources(), 1u);
}

}  // namespace
}  // namespace railyard::uet
