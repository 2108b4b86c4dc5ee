// What transports promise, whatever fails under them: data right, each message once and, where that is promised, in
// order; all that was asked for is done or has failed for a reason; nothing of it is left over.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "control/build/built_lab.h"
#include "control/swarm/outcome.h"

namespace railyard::swarm {

class TransportPromises {
 public:
  // `broken`: told the rule and what was seen.
  TransportPromises(build::BuiltLab& lab, std::function<void(const std::string&, const std::string&)> broken)
      : lab_(lab), broken_(std::move(broken)) {}

  bool any() const noexcept;

  // At any instant.
  void look();
  // Faults and traffic of generators are over and all queues are empty: from `since` on nothing is in a packet's way
  // but other packets of transports. `lost`: frames dropped or lost until then.
  void quiet_from(Instant since, std::uint64_t lost) noexcept { quiet_ = Quiet{since, lost}; }
  bool is_quiet() const noexcept { return quiet_.has_value(); }
  // At the end, with nothing left to do. `lost`: frames dropped or lost until then.
  void look_at_the_end(std::uint64_t lost);
  // What they have sent, repeated and given up.
  void count(Outcome& outcome) const;

 private:
  struct Quiet {
    Instant since;
    std::uint64_t lost;
  };
  // Of a flow, where its messages are asked for.
  struct Asked {
    std::uint64_t posted;
    std::uint64_t completed;
    std::uint64_t errors;
    Instant failed_at;
    std::string_view status;
    bool gave_up;  // no answer, however often it was asked; or its peer has had none, and gave up the PDC
  };
  static Asked asked(const build::Flow& flow);
  // From the last try of an end to when it gives up, at least.
  static bool is_unreliable(const build::Flow& flow);
  Duration last_wait(const spec::PortName& nic, bool uet) const;
  void look_at_flow(const build::Flow& flow);
  void look_at_collective(const build::Collective& collective);
  // What carries a flow or collective.
  struct Packets {
    int dscp;
    std::uint32_t path_mtu;
  };
  void look_at_failure(const std::string& what, Instant at, std::string_view status, bool gave_up,
                       const spec::PortName& nic, bool uet, const Packets& packets, std::uint64_t lost);
  void end_of_flow(const build::Flow& flow, std::uint64_t lost);
  void end_of_collective(const build::Collective& collective, std::uint64_t lost);

  build::BuiltLab& lab_;
  std::function<void(const std::string&, const std::string&)> broken_;
  std::optional<Quiet> quiet_;
};

}  // namespace railyard::swarm
