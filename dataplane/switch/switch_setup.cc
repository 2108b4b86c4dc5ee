// A switch from its configuration: what cannot be is refused before there is one.
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "dataplane/switch/switch.h"
#include "dataplane/wire/vlan.h"

namespace railyard {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
  throw std::invalid_argument(fmt::format("switch {}: {}", name, what));
}

// Before anything is divided by a cell.
const BufferConfig& checked(const BufferConfig& buffer, const std::string& name) {
  if (auto ok = validate(buffer, "buffer"); !ok) refuse(name, ok.error());
  return buffer;
}

}  // namespace

Switch::Switch(DeviceId id, std::string name, SwitchConfig config)
    : Device(id, std::move(name), config.ports.size()),
      config_(std::move(config)),
      mmu_(checked(config_.buffer, this->name())),
      reporter_(ports()),
      facts_(ports()),
      egress_(ports()),
      queues_(ports() * kPriorities),
      groups_((ports() + 1) * kPriorities),
      slots_(ports() + 1, EventKey::kPortBits),
      starts_(ports()),
      drops_by_class_((ports() + 1) * kPriorities),
      rdma_drops_by_class_((ports() + 1) * kPriorities),
      drops_by_port_(ports()),
      asked_(ports(), Instant{-1}),
      rx_control_(ports()),
      telemetry_rates_(ports()),
      misclassified_(ports()),
      history_(ports() * kPriorities),
      quality_reports_(ports()) {
  trust_maps_.reserve(ports());
  for (std::size_t p = 0; p < ports(); ++p) {
    const SwitchPortConfig& port = config_.ports[p];
    PortFacts& f = facts_[p];
    f.mac = wire::mac_word(port.mac);
    std::copy(port.mac.octets.begin(), port.mac.octets.end(), f.rewrite.begin() + 6);
    if (port.peer_mac) {
      std::copy(port.peer_mac->octets.begin(), port.peer_mac->octets.end(), f.rewrite.begin());
      f.peer_known = true;
    }
    f.native_vid = port.vlans.native();
    f.mtu = port.mtu;
    f.largest_frame = port.mtu + wire::Ethernet::kOctets + wire::Vlan::kOctets + wire::kFcsOctets +
                      config_.telemetry_octets;
    f.remaps = !port.remap.identity();
    const auto same = std::find_if(trust_maps_.begin(), trust_maps_.end(),
                                   [&](const TrustMap& m) { return std::memcmp(&m, &port.trust, sizeof m) == 0; });
    f.trust = same != trust_maps_.end() ? &*same : &trust_maps_.emplace_back(port.trust);

    std::array<ClassScheduling, kPriorities> scheduling;
    for (std::uint8_t c = 0; c < kPriorities; ++c) {
      const SwitchClassConfig& k = port.classes[c];
      const std::string where = fmt::format("port {} class {}", p, c);
      if (auto ok = validate(k.buffer, where); !ok) refuse(this->name(), ok.error());
      groups_[p * kPriorities + c] = mmu_.make_group(k.buffer);
      if (auto ok = validate(k.ecn, where + ".ecn"); !ok) refuse(this->name(), ok.error());
      if (k.trim && k.buffer.lossless) refuse(this->name(), where + ".trim: does not apply to a lossless class");
      if (k.trim)
        if (auto ok = validate(*k.trim, Priority{c}, where + ".trim"); !ok) refuse(this->name(), ok.error());
      if (auto ok = validate(k.wred, where + ".drop"); !ok) refuse(this->name(), ok.error());
      if (k.wred.any() && k.buffer.lossless) refuse(this->name(), where + ".drop: does not apply to a lossless class");
      Queue& queue = queues_[p * kPriorities + c];
      queue.memory = mmu_.make_queue(k.buffer);
      queue.rng = RngStream(config_.seed, fmt::format("{}/{}/queue{}/ecn", this->name(), p, c));
      set_ecn(PortIndex{static_cast<std::uint16_t>(p)}, Priority{c}, k.ecn);
      set_wred(PortIndex{static_cast<std::uint16_t>(p)}, Priority{c}, k.wred);
      scheduling[c] = k.scheduling;
    }
    egress_[p].schedule(scheduling, f.largest_frame);
    egress_[p].obey_pauses(Instant{}, port.pfc.rx);
  }
  for (std::uint8_t c = 0; c < kPriorities; ++c) groups_[ports() * kPriorities + c] = mmu_.make_group({});
  if (auto ok = mmu_.commit(); !ok) refuse(this->name(), "buffer: " + ok.error());

  if (config_.pfc_watchdog) {
    if (auto ok = validate(*config_.pfc_watchdog, "pfc_watchdog"); !ok) refuse(this->name(), ok.error());
    watchdogs_.resize(ports() * kPriorities);
  }

  if (config_.fecs == nullptr) config_.fecs = std::make_shared<const FecTable>();
  forwarding_ = config_.forwarding ? std::move(*config_.forwarding) : ForwardingTable(*config_.fecs, config_.routes);
  config_.forwarding.reset();
  config_.routes = {};
  for (std::size_t c = 0; c < kPriorities; ++c)
    if (auto ok = validate(config_.paths.by_class[c], fmt::format("class {} path", c)); !ok)
      refuse(this->name(), ok.error());
  if (config_.reports)
    if (auto ok = validate(*config_.reports, "quality reports"); !ok) refuse(this->name(), ok.error());
  paths_ = PathSelector(config_.paths, config_.seed, this->name(), ports(), config_.buffer.cell);
  paths_.set_table(forwarding_);
  for (std::size_t p = 0; p < ports(); ++p)
    if (config_.ports[p].faces_hosts) paths_.set_edge(PortIndex{static_cast<std::uint16_t>(p)});
  for (std::size_t p = 0; p < ports(); ++p) paths_.set_bundle(PortIndex{static_cast<std::uint16_t>(p)}, config_.ports[p].bundle);
  use_tables_beyond();
  use_listeners();
  set_up_bfd();
  if (config_.telemetry_octets > 0) note_telemetry();
}

}  // namespace railyard
