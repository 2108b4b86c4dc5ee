#include "transports/application/requests.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace railyard::application {

std::expected<Hello, Refusal> read_hello(std::span<const std::byte> octets) noexcept {
  Hello hello;
  const bool fits = octets.size() == sizeof hello;
  if (fits) std::memcpy(&hello, octets.data(), sizeof hello);
  if (!fits || hello.magic != kMagic || hello.version != kVersion)
    return std::unexpected(
        Refusal{EPROTO, "this library is of another version of Railyard than the lab; use that of the lab"});
  if (std::ranges::find(hello.host, '\0') == hello.host.end())
    return std::unexpected(Refusal{EINVAL, "the name of the host has no end; expected at most 63 characters"});
  if (hello.nic < 1 || hello.nic > kMostNics)
    return std::unexpected(Refusal{EINVAL, "expected the number of a NIC from 1 to 65535"});
  if (hello.transport != Transport::kRoce && hello.transport != Transport::kUet)
    return std::unexpected(Refusal{EPROTO, "the lab does not know this transport"});
  return hello;
}

std::optional<PortRequest> read_port_request(std::span<const std::byte> octets) noexcept {
  PortRequest request;
  if (octets.size() != sizeof request) return std::nullopt;
  std::memcpy(&request, octets.data(), sizeof request);
  if (request.magic != kMagic || request.release > 1) return std::nullopt;
  return request;
}

}  // namespace railyard::application
