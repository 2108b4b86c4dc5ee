#include "control/probes/prober.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "control/build/device_settings.h"
#include "control/spec/addresses.h"
#include "control/spec/port_class.h"
#include "control/spec/value.h"
#include "dataplane/base/rng.h"
#include "dataplane/port/replay_endpoint.h"
#include "dataplane/wire/bth.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/udp.h"

namespace railyard::probes {
namespace {

// Names of payload streams that no flow of a lab has.
constexpr std::uint64_t kFirstId = std::uint64_t{1} << 48;

std::uint32_t headers_of(const Shape& shape) {
  return static_cast<std::uint32_t>(
      (shape.ip_version == 4 ? std::size_t{wire::Ipv4::kOctets} : std::size_t{wire::Ipv6::kOctets}) +
      wire::Udp::kOctets + wire::Bth::kOctets + wire::kIcrcOctets);
}

// With FCS.
std::uint32_t frame_octets(const Shape& shape) {
  return static_cast<std::uint32_t>(wire::Ethernet::kOctets) + headers_of(shape) + shape.payload +
         static_cast<std::uint32_t>(wire::kFcsOctets);
}

Duration time_of(std::int64_t octets, BitRate rate) {
  return Duration{static_cast<std::int64_t>(static_cast<Int128>(octets) * 8 * kPicosecondsPerSecond / rate.bps)};
}

}  // namespace

std::optional<double> bps_of(const Arrived& a, const Shape& shape, Duration least) {
  if (a.received < 2) return std::nullopt;
  const Duration took = std::max({a.last - a.first, least, Duration{1}});
  return static_cast<double>((a.received - 1) * shape.payload) * 8e12 / static_cast<double>(took.ps);
}

// A NIC that trains may use. Throws NoProbe.
PortRef Prober::free_nic(const spec::PortName& name) const {
  const PortRef port = lab_.port(name);
  Host& host = lab_.host(name.node);
  if (!std::holds_alternative<std::monostate>(lab_.node_of(port.device).nics[port.port.index()].attach) ||
      host.attachment(port.port) != nullptr)
    throw NoProbe(fmt::format("{} is attached; probes are between NICs without `attach`", spec::format(name)));
  if (dynamic_cast<const ReplayEndpoint*>(host.endpoint(port.port)) != nullptr)
    throw NoProbe(fmt::format("{} replays a capture file; `railyard replay --stop` stops it", spec::format(name)));
  if (lab_.rate(port) == BitRate{}) throw NoProbe(fmt::format("there is no link at {}", spec::format(name)));
  return port;
}

bool Prober::is_free(const spec::PortName& nic) const {
  try {
    static_cast<void>(free_nic(nic));
    return true;
  } catch (const NoProbe&) {
    return false;
  }
}

Duration Prober::least_time(const Train& train, const Shape& shape) const {
  Duration least{};
  for (const spec::PortName& name : {train.from, train.to}) {
    const PortRef port = lab_.port(name);
    const std::uint32_t slot = lab_.framing(port).slot(frame_octets(shape));
    least = std::max(least, time_of(std::int64_t{slot} * (std::int64_t{train.frames} - 1), lab_.rate(port)));
  }
  return least;
}

TxFlowConfig Prober::config_of(const Train& train, const Shape& shape, Instant now, std::uint64_t id) const {
  const PortRef from = lab_.port(train.from);
  const PortRef to = lab_.port(train.to);
  const PortRef peer = lab_.fabric().peer(from);
  const spec::NicSpec& source = lab_.node_of(from.device).nics[from.port.index()];
  const spec::NicSpec& destination = lab_.node_of(to.device).nics[to.port.index()];
  spec::TrafficSpec like;
  like.dscp = shape.dscp;
  like.ect = shape.ect;
  like.priority = shape.priority;
  like.ip_version = shape.ip_version;
  const auto& own = shape.ip_version == 4 ? source.address_v4 : source.address_v6;
  const auto& other = shape.ip_version == 4 ? destination.address_v4 : destination.address_v6;
  if (!own || !other)
    throw NoProbe(fmt::format("{} has no IPv{} address", spec::format(own ? train.to : train.from), shape.ip_version));
  TxFlowConfig c;
  c.id = id;
  c.source_mac = source.mac.value_or(wire::MacAddress{});
  c.next_hop_mac = lab_.is_switch(peer.device)
                       ? spec::automatic_mac(peer.device.index(), peer.port.value + 1)
                       : lab_.node_of(peer.device).nics[peer.port.index()].mac.value_or(wire::MacAddress{});
  c.source = *own;
  c.destination = *other;
  // By the pair alone: a pair keeps its way through the fabric from round to round.
  const std::uint64_t pair = mix64((std::uint64_t{from.device.value} << 32 | from.port.value) ^
                                   mix64(std::uint64_t{to.device.value} << 32 | to.port.value));
  c.source_port = static_cast<std::uint16_t>(0xC000 | (mix64(lab_.spec().run.seed.value ^ pair) & 0x3FFF));
  c.dscp = static_cast<std::uint8_t>(shape.dscp);
  c.ect = shape.ect;
  const spec::QosProfile& qos = spec::qos_of(lab_.spec(), lab_.node_of(from.device));
  c.priority = Priority{
      static_cast<std::uint8_t>(shape.priority.value_or(qos.dscp_to_class[static_cast<std::size_t>(shape.dscp)]))};
  c.tag = build::frame_tag_of(lab_.spec(), train.from, like);
  c.payload = shape.payload;
  const Framing framing = lab_.framing(from);
  c.framing = c.tag.vid >= 0 ? build::with_tag(framing) : framing;
  c.link = lab_.rate(from);
  if (train.gap > Duration{})
    c.rate = BitRate{static_cast<std::int64_t>(static_cast<Int128>(c.framing.slot(frame_octets(shape))) * 8 *
                                               kPicosecondsPerSecond / train.gap.ps)};
  c.total = Bytes{std::int64_t{train.frames} * shape.payload};
  c.start = now + train.start;
  return c;
}

void Prober::begin(Engine& engine, Instant now, std::vector<Train> trains, const Shape& shape) {
  if (running()) throw NoProbe("probes are on their way already; wait until they have arrived");
  if (trains.empty()) throw NoProbe("there is no train to send");
  struct EndsOfNic {
    std::vector<TxFlowConfig> sends;
    std::vector<RxFlowConfig> receives;
    spec::PortName name;
  };
  std::map<PortRef, EndsOfNic> by_nic;
  std::vector<Place> places;
  Instant ends = now;
  for (const Train& train : trains) {
    const PortRef from = free_nic(train.from);
    const PortRef to = free_nic(train.to);
    for (const PortRef port : {from, to})
      if (const auto mtu = static_cast<std::uint32_t>(lab_.mtu(port)); headers_of(shape) + shape.payload > mtu)
        throw NoProbe(fmt::format("{}: packets of {} bytes are longer than its MTU of {}",
                                  spec::format(port == from ? train.from : train.to), headers_of(shape) + shape.payload,
                                  mtu));
    TxFlowConfig c = config_of(train, shape, now, kFirstId + begun_ + places.size());
    EndsOfNic& sender = by_nic[from];
    EndsOfNic& receiver = by_nic[to];
    sender.name = train.from;
    receiver.name = train.to;
    if (receiver.receives.size() > ProbeEndpoint::kMostPerNic)
      throw NoProbe(
          fmt::format("{} would receive more than {} trains", spec::format(train.to), ProbeEndpoint::kMostPerNic));
    c.destination_qp = ProbeEndpoint::kFirstQp + static_cast<std::uint32_t>(receiver.receives.size());
    receiver.receives.push_back({c.id, c.destination_qp, c.payload});
    places.push_back({from, to, sender.sends.size(), c.id});
    ends = std::max(ends, c.start + std::max(train.gap * std::int64_t{train.frames}, least_time(train, shape)));
    sender.sends.push_back(std::move(c));
  }
  ++job_;
  begun_ += trains.size();
  trains_ = std::move(trains);
  places_ = std::move(places);
  shape_ = shape;
  // Queues on the way, and cables.
  constexpr Duration kOnTheWay{1'000'000'000};
  ends_ = ends + kOnTheWay;
  for (auto& [port, of_nic] : by_nic) {
    auto nic = std::make_shared<Nic>();
    nic->host = &lab_.host(of_nic.name.node);
    nic->port = port.port;
    nic->waiting = std::make_unique<ProbeEndpoint>(std::move(of_nic.sends), of_nic.receives);
    nic->endpoint = nic->waiting.get();
    nics_[port] = nic;
    nic->host->change_at(now, [nic](Instant at) {
      if (nic->waiting == nullptr) return;  // ended before it began
      ProbeEndpoint& probe = *nic->endpoint;
      std::unique_ptr<Endpoint> own = nic->host->drive(at, nic->port, std::move(nic->waiting));
      // One that could not be put back: a replay was in front of it then.
      if (auto* const old = dynamic_cast<ProbeEndpoint*>(own.get())) own = old->take_own();
      probe.begin(std::move(own));
    });
    engine.wake(nic->host->id(), now);
  }
}

bool Prober::is_over(Instant now) const {
  if (now < ends_) return false;
  // Where a class is paused for good, or a host gives nothing any more, they never are.
  constexpr Duration kPatience{1'000'000'000'000};
  if (now >= ends_ + kPatience) return true;
  return std::ranges::all_of(nics_, [](const auto& n) {
    const TrafficGenerator& probes = n.second->endpoint->probes();
    for (std::size_t i = 0; i < probes.tx_flows(); ++i)
      if (probes.all_sent(i) == Instant::never()) return false;
    return true;
  });
}

std::vector<Arrived> Prober::end(Engine& engine, Instant now) {
  std::vector<Arrived> out;
  out.reserve(places_.size());
  for (const Place& place : places_) {
    Arrived a;
    const TxFlowCounters& tx = nics_.at(place.from)->endpoint->probes().tx_counters(place.index);
    a.sent = tx.packets;
    a.first_sent = tx.first;
    if (const RxFlowCounters* rx = nics_.at(place.to)->endpoint->probes().rx_counters(place.id)) {
      a.received = rx->packets - rx->duplicated;
      a.duplicated = rx->duplicated;
      a.reordered = rx->reordered;
      a.marked = rx->marked;
      a.corrupted = rx->corrupted;
      a.first = rx->first;
      a.last = rx->last;
      a.latency = rx->latency;
    }
    out.push_back(std::move(a));
  }
  put_back(engine, now);
  return out;
}

void Prober::exchange_figures(StateArchive& archive, const std::function<bool(DeviceId)>& is_its) {
  for (const auto& [port, nic] : nics_)
    if (is_its(port.device)) nic->endpoint->exchange_figures(archive);
}

void Prober::put_back(Engine& engine, Instant now) {
  for (auto& entry : nics_) {
    const std::shared_ptr<Nic> nic = entry.second;
    if (nic->waiting != nullptr) {
      nic->waiting.reset();
      continue;
    }
    nic->endpoint->stop_at(now);
    // What a replay stands in front of stays where it is: it passes everything on.
    if (nic->host->endpoint(nic->port) != nic->endpoint) continue;
    nic->host->change_at(now, [nic](Instant at) {
      if (nic->host->endpoint(nic->port) == nic->endpoint) nic->host->drive(at, nic->port, nic->endpoint->take_own());
    });
    engine.wake(nic->host->id(), now);
  }
  nics_.clear();
  places_.clear();
}

}  // namespace railyard::probes
