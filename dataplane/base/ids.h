// Strong identifiers: an index of one kind cannot be passed where another kind is meant.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace railyard {

template <class Tag, class Rep>
struct Id {
  using rep = Rep;
  Rep value = 0;

  auto operator<=>(const Id&) const = default;
  // For use as an array index.
  constexpr std::size_t index() const noexcept { return static_cast<std::size_t>(value); }
};

using DeviceId = Id<struct DeviceTag, std::uint32_t>;
using PortIndex = Id<struct PortTag, std::uint16_t>;    // a port of one device, from 0
using WorkerId = Id<struct WorkerTag, std::uint8_t>;
using Priority = Id<struct PriorityTag, std::uint8_t>;  // PFC priority, traffic class and queue: 0..7

inline constexpr std::size_t kPriorities = 8;

// One bit per Priority.
using PriorityMask = std::uint8_t;
constexpr PriorityMask bit(Priority p) noexcept { return static_cast<PriorityMask>(1u << p.value); }

// A forwarding equivalence class (RFC 3031 §2.1): all destinations that every switch of the fabric treats alike.
using Fec = Id<struct FecTag, std::uint32_t>;
inline constexpr Fec kNoFec{~std::uint32_t{0}};

}  // namespace railyard

template <class Tag, class Rep>
struct std::hash<railyard::Id<Tag, Rep>> {
  std::size_t operator()(railyard::Id<Tag, Rep> id) const noexcept { return std::hash<Rep>{}(id.value); }
};
