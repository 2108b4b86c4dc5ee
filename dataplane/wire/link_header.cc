#include "dataplane/wire/link_header.h"

#include "dataplane/wire/parse.h"

namespace railyard::wire {

std::byte* write_link_header(std::byte* out, const LinkHeader& link, std::uint16_t ether_type) noexcept {
  write<Ethernet::Destination>(out, link.destination);
  write<Ethernet::Source>(out, link.source);
  if (!link.tagged) {
    write<Ethernet::EtherType>(out, ether_type);
    return out + Ethernet::kOctets;
  }
  write<Ethernet::EtherType>(out, ether_type::kVlan);
  std::byte* const tag = out + Ethernet::kOctets;
  write<Vlan::PCP>(tag, link.pcp);
  write<Vlan::DEI>(tag, 0);
  write<Vlan::VID>(tag, link.vid);
  write<Vlan::EtherType>(tag, ether_type);
  return tag + Vlan::kOctets;
}

LinkHeader reply_link(std::span<const std::byte> frame, const FrameView& view, MacAddress source) noexcept {
  return {.destination = read<Ethernet::Source>(frame.data()),
          .source = source,
          .tagged = view.tagged,
          .pcp = view.pcp,
          .vid = view.vid};
}

}  // namespace railyard::wire
