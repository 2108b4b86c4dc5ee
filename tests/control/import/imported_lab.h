// What tests ask of the fabric file that is made from a switch's configuration, of whichever maker.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <gmock/gmock.h>

#include "control/spec/load.h"
#include "control/spec/port_class.h"

namespace railyard::importing {

inline spec::Lab parsed(const std::string& yaml) { return spec::parse(yaml, "imported.yaml"); }

inline spec::QosProfile profile_in(const spec::Lab& lab) { return lab.qos.at("default"); }

inline spec::TrafficClass class_in(const spec::Lab& lab, std::size_t c) { return profile_in(lab).classes[c]; }

inline std::optional<spec::PfcWatchdog> watchdog_in(const spec::Lab& lab) {
  return lab.switches.at("default").pfc_watchdog;
}

// At the port of the switch with this number.
inline const spec::LinkSpec& link_at(const spec::Lab& lab, int port) {
  const auto link = std::ranges::find_if(lab.links, [&](const spec::LinkSpec& l) { return l.b.port == port; });
  if (link == lab.links.end()) throw std::logic_error("no link at that port");
  return *link;
}

// As it is at that port of the switch.
inline spec::TrafficClass class_at_port(const spec::Lab& lab, int port, std::size_t c) {
  const spec::LinkSpec& link = link_at(lab, port);
  return spec::class_at(lab, *lab.find(link.b.node), port, link.rate, c);
}

// Of a link: to port 1 of this host or other switch, with so many Gb/s.
MATCHER_P2(LeadsTo, node, gbps, "") {
  return arg.a == spec::PortName{node, 1} && arg.rate == BitRate{std::int64_t{gbps} * 1'000'000'000};
}

// Of ECN: thresholds in bytes, the greatest probability in percent.
MATCHER_P3(Marks, kmin, kmax, percent, "") {
  return arg.enabled && arg.kmin == Bytes{kmin} && arg.kmax == Bytes{kmax} &&
         arg.pmax_ppm == static_cast<std::uint32_t>(percent) * 10'000;
}

// Of a map of code points, DSCP or PCP, to classes: these of its entries.
class LeadsCodePoints {
 public:
  using is_gtest_matcher = void;
  explicit LeadsCodePoints(std::map<std::size_t, int> classes) : classes_(std::move(classes)) {}

  template <class Classes>
  bool MatchAndExplain(const Classes& map, testing::MatchResultListener* listener) const {
    for (const auto& [point, c] : classes_)
      if (map[point] != c) {
        *listener << "code point " << point << " leads to class " << int{map[point]};
        return false;
      }
    return true;
  }
  void DescribeTo(std::ostream* out) const {
    for (const auto& [point, c] : classes_) *out << point << " to " << c << ", ";
  }
  void DescribeNegationTo(std::ostream* out) const {
    *out << "not ";
    DescribeTo(out);
  }

 private:
  std::map<std::size_t, int> classes_;
};

constexpr Duration milliseconds(std::int64_t n) { return Duration{n * 1'000'000'000}; }

// Of the watchdog, which is there.
MATCHER_P3(HasTimes, detect, restore, poll, "") {
  return arg && arg->detect == detect && arg->restore == restore && arg->poll == poll;
}

}  // namespace railyard::importing
