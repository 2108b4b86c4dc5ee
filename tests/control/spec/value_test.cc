#include "control/spec/value.h"

#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace railyard::spec {
namespace {

using namespace railyard::literals;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// What a parser says of a text that it refuses.
template <class T>
std::string error(const Parsed<T>& parsed) {
  return parsed ? "(no error)" : parsed.error();
}

TEST(Duration, HasAUnit) {
  EXPECT_EQ(parse_duration("300ps"), 300_ps);
  EXPECT_EQ(parse_duration("500ns"), 500_ns);
  EXPECT_EQ(parse_duration("1.5us"), 1500_ns);
  EXPECT_EQ(parse_duration("1.5\u00b5s"), 1500_ns);
  EXPECT_EQ(parse_duration("1.5\u03bcs"), 1500_ns);
  EXPECT_EQ(parse_duration("10ms"), 10_ms);
  EXPECT_EQ(parse_duration("2s"), 2_s);
  EXPECT_EQ(parse_duration("10 ms"), 10_ms);
  EXPECT_EQ(parse_duration("0"), 0_ps);
  EXPECT_EQ(parse_duration("0us"), 0_ps);
}

TEST(Duration, IsRoundedToThePicosecond) {
  EXPECT_EQ(parse_duration("0.0014ns"), 1_ps);
  EXPECT_EQ(parse_duration("0.0015ns"), 2_ps);
  EXPECT_EQ(parse_duration("9223372.036854775807s"), Duration{kMost});
}

TEST(Duration, SaysWhatIsWrong) {
  const std::string expected = "expected a duration such as 500ns, 1.5us or 10ms (units: ps, ns, us, ms, s)";
  EXPECT_EQ(error(parse_duration("10")), "10 has no unit; " + expected);
  EXPECT_EQ(error(parse_duration("")), "'' is not a duration; " + expected);
  EXPECT_EQ(error(parse_duration("soon")), "'soon' is not a duration; " + expected);
  EXPECT_EQ(error(parse_duration("-5ns")), "-5ns is negative; " + expected);
  EXPECT_EQ(error(parse_duration("1.2.3ns")), "'1.2.3' is not a number, or too long; " + expected);
  EXPECT_EQ(error(parse_duration("5m")), "unknown unit 'm' in '5m'; did you mean 'ms'? E" + expected.substr(1));
  EXPECT_EQ(error(parse_duration("5 parsecs")), "unknown unit 'parsecs' in '5 parsecs'; " + expected);
  EXPECT_EQ(error(parse_duration("5MS")), "unknown unit 'MS' in '5MS'; did you mean 'ms'? E" + expected.substr(1));
  EXPECT_EQ(error(parse_duration("1.5ps")), "1.5ps is not a whole number of picoseconds");
  EXPECT_EQ(error(parse_duration("0.0001ns")), "0.0001ns is less than one of the counted picoseconds");
  EXPECT_EQ(error(parse_duration("9223373s")), "9223373s is too large to count in picoseconds");
}

TEST(Size, HasAUnit) {
  EXPECT_EQ(parse_size("1500B"), 1500_B);
  EXPECT_EQ(parse_size("1MB"), 1_MB);
  EXPECT_EQ(parse_size("400KB"), 400_KB);
  EXPECT_EQ(parse_size("64KiB"), 64_KiB);
  EXPECT_EQ(parse_size("1GiB"), 1024_MiB);
  EXPECT_EQ(parse_size("9.25KiB"), 9472_B);
  EXPECT_EQ(parse_size("0.3KiB"), 307_B);  // 307.2
  EXPECT_EQ(parse_size("0"), 0_B);
  const std::string expected =
      "expected a size such as 1500B, 64KiB or 1MB (units: B, KB, MB, GB, TB, KiB, MiB, GiB, TiB)";
  EXPECT_EQ(error(parse_size("65536")), "65536 has no unit; " + expected);
  EXPECT_EQ(error(parse_size("64kib")), "unknown unit 'kib' in '64kib'; did you mean 'KiB'? E" + expected.substr(1));
  EXPECT_EQ(error(parse_size("1.5B")), "1.5B is not a whole number of octets");
  EXPECT_EQ(error(parse_size("8388608TiB")), "8388608TiB is too large to count in octets");
}

TEST(Rate, HasAUnit) {
  EXPECT_EQ(parse_rate("100Gbps"), 100_Gbps);
  EXPECT_EQ(parse_rate("2.5Gbps"), 2500_Mbps);
  EXPECT_EQ(parse_rate("20Mbps"), 20_Mbps);
  EXPECT_EQ(parse_rate("1Tbps"), 1000_Gbps);
  EXPECT_EQ(parse_rate("1.6Tbps"), 1600_Gbps);
  EXPECT_EQ(parse_rate("9.6Kbps"), 9600_bps);
  const std::string expected = "expected a rate such as 2.5Gbps, 100Gbps or 1Tbps (units: bps, Kbps, Mbps, Gbps, Tbps)";
  EXPECT_EQ(error(parse_rate("100G")), "unknown unit 'G' in '100G'; " + expected);
  EXPECT_EQ(error(parse_rate("100Gb/s")),
            "unknown unit 'Gb/s' in '100Gb/s'; did you mean 'Gbps'? E" + expected.substr(1));
  EXPECT_EQ(error(parse_rate("100gbps")),
            "unknown unit 'gbps' in '100gbps'; did you mean 'Gbps'? E" + expected.substr(1));
  EXPECT_EQ(error(parse_rate("greedy")), "'greedy' is not a rate; " + expected);
}

TEST(Length, HasAUnit) {
  EXPECT_EQ(parse_length("3m"), Length{3000});
  EXPECT_EQ(parse_length("1.5km"), Length{1'500'000});
  EXPECT_EQ(parse_length("50cm"), Length{500});
  EXPECT_EQ(error(parse_length("3")), "3 has no unit; expected a length such as 3m or 1.5km (units: mm, cm, m, km)");
  EXPECT_EQ(propagation(Length{3000}), 15_ns);
}

TEST(Ratio, IsADecimalAPercentageOrAFraction) {
  EXPECT_EQ(parse_ratio("0.2"), (Ratio{1, 5}));
  EXPECT_EQ(parse_ratio("20%"), (Ratio{1, 5}));
  EXPECT_EQ(parse_ratio("12.5%"), (Ratio{1, 8}));
  EXPECT_EQ(parse_ratio("2/10"), (Ratio{1, 5}));
  EXPECT_EQ(parse_ratio("1/100"), (Ratio{1, 100}));
  EXPECT_EQ(parse_ratio("3"), (Ratio{3, 1}));
  EXPECT_EQ(parse_ratio("0"), (Ratio{0, 1}));
  EXPECT_EQ(error(parse_ratio("1/0")), "1/0 divides by zero; expected a fraction such as 0.2, 20% or 1/100");
  EXPECT_EQ(error(parse_ratio("1/99999999999999")), "1/99999999999999 has too many digits");
  for (const char* text : {"", "a", "-1", "1/", "/2", "1/2/3", "1.5/2", "%", "20%%", "1/-2", "1e3"})
    EXPECT_EQ(error(parse_ratio(text)),
              "'" + std::string(text) + "' is not a fraction; expected a fraction such as 0.2, 20% or 1/100");
}

TEST(Ppm, IsAProbability) {
  EXPECT_EQ(parse_ppm("20%"), 200'000u);
  EXPECT_EQ(parse_ppm("1"), 1'000'000u);
  EXPECT_EQ(parse_ppm("1/3"), 333'333u);
  EXPECT_EQ(parse_ppm("2/3"), 666'667u);
  EXPECT_EQ(error(parse_ppm("1.01")), "1.01 is above 1; expected 0..1 or 0%..100%");
  EXPECT_EQ(error(parse_ppm("20")), "20 is above 1; expected 0..1 or 0%..100%");
}

TEST(ClockError, IsInPartsPerMillion) {
  EXPECT_EQ(parse_clock_error("0"), 0u);
  EXPECT_EQ(parse_clock_error("100ppm"), 100'000u);
  EXPECT_EQ(parse_clock_error("0.5ppm"), 500u);
  EXPECT_EQ(parse_clock_error("1000ppm"), 1'000'000u);
  for (const char* text : {"100", "0.01%", "ppm", "-5ppm", "1000.001ppm", "1e3ppm"})
    EXPECT_FALSE(parse_clock_error(text).has_value()) << text;
  for (const std::uint32_t ppb : {0u, 1u, 500u, 100'000u, 999'999u})
    EXPECT_EQ(parse_clock_error(format_clock_error(ppb)), ppb);
}

TEST(PowerOfTwo, IsAnExponent) {
  EXPECT_EQ(parse_power_of_two("1/256"), -8);
  EXPECT_EQ(parse_power_of_two("1/8"), -3);
  EXPECT_EQ(parse_power_of_two("0.125"), -3);
  EXPECT_EQ(parse_power_of_two("1"), 0);
  EXPECT_EQ(parse_power_of_two("128"), 7);
  const std::string expected = "expected a power of two: 1/256, ..., 1/8, 1/4, 1/2, 1, 2, 4, ..., 128";
  EXPECT_EQ(error(parse_power_of_two("3")), "3 is not a power of two; " + expected);
  EXPECT_EQ(error(parse_power_of_two("1/7")), "1/7 is not a power of two; " + expected);
  EXPECT_EQ(error(parse_power_of_two("0")), "0 is not a power of two; " + expected);
  EXPECT_EQ(error(parse_power_of_two("256")), "256 is out of range; " + expected);
  EXPECT_EQ(error(parse_power_of_two("1/512")), "1/512 is out of range; " + expected);
  EXPECT_EQ(error(parse_power_of_two("big")), "'big' is not a number; " + expected);
}

TEST(Integer, HasARange) {
  EXPECT_EQ(parse_integer("7", 0, 7), 7);
  EXPECT_EQ(error(parse_integer("8", 0, 7)), "8 is out of range; expected 0..7");
  EXPECT_EQ(error(parse_integer("0", 1, 7)), "0 is out of range; expected 1..7");
  EXPECT_EQ(error(parse_integer("-1", 0, 7)), "-1 is out of range; expected 0..7");
  EXPECT_EQ(error(parse_integer("18446744073709551615", 0, 7)), "18446744073709551615 is out of range; expected 0..7");
  EXPECT_EQ(parse_integer("-48", -48, 7), -48);
  EXPECT_EQ(error(parse_integer("-49", -48, 7)), "-49 is out of range; expected -48..7");
  EXPECT_EQ(error(parse_integer("-9223372036854775809", -48, 7)),
            "-9223372036854775809 is out of range; expected -48..7");
  for (const char* text : {"", "x", "1.0", "1e3", "0x1", "007", " 1", "18446744073709551616", "--1", "+1"})
    EXPECT_EQ(error(parse_integer(text, 0, 7)), "'" + std::string(text) + "' is not a whole number; expected 0..7");
}

TEST(Boolean, IsTrueOrFalse) {
  EXPECT_EQ(parse_boolean("true"), true);
  EXPECT_EQ(parse_boolean("false"), false);
  EXPECT_EQ(error(parse_boolean("yes")), "'yes' is neither true nor false");
}

TEST(Seed, HasSixtyFourBits) {
  EXPECT_EQ(parse_seed("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(error(parse_seed("18446744073709551616")),
            "'18446744073709551616' is not a seed; expected a whole number below 2^64");
}

TEST(Addresses, AreOfOneFamily) {
  EXPECT_EQ(parse_ipv4("10.0.0.1"), wire::IpAddress{0x0A000001u});
  EXPECT_EQ(parse_ipv6("fd00::1"), *wire::IpAddress::parse("fd00::1"));
  EXPECT_EQ(error(parse_ipv4("10.0.0.256")), "'10.0.0.256' is not an IPv4 address; expected one such as 10.0.0.1");
  EXPECT_EQ(error(parse_ipv4("fd00::1")), "'fd00::1' is not an IPv4 address; expected one such as 10.0.0.1");
  EXPECT_EQ(error(parse_ipv4("::ffff:10.0.0.1")),
            "'::ffff:10.0.0.1' is not an IPv4 address; expected one such as 10.0.0.1");
  EXPECT_EQ(error(parse_ipv6("10.0.0.1")), "'10.0.0.1' is not an IPv6 address; expected one such as fd00::1");
}

TEST(Prefix, HasNoBitsBehindItsLength) {
  EXPECT_EQ(parse_prefix("10.0.0.0/24"), *wire::IpPrefix::parse("10.0.0.0/24"));
  EXPECT_EQ(error(parse_prefix("10.0.0.1/24")),
            "'10.0.0.1/24' is not a prefix; expected one such as 10.0.0.0/24 or fd00::/64, without host bits");
}

TEST(Mac, HasSixOctets) {
  EXPECT_EQ(parse_mac("02:00:00:00:aA:01"), (wire::MacAddress{{2, 0, 0, 0, 0xAA, 1}}));
  for (const char* text : {"", "02:00:00:00:00", "02-00-00-00-00-01", "02:00:00:00:00:0g", "2:0:0:0:0:1",
                           "02:00:00:00:00:01:", "0x:00:00:00:00:01"})
    EXPECT_EQ(error(parse_mac(text)),
              "'" + std::string(text) + "' is not a MAC address; expected one such as 02:00:00:00:00:01");
}

TEST(Port, IsANodeAndANumberFromOne) {
  EXPECT_EQ(parse_port_name("leaf1:3"), (PortName{"leaf1", 3}));
  EXPECT_EQ(parse_port_name("leaf-r1-g2:8191"), (PortName{"leaf-r1-g2", 8191}));
  EXPECT_EQ(error(parse_port_name("leaf1:0")), "'leaf1:0': ports are counted from 1");
  EXPECT_EQ(error(parse_port_name("leaf1:8192")), "'leaf1:8192': a node has at most 8191 ports");
  for (const char* text : {"", "leaf1", ":1", "leaf1:", "leaf1:x", "leaf1:-1", "leaf1:1:2", "le af:1", "leaf1:01"})
    EXPECT_EQ(error(parse_port_name(text)), "'" + std::string(text) + "' is not a port; expected one such as leaf1:3");
}

TEST(Format, IsTheShortestExactText) {
  EXPECT_EQ(format(600_ns), "600ns");
  EXPECT_EQ(format(1500_ns), "1.5us");
  EXPECT_EQ(format(2_s), "2s");
  EXPECT_EQ(format(15_ns), "15ns");
  EXPECT_EQ(format(1_ps), "1ps");
  EXPECT_EQ(format(0_ps), "0");
  EXPECT_EQ(format(64_KiB), "64KiB");
  EXPECT_EQ(format(9472_B), "9472B");
  EXPECT_EQ(format(1500_B), "1500B");
  EXPECT_EQ(format(1600_KB), "1.6MB");
  EXPECT_EQ(format(32_MiB), "32MiB");
  EXPECT_EQ(format(100_Gbps), "100Gbps");
  EXPECT_EQ(format(2500_Mbps), "2.5Gbps");
  EXPECT_EQ(format(1600_Gbps), "1.6Tbps");
  EXPECT_EQ(format(Length{3000}), "3m");
  EXPECT_EQ(format(Length{1'500'000}), "1500m");
  EXPECT_EQ(format(Length{2'000'000}), "2km");
  EXPECT_EQ(format(Ratio{1, 100}), "1/100");
  EXPECT_EQ(format(Ratio{2, 1}), "2");
  EXPECT_EQ(format_ppm(200'000), "20%");
  EXPECT_EQ(format_ppm(1), "0.0001%");
  EXPECT_EQ(format_ppm(0), "0");
  EXPECT_EQ(format_power_of_two(-3), "1/8");
  EXPECT_EQ(format_power_of_two(7), "128");
}

// A number of up to `bits` bits, all lengths alike, sometimes round.
std::int64_t some_number(std::mt19937_64& random) {
  auto n = static_cast<std::int64_t>(random() >> (1 + random() % 63));
  for (std::uint64_t zeros = random() % 12; zeros > 0 && n < kMost / 10; --zeros) n *= 10;
  return random() % 4 == 0 ? n & ~std::int64_t{0x3FF} : n;
}

TEST(Format, IsReadAsTheSame) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::int64_t n = some_number(random);
    ASSERT_EQ(parse_duration(format(Duration{n})), Duration{n});
    ASSERT_EQ(parse_size(format(Bytes{n})), Bytes{n});
    ASSERT_EQ(parse_rate(format(BitRate{n})), BitRate{n});
    ASSERT_EQ(parse_length(format(Length{n})), Length{n});
    const auto ppm = static_cast<std::uint32_t>(random() % 1'000'001);
    ASSERT_EQ(parse_ppm(format_ppm(ppm)), ppm);
  }
  for (int exponent = -8; exponent <= 7; ++exponent)
    EXPECT_EQ(parse_power_of_two(format_power_of_two(exponent)), exponent);
}

}  // namespace
}  // namespace railyard::spec
