#include "dataplane/nic/host.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>

#include <fmt/format.h>

#include "dataplane/base/assert.h"
#include "dataplane/base/payload_pattern.h"
#include "dataplane/device/control_frame.h"
#include "dataplane/device/pause_response.h"
#include "dataplane/device/pfc_frame.h"
#include "dataplane/packet/carried_telemetry.h"
#include "dataplane/packet/edge.h"
#include "dataplane/packet/rewrite.h"
#include "dataplane/wire/icrc.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/udp.h"
#include "dataplane/wire/uet_entropy.h"

namespace railyard {
namespace {

// What most NICs have: in one place, that is always at hand.
constexpr TrustMap kUsualTrust;

}  // namespace

Host::Host(DeviceId id, std::string name, HostConfig config, std::vector<NicDriver> drivers)
    : Device(id, std::move(name), config.nics.size()),
      nics_(ports()),
      slots_(slots_of(config), EventKey::kPortBits),
      starts_(ports()),
      config_(std::move(config)) {
  if (ports() == 0 || ports() > kMaxNics)
    throw std::invalid_argument(fmt::format("host {}: {} NICs; expected 1..{}", this->name(), ports(), kMaxNics));
  if (drivers.size() != ports())
    throw std::invalid_argument(fmt::format("host {}: {} drivers for {} NICs", this->name(), drivers.size(), ports()));
  if (config_.fecs == nullptr) config_.fecs = std::make_shared<const FecTable>();
  others_changed_ = config_.others_changed.get();
  shared_ = config_.shared.get();
  for (std::size_t p = 0; p < ports(); ++p) {
    Nic& nic = nics_[p];
    nic.trust = config_.nics[p].trust == kUsualTrust ? &kUsualTrust : &config_.nics[p].trust;
    use_config(PortIndex{static_cast<std::uint16_t>(p)});
    nic.egress.run_slower(config_.nics[p].clock.slower_ppb);
    nic.egress.schedule(config_.nics[p].scheduling, config_.nics[p].largest_frame());
    nic.receive = ReceiveBuffer(config_.nics[p].receive);
    nic.receive.set_pfc(config_.nics[p].pfc.tx);
    nic.bus = config_.nics[p].bus;
    nic.straggling = nic.bus != BitRate{};
    nic.egress.obey_pauses(Instant{}, config_.nics[p].pfc.rx);
    nic.endpoint = std::move(drivers[p].endpoint);
    nic.attachment = std::move(drivers[p].attachment);
    if (nic.endpoint == nullptr) nic.ready = {};  // nobody to ask
    attached_ |= nic.attachment != nullptr;
    nic.tags = config_.nics[p].vid.has_value();
    use_endpoint(PortIndex{static_cast<std::uint16_t>(p)});
  }
  for (const BusConfig& bus : config_.buses) {
    for (const PortIndex nic : bus.nics) {
      nics_[nic.index()].shared_bus = static_cast<std::uint16_t>(buses_.size());
      nics_[nic.index()].receive.share_bus();
    }
    buses_.push_back({SharedBus(bus.rate, bus.nics), SharedBus(bus.rate, bus.nics)});
  }
}

std::size_t Host::slots_of(const HostConfig& config) noexcept {
  const std::size_t own = 3 * config.nics.size() + 1;
  if (!config.buses.empty()) return own + 1 + 2 * config.buses.size();
  return own + (config.shared != nullptr ? 1 : 0);
}

// What every frame is measured by, at hand.
void Host::use_config(PortIndex port) noexcept {
  const NicConfig& config = config_.nics[port.index()];
  nics_[port.index()].mac = wire::mac_word(config.mac);
  nics_[port.index()].largest_frame = config.largest_frame();
}

void Host::use_endpoint(PortIndex port) {
  Nic& nic = nics_[port.index()];
  nic.real_payload = config_.real_payload || (nic.endpoint != nullptr && nic.endpoint->has_real_payload());
  nic.keeps_tags = nic.endpoint == nullptr || nic.endpoint->keeps_tags();
}

void Host::set_mac(PortIndex port, wire::MacAddress mac) noexcept {
  config_.nics[port.index()].mac = mac;
  use_config(port);
}

std::unique_ptr<Endpoint> Host::drive(Instant now, PortIndex port, std::unique_ptr<Endpoint> endpoint) {
  Nic& nic = nics_[port.index()];
  nic.endpoint.swap(endpoint);
  use_endpoint(port);
  nic.ready = nic.endpoint != nullptr ? Readiness{0, Instant{}} : Readiness{};
  if (!nic.egress.busy()) starts_.add(now, port);
  return endpoint;
}

Duration Host::pause_response(BitRate rate) const noexcept {
  return config_.pause_response > Duration{} ? config_.pause_response : standard_pause_response(rate);
}

// The first NIC stands for all: most hosts have something to do at one of them at a time.
void Host::prefetch_parts() const noexcept {
  Device::prefetch_parts();
  slots_.prefetch();
  const Nic* const nic = nics_.data();
  constexpr std::size_t kHot = 256;
  for (std::size_t line = 0; line < kHot; line += 64)
    __builtin_prefetch(reinterpret_cast<const std::byte*>(nic) + line, 1);
  for (const Received& r : std::span(nic->received).subspan(3, 4)) __builtin_prefetch(&r, 1);
  __builtin_prefetch(&nic->receive);
  __builtin_prefetch(&nic->known_flows);
}

void Host::prefetch_contents() const noexcept {
  Device::prefetch_contents();
  nics_.front().egress.prefetch_departure();
  __builtin_prefetch(nics_.front().known_flows.data());
  const auto* const endpoint = reinterpret_cast<const std::byte*>(nics_.front().endpoint.get());
  if (endpoint == nullptr) return;
  // Whatever it is, it begins with what it looks at each time.
  constexpr std::size_t kHot = 832;
  for (std::size_t line = 0; line < kHot; line += 64) __builtin_prefetch(endpoint + line, 1);
}

void Host::prefetch_rest() const noexcept {
  const Nic& nic = nics_.front();
  nic.egress.prefetch_next();
  if (nic.endpoint == nullptr) return;
  if (!coming().empty()) {
    const Packet& packet = *coming().front().frame.packet;
    nic.endpoint->expect_frame((packet.entropy & Packet::kUetEntropy) != 0 ? 0 : packet.entropy,
                               packet.payload_octets > 0);
  }
  nic.endpoint->expect_send();
}

void Host::connected(PortIndex port, Channel& out, BitRate rate) {
  Nic& nic = nics_[port.index()];
  nic.egress.connect(out, rate);
  nic.egress.announce(config_.pause_quanta);
  nic.quantum = Bytes{64} / rate;
  starts_.add(Instant{}, port);  // the endpoint is asked at the first instant
}

void Host::on_new_key_base() {
  for (std::size_t p = 0; p < ports(); ++p) {
    const Nic& nic = nics_[p];
    const PortIndex port{static_cast<std::uint16_t>(p)};
    set_transmission(port);
    set_timer(receive_slot(port), buffer_timer(nic));
    set_timer(outside_slot(port), nic.incoming_at);
  }
  set_refresh(refresh_due_);
  if (shared_ != nullptr) set_timer(shared_slot(), shared_due_);
  for (std::size_t b = 0; b < buses_.size(); ++b) {
    set_timer(bus_slot(b), buses_[b].wake);
    set_timer(bus_slot(buses_.size() + b), buses_[b].offers);
  }
}

// The end of the running transmission; when idle, until a pause runs out or the endpoint has something more.
void Host::set_transmission(PortIndex port) {
  const Nic& nic = nics_[port.index()];
  const EgressPort& e = nic.egress;
  Instant slot = e.slot();
  if (!e.busy()) {
    // A straggling endpoint is not asked before it may give the next frame.
    slot = nic.gives_next != Instant::never()
               ? std::min(slot, nic.gives_next)
               : std::min({slot, nic.ready.until, e.first_expiry(nic.ready.classes)});
  }
  slots_.set(port.index(),
             EventKey::make(key_base(), slot, e.busy() ? EventKind::kTransmitEnd : EventKind::kTimer, port.value));
}

void Host::set_timer(std::size_t slot, Instant at) {
  slots_.set(slot, EventKey::make(key_base(), at, EventKind::kTimer, static_cast<std::uint32_t>(slot)));
}

// Whatever was done last may have brought it forward.
void Host::look_at_shared() {
  if (const Instant due = shared_->next_due(); due != shared_due_) set_timer(shared_slot(), shared_due_ = due);
}

Instant Host::run(Instant until) {
  if (shared_ != nullptr) [[unlikely]]
    shared_->collect();
  const Instant rest = collect(until);
  ArrivalBatch& batch = arrivals();
  const std::uint64_t limit = EventKey::floor(key_base(), until);
  for (std::size_t i = 0;;) {
    if (shared_ != nullptr) [[unlikely]]
      look_at_shared();
    const std::uint64_t arrival = batch[i].key;
    const std::uint64_t key = std::min(arrival, slots_.min());
    if (!starts_.empty() && EventKey::ticks(key) > static_cast<std::uint64_t>((starts_.at() - key_base()).ps)) {
      starts_.flush([this](Instant now, PortIndex port) { start(now, port); });
      continue;
    }
    if (key >= limit) break;
    const Instant now = EventKey::time(key_base(), key);
    const PortIndex slot{static_cast<std::uint16_t>(EventKey::port(key))};
    if (key != arrival) {
      slots_.pop();
      if (EventKey::kind(key) == EventKind::kTransmitEnd) [[likely]]
        on_transmit_end(now, slot, EventKey::ticks(std::min(arrival, slots_.min())) == EventKey::ticks(key));
      else
        on_timer(now, slot);
    } else if (EventKey::kind(key) == EventKind::kArrival) [[likely]] {
      i = on_arrivals(now, slot, i, limit);
    } else {
      on_mac_control(now, slot, batch[i++].packet);
    }
  }
  return std::min(rest, EventKey::time(key_base(), slots_.min()));
}

// ---- Sending -------------------------------------------------------------------------------------------------------

void Host::on_transmit_end(Instant now, PortIndex port, bool more_now) {
  EgressPort& e = nics_[port.index()].egress;
  e.prefetch_departure();
  e.transmit_end();
  if (!more_now && starts_.empty()) [[likely]]
    start(now, port);
  else
    starts_.add(now, port);
}

void Host::start(Instant now, PortIndex port) {
  Nic& nic = nics_[port.index()];
  EgressPort& e = nic.egress;
  if (e.busy() || !e.connected()) [[unlikely]] {
    return take_ahead(now, nic);
  }
  if (!nic.up) [[unlikely]]
    return start_without_carrier(now, port);
  take(now, nic);
  e.start(
      now,
      [&](Packet& packet, Priority priority) {
        packet.sent = now + skew(now);
        if (observed()) [[unlikely]] {
          if (records_int()) int_departure(now, port, priority, packet);
          if (notes_departures())
            observe_departure(now, port, packet,
                              {.event = TapNote::Event::kSent,
                               .priority = priority,
                               .depth_octets = static_cast<std::int64_t>(e.depth(priority)) - e.sending().octets});
        }
      },
      [&](PriorityMask mask, const std::array<std::uint16_t, kPriorities>& quanta) {
        Packet* frame = make_pfc_frame(pool(), config_.nics[port.index()].mac, mask, quanta);
        if (frame == nullptr) return frame;
        generated_.increment();
        if (observed()) observe_departure(now, port, *frame, {.event = TapNote::Event::kSent});
        return frame;
      },
      [&] {
        Packet* frame = take_control(now, nic);
        if (frame != nullptr && observed()) observe_departure(now, port, *frame, {.event = TapNote::Event::kSent});
        return frame;
      },
      [&](const wire::CreditMessage& message) { return make_credit_message(now, port, message); });
  if (nic.straggling) [[unlikely]]
    take_ahead(now, nic);
  set_transmission(port);
  if ((e.sent_control() || e.has_credits()) && e.refresh_due() < refresh_due_) [[unlikely]]
    set_refresh(e.refresh_due());
}

// The next MAC control frame of the endpoint, which is asked then whether it has more.
Packet* Host::take_control(Instant now, Nic& nic) {
  Packet* const frame = make_control_frame(pool());
  if (frame == nullptr) return nullptr;
  const bool taken = nic.endpoint != nullptr && nic.endpoint->take_control(now, control_octets(*frame));
  if (nic.endpoint != nullptr) nic.ready = nic.endpoint->ready(now);
  if (!taken) {
    pool().release(frame);
    return nullptr;
  }
  generated_.increment();
  return frame;
}

// As long as nothing is carried nothing is paused, and no credit is asked for.
void Host::start_without_carrier(Instant now, PortIndex port) {
  Nic& nic = nics_[port.index()];
  take(now, nic);
  while (nic.ready.control) {
    Packet* const frame = take_control(now, nic);
    if (frame == nullptr) break;
    nic.drops.count(DropReason::kLinkDown);
    pool().release(frame);
  }
  if (nic.egress.nonempty() != 0) {
    Packet* const packet = nic.egress.send_nowhere(now).packet;
    if (records_int()) [[unlikely]] {
      // It may have departed before, and waited for its replay (LLR).
      if (int_stack(*packet) == nullptr) int_departure(now, port, nic.egress.sending_priority(), *packet);
      if (IntStack* stack = int_stack(*packet); stack != nullptr) stack->take_back();
    }
    drop(now, port, packet, DropReason::kLinkDown);
  }
  set_transmission(port);
}

// Fills the queues of the classes that could be sent now and have nothing queued.
void Host::take(Instant now, Nic& nic) {
  if (nic.endpoint == nullptr) return;
  if (nic.straggling) [[unlikely]] {
    if (nic.gives_next != Instant::never() && now < nic.gives_next) return;
    nic.gives_next = Instant::never();
  }
  if (now >= nic.ready.until) nic.ready = nic.endpoint->ready(now);
  if (nic.ready.control) [[unlikely]]
    nic.egress.want_report(true);
  unsigned classes = nic.ready.classes & ~nic.egress.nonempty();
  if (nic.up) [[likely]]
    classes &= ~unsigned{nic.egress.held_back(now, static_cast<PriorityMask>(classes), nic.largest_frame)};
  if (nic.straggling) [[unlikely]]
    return take_in_turn(now, nic, classes);
  for (; classes != 0; classes &= classes - 1)
    take(now, nic, Priority{static_cast<std::uint8_t>(std::countr_zero(classes))});
}

// Apart: with this in start(), which calls of turns at a shared bus lead back to, every frame takes 50 instructions more.
[[gnu::noinline]] void Host::take(Instant now, Nic& nic, Priority priority) {
  auto& packets = context().packets;
  auto& frames = context().to_send;
  const bool straggles = nic.straggling;
  const std::size_t most = straggles ? 1 : kTakeAtOnce;
  const std::span wanted = std::span(packets).first(most);
  const std::size_t room = nic.real_payload ? pool().peek_real(wanted) : pool().peek_elided(wanted);
  for (std::size_t i = 0; i < room; ++i) {
    frames[i].header = fresh_header(packets[i]);
    frames[i].tag = {};
    frames[i].telemetry = nullptr;
  }
  const std::size_t n = nic.endpoint->send(now, priority, std::span(frames).first(room));
  // Those that are released below must not be what is next.
  for (std::size_t i = 0; i < n; ++i) {
    [[maybe_unused]] const Packet* const p = nic.real_payload ? pool().allocate_real() : pool().allocate_elided();
    RAILYARD_EXPENSIVE_ASSERT(p == packets[i], "an endpoint that sends allocates no packet");
  }
  for (std::size_t i = 0; i < n; ++i) {
    generated_.increment();
    // A capture file may hold frames that no packet has room for.
    const std::size_t octets =
        frames[i].header_octets + std::size_t{frames[i].payload.octets} + frames[i].trailer_octets;
    if (nic.real_payload && octets > pool().real_octets()) [[unlikely]] {
      nic.class_drops[priority.index()].count(DropReason::kGiant);
      pool().release(packets[i]);
    } else if (finish(nic, priority, *packets[i], frames[i])) {
      enqueue(nic, priority, packets[i]);
      if (straggles) [[unlikely]]
        gave(now, nic, priority, packets[i]->frame_octets);
    } else {
      nic.class_drops[priority.index()].count(DropReason::kNotUnderstood);
      pool().release(packets[i]);
    }
  }
  if (n < room) nic.ready = nic.endpoint->ready(now);
}

inline const Packet* Host::known_flow(const Nic& nic, std::uint32_t flow) noexcept {
  const std::size_t place = flow % kKnownFlows;
  if (flow == TxFrame::kNoFlow || place >= nic.known_flows.size()) return nullptr;
  const Packet& known = nic.known_flows[place];
  return known.frame_octets != 0 && known.stream == flow ? &known : nullptr;
}

void Host::remember_flow(Nic& nic, std::uint32_t flow, const Packet& packet) {
  const std::size_t place = flow % kKnownFlows;
  if (place >= nic.known_flows.size()) nic.known_flows.resize(place + 1, Packet{});
  nic.known_flows[place] = packet;
  nic.known_flows[place].stream = flow;
}

namespace {

// What a UET packet has of its own, when all else is as in another one of its flow.
void take_entropy(Packet& packet) noexcept {
  const std::size_t ip_octets =
      packet.kind == FrameKind::kIpv4 ? std::size_t{wire::Ipv4::kOctets} : std::size_t{wire::Ipv6::kOctets};
  // The first 16 bits of the entropy header, and of UDP's.
  static_assert(wire::UetEntropy::Entropy::kFirstBit == wire::Udp::SourcePort::kFirstBit);
  const auto entropy = wire::read<wire::UetEntropy::Entropy>(packet.l3() + ip_octets);
  packet.entropy = Packet::kUetEntropy | entropy;
  if (packet.transport_hash != 0)
    packet.transport_hash = std::uint32_t{entropy} << 16 | (packet.transport_hash & 0xFFFF);
}

}  // namespace

// Turns what the endpoint wrote into a packet. False: it is no frame that the fabric carries.
bool Host::finish(Nic& nic, Priority priority, Packet& packet, const TxFrame& frame) {
  const std::uint32_t octets = frame.header_octets + frame.payload.octets + frame.trailer_octets + wire::kFcsOctets;
  const std::uint8_t flags = packet.flags;
  const WorkerId home = packet.home;
  const Packet* const known = known_flow(nic, frame.flow);
  if (known != nullptr) {
    packet = *known;
  } else {
    const auto view = wire::parse_frame({frame.header, frame.header_octets}, octets - wire::kFcsOctets);
    if (!view) return false;
    packet = Packet{};
    describe(packet, *view, *config_.fecs);
    if (frame.flow != TxFrame::kNoFlow) packet.generated = nic.endpoint->generates(frame.flow) ? 1 : 0;
  }
  packet.header_at = kHeaderAt;
  if (known != nullptr && (packet.entropy & Packet::kUetEntropy) != 0) take_entropy(packet);
  packet.flags = static_cast<std::uint8_t>(flags | (packet.flags & Packet::kTagged));
  packet.home = home;
  packet.header_octets = frame.header_octets;
  packet.stream = frame.payload.stream;
  packet.offset = frame.payload.offset;
  // RoCEv2 pads what is not a multiple of four, and both payload and padding stand in front of the ICRC.
  const std::uint32_t pad =
      std::max<std::uint32_t>(frame.trailer_octets, wire::kIcrcOctets) - std::uint32_t{wire::kIcrcOctets};
  packet.payload_octets = frame.payload.octets + pad;
  packet.frame_octets = std::max(octets, kLeastFrameOctets);
  if (known == nullptr && frame.flow != TxFrame::kNoFlow) remember_flow(nic, frame.flow, packet);
  if (frame.trailer_octets != 0) packet.flags |= Packet::kIcrcPending;
  if (!nic.real_payload) {
    packet.flags |= Packet::kElided;
  } else if (frame.payload.bytes != nullptr) {
    std::memcpy(packet.header() + packet.header_octets, frame.payload.bytes, frame.payload.octets);
  } else {
    fill_payload(packet.stream, packet.offset, {packet.header() + packet.header_octets, frame.payload.octets});
  }
  if (nic.real_payload) std::memset(packet.header() + packet.header_octets + frame.payload.octets, 0, pad);
  if (nic.tags || frame.tag.vid != FrameTag::kOfNic) [[unlikely]]
    put_tag(nic, priority, frame.tag, packet);
  if (frame.telemetry != nullptr) [[unlikely]]
    put_telemetry(nic, *frame.telemetry, packet);
  return true;
}

// Behind all else: what it lies behind does not change any more. Without room for all hops there is none of it.
void Host::put_telemetry(const Nic& nic, const PathTelemetry& telemetry, Packet& packet) noexcept {
  const std::size_t room = nic.real_payload ? pool().real_octets() : pool().elided_octets();
  if (real_octets_of(packet) + PathTelemetry::kMostOctets <= room) carry_telemetry(packet, telemetry);
}

// The 802.1Q tag of a frame that has none; what a short one was padded to is made up of the tag first.
void Host::put_tag(const Nic& nic, Priority priority, FrameTag tag, Packet& packet) noexcept {
  if (tag.vid == FrameTag::kAsWritten || packet.has(Packet::kTagged)) return;
  const NicConfig& config = config_.nics[static_cast<std::size_t>(&nic - nics_.data())];
  const std::uint32_t octets = packet.header_octets + packet.payload_octets + wire::kFcsOctets +
                               (packet.has(Packet::kIcrcPending) ? std::uint32_t{wire::kIcrcOctets} : 0);
  push_vlan_tag(packet, tag.vid >= 0 ? static_cast<std::uint16_t>(tag.vid) : *config.vid);
  set_pcp(packet, tag.pcp >= 0 ? static_cast<std::uint8_t>(tag.pcp) : config.pcp_of_class[priority.index()]);
  packet.frame_octets = std::max(octets + std::uint32_t{wire::Vlan::kOctets}, kLeastFrameOctets);
}

void Host::enqueue(Nic& nic, Priority priority, Packet* packet) {
  nic.egress.enqueue(priority, {packet, packet->frame_octets, 0, QueuedFrame::kNoOrigin});
}

// ---- The rest ------------------------------------------------------------------------------------------------------

void Host::set_refresh(Instant due) {
  refresh_due_ = due;
  set_timer(timer_slot(), due);
}

void Host::on_timer(Instant now, PortIndex slot) {
  if (slot.index() < ports()) return starts_.add(now, slot);
  if (slot.index() < timer_slot()) {
    const PortIndex port{static_cast<std::uint16_t>(slot.index() % ports())};
    if (slot.index() >= 2 * ports()) return on_outside(now, port);
    return nics_[port.index()].attachment != nullptr ? on_asked(now, port) : on_received(now, port);
  }
  if (slot.index() > shared_slot()) [[unlikely]]
    return on_bus(now, slot.index() - bus_slot(0));
  if (slot.index() == shared_slot()) [[unlikely]] {
    shared_due_ = Instant::never();  // its slot is empty
    shared_->run_due(now);
    return start_others(now);
  }
  Instant next = Instant::never();
  for (std::size_t p = 0; p < ports(); ++p) {
    EgressPort& e = nics_[p].egress;
    if (e.refresh_due() <= now) {
      e.refresh(now);
      if (!e.busy()) starts_.add(now, PortIndex{static_cast<std::uint16_t>(p)});
    }
    next = std::min(next, e.refresh_due());
  }
  set_refresh(next);
}

void Host::on_link_down(Instant now, PortIndex port) {
  Nic& nic = nics_[port.index()];
  nic.up = false;
  nic.egress.link_down(now);
  if (nic.attachment != nullptr) {
    nic.asked.clear(now);
    on_asked(now, port);
    nic.attachment->set_carrier(false);
  }
  if (!nic.egress.busy()) starts_.add(now, port);
}

void Host::on_link_up(Instant now, PortIndex port) {
  Nic& nic = nics_[port.index()];
  nic.up = true;
  nic.egress.link_up(now);
  if (nic.attachment != nullptr) nic.attachment->set_carrier(true);
  if (!nic.egress.busy()) starts_.add(now, port);
}

void Host::on_new_rate(Instant now, PortIndex port, BitRate rate, Duration peer_response) {
  Nic& nic = nics_[port.index()];
  nic.egress.set_rate(now, rate, peer_response);
  nic.quantum = Bytes{64} / rate;
  if (nic.egress.refresh_due() < refresh_due_) set_refresh(nic.egress.refresh_due());
}

void Host::set_scheduling(PortIndex port, const std::array<ClassScheduling, kPriorities>& scheduling) {
  NicConfig& config = config_.nics[port.index()];
  if (scheduling == config.scheduling) return;
  config.scheduling = scheduling;
  nics_[port.index()].egress.schedule(scheduling, config.largest_frame());
}

void Host::set_pfc(Instant now, PortIndex port, const PfcEnable& pfc) {
  NicConfig& config = config_.nics[port.index()];
  if (pfc == config.pfc) return;
  config.pfc = pfc;
  Nic& nic = nics_[port.index()];
  nic.receive.set_pfc(pfc.tx);
  nic.egress.obey_pauses(now, pfc.rx);
  signal_pauses(now, port);
  if (!nic.egress.busy()) starts_.add(now, port);
}

void Host::endpoint_changed(Instant now, PortIndex port) {
  Nic& nic = nics_[port.index()];
  nic.ready.until = Instant{};
  if (!nic.egress.busy()) starts_.add(now, port);
}

}  // namespace railyard
