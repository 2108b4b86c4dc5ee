#include "dataplane/trunk/trunk_end.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "dataplane/base/assert.h"
#include "dataplane/packet/carried_telemetry.h"
#include "dataplane/wire/parse.h"

namespace railyard {
namespace {

// Further ahead than any outage makes it: not a number of the far end's.
constexpr std::uint64_t kFarthestSequence = std::uint64_t{1} << 40;
constexpr unsigned kPingsPerPercentile = 25;

TrunkSessionConfig session_config(const TrunkEndConfig& config, std::uint64_t session) {
  return {session, config.terms, config.ping_every, config.timeout};
}

}  // namespace

TrunkEnd::TrunkEnd(DeviceId id, std::string name, TrunkEndConfig config)
    : Device(id, std::move(name), 1),
      config_(std::move(config)),
      session_(session_config(config_, 1)),
      incoming_(config_.window),
      heads_(TrunkWire::kBurst) {
  if (!std::has_single_bit(config_.window))
    throw std::invalid_argument(fmt::format("trunk {}: window {} is not a power of two", this->name(), config_.window));
  if (config_.ping_every <= Duration{} || config_.timeout < config_.ping_every)
    throw std::invalid_argument(
        fmt::format("trunk {}: the timeout is shorter than the time between pings", this->name()));
  if (config_.fecs == nullptr) config_.fecs = std::make_shared<const FecTable>();
}

TrunkEnd::~TrunkEnd() = default;

void TrunkEnd::connect_outside(std::unique_ptr<TrunkWire> wire, std::uint64_t session, SetLink set_link) {
  wire_ = std::move(wire);
  session_ = TrunkSession(session_config(config_, session));
  set_link_ = std::move(set_link);
}

void TrunkEnd::connected(PortIndex, Channel& out, BitRate rate) {
  RAILYARD_ASSERT(out.propagation == Duration{}, "the propagation of a trunk is in its terms, not in its channel");
  channel_ = &out;
  octet_time_ = OctetTime(rate);
  seen_at_most_ = out.cut_through ? Channel::kCutThroughOctets : ~std::uint32_t{0};
}

// From the start of a frame's transmission to the octet that the switch acts on, without propagation.
Duration TrunkEnd::lead_of(const Packet& p) const noexcept {
  return octet_time_.of(channel_->framing.to_tail(std::min(p.frame_octets, seen_at_most_)));
}

// ---- In modelled time ----------------------------------------------------------------------------------------------

Instant TrunkEnd::run(Instant until) {
  const Instant rest = collect(until);
  ArrivalBatch& batch = arrivals();
  for (std::size_t i = 0; i < batch.size(); ++i)
    on_from_switch(EventKey::time(key_base(), batch[i].key), batch[i].packet,
                   EventKey::kind(batch[i].key) == EventKind::kMacControl);
  Instant due = next_release();
  for (; due < until; due = next_release()) release(due);
  return std::min(rest, due);
}

void TrunkEnd::on_from_switch(Instant now, Packet* p, bool control) {
  if (control) {
    rx_control_.increment();
    if (tapped()) observe(now, kPort, *p, {.event = TapNote::Event::kReceived});
  } else {
    const Priority priority = classify(config_.trust, *p);
    if (observed()) [[unlikely]] {
      IntStack* const stack = records_int() ? int_stack(*p) : nullptr;
      if (stack != nullptr) int_arrival(*stack, now, kPort, priority, *p);
      if (tapped()) observe(now, kPort, *p, {.event = TapNote::Event::kReceived, .priority = priority});
      if (stack != nullptr) stack->end();  // as far as this fabric goes
      p->sampled = 0;
    }
    rx_packets_[priority.index()].increment();
    rx_octets_[priority.index()].add(p->frame_octets);
  }
  if (p->telemetry != 0) [[unlikely]]
    drop_telemetry(*p);  // the other daemon has clocks and counters of its own
  if (!up_ || wire_ == nullptr) return drop(now, p, DropReason::kLinkDown);
  if (outgoing_.size() >= kMostWaiting) return drop(now, p, DropReason::kTrunkFull);
  outgoing_.push({p, now - kLatency - octet_time_.of(channel_->framing.to_tail(p->frame_octets))});
  if (outgoing_.size() % TrunkWire::kBurst == 0) send_outgoing(now);
}

// When the next frame goes to the switch: when it is due, in order, and no closer behind the one before it than the
// link's rate allows. Or when one is to be given up.
Instant TrunkEnd::next_release() const noexcept {
  Instant at = incoming_.next();
  if (at == Instant::never()) return at;
  if (const Resequencer::Held* head = incoming_.head())
    at = std::max(at, free_at_ + lead_of(*head->packet) + config_.terms.delay);
  return std::max({at, released_, done()});
}

void TrunkEnd::release(Instant now) {
  released_ = now;
  const Resequencer::Held held = incoming_.release();
  write_off();
  Packet* const p = held.packet;
  if (p == nullptr) return;
  const Duration lead = lead_of(*p);
  const Instant start = now - config_.terms.delay - lead;
  free_at_ = start + octet_time_.of(channel_->framing.slot(p->frame_octets));
  const Duration late = start - held.start;
  lateness_.record(static_cast<std::uint64_t>(std::max<std::int64_t>(late.ps, 0)));
  if (late > Duration{}) late_.increment();
  if (!up_) return drop(now, p, DropReason::kLinkDown);

  const std::size_t trailer = p->has(Packet::kIcrcPending) ? std::size_t{wire::kIcrcOctets} : 0;
  const auto view = wire::parse_frame(p->header_span(), p->header_octets + std::size_t{p->payload_octets} + trailer);
  if (!view) return drop(now, p, view.error());
  const std::uint16_t header_octets = p->header_octets;
  describe(*p, *view, *config_.fecs, addresses_);
  p->header_octets = header_octets;
  if (p->kind == FrameKind::kMacControl) {
    tx_control_.increment();
    if (observed()) observe_departure(now, kPort, *p, {.event = TapNote::Event::kSent});
    channel_->push_control(start, lead + config_.terms.delay + channel_->control_latency, p);
    return;
  }
  // Its MAC addresses are those of the far switch's link. Here it comes from this end, to the port at our own.
  if ((std::to_integer<unsigned>(p->header()[0]) & 1) == 0)
    std::copy(config_.peer_mac.octets.begin(), config_.peer_mac.octets.end(),
              reinterpret_cast<std::uint8_t*>(p->header()));
  std::copy(config_.mac.octets.begin(), config_.mac.octets.end(), reinterpret_cast<std::uint8_t*>(p->header()) + 6);
  const Priority priority = classify(config_.trust, *p);
  tx_packets_[priority.index()].increment();
  tx_octets_[priority.index()].add(p->frame_octets);
  if (observed()) {
    if (records_int()) int_departure(start, kPort, priority, *p);
    observe_departure(now, kPort, *p, {.event = TapNote::Event::kSent, .priority = priority});
  }
  channel_->push_data(start, lead + config_.terms.delay + channel_->data_latency, p);
}

// What the network has lost enters the books here, where it should have come in, and leaves them at once.
void TrunkEnd::write_off() {
  const std::uint64_t lost = incoming_.take_lost();
  if (lost == 0) return;
  lost_.add(lost);
  generated_.add(lost);
  drops_.count(DropReason::kTrunkLost, lost);
}

void TrunkEnd::drop(Instant now, Packet* p, DropReason reason) {
  drops_.count(reason);
  if (tapped()) observe(now, kPort, *p, {.event = TapNote::Event::kDropped, .reason = reason});
  pool().release(p);
}

// ---- Between windows -----------------------------------------------------------------------------------------------

Instant TrunkEnd::poll(Instant now, Duration wall) {
  if (wire_ == nullptr) return next();
  const Instant at = std::max(now, done());
  receive(at, wall);
  if (session_.ping_due(at)) send_ping(at);
  send_outgoing(at);
  settle_link(at);
  lower_next(next_release());
  return next();
}

// Pings are to be sent whether something comes or not.
bool TrunkEnd::readable(std::vector<int>& descriptors) const {
  if (wire_ != nullptr && wire_->readable() >= 0) descriptors.push_back(wire_->readable());
  return false;
}

void TrunkEnd::give_outside(Instant now) { send_outgoing(std::max(now, done())); }

void TrunkEnd::send_outgoing(Instant now) {
  if (wire_ == nullptr) return;
  std::array<TrunkDatagram, TrunkWire::kBurst> datagrams;
  while (!outgoing_.empty()) {
    const std::size_t n = std::min(outgoing_.size(), datagrams.size());
    for (std::size_t i = 0; i < n; ++i) {
      const Packet& p = *outgoing_[i].packet;
      const std::size_t own = p.header_octets + (p.has(Packet::kElided) ? 0 : std::size_t{p.payload_octets});
      TrunkFrame f;
      f.start = std::max(outgoing_[i].start, Instant{});
      f.first_sent = std::max(p.sent, Instant{});
      f.stream = p.stream;
      f.offset = p.offset;
      f.frame_octets = p.frame_octets;
      f.payload_octets = p.payload_octets;
      f.flags = p.flags;
      f.header = p.header_span();
      write_frame(heads_[i], session_.head(now, next_sequence_ + i), f);
      datagrams[i] = {heads_[i], {p.header(), own}};
    }
    const std::size_t sent = wire_->send(std::span(datagrams).first(n));
    next_sequence_ += sent;
    consumed_.add(sent);
    for (std::size_t i = 0; i < sent; ++i) {
      pool().release(outgoing_.front().packet);
      outgoing_.pop();
    }
    if (sent < n) return;
  }
}

void TrunkEnd::send_ping(Instant now) {
  std::array<std::byte, kTrunkPingOctets> octets;
  const TrunkPing ping = session_.ping(now, incoming_.base(), begins_, !taken_down_);
  write_ping(octets, session_.head(now, next_sequence_), ping);
  const TrunkDatagram datagram{octets, {}};
  wire_->send({&datagram, 1});
  if (++pings_ % kPingsPerPercentile == 0) count_lateness();
}

void TrunkEnd::count_lateness() {
  lateness_ps_[0].set(lateness_.percentile(0.5));
  lateness_ps_[1].set(lateness_.percentile(0.99));
  lateness_ps_[2].set(lateness_.max());
}

void TrunkEnd::receive(Instant now, Duration wall) {
  std::array<TrunkReceived, TrunkWire::kBurst> datagrams;
  for (unsigned burst = 0; burst < kBurstsPerPoll; ++burst) {
    const std::size_t n = wire_->receive(now, wall, datagrams);
    for (std::size_t i = 0; i < n; ++i) on_message(now, datagrams[i]);
    if (n < datagrams.size()) return;
  }
}

void TrunkEnd::on_message(Instant now, const TrunkReceived& received) {
  const auto message = parse_trunk_message(received.octets);
  if (!message) return (message.error() == TrunkError::kVersion ? other_version_ : malformed_).increment();
  if (const auto* ping = std::get_if<TrunkPing>(&message->body))
    on_ping(now, received.age, message->head, *ping);
  else
    on_frame(now, message->head, std::get<TrunkFrame>(message->body));
}

void TrunkEnd::on_ping(Instant now, Duration age, const TrunkHead& head, const TrunkPing& ping) {
  const TrunkTerms& terms = config_.terms;
  const auto modelled = static_cast<Int128>(age.ps) * terms.scale_numerator / terms.scale_denominator;
  const Instant arrived = now - Duration{static_cast<std::int64_t>(modelled)};
  switch (session_.on_ping(now, std::max(arrived, Instant{}), head, ping)) {
    case TrunkSession::Heard::kStale:
      return stale_.increment();
    case TrunkSession::Heard::kNewLife:
      new_life_ = true;
      begin_at(now, ping.begins);
      unconfirmed_.add(next_sequence_ - confirmed_);
      begins_ = confirmed_ = next_sequence_;
      break;
    case TrunkSession::Heard::kMet:
      begin_at(now, ping.begins);
      break;
    case TrunkSession::Heard::kSame:
      if (!session_.met()) break;
      if (head.sequence - incoming_.base() <= kFarthestSequence)
        incoming_.expect(head.sequence, now + config_.reorder_wait);
      confirmed_ = std::clamp(ping.received, confirmed_, next_sequence_);
      break;
  }
  round_trip_ps_.set(session_.clocks().known() ? static_cast<std::uint64_t>(session_.clocks().round_trip().ps) : 0);
  clock_offset_ps_.set(session_.clocks().known() ? static_cast<std::uint64_t>(session_.clocks().offset().ps) : 0);
  clock_jumps_.set(session_.clocks().jumps());
}

void TrunkEnd::begin_at(Instant now, std::uint64_t sequence) {
  incoming_.reset(sequence, [&](Packet* p) { drop(now, p, DropReason::kLinkDown); });
}

void TrunkEnd::on_frame(Instant now, const TrunkHead& head, const TrunkFrame& frame) {
  if (!session_.accepts(head) || !session_.clocks().known()) return stale_.increment();
  if (head.sequence > incoming_.base() && head.sequence - incoming_.base() > kFarthestSequence)
    return malformed_.increment();
  Packet* const p = make_packet(frame);
  if (p == nullptr) return;  // it will be missing
  Resequencer::Held held;
  held.packet = p;
  // It cannot have been sent after it came, whatever the clocks say.
  held.start = std::min(session_.clocks().ours(frame.start), now);
  held.due = std::max(held.start + lead_of(*p) + config_.terms.delay, now);
  held.give_up = now + config_.reorder_wait;
  p->sent = std::min(session_.clocks().ours(frame.first_sent), held.start);
  if (incoming_.put(head.sequence, held) == Resequencer::Put::kHeld) {
    received_.increment();
    generated_.increment();
  } else {
    discarded_.increment();
    pool().release(p);
  }
  write_off();
}

// The frame as a packet, not yet looked at. nullptr: no memory, or longer than packets of this lab are.
Packet* TrunkEnd::make_packet(const TrunkFrame& frame) {
  const bool real = !frame.payload.empty() || frame.header.size() > kMostElidedHeader;
  if (real && frame.header.size() + frame.payload.size() + wire::kIcrcOctets > pool().real_octets()) return nullptr;
  Packet* const p = real ? pool().allocate_real() : pool().allocate_elided();
  if (p == nullptr) return nullptr;
  const std::uint16_t header_at = p->header_at;
  const std::uint8_t flags = p->flags;
  const WorkerId home = p->home;
  *p = Packet{};
  p->header_at = header_at;
  p->flags = static_cast<std::uint8_t>(flags | frame.flags);
  p->home = home;
  p->stream = frame.stream;
  p->offset = frame.offset;
  p->frame_octets = frame.frame_octets;
  p->payload_octets = frame.payload_octets;
  p->header_octets = static_cast<std::uint16_t>(frame.header.size());
  std::memcpy(p->header(), frame.header.data(), frame.header.size());
  if (!frame.payload.empty()) std::memcpy(p->header() + p->header_octets, frame.payload.data(), frame.payload.size());
  return p;
}

// ---- Link state ----------------------------------------------------------------------------------------------------

// The link is up while the far end is there and nobody has taken it down.
void TrunkEnd::settle_link(Instant now) {
  const TrunkSession::State state = session_.state(now);
  state_.set(static_cast<std::uint64_t>(state));
  const bool up = state == TrunkSession::State::kUp && !taken_down_ && !std::exchange(new_life_, false);
  if (up == asked_up_ || set_link_ == nullptr) return;
  asked_up_ = up;
  if (!up) downs_.increment();
  change_at(now, [this](Instant) { own_change_ = true; });
  set_link_(now, up);
  change_at(now, [this](Instant) { own_change_ = false; });
}

void TrunkEnd::on_link_down(Instant now, PortIndex) {
  up_ = asked_up_ = false;
  if (!own_change_) taken_down_ = true;
  for (; !outgoing_.empty(); outgoing_.pop()) drop(now, outgoing_.front().packet, DropReason::kLinkDown);
}

void TrunkEnd::on_link_up(Instant, PortIndex) {
  up_ = asked_up_ = true;
  if (!own_change_) taken_down_ = false;
}

// ---- Counters ------------------------------------------------------------------------------------------------------

void TrunkEnd::for_each_held(const std::function<void(const Packet&)>& see) const {
  for (std::size_t i = 0; i < outgoing_.size(); ++i) see(*outgoing_[i].packet);
  incoming_.for_each(see);
}

void TrunkEnd::count_live(DeviceCounters& c) const {
  c.generated = generated_.read();
  c.consumed = consumed_.read();
  PortCounters& port = c.ports[0];
  port.rx_control = rx_control_.read();
  port.tx_control = tx_control_.read();
  port.drops = drops_.read();
  for (std::size_t k = 0; k < kPriorities; ++k) {
    port.classes[k].rx_packets = rx_packets_[k].read();
    port.classes[k].rx_octets = rx_octets_[k].read();
    port.classes[k].tx_packets = tx_packets_[k].read();
    port.classes[k].tx_octets = tx_octets_[k].read();
  }
}

void TrunkEnd::count_rest(DeviceCounters& c) const { c.queued = outgoing_.size() + incoming_.held(); }

TrunkCounters TrunkEnd::trunk_counters() const {
  TrunkCounters c;
  c.state = static_cast<TrunkSession::State>(state_.read());
  c.sent = consumed_.read();
  c.received = received_.read();
  c.lost = lost_.read();
  c.discarded = discarded_.read();
  c.unconfirmed = unconfirmed_.read();
  c.stale = stale_.read();
  if (wire_ != nullptr) {
    c.wire = wire_->counters();
    c.has_carrier = wire_->has_carrier();
  }
  c.malformed = malformed_.read() + c.wire.malformed;
  c.other_version = other_version_.read() + c.wire.other_version;
  c.downs = downs_.read();
  c.late = late_.read();
  c.round_trip_ps = round_trip_ps_.read();
  c.clock_offset_ps = static_cast<std::int64_t>(clock_offset_ps_.read());
  c.lateness_p50_ps = lateness_ps_[0].read();
  c.lateness_p99_ps = lateness_ps_[1].read();
  c.lateness_max_ps = lateness_ps_[2].read();
  c.clock_jumps = clock_jumps_.read();
  return c;
}

}  // namespace railyard
