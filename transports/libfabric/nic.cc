#include "transports/libfabric/nic.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <time.h>
#include <unistd.h>

#include "dataplane/base/assert.h"
#include "dataplane/base/rng.h"
#include "transports/application/give_way.h"
#include "transports/application/traffic_report.h"

namespace railyard::libfabric {
namespace {

NicSettings settings_in(std::span<const std::byte> octets) noexcept {
  NicSettings settings;
  if (octets.size() == sizeof settings) std::memcpy(&settings, octets.data(), sizeof settings);
  return settings;
}

uet::EngineConfig engine_config(const application::NicGrant& grant, const NicSettings& settings, MemoryMode memory) {
  uet::EngineConfig c{settings.engine, {}};
  c.first_pdcid = grant.uet.first_pdcid;
  c.most_pdcs = std::min(c.most_pdcs, grant.uet.most_pdcids);
  c.chosen_keys = memory.chosen_keys;
  c.virtual_addresses = memory.virtual_addresses;
  return c;
}

std::string_view name(uet::PdcState state) noexcept {
  switch (state) {
    case uet::PdcState::kFree:
      return "free";
    case uet::PdcState::kSyn:
      return "syn";
    case uet::PdcState::kEstablished:
      return "open";
    case uet::PdcState::kQuiesce:
      return "quiesce";
    case uet::PdcState::kClosing:
      return "closing";
  }
  return {};
}

std::uint64_t sum(const std::array<railyard::Counter, 256>& counters) noexcept {
  std::uint64_t all = 0;
  for (const railyard::Counter& c : counters) all += c.read();
  return all;
}

// Start_PSNs must differ from those of the process that had these PDCIDs before.
RngStream chance(const application::NicGrant& grant, Instant now) {
  return RngStream(Seed{static_cast<std::uint64_t>(now.ps) ^ std::uint64_t{grant.uet.first_pdcid} << 48}, "libfabric");
}

}  // namespace

Nic::Nic(std::unique_ptr<application::Connection> connection, MemoryMode memory, NicEvents& events)
    : NicDriver(std::move(connection)),
      events_(events),
      endpoint_(engine_config(grant(), settings_in(settings()), memory), settings_in(settings()).encapsulation,
                chance(grant(), now()), true),
      cq_(engine().create_cq(kCompletions)) {
  // (Nothing is at address 0, and a region there would be a promise.)
  constexpr std::uint64_t kFirst = 4096, kEnd = std::uint64_t{1} << 47;
  const auto key = engine().memory().add({.address = kFirst,
                                          .octets = kEnd - kFirst,
                                          .access = Access::kLocalWrite,
                                          .memory = reinterpret_cast<std::byte*>(kFirst)});
  RAILYARD_ASSERT(key.has_value(), "it is the first region");
  local_key_ = *key;
}

Nic::~Nic() { stop_thread(); }

void Nic::send(Instant now) noexcept {
  send_all(now, ready(), [this, ahead = uet::Engine::Ahead{}](Instant at, Priority priority, TxFrame& frame) mutable {
    return endpoint_.send_one(at, priority, frame, out_, ahead);
  });
}

bool Nic::pump(Instant now) noexcept {
  const bool any = exchange(
      now,
      [this](const RxFrame& frame) {
        endpoint_.receive({&frame, 1});
      },
      ready(),
      [this, ahead = uet::Engine::Ahead{}](Instant at, Priority priority, TxFrame& frame) mutable {
        return endpoint_.send_one(at, priority, frame, out_, ahead);
      });
  complete();
  return any;
}

void Nic::complete() noexcept {
  std::array<uet::Completion, 16> completions;
  while (engine().completions(cq_) > 0) {
    const std::size_t n = engine().poll(cq_, completions);
    for (std::size_t i = 0; i < n; ++i) events_.on_completion(completions[i]);
  }
}

void Nic::report(TrafficFigures& to) const noexcept {
  const uet::Engine& engine = endpoint_.engine();
  const uet::Counters& c = engine.counters();
  // In the order of application::kUetCounters.
  application::report_counters<application::kUetCounters.size()>(
      {c.sent_packets.read(), c.received_packets.read(), c.retransmitted_packets.read(),
       c.retransmission_timeouts.read(), c.inferred_losses.read(), c.drops(uet::Drop::kTrimmed), sum(c.nacks_sent),
       sum(c.nacks_received), c.ecn_marked_packets.read(), c.ecn_marked_acks.read(), c.pdcs_opened.read(),
       c.pdcs_failed.read()},
      to);
  application::ConnectionList list(to);
  engine.each_pdc([&](const uet::Pdc& pdc) {
    list.add({.kind = uet::name(pdc.mode),
              .state = name(pdc.state),
              .local = pdc.id.value,
              .remote = pdc.remote,
              .peer = engine.address(pdc.peer).destination,
              .packets = static_cast<std::uint32_t>(pdc.sent.next() - pdc.start) + pdc.retransmitted,
              .retransmitted = pdc.retransmitted});
  });
  list.done();
}

void Nic::linger() noexcept {
  constexpr Duration kForSends{2'000'000'000'000}, kForClose{200'000'000'000};
  const auto wait_while = [this](auto open, Duration most) {
    const Instant from = now();
    for (std::unique_lock lock(mutex()); !lost(); lock.lock()) {
      const Instant at = now();
      if (!open(engine()) || at - from > most) return;
      enter(at);
      pump(at);
      lock.unlock();
      application::give_way();
    }
  };
  wait_while([](const uet::Engine& e) { return e.open_sends() > 0; }, kForSends);
  {
    const std::lock_guard lock(mutex());
    if (lost()) return;
    engine().close_all(now());
  }
  wait_while([](const uet::Engine& e) { return e.pdcs() > 0; }, kForClose);
}

}  // namespace railyard::libfabric
