#include "dataplane/nic/traffic_generator.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "dataplane/base/assert.h"
#include "dataplane/base/payload_pattern.h"
#include "dataplane/packet/packet.h"
#include "dataplane/wire/bth.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ecn.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/udp.h"

namespace railyard {
namespace {

// A paced flow that was held back may make up for this many frames at once.
constexpr std::int64_t kMostFramesLate = 8;

struct Offsets {
  std::size_t l3 = wire::Ethernet::kOctets;
  std::size_t udp = 0;
  std::size_t bth = 0;
  std::size_t end = 0;
};

Offsets offsets_of(bool v4) noexcept {
  Offsets o;
  o.udp = o.l3 + (v4 ? std::size_t{wire::Ipv4::kOctets} : std::size_t{wire::Ipv6::kOctets});
  o.bth = o.udp + wire::Udp::kOctets;
  o.end = o.bth + wire::Bth::kOctets;
  return o;
}

}  // namespace

struct TrafficGenerator::TxFlow {
  TxFlowConfig config;
  TxFlowCounters counters;
  std::array<std::byte, 80> header{};  // of a full frame; PSN is written per frame
  std::uint16_t header_octets = 0;
  std::uint16_t psn_at = 0;
  Duration interval{};               // from frame to frame; 0: as fast as the link takes them
  FlowListener* listener = nullptr;  // until it has been told
  std::uint32_t token = 0;
  Instant all_sent = Instant::never();
  OctetTime octet_time;
  OctetTime::Rest rest;
  Instant due{};   // of the next frame without jitter
  GapJitter gaps;  // the next frame goes so much later

