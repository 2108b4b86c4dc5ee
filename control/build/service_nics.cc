#include "control/build/service_nics.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "control/build/device_settings.h"
#include "control/build/roce_nics.h"
#include "dataplane/base/hash.h"
#include "dataplane/nic/split_endpoint.h"

namespace railyard::build {
namespace {

constexpr std::size_t kMostSessions = 256;        // of a service
constexpr std::uint16_t kFirstClientPort = 40'000;  // that a client says it comes from

roce::PathMtu path_mtu_of_link(std::uint32_t ip_mtu) {
  return roce::largest_path_mtu(ip_mtu).value_or(roce::PathMtu::k256);
}

roce::cm::ConnectionParameters parameters_of(const spec::RoceNicSpec& s, std::uint32_t ip_mtu) {
  roce::cm::ConnectionParameters p;
  p.responder_resources = p.initiator_depth = static_cast<std::uint8_t>(s.max_reads);
  p.retry_count = static_cast<std::uint8_t>(s.retry_count);
  p.rnr_retry_count = static_cast<std::uint8_t>(s.rnr_retry);
  p.ack_timeout = static_cast<std::uint8_t>(s.ack_timeout);
  p.min_rnr_timer = static_cast<std::uint8_t>(s.min_rnr_timer);
  p.path_mtu = path_mtu_of_link(ip_mtu);
  return p;
}

}  // namespace

void ServiceNics::add_client(workload::FlowPlan plan, const roce::AddressVector& way, Instant start, Instant stop) {
  const spec::RpingTraffic& t = lab_.traffic[plan.traffic].roce.rping;
  std::vector<Client>& here = clients_[plan.source];
  roce::RpingClientConfig c;
  c.id = plan.id;
  c.own = way.source;
  c.server = way.destination;
  c.own_port = static_cast<std::uint16_t>(kFirstClientPort + here.size());
  c.server_port = static_cast<std::uint16_t>(t.port);
  c.octets = t.size;
  c.count = static_cast<std::uint64_t>(t.count);
  c.path_mtu = *roce::path_mtu(static_cast<std::size_t>(t.path_mtu));
  c.retry_after = t.retry_after;
  c.start = start;
  c.stop = stop;
  c.service_type = {way.dscp, way.ect, way.priority};
  here.push_back({rping_runs_.size(), c});
  rping_runs_.push_back({std::move(plan)});
}

std::unique_ptr<Endpoint> ServiceNics::drive(const spec::PortName& name, const NicConfig& nic,
                                             wire::MacAddress next_hop, const spec::LinkSpec& link,
                                             std::unique_ptr<Endpoint> rest, std::uint32_t first_qpn) {
  const spec::HostProfile& host = lab_.hosts.at(lab_.find(name.node)->profile);
  const std::vector<Client> clients = std::exchange(clients_[name], {});
  if (clients.empty() && host.roce.services.empty()) return rest;
  const auto class_of = [trust = nic.trust](std::uint8_t dscp) { return Priority{trust.dscp_to_class[dscp]}; };
  roce::ServiceEndpointConfig c;
  c.engine = RoceNics::settings_of(lab_, name, link.rate);
  c.engine.framing = framing_of_frames(lab_, name, link.framing);
  c.engine.first_qpn = first_qpn;
  c.engine.most_qps = static_cast<std::uint32_t>(2 * kMostSessions + clients.size() + 1);
  c.connections.seed = {mix64(lab_.run.seed.value ^ mix64(wire::mac_word(nic.mac)))};
  c.connections.ca_guid = wire::mac_word(nic.mac);
  c.connections.response_timeout = static_cast<std::uint8_t>(host.roce.cm_response_timeout);
  c.connections.max_retries = static_cast<std::uint8_t>(host.roce.cm_retries);
  c.connections.class_of = class_of;
  c.connections.route = [=, own4 = nic.address_v4, own6 = nic.address_v6, mac = nic.mac](
                            const wire::IpAddress& own,
                            const wire::IpAddress& peer) -> std::optional<roce::AddressVector> {
    if ((own != own4 && own != own6) || own.is_v4() != peer.is_v4() || peer.is_unspecified() || peer.is_multicast() ||
        peer.is_broadcast())
      return std::nullopt;
    return roce::AddressVector{.source_mac = mac,
                               .next_hop_mac = next_hop,
                               .source = own,
                               .destination = peer,
                               .dscp = 0,
                               .ect = false,
                               .priority = class_of(0)};
  };
  c.defaults = parameters_of(host.roce, nic.mtu);
  const auto serves = [&services = host.roce.services](spec::RoceService service) {
    return std::ranges::find(services, service) != services.end();
  };
  c.rping_server = serves(spec::RoceService::kRpingServer);
  c.udaddy_server = serves(spec::RoceService::kUdaddyServer);
  c.atomics_server = serves(spec::RoceService::kAtomicsServer);
  c.most_sessions = kMostSessions;
  for (const Client& client : clients) c.rping_clients.push_back(client.config);
  auto endpoint = std::make_unique<roce::ServiceEndpoint>(std::move(c));
  for (std::size_t i = 0; i < clients.size(); ++i) {
    rping_runs_[clients[i].run].endpoint = endpoint.get();
    rping_runs_[clients[i].run].index = i;
  }
  nics_.push_back({name, endpoint.get()});
  return std::make_unique<SplitEndpoint>(std::move(rest), std::move(endpoint), first_qpn, 0);
}

}  // namespace railyard::build
