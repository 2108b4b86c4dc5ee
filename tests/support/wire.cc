#include "tests/support/wire.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <gtest/gtest.h>

#include "dataplane/device/pfc_frame.h"
#include "tests/support/books.h"

namespace railyard::test {

wire::FrameView Sent::view() const {
  const auto view = wire::parse_frame(octets, packet.frame_octets - wire::kFcsOctets);
  if (!view) throw std::logic_error("the device sent a frame that does not parse: " + std::string(name(view.error())));
  return *view;
}

wire::PfcFrame Sent::pfc() const {
  const auto pfc = wire::parse_pfc(octets);
  if (!pfc) throw std::logic_error("the device sent a frame that is not PFC");
  return *pfc;
}

Wire::Wire() : pools_(1, {.elided_limit = 1u << 16, .real_limit = 1u << 10, .real_octets = 9728}) {
  context_.pool = &pools_[WorkerId{0}];
}

Wire::~Wire() {
  if (device_ != nullptr) expect_books_balance();
}

void Wire::connect(Device& device, std::span<const WireLink> links) {
  device_ = &device;
  device.place(context_);
  for (std::size_t p = 0; p < links.size(); ++p) {
    const PortIndex port{static_cast<std::uint16_t>(p)};
    Port& w = ports_.emplace_back(device.id(), port);
    w.link = links[p];
    w.in.propagation = w.link.propagation;
    w.in.data_latency = device.data_latency();
    w.in.control_latency = device.pause_response(w.link.rate);
    w.in.cut_through = device.cuts_through();
    w.out.propagation = w.link.propagation;
    w.out.data_latency = w.link.far_latency;
    w.out.control_latency = w.link.far_pause_response;
    w.out.cut_through = w.link.far_cuts_through;
    device.connect(port, w.in, w.out, w.link.rate);
  }
}

Duration Wire::serialization(PortIndex port, std::uint32_t octets) const {
  return Bytes{octets + kPreambleOctets} / ports_[port.index()].link.rate;
}

Instant Wire::send(PortIndex port, Instant start, Packet* packet) {
  Port& w = ports_.at(port.index());
  const std::uint32_t seen =
      w.in.cut_through ? std::min(packet->frame_octets, Channel::kCutThroughOctets) : packet->frame_octets;
  const Duration lead = serialization(port, seen) + w.in.propagation + w.in.data_latency;
  w.in.push_data(start, lead, packet);
  ++w.pushed;
  return start + lead;
}

Instant Wire::send_control(PortIndex port, Instant start, Packet* packet) {
  Port& w = ports_.at(port.index());
  const Duration lead = serialization(port, packet->frame_octets) + w.in.propagation + w.in.control_latency;
  w.in.push_control(start, lead, packet);
  ++w.pushed;
  return start + lead;
}

Instant Wire::send_pfc(PortIndex port, Instant start, PriorityMask enable,
                       const std::array<std::uint16_t, kPriorities>& quanta) {
  return send_control(port, start, make_pfc_frame(pool(), mac(0xEE), enable, quanta));
}

void Wire::read(PortIndex port) {
  Port& w = ports_.at(port.index());
  const std::size_t old = w.unread.size();
  for (Channel::Fifo* fifo : {&w.out.data, &w.out.control}) {
    while (const InFlight* f = fifo->front()) {
      w.unread.push_back({f->start, f->effect, *f->packet, octets_of(*f->packet)});
      pool().release(f->packet);
      fifo->pop();
      ++w.read;
    }
  }
  std::stable_sort(w.unread.begin() + static_cast<std::ptrdiff_t>(old), w.unread.end(),
                   [](const Sent& a, const Sent& b) { return a.start < b.start; });
}

std::vector<Sent> Wire::sent(PortIndex port) {
  read(port);
  return std::exchange(ports_[port.index()].unread, {});
}

std::vector<Sent> Wire::sent_data(PortIndex port) {
  std::vector<Sent> all = sent(port);
  std::erase_if(all, [](const Sent& s) { return s.control(); });
  return all;
}

std::vector<Sent> Wire::sent_control(PortIndex port) {
  std::vector<Sent> all = sent(port);
  std::erase_if(all, [](const Sent& s) { return !s.control(); });
  return all;
}

void Wire::expect_books_balance() {
  const DeviceCounters c = device_->counters();
  std::uint64_t held = 0;
  device_->for_each_held([&](const Packet&) { ++held; });
  EXPECT_EQ(held, c.queued);
  expect_balanced(c);
  std::uint64_t in_flight = 0;
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    const Port& w = ports_[p];
    EXPECT_EQ(w.pushed + c.ports[p].duplicated,
              c.ports[p].delivered + c.ports[p].lost + c.ports[p].held_back + w.in.data.size() + w.in.control.size())
        << "towards port " << p;
    EXPECT_EQ(c.ports[p].tx_packets() + c.ports[p].tx_control, w.read + w.out.data.size() + w.out.control.size())
        << "from port " << p;
    in_flight +=
        c.ports[p].held_back + w.in.data.size() + w.in.control.size() + w.out.data.size() + w.out.control.size();
  }
  EXPECT_EQ(pools_.in_use(), c.queued + in_flight) << "packets leaked, or given back twice";
}

}  // namespace railyard::test
