// The congestion control of one QP's data: a plug. Each kind (kinds.h) is told what happens in the words of its paper,
// and says at which rate to send, or how much may be in flight. A kind K has, beside its code:
//
//   K::Settings, a struct that compares; K::kName, the word of the fabric file; K::kTitle, what reports call it;
//   K::kHelp; K::parameters(), a table of the settings; K::conflict(settings, said), the first of them that do not go
//   together (parameters.h);
//   K(settings), trivially copyable. Some members of the settings have a meaning: `BitRate line` is the NIC's rate;
//   `Duration base_rtt` is, unless a value is set, the longest round trip of the lab without queues; `int ack_every`
//   makes acknowledgements more frequent than the NIC's setting;
//   K::largest_window(settings), a LargestWindow, if there is one: `check` finds those below the path's BDP;
//
// and of these events those that it wants:
//
//   void on_cnp(now)                            a CNP came for the QP (then its NIC also answers CE by CNPs)
//   Instant pace(now, allowed, octets)          a packet of `octets` on the wire is sent at `now`, not before `allowed`:
//                                               when the next one may go
//   std::uint32_t on_heard(now, const Heard&)   how many packets may be in flight now, at least 1
//   void on_telemetry(path, acknowledged, next) a response has returned what switches have written into a data packet;
//                                               the first PSN that is not acknowledged, the next new one to be sent
//                                               (then data packets carry in-band telemetry)
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <variant>

#include "dataplane/base/path_telemetry.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "transports/roce/congestion/heard.h"
#include "transports/roce/congestion/kinds.h"
#include "transports/roce/psn.h"

namespace railyard::roce {

// Sends as fast as the link takes it.
struct NoCongestionControl {
  bool operator==(const NoCongestionControl&) const = default;
};

template <class K>
concept TakesCnps = requires(K k, Instant now) { k.on_cnp(now); };
template <class K>
concept Paces = requires(K k, Instant now) { k.pace(now, now, std::uint32_t{}); };
template <class K>
concept Hears = requires(K k, Instant now, const Heard& heard) { k.on_heard(now, heard); };

template <class Kinds>
class BasicCongestionControl;

template <class... Kinds>
class BasicCongestionControl<std::tuple<Kinds...>> {
 public:
  using Config = std::variant<NoCongestionControl, typename Kinds::Settings...>;

  BasicCongestionControl() = default;
  explicit BasicCongestionControl(const Config& config) noexcept : kind_(static_cast<std::uint8_t>(config.index())) {
    (construct<Kinds>(std::get_if<typename Kinds::Settings>(&config)), ...);
  }

  // Whether it does something.
  bool on_cnp(Instant now) noexcept {
    bool any = false;
    with_kind([&](auto& k) {
      if constexpr (TakesCnps<std::remove_cvref_t<decltype(k)>>) {
        k.on_cnp(now);
        any = true;
      }
    });
    return any;
  }

  // `octets`: on the wire, preamble and gap included (roce-and-lossless §8.6).
  Instant on_sent(Instant now, Instant allowed, std::uint32_t octets) noexcept {
    Instant next = now;
    with_kind([&](auto& k) {
      if constexpr (Paces<std::remove_cvref_t<decltype(k)>>) next = k.pace(now, allowed, octets);
    });
    return next;
  }

  // Whether on_heard() wants to be called.
  bool wants_to_hear() const noexcept {
    std::size_t i = 0;
    return ((++i == kind_ && Hears<Kinds>) || ...);
  }
  std::uint32_t on_heard(Instant now, const Heard& heard) noexcept {
    std::uint32_t packets = 0;
    with_kind([&](auto& k) {
      if constexpr (Hears<std::remove_cvref_t<decltype(k)>>) packets = k.on_heard(now, heard);
    });
    return packets;
  }

  void on_telemetry(const PathTelemetry& path, Psn acknowledged, Psn next) noexcept {
    with_kind([&](auto& k) {
      if constexpr (ReadsTelemetry<std::remove_cvref_t<decltype(k)>>) k.on_telemetry(path, acknowledged, next);
    });
  }

  // nullptr: it is another kind.
  template <class Kind>
  const Kind* get() const noexcept {
    std::size_t i = 0;
    bool is = false;
    ((++i == kind_ ? void(is = std::is_same_v<Kinds, Kind>) : void()), ...);
    return is ? std::launder(reinterpret_cast<const Kind*>(state_)) : nullptr;
  }

 private:
  static_assert((std::is_trivially_copyable_v<Kinds> && ...));

  template <class Kind>
  void construct(const typename Kind::Settings* settings) noexcept {
    if (settings != nullptr) std::construct_at(reinterpret_cast<Kind*>(state_), *settings);
  }
  template <class F>
  void with_kind(F f) noexcept {
    std::size_t i = 0;
    ((++i == kind_ ? f(*std::launder(reinterpret_cast<Kinds*>(state_))) : void()), ...);
  }

  // (A variant has its index at its end, in a cache line that nothing else is wanted of.)
  std::uint8_t kind_ = 0;  // 0: none
  alignas(std::max({std::size_t{8}, alignof(Kinds)...})) std::byte state_[std::max({std::size_t{1}, sizeof(Kinds)...})];
};

using CongestionControl = BasicCongestionControl<CongestionKinds>;
// What the QPs of an engine are controlled by.
using CongestionConfig = CongestionControl::Config;

// Whether a NIC with this control answers CE by CNPs.
inline bool takes_cnps(const CongestionConfig& config) noexcept {
  bool takes = false;
  for_each_congestion_kind([&]<class K>(std::type_identity<K>, std::size_t i) {
    if (config.index() == i) takes = TakesCnps<K>;
  });
  return takes;
}

// Whether data packets of this control carry in-band telemetry, and receivers return it.
inline bool reads_telemetry(const CongestionConfig& config) noexcept { return reads_telemetry(config.index()); }

// Of how many packets one asks for an acknowledgement at least, where the NIC says one in `ack_every`.
inline std::uint32_t ack_every(const CongestionConfig& config, std::uint32_t ack_every) noexcept {
  std::visit(
      [&](const auto& settings) {
        if constexpr (requires { settings.ack_every; })
          ack_every = std::min(ack_every, static_cast<std::uint32_t>(settings.ack_every));
      },
      config);
  return ack_every;
}

}  // namespace railyard::roce
