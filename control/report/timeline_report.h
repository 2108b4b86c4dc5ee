// Where the time of a collective, trace or job went: per rank computing, exposed communication and idling, and the critical
// path through ranks and links. Only of runs that record steps (run.timeline).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/build/built_lab.h"

namespace railyard::report {

struct TimelineReport {
  // Shares of the repeats' time, 0..1; together 1.
  struct Shares {
    double compute = 0;
    double exposed = 0;  // messages to or from the rank are under way, and it does not compute
    double idle = 0;     // neither: the bubble
  };
  struct Rank : Shares {
    // The rank that it waited for longest, and how long in all repeats together; empty: for none.
    std::string waits_for;
    std::int64_t waits_ns = 0;
  };
  // A complete repeat: by rank, ns.
  struct Repeat {
    std::size_t repeat = 0;  // from 1
    std::vector<std::int64_t> compute_ns, exposed_ns, idle_ns;
  };
  // Messages between two ranks that are on the critical path.
  struct Hop {
    std::uint32_t from = 0, to = 0;  // ranks
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::int64_t ns = 0;
    bool scale_up = false;  // over a scale-up network
    spec::PortName from_nic{}, to_nic{};
    // Egress ports on their shortest paths with their utilisation over the load interval, the highest first.
    struct Link {
      std::string port;
      double utilisation = 0;
    };
    std::vector<Link> links{};
  };
  // What the longest repeat waited for, from its end back to its beginning; the parts add up to `ns`.
  struct Path {
    std::size_t repeat = 0;  // from 1
    std::int64_t ns = 0;
    std::int64_t compute_ns = 0;
    std::int64_t message_ns = 0;  // sent and not yet there
    std::int64_t acknowledgement_ns = 0;
    std::int64_t wait_ns = 0;  // for a busy stream, or the repeat before
    std::vector<std::pair<std::uint32_t, std::int64_t>> ranks{};  // that compute on it, ns; the longest first
    std::vector<Hop> hops{};                                      // the longest first

    double message_share() const noexcept {
      return ns > 0 ? static_cast<double>(message_ns + acknowledgement_ns) / static_cast<double>(ns) : 0;
    }
  };
  // Of the longest repeat, for a picture: equal parts of time (kParts), each with what most of it was. Ranks beyond
  // kMostRows have none.
  enum class Part : std::uint8_t { kCompute, kExposed, kIdle };
  static constexpr std::size_t kParts = 600;
  static constexpr std::size_t kMostRows = 128;

  std::vector<std::string> names{};  // of ranks
  std::vector<Rank> ranks{};
  Shares all{};  // of all ranks together
  std::vector<Repeat> repeats{};
  Path path{};
  std::vector<std::vector<Part>> picture{};
};

// Nothing: steps are not recorded, or no recorded repeat is complete. Hop::links are not known yet.
std::optional<TimelineReport> timeline_report(const build::BuiltLab& lab, const build::Collective& collective);

struct Report;
// Sets Hop::links of all collectives, from the ports of the report.
void add_path_links(const build::BuiltLab& lab, Report& report);

// For people, indented by two: what each rank did (the most idle ranks first), and the critical path.
std::string timeline_text(const std::string& name, const TimelineReport& timeline);

}  // namespace railyard::report
