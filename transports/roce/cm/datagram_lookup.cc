// Service ID resolution (SIDR, IBTA Vol 1 §16.3), as far as this end begins it: which QP takes datagrams for a port.
#include <algorithm>

#include "transports/roce/cm/connection_manager.h"

namespace railyard::roce::cm {

std::expected<ConnectionId, ConnectError> ConnectionManager::look_up(Instant now, const IpServiceValues& addresses,
                                                                     std::uint16_t port,
                                                                     const std::optional<ServiceType>& service_type,
                                                                     std::span<const std::byte> private_data) {
  SidrReq req;
  if (private_data.size() > req.private_data.octets.size() - IpServiceHeader::kOctets)
    return std::unexpected(ConnectError::kPrivateData);
  const auto av = way_of(addresses, service_type);
  if (!av) return std::unexpected(ConnectError::kNoRoute);
  Connection& c = add(*av);
  c.active = true;
  c.state = State::kSidrReqSent;
  req.request_id = c.id.value;
  req.service_id = service_id(PortSpace::kUdp, port);
  write_ip_service(req.private_data.octets.data(), addresses);
  std::ranges::copy(private_data, req.private_data.octets.begin() + IpServiceHeader::kOctets);
  send_and_wait(now, c, {transaction(), req});
  return c.id;
}

std::expected<void, ConnectError> ConnectionManager::answer(ConnectionId id, SidrStatus status, QpNumber qp,
                                                            std::uint32_t q_key,
                                                            std::span<const std::byte> private_data) {
  Connection* const c = find(id);
  if (c == nullptr) return std::unexpected(ConnectError::kUnknownConnection);
  if (c->state != State::kSidrReqReceived) return std::unexpected(ConnectError::kConnectionState);
  SidrRep rep{.request_id = c->remote_comm_id,
              .status = static_cast<std::uint8_t>(status),
              .qpn = qp.value,
              .service_id = std::get<SidrReq>(c->sent->message).service_id,
              .q_key = q_key};
  if (private_data.size() > rep.private_data.octets.size()) return std::unexpected(ConnectError::kPrivateData);
  std::ranges::copy(private_data, rep.private_data.octets.begin());
  send(c->av, {c->sent->transaction_id, rep});
  forget(*c);
  return {};
}

}  // namespace railyard::roce::cm
