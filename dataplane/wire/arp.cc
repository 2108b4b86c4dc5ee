#include "dataplane/wire/arp.h"

#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/parse.h"

namespace railyard::wire {

ArpMessage read_arp(const std::byte* arp) noexcept {
  return {.operation = read<Arp::Operation>(arp),
          .sender_mac = read<Arp::SenderMac>(arp),
          .sender_ip = IpAddress(read<Arp::SenderIp>(arp)),
          .target_mac = read<Arp::TargetMac>(arp),
          .target_ip = IpAddress(read<Arp::TargetIp>(arp))};
}

std::size_t write_arp(std::span<std::byte> out, const LinkHeader& link, const ArpMessage& message) noexcept {
  const std::size_t octets = link.octets() + Arp::kOctets;
  if (out.size() < octets) return 0;
  std::byte* const arp = write_link_header(out.data(), link, ether_type::kArp);
  write<Arp::HardwareType>(arp, kArpEthernet);
  write<Arp::ProtocolType>(arp, ether_type::kIpv4);
  write<Arp::HardwareLength>(arp, 6);
  write<Arp::ProtocolLength>(arp, 4);
  write<Arp::Operation>(arp, message.operation);
  write<Arp::SenderMac>(arp, message.sender_mac);
  write<Arp::SenderIp>(arp, message.sender_ip.v4());
  write<Arp::TargetMac>(arp, message.target_mac);
  write<Arp::TargetIp>(arp, message.target_ip.v4());
  return octets;
}

std::size_t write_arp_request(std::span<std::byte> out, const LinkHeader& link, const IpAddress& sender_ip,
                              const IpAddress& target_ip) noexcept {
  return write_arp(out, link,
                   {.operation = arp_operation::kRequest,
                    .sender_mac = link.source,
                    .sender_ip = sender_ip,
                    .target_mac = {},
                    .target_ip = target_ip});
}

std::size_t write_arp_reply(std::span<std::byte> out, std::span<const std::byte> request, const FrameView& view,
                            MacAddress own_mac) noexcept {
  const ArpMessage asked = read_arp(request.data() + view.l3_offset);
  LinkHeader link = reply_link(request, view, own_mac);
  link.destination = asked.sender_mac;
  return write_arp(out, link,
                   {.operation = arp_operation::kReply,
                    .sender_mac = own_mac,
                    .sender_ip = asked.target_ip,
                    .target_mac = asked.sender_mac,
                    .target_ip = asked.sender_ip});
}

}  // namespace railyard::wire
