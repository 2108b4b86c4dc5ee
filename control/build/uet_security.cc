#include "control/build/uet_security.h"

#include <bit>
#include <charconv>
#include <string_view>

namespace railyard::build {
namespace {

// Of 64 hexadecimal digits (keys/uet_security_keys.cc).
uet::SecurityKey key_of(std::string_view digits) {
  uet::SecurityKey key{};
  for (std::size_t i = 0; i < key.size() && 2 * i + 1 < digits.size(); ++i) {
    unsigned octet = 0;
    std::from_chars(digits.data() + 2 * i, digits.data() + 2 * i + 2, octet, 16);
    key[i] = static_cast<std::byte>(octet);
  }
  return key;
}

uet::SecurityMode mode_of(spec::UetSecurityMode mode) {
  switch (mode) {
    case spec::UetSecurityMode::kDirect:
      return uet::SecurityMode::kDirect;
    case spec::UetSecurityMode::kCluster:
      return uet::SecurityMode::kCluster;
    case spec::UetSecurityMode::kClient:
      return uet::SecurityMode::kClient;
    case spec::UetSecurityMode::kServer:
      return uet::SecurityMode::kServer;
  }
  return {};
}

}  // namespace

uet::SecurityConfig security_config(const spec::UetSecuritySpec& said, std::uint32_t ssi) {
  uet::SecurityConfig c;
  c.mode = mode_of(said.mode);
  c.sdi = static_cast<std::uint32_t>(said.sdi);
  c.ssi = ssi;
  c.key = key_of(said.key);
  if (said.next_key) c.next_key = key_of(*said.next_key);
  c.an = said.association != 0;
  c.epoch = static_cast<std::uint16_t>(said.epoch);
  if (said.rotate_after) c.rotate_after = static_cast<std::uint64_t>(*said.rotate_after);
  if (said.rotate_at) c.rotate_at = Instant{} + *said.rotate_at;
  if (said.rekey_after)
    c.rekey_bits = static_cast<std::uint8_t>(std::countr_zero(static_cast<std::uint32_t>(*said.rekey_after)));
  c.replay_window = static_cast<std::uint32_t>(said.replay_window);
  return c;
}

}  // namespace railyard::build
