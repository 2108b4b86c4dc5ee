#include "dataplane/wire/udp_endpoint.h"

#include <charconv>

namespace railyard::wire {

std::optional<UdpEndpoint> UdpEndpoint::parse(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  const auto address = IpAddress::parse(host);
  if (!address || address->is_v4() == bracketed) return std::nullopt;
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || end != digits.data() + digits.size() || port == 0) return std::nullopt;
  return UdpEndpoint{*address, port};
}

std::string to_string(const UdpEndpoint& e) {
  const std::string address = to_string(e.address);
  return (e.address.is_v4() ? address : "[" + address + "]") + ":" + std::to_string(e.port);
}

}  // namespace railyard::wire
