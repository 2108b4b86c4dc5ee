// What all PDCs of one engine share.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "dataplane/base/units.h"
#include "transports/base/memory_regions.h"
#include "transports/base/stable_vector.h"
#include "transports/uet/address.h"
#include "transports/uet/completion.h"
#include "transports/uet/counters.h"
#include "transports/uet/engine_config.h"
#include "transports/uet/pds/psn.h"
#include "transports/uet/wire/pds_type.h"

namespace railyard::uet {

// Another end, as far as this one knows it.
struct Peer {
  AddressVector address;
  Psn last_start{};  // the newest Start_PSN or PSN that was used with it
  bool used = false;
  std::vector<std::uint16_t> pdcs{};  // slots of the PDCs that this end has opened and that take messages
  std::vector<std::uint32_t> rudi{};  // RudiLines to it, one of each data class
  std::uint32_t rudi_replies = 0;     // data of its RUDI READs that wait to be sent
  // Rates of lanes, by class, mode and lane; those without a limit are not there.
  std::vector<std::pair<std::uint32_t, BitRate>> rates{};

  static constexpr std::uint32_t lane_key(DeliveryMode mode, std::uint8_t lane, std::uint8_t data_class) noexcept {
    return std::uint32_t{data_class} << 16 | static_cast<std::uint32_t>(mode) << 8 | lane;
  }
  BitRate rate_of(std::uint32_t key) const noexcept {
    for (const auto& [k, rate] : rates)
      if (k == key) return rate;
    return {};
  }
};

struct FepState {
  explicit FepState(EngineConfig c) : config(std::move(c)) {}

  EngineConfig config;
  MemoryRegions memory;
  Counters counters;
  StableVector<CompletionQueue> cqs;
  StableVector<Peer> peers;
  std::unordered_map<wire::IpAddress, std::uint32_t> by_address;
  std::unordered_map<std::uint64_t, MemoryRegions::Key> chosen_keys;  // EngineSettings::chosen_keys

  Peer& peer(PeerId id) noexcept { return peers[id.index()]; }
};

}  // namespace railyard::uet
