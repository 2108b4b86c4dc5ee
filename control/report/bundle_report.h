// Bundles of links as one thing each: who is up, what has passed (docs/metrics.md, "bundles").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/build/built_lab.h"

namespace railyard::report {

struct PortReport;

struct BundleReport {
  // `a` and `b` are the switches of its first link.
  struct Member {
    std::string port_a;  // "leaf1:5"
    std::string port_b;
    bool up = true;  // at the end
    std::uint64_t packets_a_to_b = 0;
    std::uint64_t packets_b_to_a = 0;
    std::uint64_t octets_a_to_b = 0;
    std::uint64_t octets_b_to_a = 0;
  };
  std::string name;
  std::int64_t member_bps = 0;
  std::vector<Member> members;

  std::size_t up() const noexcept;
};

// `ports`: those of the report.
std::vector<BundleReport> bundle_reports(const build::BuiltLab& lab, const std::vector<PortReport>& ports);

// A table; empty if there are no bundles.
std::string bundles_text(const std::vector<BundleReport>& bundles);

}  // namespace railyard::report
