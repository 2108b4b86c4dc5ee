#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "control/report/report.h"
#include "control/report/units.h"

namespace railyard::report {
namespace {

constexpr std::size_t kMostUetLines = 16;
constexpr std::size_t kMostUetFailed = 8;

using UetFlows = std::vector<const FlowReport*>;
using TextOut = std::back_insert_iterator<std::string>;

void uet_lines(TextOut out, const UetFlows& flows) {
  std::size_t width = 4;
  for (const FlowReport* f : flows) width = std::max(width, f->name.size());
  fmt::format_to(out, "  {:<{}}  {:>7} {:>9} {:>9} {:>11} {:>8} {:>7}   {}\n", "flow", width, "service", "operation",
                 "messages", "retransmits", "trimmed", "marked", "message p50 / p99 / max");
  for (const FlowReport* f : flows) {
    const UetReport& r = *f->uet;
    fmt::format_to(out, "  {:<{}}  {:>7} {:>9} {:>9} {:>11} {:>8} {:>7}   {}\n", f->name, width, r.service, r.operation,
                   count_text(r.messages), count_text(r.retransmitted_packets), count_text(f->trimmed),
                   count_text(f->marked), time_text(r.message_ns));
  }
}

void flow_sums(TextOut out, const UetFlows& flows) {
  std::uint64_t packets = 0, corrupted = 0, verified = 0, again = 0, waiting = 0;
  for (const FlowReport* f : flows) {
    packets += f->requester_packets;
    corrupted += f->corrupted;
    verified += f->uet->verified;
    again += f->uet->retransmitted_packets;
    waiting += f->uet->waiting();
  }
  fmt::format_to(out, "  {} messages delivered and verified{}; {} of {} packets retransmitted ({})\n",
                 count_text(verified),
                 corrupted > 0 ? fmt::format(", {} CORRUPTED", count_text(corrupted)) : std::string(),
                 count_text(again), count_text(packets), percent_text(ratio_of(again, packets)));
  if (waiting > 0)
    fmt::format_to(out, "  {} acknowledged message{} wait{} at the target: no receive buffer is posted\n",
                   count_text(waiting), waiting == 1 ? "" : "s", waiting == 1 ? "s" : "");
}

void nic_sums(TextOut out, const std::vector<UetNicReport>& nics) {
  UetNicReport sum;
  std::uint64_t trimmed = 0, duplicates = 0;
  std::map<std::string, std::uint64_t> nacks, insecure;
  for (const UetNicReport& n : nics) {
    sum.pdcs_opened += n.pdcs_opened;
    sum.pdcs_closed += n.pdcs_closed;
    sum.pdcs_failed += n.pdcs_failed;
    sum.pdcs_left += n.pdcs_left;
    sum.acks_sent += n.acks_sent;
    sum.retransmission_timeouts += n.retransmission_timeouts;
    sum.inferred_losses += n.inferred_losses;
    sum.ecn_marked_packets += n.ecn_marked_packets;
    sum.out_of_order += n.out_of_order;
    trimmed += n.trimmed();
    duplicates += n.duplicates();
    for (const auto& [code, count] : n.nacks_sent) nacks[code] += count;
    sum.secured_packets_sent += n.secured_packets_sent;
    sum.secured_packets_received += n.secured_packets_received;
    for (const auto& [reason, count] : n.security_drops) insecure[reason] += count;
  }
  fmt::format_to(out, "  PDCs, counted at both ends: {} opened, {} closed, {} failed, {} left; {} ACKs\n",
                 count_text(sum.pdcs_opened), count_text(sum.pdcs_closed), count_text(sum.pdcs_failed),
                 count_text(sum.pdcs_left), count_text(sum.acks_sent));
  if (!nacks.empty()) {
    std::string text;
    for (const auto& [code, count] : nacks)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count_text(count), code);
    fmt::format_to(out, "  NACKs: {}\n", text);
  }
  fmt::format_to(out,
                 "  {} packets received out of order, {} with CE, {} trimmed, {} duplicates; {} timeouts, {} losses "
                 "inferred\n",
                 count_text(sum.out_of_order), count_text(sum.ecn_marked_packets), count_text(trimmed),
                 count_text(duplicates), count_text(sum.retransmission_timeouts), count_text(sum.inferred_losses));
  if (sum.secured_packets_sent == 0 && insecure.empty()) return;
  std::string text;
  for (const auto& [reason, count] : insecure)
    text += fmt::format("{}{} {}", text.empty() ? "; dropped: " : ", ", count_text(count), reason);
  fmt::format_to(out, "  Security (TSS): {} packets encrypted, {} authentic{}\n", count_text(sum.secured_packets_sent),
                 count_text(sum.secured_packets_received), text);
}

void uet_failures(TextOut out, const UetFlows& flows) {
  std::size_t failed = 0;
  for (const FlowReport* f : flows) {
    const UetReport& r = *f->uet;
    if (r.completion_errors == 0 || ++failed > kMostUetFailed) continue;
    fmt::format_to(out, "  FAILED: {}: {} at {}; {} messages completed with an error\n", f->name, r.status,
                   nanoseconds_text(static_cast<std::uint64_t>(r.failed_ns.value_or(0))),
                   count_text(r.completion_errors));
  }
  if (failed > kMostUetFailed) fmt::format_to(out, "  and {} more flows that failed\n", failed - kMostUetFailed);
}

}  // namespace

std::string uet_text(const std::vector<FlowReport>& flows, const std::vector<UetNicReport>& nics) {
  UetFlows uet;
  for (const FlowReport& f : flows)
    if (f.uet) uet.push_back(&f);
  std::string text;
  if (uet.empty() && nics.empty()) return text;
  const TextOut out = std::back_inserter(text);
  fmt::format_to(out, "UET: {} flow{} at {} NIC{}\n", uet.size(), uet.size() == 1 ? "" : "s", nics.size(),
                 nics.size() == 1 ? "" : "s");
  if (!uet.empty() && uet.size() <= kMostUetLines) uet_lines(out, uet);
  if (!uet.empty()) flow_sums(out, uet);
  nic_sums(out, nics);
  uet_failures(out, uet);
  return text;
}

}  // namespace railyard::report
