#include "dataplane/wire/nd.h"

#include <algorithm>

#include "dataplane/wire/checksum.h"
#include "dataplane/wire/icmpv6.h"
#include "dataplane/wire/icmpv6_message.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/parse.h"

namespace railyard::wire {
namespace {

constexpr std::uint8_t kHopLimit = 255;  // RFC 4861 §3.1: has not come through a router
constexpr IpAddress kAllNodes({0xFF, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01});
constexpr IpAddress kSolicitedNode({0xFF, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0xFF, 0, 0, 0});

constexpr std::size_t kMessageOctets = Neighbour::kOctets + LinkLayerOption::kOctets;

// Writes a message with its option.
std::size_t write_neighbour(std::span<std::byte> out, const LinkHeader& link, const Icmpv6Envelope& envelope,
                            const NeighbourMessage& message) noexcept {
  std::byte* const nd = begin_icmpv6(out, link, envelope, kMessageOctets);
  if (nd == nullptr) return 0;
  write<Neighbour::Type>(
      nd, message.advertisement ? icmpv6_type::kNeighbourAdvertisement : icmpv6_type::kNeighbourSolicitation);
  write<Neighbour::Code>(nd, 0);
  write<Neighbour::Router>(nd, message.router);
  write<Neighbour::Solicited>(nd, message.solicited);
  write<Neighbour::Override>(nd, message.override_cache);
  write<Neighbour::Reserved>(nd, 0);
  write<Neighbour::Target>(nd, message.target);
  std::byte* const option = nd + Neighbour::kOctets;
  write<LinkLayerOption::Type>(option,
                               message.advertisement ? nd_option::kTargetLinkLayer : nd_option::kSourceLinkLayer);
  write<LinkLayerOption::Length>(option, LinkLayerOption::kOctets / 8);
  write<LinkLayerOption::Address>(option, *message.link_layer);
  finish_icmpv6({nd, kMessageOctets}, envelope);
  return link.octets() + Ipv6::kOctets + kMessageOctets;
}

// The link-layer address in `options`, if there is an option of type `wanted`.
std::expected<std::optional<MacAddress>, DropReason> find_link_layer(std::span<const std::byte> options,
                                                                     std::uint8_t wanted) noexcept {
  std::optional<MacAddress> found;
  while (!options.empty()) {
    if (options.size() < LinkLayerOption::kOctets) return std::unexpected(DropReason::kTooShort);
    const std::size_t octets = std::size_t{8} * read<LinkLayerOption::Length>(options.data());
    if (octets == 0 || octets > options.size()) return std::unexpected(DropReason::kBadLength);
    if (read<LinkLayerOption::Type>(options.data()) == wanted) found = read<LinkLayerOption::Address>(options.data());
    options = options.subspan(octets);
  }
  return found;
}

}  // namespace

IpAddress solicited_node(const IpAddress& target) noexcept {
  IpAddress group = kSolicitedNode;
  std::copy_n(target.octets.end() - 3, 3, group.octets.end() - 3);
  return group;
}

MacAddress multicast_mac(const IpAddress& group) noexcept {
  MacAddress mac{{0x33, 0x33}};
  std::copy_n(group.octets.end() - 4, 4, mac.octets.end() - 4);
  return mac;
}

std::expected<NeighbourMessage, DropReason> parse_neighbour(std::span<const std::byte> frame,
                                                            const FrameView& view) noexcept {
  if (view.protocol != ip_protocol::kIcmpv6 || view.l4_offset == 0) return std::unexpected(DropReason::kNotUnderstood);
  const std::size_t end = view.l3_offset + std::size_t{view.ip_octets};
  if (end > frame.size()) return std::unexpected(DropReason::kTooShort);
  const auto octets = frame.subspan(view.l4_offset, end - view.l4_offset);
  const std::byte* const nd = octets.data();

  const std::uint8_t type = read<Neighbour::Type>(nd);
  const bool advertisement = type == icmpv6_type::kNeighbourAdvertisement;
  if (!advertisement && type != icmpv6_type::kNeighbourSolicitation) {
    return std::unexpected(DropReason::kNotUnderstood);
  }
  if (octets.size() < Neighbour::kOctets) return std::unexpected(DropReason::kTooShort);
  if (transport_checksum(view.source, view.destination, ip_protocol::kIcmpv6, octets) != 0) {
    return std::unexpected(DropReason::kBadChecksum);
  }
  const NeighbourMessage fixed{.advertisement = advertisement,
                               .router = read<Neighbour::Router>(nd) != 0,
                               .solicited = read<Neighbour::Solicited>(nd) != 0,
                               .override_cache = read<Neighbour::Override>(nd) != 0,
                               .target = read<Neighbour::Target>(nd),
                               .link_layer = {}};
  if (view.ttl != kHopLimit || read<Neighbour::Code>(nd) != 0 || fixed.target.is_multicast() || fixed.target.is_v4() ||
      (advertisement && fixed.solicited && view.destination.is_multicast())) {
    return std::unexpected(DropReason::kNotUnderstood);
  }
  const auto link_layer = find_link_layer(octets.subspan(Neighbour::kOctets),
                                          advertisement ? nd_option::kTargetLinkLayer : nd_option::kSourceLinkLayer);
  if (!link_layer) return std::unexpected(link_layer.error());
  if (!advertisement && view.source.is_unspecified() &&
      (link_layer->has_value() || view.destination != solicited_node(fixed.target))) {
    return std::unexpected(DropReason::kNotUnderstood);
  }
  NeighbourMessage message = fixed;
  message.link_layer = *link_layer;
  return message;
}

std::size_t write_neighbour_solicitation(std::span<std::byte> out, LinkHeader link, const IpAddress& source,
                                         const IpAddress& target) noexcept {
  const IpAddress group = solicited_node(target);
  link.destination = multicast_mac(group);
  return write_neighbour(out, link, {.source = source, .destination = group, .hop_limit = kHopLimit},
                         {.target = target, .link_layer = link.source});
}

std::size_t write_neighbour_advertisement(std::span<std::byte> out, std::span<const std::byte> solicitation,
                                          const FrameView& view, MacAddress own_mac) noexcept {
  const IpAddress target = read<Neighbour::Target>(solicitation.data() + view.l4_offset);
  LinkHeader link = reply_link(solicitation, view, own_mac);
  const bool to_all = view.source.is_unspecified();
  if (to_all) link.destination = multicast_mac(kAllNodes);
  return write_neighbour(out, link,
                         {.source = target, .destination = to_all ? kAllNodes : view.source, .hop_limit = kHopLimit},
                         {.advertisement = true,
                          .router = true,
                          .solicited = !to_all,
                          .override_cache = true,
                          .target = target,
                          .link_layer = own_mac});
}

}  // namespace railyard::wire
