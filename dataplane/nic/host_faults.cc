// What faults make of a host. Each begins and ends as a change: before all other events of its instant.
#include <algorithm>

#include "dataplane/nic/host.h"

namespace railyard {

struct Host::Faulty {
  struct Port {
    std::uint32_t meant_mtu = 0;
    Overrides<BitRate> receive;
    Overrides<Share> straggles;
    Overrides<std::uint32_t> mtu;
    Overrides<PriorityMask> storm;
    Overrides<bool> ignores_pauses;
  };
  std::vector<Port> ports;
  struct Skew {
    Duration ahead;
    ClockDrift drift;
    Instant since;
  };
  Overrides<Skew> skew;
};

Host::~Host() = default;

Host::Faulty& Host::faulty() {
  if (faulty_ == nullptr) {
    faulty_ = std::make_shared<Faulty>();
    faulty_->ports.resize(ports());
    for (std::size_t p = 0; p < ports(); ++p) faulty_->ports[p].meant_mtu = config_.nics[p].mtu;
  }
  return *faulty_;
}

// ---- Receiving -----------------------------------------------------------------------------------------------------

void Host::use_receive_rate(Instant now, PortIndex port) {
  Nic& nic = nics_[port.index()];
  const Overrides<BitRate>& wrong = faulty().ports[port.index()].receive;
  if (wrong.empty())
    nic.receive.set_rate(now, nic.receive.configured_rate(), false);
  else
    nic.receive.set_rate(now, wrong.last(), wrong.last().bps == 0);
  if (nic.attachment == nullptr) set_timer(receive_slot(port), nic.receive.next());
  if (nic.shared_bus != kOwnBus) wake_bus(nic.shared_bus, std::max(now, buses_[nic.shared_bus].receives.next()));
}

void Host::begin_receiving_at(Instant now, std::uint32_t fault, PortIndex port, BitRate rate) {
  faulty().ports[port.index()].receive.begin(fault, rate);
  use_receive_rate(now, port);
}

void Host::end_receiving_at(Instant now, std::uint32_t fault, PortIndex port) {
  if (faulty().ports[port.index()].receive.end(fault)) use_receive_rate(now, port);
}

// ---- Sending -------------------------------------------------------------------------------------------------------

// How long after one frame a straggling host, or one behind a slow bus, has the next.
Duration Host::time_to_give(const Nic& nic, std::uint32_t octets) noexcept {
  const Duration by_bus = nic.bus != BitRate{} ? Bytes{octets} / nic.bus : Duration{};
  return nic.straggles.denominator != 0 ? std::max(by_bus, time_to_give_share(nic, octets)) : by_bus;
}

Duration Host::time_to_give_share(const Nic& nic, std::uint32_t octets) noexcept {
  constexpr std::int64_t kQuantumOctets = 64;  // 512 bit times
  const auto on_the_wire = static_cast<Int128>(nic.egress.framing().slot(octets));
  return {static_cast<std::int64_t>(on_the_wire * nic.quantum.ps * nic.straggles.denominator /
                                    (kQuantumOctets * static_cast<Int128>(nic.straggles.numerator)))};
}

void Host::use_share(Instant now, PortIndex port) {
  Nic& nic = nics_[port.index()];
  const Overrides<Share>& wrong = faulty().ports[port.index()].straggles;
  nic.straggles = wrong.empty() ? Share{0, 0} : wrong.last();
  nic.straggling = !wrong.empty() || nic.bus != BitRate{};
  nic.gives_next = Instant::never();
  if (!nic.egress.busy()) starts_.add(now, port);
}

void Host::begin_straggling(Instant now, std::uint32_t fault, PortIndex port, Share share) {
  faulty().ports[port.index()].straggles.begin(fault, share);
  use_share(now, port);
}

void Host::end_straggling(Instant now, std::uint32_t fault, PortIndex port) {
  if (faulty().ports[port.index()].straggles.end(fault)) use_share(now, port);
}

// ---- Clock ---------------------------------------------------------------------------------------------------------

void Host::use_skew() {
  skew_ = {};
  drifts_ = false;
  faulty().skew.for_each([this](const Faulty::Skew& s) {
    skew_ += s.ahead;
    drifts_ = drifts_ || s.drift.gained != 0;
  });
}

Duration Host::skew_and_drift(Instant now) const noexcept {
  Duration all = skew_;
  faulty_->skew.for_each([&](const Faulty::Skew& s) {
    const Int128 gained = static_cast<Int128>((now - s.since).ps) * s.drift.gained;
    all += Duration{static_cast<std::int64_t>(gained / s.drift.of)};
  });
  return all;
}

void Host::begin_skew(Instant now, std::uint32_t fault, Duration ahead, ClockDrift drift) {
  faulty().skew.begin(fault, {ahead, drift, now});
  use_skew();
}

void Host::end_skew(std::uint32_t fault) {
  if (faulty().skew.end(fault)) use_skew();
}

// ---- Longest packet ------------------------------------------------------------------------------------------------

void Host::use_mtu(PortIndex port) {
  const Faulty::Port& f = faulty().ports[port.index()];
  config_.nics[port.index()].mtu = f.mtu.empty() ? f.meant_mtu : std::min(f.meant_mtu, f.mtu.last());
  use_config(port);
}

void Host::begin_mtu(std::uint32_t fault, PortIndex port, std::uint32_t mtu) {
  faulty().ports[port.index()].mtu.begin(fault, mtu);
  use_mtu(port);
}

void Host::end_mtu(std::uint32_t fault, PortIndex port) {
  if (faulty().ports[port.index()].mtu.end(fault)) use_mtu(port);
}

// ---- Pausing -------------------------------------------------------------------------------------------------------

void Host::use_pfc_storm(Instant now, PortIndex port) {
  PriorityMask classes = 0;
  faulty().ports[port.index()].storm.for_each(
      [&](PriorityMask more) { classes = static_cast<PriorityMask>(classes | more); });
  EgressPort& e = nics_[port.index()].egress;
  if (e.storm(classes) && !e.busy()) starts_.add(now, port);
}

void Host::begin_pfc_storm(Instant now, std::uint32_t fault, PortIndex port, PriorityMask classes) {
  faulty().ports[port.index()].storm.begin(fault, classes);
  use_pfc_storm(now, port);
}

void Host::end_pfc_storm(Instant now, std::uint32_t fault, PortIndex port) {
  if (faulty().ports[port.index()].storm.end(fault)) use_pfc_storm(now, port);
}

void Host::use_pauses(Instant now, PortIndex port) {
  EgressPort& e = nics_[port.index()].egress;
  e.ignore_pauses(now, !faulty().ports[port.index()].ignores_pauses.empty());
  if (!e.busy()) starts_.add(now, port);
}

void Host::begin_ignoring_pauses(Instant now, std::uint32_t fault, PortIndex port) {
  faulty().ports[port.index()].ignores_pauses.begin(fault, true);
  use_pauses(now, port);
}

void Host::end_ignoring_pauses(Instant now, std::uint32_t fault, PortIndex port) {
  if (faulty().ports[port.index()].ignores_pauses.end(fault)) use_pauses(now, port);
}

}  // namespace railyard
