#include "dataplane/device/fabric.h"

#include <algorithm>
#include <stdexcept>

#include "dataplane/base/assert.h"
#include "dataplane/base/state_archive.h"

namespace railyard {

Channel& Fabric::add_channel(PortRef from, PortRef to, const Link& link) {
  Channel& c = channels_.emplace_back(to.device, to.port);
  const Device& receiver = (*this)[to.device];
  c.framing = link.framing;
  c.propagation = link.propagation;
  c.data_latency = receiver.data_latency();
  c.control_latency = receiver.pause_response(link.rate);
  c.cut_through = receiver.cuts_through();
  senders_.push_back(from);
  return c;
}

void Fabric::connect(const Link& link) {
  RAILYARD_ASSERT(link.rate.bps > 0, "a link has a rate");
  Channel& to_b = add_channel(link.a, link.b, link);
  Channel& to_a = add_channel(link.b, link.a, link);
  (*this)[link.a.device].connect(link.a.port, to_a, to_b, link.rate);
  (*this)[link.b.device].connect(link.b.port, to_b, to_a, link.rate);
  if (link.retry) {
    (*this)[link.a.device].retry_frames(link.a.port, *link.retry);
    (*this)[link.b.device].retry_frames(link.b.port, *link.retry);
  }
  RAILYARD_ASSERT(link.credits_at_a.has_value() == link.credits_at_b.has_value(), "credits are set at both ends");
  if (link.credits_at_a) {
    (*this)[link.a.device].use_credits(link.a.port, *link.credits_at_b, *link.credits_at_a);
    (*this)[link.b.device].use_credits(link.b.port, *link.credits_at_a, *link.credits_at_b);
  }
  (*this)[link.a.device].far_end(link.a.port, (*this)[link.b.device]);
  (*this)[link.b.device].far_end(link.b.port, (*this)[link.a.device]);
  links_.push_back(link);
}

Fabric::Window Fabric::window() const noexcept {
  Window w;
  for (std::size_t i = 0; i < channels_.size(); ++i)
    if (const Duration d = channels_[i].lookahead(); d < w.size) w = {d, i};
  for (const SideLink& s : side_links_)
    if (s.lookahead < w.size) w = {s.lookahead, w.channel, &s};
  return w;
}

PortRef Fabric::peer(PortRef port) const {
  for (const Link& l : links_) {
    if (l.a == port) return l.b;
    if (l.b == port) return l.a;
  }
  throw std::out_of_range("port " + std::to_string(port.port.value) + " of " + (*this)[port.device].name() +
                          " is not connected");
}

void Fabric::share_between_windows(const void* owner, Shared shared) {
  share_no_more(owner);
  shared_.push_back({owner, std::move(shared)});
}

void Fabric::share_no_more(const void* owner) {
  std::erase_if(shared_, [owner](const SharedBy& s) { return s.owner == owner; });
}

void Fabric::exchange_packets(StateArchive& archive) {
  std::vector<Packet> packets;
  if (archive.reads()) {
    archive(packets);
    for (Packet& p : packets) p.sampled = 0;  // its stack is where it is
    elsewhere_.insert(elsewhere_.end(), packets.begin(), packets.end());
    return;
  }
  std::vector<Packet> others;
  std::swap(others, elsewhere_);
  for_each_packet([&](const Packet& p) { packets.push_back(p); });
  std::swap(others, elsewhere_);
  archive(packets);
}

void Fabric::for_each_packet(const std::function<void(const Packet&)>& see) const {
  for (const Packet& p : elsewhere_) see(p);
  for (const auto& d : devices_) {
    if (d->is_elsewhere()) continue;
    d->for_each_held(see);
    d->for_each_coming(see);
  }
  const auto on_the_wire = [&](const InFlight& f) { see(*f.packet); };
  for (const Channel& c : channels_) {
    c.data.for_each(on_the_wire);
    c.control.for_each(on_the_wire);
  }
}

void Fabric::link_down_at(Instant at, PortRef port) {
  for (const PortRef end : {port, peer(port)}) (*this)[end.device].link_down_at(at, end.port);
}

void Fabric::link_up_at(Instant at, PortRef port) {
  for (const PortRef end : {port, peer(port)}) (*this)[end.device].link_up_at(at, end.port);
}

void Fabric::set_rate_at(Instant at, PortRef port, BitRate rate) {
  const auto link = std::ranges::find_if(links_, [&](const Link& l) { return l.a == port || l.b == port; });
  if (link == links_.end()) throw std::out_of_range("a port without a link has no rate");
  link->rate = rate;
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    Channel& c = channels_[i];
    if (senders_[i] != link->a && senders_[i] != link->b) continue;
    c.control_latency = (*this)[c.receiver].pause_response(rate);
    (*this)[senders_[i].device].set_rate_at(at, senders_[i].port, rate, c.control_latency);
  }
}

}  // namespace railyard
