// What came of one seed.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace railyard::swarm {

// A promise that was broken: which ("books", "memory", "loss", "order", "pause", "drain", ...), and how.
struct Violation {
  std::string rule;
  std::string what;
};

struct Outcome {
  std::uint64_t seed = 0;
  std::uint64_t hops = 0;   // frames that left a switch egress port
  std::uint64_t xoffs = 0;  // PFC frames with a pause time
  std::uint64_t drops = 0;  // in devices
  std::uint64_t lost = 0;   // on links
  std::uint64_t marks = 0;  // CE
  std::uint64_t trims = 0;
  std::uint64_t roce_packets = 0;  // of payload that transports have sent
  std::uint64_t uet_packets = 0;
  std::uint64_t retransmissions = 0;  // of them
  std::uint64_t failures = 0;         // flows, and ranks, that gave up
  std::uint64_t digest = 0;
  bool deadlocked = false;            // where the fabric can
  std::set<std::string> kinds;        // of faults that have done something
  std::set<std::string> features;     // of the lab: "cut-through", "spray"
  std::vector<Violation> violations;  // of each rule the first ones
  // Of a fabric file: what it did not carry, and no expectation or diagnosis asks for (report/failures.h); empty:
  // nothing.
  std::string unverified{};

  bool failed() const noexcept { return !violations.empty(); }
  bool failed(const std::string& rule) const noexcept;

  // One line of JSON and back.
  std::string json() const;
  static Outcome from_json(const std::string& line);
};

}  // namespace railyard::swarm
