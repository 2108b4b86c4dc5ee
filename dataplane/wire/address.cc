#include "dataplane/wire/address.h"

#include <charconv>
#include <cstring>

#include <arpa/inet.h>

namespace railyard::wire {

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  char terminated[INET6_ADDRSTRLEN] = {};  // inet_pton reads a C string
  if (text.size() >= sizeof(terminated) || text.find('\0') != std::string_view::npos) return std::nullopt;
  text.copy(terminated, text.size());
  IpAddress address{0u};
  if (inet_pton(AF_INET, terminated, address.octets.data() + 12) == 1) return address;
  if (inet_pton(AF_INET6, terminated, address.octets.data()) == 1) return address;
  return std::nullopt;
}

std::string to_string(const IpAddress& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.is_v4()) {
    inet_ntop(AF_INET, address.octets.data() + 12, text, sizeof(text));
  } else {
    inet_ntop(AF_INET6, address.octets.data(), text, sizeof(text));
  }
  return text;
}

std::optional<IpPrefix> IpPrefix::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(slash + 1);
  const std::optional<IpAddress> address = IpAddress::parse(text.substr(0, slash));
  // Not is_v4(): ::ffff:10.0.0.0/120 counts its bits as IPv6 does.
  const bool dotted = text.substr(0, slash).find(':') == std::string_view::npos;
  unsigned length = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (!address || error != std::errc{} || end != digits.data() + digits.size() || length > (dotted ? 32u : 128u)) {
    return std::nullopt;
  }
  const IpPrefix prefix = of(*address, static_cast<std::uint8_t>(dotted ? 96 + length : length));
  return prefix.address == *address ? std::optional(prefix) : std::nullopt;
}

std::string to_string(const IpPrefix& prefix) {
  const bool dotted = prefix.is_v4();
  return to_string(prefix.address) + '/' + std::to_string(dotted ? prefix.length - 96 : prefix.length);
}

}  // namespace railyard::wire