  explicit TxFlow(TxFlowConfig c) : config(std::move(c)), due(config.start), gaps(config.gap_jitter, config.chance) {
    if (config.slower_ppb > 0) rest = OctetTime::Rest::kept();
    set_rate(config.rate);
    write_headers();
  }
  void set_rate(BitRate rate) noexcept {
    config.rate = rate;
    octet_time = rate.bps > 0 ? OctetTime(rate).slower(config.slower_ppb) : OctetTime();
    interval = octet_time.of(wire_octets(config.payload));
    if (rate.bps > 0) gaps.keep_to(rate, config.link);
  }
  Instant next() const noexcept { return due + gaps.last(); }
  // A frame has gone at `now`.
  void pace(Instant now) noexcept {
    if (interval == Duration{}) return;
    due = std::max(due, now - interval * kMostFramesLate) + octet_time.of(wire_octets(config.payload), rest);
    gaps.draw(interval);
  }
  std::uint32_t wire_octets(std::uint32_t payload) const noexcept {
    return static_cast<std::uint32_t>(offsets_of(config.source.is_v4()).end) + payload +
           std::uint32_t{wire::kIcrcOctets + wire::kFcsOctets} + static_cast<std::uint32_t>(config.framing.around());
  }
  bool begins_burst_at(Instant at) const noexcept {
    return config.on > Duration{} && config.off > Duration{} &&
           (at - config.start).ps % (config.on + config.off).ps == 0;
  }
  void write_headers() noexcept;
  void set_lengths(std::byte* h, std::uint32_t payload) const noexcept;
};

struct TrafficGenerator::RxFlow {
  RxFlowConfig config;
  RxFlowCounters counters;
  SequenceCheck order;
  FlowListener* listener = nullptr;  // until it has been told
  std::uint32_t token = 0;
  std::uint64_t expected = 0;  // octets that it waits for
};

void TrafficGenerator::TxFlow::write_headers() noexcept {
  using namespace wire;
  const bool v4 = config.source.is_v4();
  const Offsets o = offsets_of(v4);
  std::byte* h = header.data();
  header_octets = static_cast<std::uint16_t>(o.end);
  psn_at = static_cast<std::uint16_t>(o.bth);
  write<Ethernet::Destination>(h, config.next_hop_mac);
  write<Ethernet::Source>(h, config.source_mac);
  write<Ethernet::EtherType>(h, v4 ? ether_type::kIpv4 : ether_type::kIpv6);
  const auto traffic_class = static_cast<std::uint8_t>(unsigned{config.dscp} << 2 |
                                                       static_cast<unsigned>(config.ect ? Ecn::kEct0 : Ecn::kNotEct));
  std::byte* ip = h + o.l3;
  if (v4) {
    write<Ipv4::Version>(ip, 4);
    write<Ipv4::IHL>(ip, 5);
    write<Ipv4::TrafficClass>(ip, traffic_class);
    write<Ipv4::DF>(ip, 1);
    write<Ipv4::TTL>(ip, 64);
    write<Ipv4::Protocol>(ip, ip_protocol::kUdp);
    write<Ipv4::Source>(ip, config.source.v4());
    write<Ipv4::Destination>(ip, config.destination.v4());
  } else {
    write<Ipv6::Version>(ip, 6);
    write<Ipv6::TrafficClass>(ip, traffic_class);
    write<Ipv6::NextHeader>(ip, ip_protocol::kUdp);
    write<Ipv6::HopLimit>(ip, 64);
    write<Ipv6::Source>(ip, config.source);
    write<Ipv6::Destination>(ip, config.destination);
  }
  std::byte* udp = h + o.udp;
  write<Udp::SourcePort>(udp, config.source_port);
  write<Udp::DestinationPort>(udp, wire::kRoceV2Port);
  std::byte* bth = h + o.bth;
  write<Bth::OpCode>(bth, roce_opcode::kUcSendOnly);
  write<Bth::MigReq>(bth, 1);
  write<Bth::PKey>(bth, 0xFFFF);
  write<Bth::DestQP>(bth, config.destination_qp & 0xFFFFFF);
  set_lengths(h, config.payload);
}

void TrafficGenerator::TxFlow::set_lengths(std::byte* h, std::uint32_t payload) const noexcept {
  using namespace wire;
  const bool v4 = config.source.is_v4();
  const Offsets o = offsets_of(v4);
  const auto udp = static_cast<std::uint16_t>(o.end - o.udp + payload + kIcrcOctets);
  write<Udp::Length>(h + o.udp, udp);
  std::byte* ip = h + o.l3;
  if (v4) {
    write<Ipv4::TotalLength>(ip, static_cast<std::uint16_t>(udp + Ipv4::kOctets));
    write<Ipv4::HeaderChecksum>(ip, 0);
    write<Ipv4::HeaderChecksum>(ip, internet_checksum({ip, Ipv4::kOctets}));
  } else {
    write<Ipv6::PayloadLength>(ip, udp);
  }
}

TrafficGenerator::TrafficGenerator(std::vector<TxFlowConfig> sends, const std::vector<RxFlowConfig>& receives) {
  tx_.reserve(sends.size());
  for (TxFlowConfig& c : sends) {
    RAILYARD_ASSERT(c.payload > 0 && c.payload % 4 == 0 && c.total.n % 4 == 0, "payload is a multiple of 4");
    const auto flow = static_cast<std::uint32_t>(tx_.size());
    tx_.emplace_back(std::move(c));
    if (const Instant at = due(tx_.back(), tx_.back().config.start); at != Instant::never()) waiting_.push({at, flow});
  }
  if (receives.empty()) return;
  const auto by_qp = [](const RxFlowConfig& a, const RxFlowConfig& b) { return a.destination_qp < b.destination_qp; };
  const auto [least, most] = std::minmax_element(receives.begin(), receives.end(), by_qp);
  first_qp_ = least->destination_qp;
  rx_by_qp_.resize(most->destination_qp - first_qp_ + 1);
  for (const RxFlowConfig& c : receives) {
    rx_.emplace_back().config = c;
    rx_.back().counters.until = c.stop;
    rx_by_qp_[c.destination_qp - first_qp_] = static_cast<std::uint32_t>(rx_.size());
  }
}

TrafficGenerator::~TrafficGenerator() = default;

bool TrafficGenerator::has_flows() const noexcept { return !tx_.empty() || !rx_.empty(); }
std::size_t TrafficGenerator::tx_flows() const noexcept { return tx_.size(); }
const TxFlowConfig& TrafficGenerator::tx_config(std::size_t i) const noexcept { return tx_[i].config; }
Instant TrafficGenerator::all_sent(std::size_t i) const noexcept { return tx_[i].all_sent; }
const TxFlowCounters& TrafficGenerator::tx_counters(std::size_t i) const noexcept { return tx_[i].counters; }

const RxFlowCounters* TrafficGenerator::rx_counters(std::uint64_t id) const noexcept {
  const auto found = std::find_if(rx_.begin(), rx_.end(), [&](const RxFlow& f) { return f.config.id == id; });
  return found == rx_.end() ? nullptr : &found->counters;
}

void TrafficGenerator::stop_at(Instant at) {
  for (TxFlow& f : tx_) f.config.stop = std::min(f.config.stop, at);
  for (RxFlow& f : rx_) f.counters.until = std::min(f.counters.until, at);
}

void TrafficGenerator::set_rate(Instant now, std::size_t i, BitRate rate) {
  TxFlow& f = tx_[i];
  const Duration before = f.interval;
  f.set_rate(rate);
  if (f.counters.packets > 0) {
    // Between two frames; not at rest until the next burst, and not held back.
    const bool paced = before > Duration{} && f.next() > now && !f.begins_burst_at(f.next());
    f.due = std::max(now, paced ? f.next() - before + f.interval : f.next());
    f.gaps.forget();
  }
  std::vector<Waiting> waiting;
  for (; !waiting_.empty(); waiting_.pop()) waiting.push_back(waiting_.top());
  for (Waiting w : waiting) {
    if (w.flow == i) w.due = due(f, std::max(now, f.config.start));
    if (w.due != Instant::never()) waiting_.push(w);
  }
}

void TrafficGenerator::start(Instant now, std::size_t i) {
  TxFlow& f = tx_[i];
  f.config.start = f.due = now;
  if (const Instant at = due(f, now); at != Instant::never()) waiting_.push({at, static_cast<std::uint32_t>(i)});
}

void TrafficGenerator::tell_sent(std::size_t i, FlowListener& listener, std::uint32_t token) {
  tx_[i].listener = &listener;
  tx_[i].token = token;
}

void TrafficGenerator::tell_received(std::uint64_t id, Bytes octets, FlowListener& listener, std::uint32_t token) {
  for (RxFlow& f : rx_) {
    if (f.config.id != id) continue;
    f.listener = &listener;
    f.token = token;
    f.expected = static_cast<std::uint64_t>(octets.n);
  }
}

Instant TrafficGenerator::due(const TxFlow& f, Instant now) const noexcept {
  if (f.config.total.n > 0 && f.counters.payload_octets >= static_cast<std::uint64_t>(f.config.total.n))
    return Instant::never();
  Instant at = std::max(f.next(), now);
  if (f.config.on > Duration{} && f.config.off > Duration{}) {
    const Duration period = f.config.on + f.config.off;
    const Duration into = (at - f.config.start) - period * ((at - f.config.start) / period);
    if (into >= f.config.on) at = at + (period - into);
  }
  return at < f.config.stop ? at : Instant::never();
}

void TrafficGenerator::wake(Instant now) {
  while (!waiting_.empty() && waiting_.top().due <= now) {
    const std::uint32_t flow = waiting_.top().flow;
    waiting_.pop();
    active_[tx_[flow].config.priority.index()].push(flow);
  }
}

Readiness TrafficGenerator::ready(Instant now) {
  wake(now);
  Readiness r;
  for (std::size_t p = 0; p < kPriorities; ++p)
    if (!active_[p].empty()) r.classes = static_cast<PriorityMask>(r.classes | (1u << p));
  if (!waiting_.empty()) r.until = waiting_.top().due;
  return r;
}

std::size_t TrafficGenerator::send(Instant now, Priority priority, std::span<TxFrame> frames) {
  wake(now);
  RingQueue<std::uint32_t>& active = active_[priority.index()];
  std::size_t n = 0;
  while (n < frames.size() && !active.empty()) {
    const std::uint32_t index = active.front();
    active.pop();
    TxFlow& f = tx_[index];
    // A burst may have ended, or the run's time, while the class was paused.
    Instant at = due(f, now);
    if (at == now) {
      emit(f, frames[n++], index);
      if (f.counters.first == Instant::never()) f.counters.first = now;
      f.pace(now);
      at = due(f, now);
    }
    if (at == now) {
      active.push(index);
    } else if (at != Instant::never()) {
      if (at != f.next()) {  // it rests; it is not held back, and has nothing to make up for
        f.due = at;
        f.gaps.forget();
      }
      waiting_.push({at, index});
    } else if (f.config.total.n > 0 && f.counters.payload_octets >= static_cast<std::uint64_t>(f.config.total.n)) {
      f.all_sent = now;
      if (f.listener != nullptr) std::exchange(f.listener, nullptr)->on_flow_done(now, f.token);
    }
  }
  return n;
}

void TrafficGenerator::emit(TxFlow& f, TxFrame& frame, std::uint32_t index) {
  std::uint32_t payload = f.config.payload;
  std::memcpy(frame.header, f.header.data(), f.header.size());
  if (f.config.total.n > 0) {
    const std::uint64_t left = static_cast<std::uint64_t>(f.config.total.n) - f.counters.payload_octets;
    if (left < payload) {
      payload = static_cast<std::uint32_t>(left);
      f.set_lengths(frame.header, payload);
    }
  }
  wire::write<wire::Bth::PSN>(frame.header + f.psn_at, static_cast<std::uint32_t>(f.counters.packets & 0xFFFFFF));
  frame.header_octets = f.header_octets;
  frame.trailer_octets = wire::kIcrcOctets;
  frame.flow = index;
  frame.tag = f.config.tag;
  frame.payload = {f.config.id, f.counters.payload_octets, payload, nullptr};
  ++f.counters.packets;
  f.counters.payload_octets += payload;
}

bool TrafficGenerator::receive(std::span<const RxFrame> frames) {
  for (const RxFrame& frame : frames) receive_one(frame);
  return false;  // nothing is answered
}

void TrafficGenerator::receive_one(const RxFrame& frame) {
  const std::size_t bth = offsets_of((frame.header[wire::Ethernet::kOctets] >> 4) == std::byte{4}).bth;
  if (frame.header.size() < bth + wire::Bth::kOctets) {
    ++unexpected_;
    return;
  }
  const std::byte* h = frame.header.data();
  const std::uint32_t place = wire::read<wire::Bth::DestQP>(h + bth) - first_qp_;
  if (place >= rx_by_qp_.size() || rx_by_qp_[place] == 0) {
    ++unexpected_;
    return;
  }
  RxFlow& f = rx_[rx_by_qp_[place] - 1];
  RxFlowCounters& c = f.counters;
  if (frame.trimmed) [[unlikely]] {
    if (!frame.copied) ++c.trimmed;
    return;
  }
  const SequenceCheck::Result r = f.order.see(wire::read<wire::Bth::PSN>(h + bth));
  ++c.packets;
  if (c.first == Instant::never()) c.first = frame.at;
  c.last = frame.at;
  // Clocks that are skewed may say that it came before it was sent.
  c.latency.record(static_cast<std::uint64_t>(std::max(frame.at - frame.sent, Duration{}).ps));
  const auto traffic_class = bth == offsets_of(true).bth
                                 ? wire::read<wire::Ipv4::TrafficClass>(h + wire::Ethernet::kOctets)
                                 : wire::read<wire::Ipv6::TrafficClass>(h + wire::Ethernet::kOctets);
  if (wire::ecn_of(traffic_class) == wire::Ecn::kCe) ++c.marked;
  if (r.seen == SequenceCheck::Seen::kDuplicate) {
    ++c.duplicated;
    return;
  }
  if (r.seen == SequenceCheck::Seen::kReordered) ++c.reordered;
  c.take(frame.payload.octets);
  const std::uint64_t offset = r.sequence * f.config.payload;
  const bool right = frame.payload.bytes == nullptr
                         ? frame.payload.stream == f.config.id && frame.payload.offset == offset
                         : payload_matches(f.config.id, offset, frame.payload.real());
  if (!right) [[unlikely]]
    ++c.corrupted;
  if (f.listener != nullptr && c.payload_octets >= f.expected) [[unlikely]]
    std::exchange(f.listener, nullptr)->on_flow_done(frame.at, f.token);
}

void TrafficGenerator::exchange_figures(StateArchive& archive) {
  for (TxFlow& f : tx_) archive(f.config.start, f.counters, f.all_sent);
  for (RxFlow& f : rx_) archive(f.counters);
  archive(unexpected_);
}

}  // namespace railyard
