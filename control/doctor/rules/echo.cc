// Marks without an answer: no CNPs, or senders that do not listen.
#include <algorithm>

#include <fmt/format.h>

#include "control/doctor/rule.h"

namespace railyard::doctor {
namespace {

constexpr std::uint64_t kMarked = 100;

std::vector<Diagnosis> find_ecn_not_echoed(const Case& c) {
  std::vector<Diagnosis> out;
  for (const NicCase& n : c.nics()) {
    if (n.of("np_ecn_marked_roce_packets") < kMarked || n.of("np_cnp_sent") > 0 || !n.has("np_cnp_sent")) continue;
    out.push_back({n.node,
                   0.8,
                   {fmt::format("{} received {} packets with CE and sent no CNPs", n.node,
                                n.of("np_ecn_marked_roce_packets"))}});
  }
  return out;
}

std::uint64_t sum(const Case& c, const char* counter) {
  std::uint64_t n = 0;
  for (const NicCase& nic : c.nics()) n += nic.of(counter);
  return n;
}

std::vector<Diagnosis> find_no_congestion_control(const Case& c) {
  constexpr std::uint64_t kLeast = 10;
  std::vector<Diagnosis> out;
  for (const NicCase& n : c.nics()) {
    if (n.of("rp_cnp_ignored") < kLeast || n.of("rp_cnp_handled") > 0) continue;
    out.push_back({n.node,
                   0.9,
                   {fmt::format("{} received {} CNPs and acted on none (rp_cnp_ignored)", n.node, n.of("rp_cnp_ignored"))}});
  }
  // CNPs that nobody received; only where all hosts are known.
  const std::uint64_t sent = sum(c, "np_cnp_sent");
  if (c.has(Input::kFlows) && sent >= kLeast && sum(c, "rp_cnp_handled") + sum(c, "rp_cnp_ignored") == 0)
    out.push_back({"fabric", 0.8, {fmt::format("{} CNPs were sent, and none arrived", sent)}});
  return out;
}

}  // namespace

const Rule rules::kEcnNotEchoed{
    "ecn-not-echoed", "Packets arrive marked, and the receiver does not tell the sender.",
    "Switch the notification point on (`np_enable`), at every NIC; `hosts.NAME.roce.congestion: dcqcn`.",
    "CNPs are counted at both ends.", find_ecn_not_echoed, {Input::kNics}};
const Rule rules::kNoCongestionControl{
    "no-congestion-control", "CNPs come, and the sender does not slow down: it has no congestion control.",
    "Switch the reaction point on (`rp_enable`) for this priority; `hosts.NAME.roce.congestion: dcqcn`. CNPs need a class "
    "of their own.",
    "It slows down, and others do not.", find_no_congestion_control, {Input::kNics}};

}  // namespace railyard::doctor
