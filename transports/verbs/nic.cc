#include "transports/verbs/nic.h"

#include <cstring>

namespace railyard::verbs {
namespace {

NicSettings settings_in(std::span<const std::byte> octets) noexcept {
  NicSettings settings;
  if (octets.size() == sizeof settings) std::memcpy(&settings, octets.data(), sizeof settings);
  return settings;
}

roce::EngineConfig engine_config(const application::NicGrant& grant, const NicSettings& s) {
  roce::EngineConfig c;
  c.first_qpn = grant.first_qpn;
  c.most_qps = grant.most_qps;
  c.ack_every = s.ack_every;
  c.window_packets = s.window_packets;
  c.congestion = s.congestion;
  c.framing = s.framing;
  c.cnp = s.cnp;
  c.ack = s.ack;
  return c;
}

}  // namespace

Nic::Nic(std::unique_ptr<application::Connection> connection, NicEvents& events)
    : NicDriver(std::move(connection)),
      events_(events),
      settings_(settings_in(NicDriver::settings())),
      endpoint_(engine_config(grant(), settings_), true) {}

Nic::~Nic() { stop_thread(); }

bool Nic::send(Instant now) noexcept {
  return send_all(
      now, [this](Instant at) { return endpoint_.ready(at); },
      [this](Instant at, Priority priority, TxFrame& frame) {
        return endpoint_.send(at, priority, {&frame, 1}) != 0;
      });
}

void Nic::report(TrafficFigures& to) const noexcept {
  const roce::Counters& c = endpoint_.engine().counters();
  // In the order of application::kRoceCounters.
  application::report_counters<application::kRoceCounters.size()>(
      {c.sent_packets.read(), c.received_packets.read(), c.retransmitted_packets.read(), c.packet_seq_err.read(),
       c.implied_nak_seq_err.read(), c.local_ack_timeout_err.read(), c.rnr_nak_received.read(),
       c.rnr_nak_retry_err.read(), c.req_transport_retries_exceeded.read(), c.out_of_sequence.read(),
       c.out_of_buffer.read(), c.duplicate_request.read(), c.drops(roce::Drop::kIcrc),
       c.np_ecn_marked_roce_packets.read(), c.np_cnp_sent.read(), c.rp_cnp_handled.read(), c.rp_cnp_ignored.read()},
      to);
  application::ConnectionList list(to);
  events_.on_report(list);
  list.done();
}

bool Nic::pump(Instant now) noexcept {
  bool any = timer_is_due(now);  // it may complete something, and send nothing
  any |= exchange(
      now,
      [this](const RxFrame& frame) {
        roce::InPacket in;
        endpoint_.receive_one(frame, in);
      },
      [this, &any](Instant at) {
        if (companion_ != nullptr) any |= companion_->run(at);
        return endpoint_.ready(at);
      },
      [this](Instant at, Priority priority, TxFrame& frame) {
        return endpoint_.send(at, priority, {&frame, 1}) != 0;
      });
  if (any) {
    for (const roce::AsyncEvent& e : engine().take_events()) events_.on_async(e);
    events_.on_progress();
  }
  return any;
}

}  // namespace railyard::verbs
