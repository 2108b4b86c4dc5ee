// Two hosts that speak UET, and what is asked of a report about them.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {

//  h1 --- leaf1 --- spine1 --- leaf2 --- h2, 100 Gb/s everywhere.
inline std::string pair(const std::string& keys, const std::string& more = "") {
  return "name: pair\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 1 }\n" + more +
         "traffic:\n  - { name: t, from: h1, to: h2, transport: uet, " + keys + " }\n";
}

inline report::FlowReport flow_report(const report::Report& r, const std::string& name = "t/h1->h2") {
  for (const report::FlowReport& f : r.flows)
    if (f.name == name) return f;
  throw std::out_of_range("no flow is called " + name);
}

struct Sums {
  std::uint64_t opened = 0, closed = 0, failed = 0, left = 0, open_messages = 0;
  std::uint64_t retransmitted = 0, timeouts = 0, duplicates = 0, trimmed = 0, out_of_order = 0;
  std::uint64_t nacks = 0;  // TRIMMED
};
inline Sums sums(const report::Report& r) {
  Sums s;
  for (const report::UetNicReport& n : r.uet_nics) {
    s.opened += n.pdcs_opened;
    s.closed += n.pdcs_closed;
    s.failed += n.pdcs_failed;
    s.left += n.pdcs_left;
    s.open_messages += n.open_messages;
    s.retransmitted += n.retransmitted_packets;
    s.timeouts += n.retransmission_timeouts;
    s.duplicates += n.duplicates();
    s.trimmed += n.trimmed();
    s.out_of_order += n.out_of_order;
    if (const auto at = n.nacks_sent.find("trimmed"); at != n.nacks_sent.end()) s.nacks += at->second;
  }
  return s;
}

// All that was to be sent came once and was right; nothing is left over.
inline void expect_all_verified(const report::Report& r, std::uint64_t messages) {
  std::uint64_t verified = 0;
  for (const report::FlowReport& f : r.flows) {
    if (!f.uet) continue;
    EXPECT_TRUE(f.fct_ns.has_value()) << f.name;
    EXPECT_EQ(f.corrupted, 0u) << f.name;
    EXPECT_EQ(f.uet->completion_errors, 0u) << f.name << ": " << f.uet->status;
    verified += f.uet->verified;
  }
  EXPECT_EQ(verified, messages);
  const Sums s = sums(r);
  EXPECT_EQ(s.left, 0u);
  EXPECT_EQ(s.open_messages, 0u);
  EXPECT_EQ(s.failed, 0u);
  EXPECT_EQ(s.opened, s.closed);
}

}  // namespace railyard::test
