#include "dataplane/port/port_wire.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "dataplane/base/hash.h"
#include "dataplane/port/arrival_age.h"
#include "dataplane/port/received_packet.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/vlan.h"

namespace railyard {

PortWire::PortWire(std::unique_ptr<OutsidePort> port, PacketPool& pool, const PortWireConfig& config)
    : port_(std::move(port)),
      pool_(pool),
      config_(config),
      mtu_(std::min({config.mtu,
                     port_->abilities().largest_frame - std::uint32_t{wire::Ethernet::kOctets + wire::Vlan::kOctets},
                     static_cast<std::uint32_t>(pool.real_octets()) - std::uint32_t{wire::Ethernet::kOctets}})),
      stream_(hash_string("port/trunk/" + to_string(config.mac))),
      reassembler_(config.patience, kBurst) {
  if (mtu_ < kLeastTrunkMtu)
    throw std::runtime_error(fmt::format("trunk over Ethernet: frames carry {} bytes; expected an MTU of at least {}",
                                         mtu_, kLeastTrunkMtu));
}

PortWire::~PortWire() {
  for (std::size_t i = 0; i < kept_count_; ++i) pool_.release(kept_[i]);
  for (std::size_t i = waiting_from_; i < waiting_to_; ++i) pool_.release(waiting_[i]);
  port_->release_packets(pool_);
}

// Frames that wait behind others are given to the port with them. False: there is no room or memory for all fragments.
bool PortWire::make_frames(const TrunkDatagram& datagram) {
  const auto octets = static_cast<std::uint32_t>(datagram.head.size() + datagram.body.size());
  const TrunkCut cut = cut_trunk_message(octets, mtu_);
  const std::uint32_t fragments = cut.fragments();
  if (waiting_to_ + fragments > kMostWaiting && !flush()) return false;
  TrunkCarrier head{peer_, config_.mac, {next_message_, cut, 0, {}}};
  const std::size_t began = waiting_to_;
  for (std::uint32_t i = 0; i < fragments; ++i) {
    Packet* const p = pool_.allocate_real();
    if (p == nullptr) {
      for (; waiting_to_ > began; --waiting_to_) pool_.release(waiting_[waiting_to_ - 1]);
      return false;
    }
    const std::size_t frame = trunk_carrier_octets(cut.octets(i));
    head.fragment.index = i;
    write_trunk_carrier({p->header(), frame}, head, datagram);
    describe_received(*p, static_cast<std::uint32_t>(frame), stream_, next_frame_++);
    waiting_[waiting_to_++] = p;
  }
  ++next_message_;
  if (fragments > 1) fragmented_.increment();
  return true;
}

// Whether nothing is left that the port did not take.
bool PortWire::flush() {
  while (waiting_from_ < waiting_to_) {
    const std::size_t given =
        port_->give(pool_, std::span(waiting_).subspan(waiting_from_, waiting_to_ - waiting_from_));
    if (given == 0) return false;
    waiting_from_ += given;
  }
  waiting_from_ = waiting_to_ = 0;
  return true;
}

std::size_t PortWire::send(std::span<const TrunkDatagram> datagrams) {
  if (!carrier_) {
    refused_.add(datagrams.size());
    return datagrams.size();
  }
  if (!flush()) return 0;
  std::size_t done = 0;
  for (; done < datagrams.size(); ++done) {
    const TrunkDatagram& d = datagrams[done];
    if (d.head.size() + d.body.size() > kMostTrunkMessageOctets) {
      refused_.increment();
      continue;
    }
    if (!make_frames(d)) break;
  }
  flush();
  return done;
}

std::size_t PortWire::receive(Instant now, Duration wall, std::span<TrunkReceived> datagrams) {
  for (; kept_count_ > 0; --kept_count_) pool_.release(kept_[kept_count_ - 1]);
  reassembler_.recycle();
  look_at_carrier(now);
  flush();
  look_at_peer(now);
  const std::size_t room = std::min(datagrams.size(), kBurst);
  std::array<Packet*, kBurst> packets;
  std::size_t n = 0;
  for (unsigned i = 0; i < kTakesPerReceive && n < room; ++i) {
    const std::size_t asked = room - n;
    const std::size_t taken = port_->take(pool_, std::span(packets).first(asked));
    for (Packet* const p : std::span(packets).first(taken)) {
      bool keep = false;
      const std::span<const std::byte> octets = on_frame(now, *p, keep);
      if (!octets.empty()) datagrams[n++] = {octets, age_at(wall, port_->waited(*p))};
      if (keep)
        kept_[kept_count_++] = p;
      else
        pool_.release(p);
    }
    if (taken < asked) {
      reassembler_.expire(now);
      break;
    }
  }
  return n;
}

// Asking costs time, and more where others change interfaces: only when the far end does not prove that there is one.
void PortWire::look_at_carrier(Instant now) {
  if (heard_ > Instant{} && now - heard_ < config_.carrier_every) {
    carrier_ = true;
    return;
  }
  if (now < carrier_due_) return;
  carrier_due_ = now + config_.carrier_every;
  carrier_ = port_->link_up();
  if (carrier_) return;
  for (; waiting_from_ < waiting_to_; ++waiting_from_) pool_.release(waiting_[waiting_from_]);
}

// Gone for long: whoever comes then, perhaps the same with another address, is the far end.
void PortWire::look_at_peer(Instant now) noexcept {
  if (peer_ == wire::kBroadcastMac || now - heard_ <= config_.peer_timeout) return;
  peer_ = wire::kBroadcastMac;
  reassembler_.forget();
}

bool PortWire::is_of_peer(Instant now, const TrunkCarrier& c) noexcept {
  if (c.destination != config_.mac && c.destination != wire::kBroadcastMac) return false;
  if (c.source == config_.mac || c.source.is_multicast()) return false;
  if (peer_ == wire::kBroadcastMac) peer_ = c.source;
  if (c.source != peer_) return false;
  heard_ = now;
  return true;
}

// A message that the frame is, or makes whole; nothing if there is none. `keep`: it lies in the packet.
std::span<const std::byte> PortWire::on_frame(Instant now, const Packet& p, bool& keep) {
  const std::size_t octets = p.header_octets + std::size_t{p.payload_octets};
  // Of a giant only the first octets are there.
  const auto carrier =
      octets <= pool_.real_octets() ? parse_trunk_carrier({p.header(), octets}) : std::unexpected(TrunkError::kForeign);
  if (!carrier) {
    (carrier.error() == TrunkError::kForeign   ? foreign_
     : carrier.error() == TrunkError::kVersion ? other_version_
                                               : malformed_)
        .increment();
    return {};
  }
  if (!is_of_peer(now, *carrier)) {
    foreign_.increment();
    return {};
  }
  const TrunkFragment& f = carrier->fragment;
  keep = f.cut.fragments() == 1;
  return keep ? f.octets : reassembler_.put(now, f);
}

TrunkWireCounters PortWire::counters() const {
  const OutsidePortCounters port = port_->counters();
  TrunkWireCounters c;
  c.refused = refused_.read() + port.not_sent;
  c.fragmented = fragmented_.read();
  c.incomplete = reassembler_.incomplete();
  c.foreign = foreign_.read();
  c.malformed = malformed_.read() + reassembler_.contradicting();
  c.other_version = other_version_.read();
  c.overrun = port.host_ring_full + port.no_memory;
  return c;
}

}  // namespace railyard
