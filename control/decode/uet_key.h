// Keys of security domains of Ultra Ethernet, to decrypt captures with.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "transports/uet/security/security_config.h"

namespace railyard::decode {

struct UetKey {
  std::uint32_t sdi = 0;
  bool an = false;
  uet::SecurityMode mode = uet::SecurityMode::kDirect;  // kServer: of packets in both directions
  uet::SecurityKey key{};
  std::uint8_t rekey_bits = uet::SecurityConfig::kCounterBits;

  bool operator==(const UetKey&) const = default;
};

// One key a line: "SDI ASSOCIATION MODE KEY [REKEY-AFTER]". MODE is direct, cluster or server, KEY has 64 hexadecimal
// digits, REKEY-AFTER is a power of two. Empty lines and what is behind a # do not count. Else why not: "FILE:3: ...".
std::expected<std::vector<UetKey>, std::string> parse_uet_keys(std::string_view text, std::string_view file);

}  // namespace railyard::decode
