// What a host tells of itself.
#include <utility>

#include "dataplane/nic/host.h"

namespace railyard {

void Host::for_each_held(const std::function<void(const Packet&)>& see) const {
  for (const Nic& nic : nics_) {
    nic.egress.for_each_queued(see);
    nic.receive.for_each(see);
    for (const Packet* p : nic.outgoing) see(*p);
  }
}

void Host::count_live(DeviceCounters& c) const {
  c.generated = generated_.read();
  c.consumed = consumed_.read();
  for (std::size_t p = 0; p < ports(); ++p) {
    const Nic& nic = nics_[p];
    PortCounters& out = c.ports[p];
    out.rx_control = nic.rx_control.read();
    out.tx_control = nic.egress.tx_control();
    nic.egress.count_credits(out);
    out.drops = nic.drops.read();
    for (std::uint8_t k = 0; k < kPriorities; ++k) {
      ClassCounters o;
      nic.egress.count_live(Priority{k}, o);
      o.rx_packets = nic.received[k].packets.read();
      o.rx_octets = nic.received[k].octets.read();
      o.drops = nic.class_drops[k].read();
      o.rdma_drops = nic.rdma_drops[k].read();
      out.classes.set(k, o);
    }
  }
}

void Host::count_rest(DeviceCounters& c) const {
  for (std::size_t p = 0; p < ports(); ++p) {
    const Nic& nic = nics_[p];
    c.queued += nic.receive.size() + nic.outgoing.size();
    for (std::uint8_t k = 0; k < kPriorities; ++k) {
      c.queued += nic.egress.queue(Priority{k}).size();
      ClassCounters o = std::as_const(c.ports[p].classes)[k];
      o.paused = nic.egress.paused_time(Priority{k}, c.at);
      o.stalled = nic.egress.stalled_time(Priority{k}, c.at);
      c.ports[p].classes.set(k, o);
    }
  }
}

}  // namespace railyard
