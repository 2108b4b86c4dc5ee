// Values with units, as they stand in a fabric file: "100Gbps", "1.5us", "64KiB", "3m", "20%", "1/8".
//
// A parser returns the value or what is wrong with the text and what was expected, to be put behind the key. Amounts
// are rounded to the nearest whole picosecond, octet, bit/s or millimetre from the decimal as written. A number
// without a unit is refused, except 0.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "control/spec/spec.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "dataplane/wire/address.h"
#include "dataplane/wire/mac_address.h"
#include "dataplane/wire/udp_endpoint.h"

namespace railyard::spec {

template <class T>
using Parsed = std::expected<T, std::string>;

Parsed<Duration> parse_duration(std::string_view text);  // ps, ns, us (or µs), ms, s
Parsed<Bytes> parse_size(std::string_view text);         // B, KB, MB, GB, TB, KiB, MiB, GiB, TiB
Parsed<BitRate> parse_rate(std::string_view text);       // bps, Kbps, Mbps, Gbps, Tbps
Parsed<Length> parse_length(std::string_view text);      // mm, cm, m, km

Parsed<Ratio> parse_ratio(std::string_view text);        // "0.2", "20%", "1/100"
Parsed<Ratio> parse_probability(std::string_view text);  // a ratio from 0 to 1; also "1e-12"
Parsed<std::uint32_t> parse_clock_error(std::string_view text);  // "100ppm", "0"; in billionths, at most 1000ppm
Parsed<std::uint32_t> parse_ppm(std::string_view text);  // a ratio from 0 to 1, in parts per million
Parsed<int> parse_power_of_two(std::string_view text);   // "1/8" is -3; exponents from -8 to 7
Parsed<bool> parse_boolean(std::string_view text);       // true, false
Parsed<std::int64_t> parse_integer(std::string_view text, std::int64_t least, std::int64_t most);
Parsed<std::uint64_t> parse_seed(std::string_view text);  // any 64 bits, decimal

Parsed<wire::IpAddress> parse_ipv4(std::string_view text);
Parsed<wire::IpAddress> parse_ipv6(std::string_view text);
Parsed<wire::IpPrefix> parse_prefix(std::string_view text);
Parsed<wire::MacAddress> parse_mac(std::string_view text);
Parsed<wire::UdpEndpoint> parse_udp_endpoint(std::string_view text);  // "192.0.2.1:4800", "[fd00::1]:4800"
Parsed<PortName> parse_port_name(std::string_view text);  // "leaf1:3"

// The names of nodes and profiles: letters, digits, '-' and '_', beginning with a letter or digit; at most 63.
Parsed<std::string> parse_name(std::string_view text);

// The shortest text that is parsed to exactly the same; whole numbers before fractions of the same length.
std::string format(Duration value);
std::string format(Bytes value);
std::string format(BitRate value);
std::string format(Length value);
std::string format(Ratio value);
std::string format_clock_error(std::uint32_t billionths);
std::string format_ppm(std::uint32_t ppm);
std::string format_power_of_two(int exponent);
std::string format(const PortName& port);

}  // namespace railyard::spec
