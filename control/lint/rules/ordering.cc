// What loses the order of packets that a transport needs.
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "control/lint/rules/rules.h"
#include "control/report/units.h"
#include "dataplane/switch/path/policies.h"
#include "transports/roce/retry_timer.h"

namespace railyard::lint {
namespace {

bool goes_back(const spec::RoceNicSpec& nic) { return nic.loss_recovery == spec::RoceLossRecovery::kGoBackN; }

// A responder says NAK once for a gap (IBTA Vol 1 §9.7.5.2.8). An ACK that overtakes it hides it, and the requester waits
// for its ACK timeout, though nothing was lost.
void find_go_back_n_sprayed(const Facts& facts, Findings& findings) {
  for (const Stream& stream : facts.kinds_of_streams()) {
    if (stream.like.transport != spec::TrafficSpec::Transport::kRoce) continue;
    if (!stream.is_collective && stream.like.roce.qp_type != spec::RoceQpType::kRc) continue;
    const spec::RoceNicSpec& nic = facts.host(stream.from.node).roce;
    if (!goes_back(nic)) continue;
    std::map<std::size_t, std::set<int>> ways;  // ports by which a stream leaves a switch
    for (const Hop& hop : facts.hops(stream)) ways[hop.node].insert(hop.out_port);
    for (const Hop& hop : facts.hops(stream)) {
      const spec::NodeSpec& node = facts.lab().nodes[hop.node];
      const spec::TrafficClass& c = facts.qos(node).classes[static_cast<std::size_t>(hop.in_class)];
      if (unit_of(c.path) != PathUnit::kPacket || ways[hop.node].size() < 2) continue;
      const std::string wait =
          nic.ack_timeout == 0
              ? std::string("waits forever (ack-timeout: none)")
              : fmt::format("waits for its ACK timeout, {}",
                            report::time_text(roce::local_ack_timeout(static_cast<std::uint8_t>(nic.ack_timeout))));
      findings.add(Facts::class_path(facts.qos_name(node), hop.in_class) + ".path",
                   fmt::format("Packets of {} take {} paths and arrive out of order; go-back-N retransmits after each gap. "
                               "When an ACK overtakes a NAK, the sender {}.",
                               stream.name, ways[hop.node].size(), wait),
                   fmt::format("Set path: ecmp or flowlet, or hosts.{}.roce.loss-recovery: selective-repeat.",
                               facts.lab().find(stream.from.node)->profile));
      break;
    }
  }
}

}  // namespace

const Rule kGoBackNSprayed{"go-back-n-sprayed", Severity::kWarning,
                           "RoCE with go-back-N runs in a class whose packets switches spray over several paths.",
                           find_go_back_n_sprayed};

}  // namespace railyard::lint
