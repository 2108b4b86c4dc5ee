// Where frames were dropped: of each reason, at which ports and classes, and on which side of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "dataplane/base/drop_reason.h"
#include "dataplane/device/counters.h"

namespace railyard::report {

struct Report;

// Ingress: where the frame came in, its class the one of the ingress priority group that it was, or was to be, charged
// to. Egress: the queue that it was bound for.
enum class DropSide { kIngress, kEgress };
std::string_view word(DropSide side);  // "ingress", "egress"

// Of drops that a port counts for `c`. Those of the PFC watchdog are of a queue in a storm, or else of what came in.
DropSide side_of(DropReason reason, const ClassCounters& c);
// Frames that an egress queue has dropped.
std::uint64_t egress_drops(const ClassCounters& c);

struct DropPlace {
  DropReason reason{};
  DropSide side{};
  std::string node;
  int port = 0;
  int priority = -1;  // -1: dropped before it had a class
  std::uint64_t frames = 0;

  // "leaf1:2 class 3"
  std::string name() const;
};
// By reason in the order of DropReason, most frames first.
std::vector<DropPlace> drop_places(const Report& report);

nlohmann::ordered_json drop_places_json(const std::vector<DropPlace>& places);

// "leaf1:2 class 3 (800), leaf1:3 class 3 (434) and 2 more", of the places of one reason.
std::string drop_places_text(const std::vector<DropPlace>& of_one_reason);

}  // namespace railyard::report
