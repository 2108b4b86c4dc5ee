// Every congestion control that a QP can have: one line each. What a kind has to have is in congestion_control.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "dataplane/base/path_telemetry.h"
#include "transports/roce/congestion/dcqcn.h"
#include "transports/roce/congestion/hpcc.h"
#include "transports/roce/congestion/swift.h"
#include "transports/roce/psn.h"

namespace railyard::roce {

using CongestionKinds = std::tuple<Dcqcn,  //
                                   Swift,  //
                                   Hpcc>;

inline constexpr std::string_view kNoCongestionName = "none";

// In the place of a number: what the lab asks for (control/spec/congestion_default.h). None, where there is no lab.
inline constexpr std::size_t kAutomaticCongestion = ~std::size_t{0};
inline constexpr std::string_view kAutomaticCongestionName = "auto";

// The settings of all kinds: of each one as constructed, or as said.
template <class Kinds>
struct SettingsOf;
template <class... Kinds>
struct SettingsOf<std::tuple<Kinds...>> {
  using type = std::tuple<typename Kinds::Settings...>;
};
using CongestionSettings = SettingsOf<CongestionKinds>::type;

// Calls `visit(std::type_identity<Kind>{}, number)` for each kind; 0 is no congestion control.
template <class Visit>
constexpr void for_each_congestion_kind(Visit visit) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (visit(std::type_identity<std::tuple_element_t<I, CongestionKinds>>{}, I + 1), ...);
  }(std::make_index_sequence<std::tuple_size_v<CongestionKinds>>());
}

// The number of a kind.
template <class Kind>
constexpr std::size_t congestion_number() {
  std::size_t number = 0;
  for_each_congestion_kind([&]<class K>(std::type_identity<K>, std::size_t i) {
    if constexpr (std::is_same_v<K, Kind>) number = i;
  });
  return number;
}

template <class K>
concept ReadsTelemetry = requires(K k, const PathTelemetry& path) { k.on_telemetry(path, Psn{}, Psn{}); };
// Whether data packets under the kind of this number carry in-band telemetry.
constexpr bool reads_telemetry(std::size_t number) noexcept {
  bool reads = false;
  for_each_congestion_kind([&]<class K>(std::type_identity<K>, std::size_t i) {
    if (number == i) reads = ReadsTelemetry<K>;
  });
  return reads;
}

}  // namespace railyard::roce
