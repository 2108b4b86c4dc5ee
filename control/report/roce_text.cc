#include "control/report/roce_text.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "control/report/units.h"

namespace railyard::report {
namespace {

constexpr std::size_t kMostLines = 16;
constexpr std::size_t kMostFailed = 8;

using Out = std::back_insert_iterator<std::string>;
using Flows = std::vector<const FlowReport*>;

std::string counted(std::uint64_t n, std::string_view one, std::string_view more) {
  return fmt::format("{} {}", count_text(n), n == 1 ? one : more);
}

// Of completed messages.
std::string message_times(const RoceReport& r) { return r.messages == 0 ? "-" : time_text(r.message_ns); }

void sums(Out out, const Flows& flows) {
  RoceReport sum;
  std::uint64_t packets = 0;
  std::uint64_t corrupted = 0;
  for (const FlowReport* f : flows) {
    const RoceReport& r = *f->roce;
    packets += f->requester_packets;
    corrupted += f->corrupted;
    sum.messages += r.messages;
    sum.verified += r.verified;
    sum.retransmitted_packets += r.retransmitted_packets;
    sum.out_of_sequence += r.out_of_sequence;
    sum.out_of_buffer += r.out_of_buffer;
    sum.local_ack_timeout_err += r.local_ack_timeout_err;
    sum.ecn_marked += r.ecn_marked;
    sum.cnp_sent += r.cnp_sent;
    sum.cnp_handled += r.cnp_handled;
  }
  fmt::format_to(out, "  {} messages delivered and verified{}; {} of {} packets retransmitted ({})\n",
                 count_text(sum.verified),
                 corrupted > 0 ? fmt::format(", {} CORRUPTED", count_text(corrupted)) : std::string(),
                 count_text(sum.retransmitted_packets), count_text(packets),
                 percent_text(ratio_of(sum.retransmitted_packets, packets)));
  if (sum.out_of_sequence + sum.out_of_buffer + sum.local_ack_timeout_err > 0)
    fmt::format_to(
        out, "  {} by a NAK, {} by an RNR NAK; {}\n", counted(sum.out_of_sequence, "gap answered", "gaps answered"),
        counted(sum.out_of_buffer, "message", "messages"), counted(sum.local_ack_timeout_err, "timeout", "timeouts"));
  if (sum.ecn_marked > 0)
    fmt::format_to(out, "  {} packets received with CE; {} CNPs sent, {} reduced a QP's rate\n",
                   count_text(sum.ecn_marked), count_text(sum.cnp_sent), count_text(sum.cnp_handled));
}

void lines(Out out, const Flows& flows) {
  std::size_t width = 4;
  for (const FlowReport* f : flows) width = std::max(width, f->name.size());
  fmt::format_to(out, "  {:<{}}  {:>9} {:>9} {:>11} {:>7} {:>7} {:>8} {:>7}   {}\n", "flow", width, "operation",
                 "messages", "retransmits", "NAKs", "RNRs", "timeouts", "CNPs", "message p50 / p99 / max");
  for (const FlowReport* f : flows) {
    const RoceReport& r = *f->roce;
    fmt::format_to(out, "  {:<{}}  {:>9} {:>9} {:>11} {:>7} {:>7} {:>8} {:>7}   {}\n", f->name, width, r.operation,
                   count_text(r.messages), count_text(r.retransmitted_packets), count_text(r.packet_seq_err),
                   count_text(r.rnr_nak_received), count_text(r.local_ack_timeout_err),
                   count_text(r.cnp_handled + r.cnp_ignored), message_times(r));
  }
}

void failures(Out out, const Flows& flows) {
  std::size_t failed = 0;
  for (const FlowReport* f : flows) {
    const RoceReport& r = *f->roce;
    if (r.completion_errors == 0 || ++failed > kMostFailed) continue;
    fmt::format_to(out, "  QP IN ERROR: {}: {} at {}; {} work requests completed with an error\n", f->name, r.status,
                   nanoseconds_text(static_cast<std::uint64_t>(r.failed_ns.value_or(0))),
                   count_text(r.completion_errors));
  }
  if (failed > kMostFailed) fmt::format_to(out, "  and {} more flows with a QP in error\n", failed - kMostFailed);
}

}  // namespace

std::string roce_text(const std::vector<FlowReport>& flows) {
  Flows roce;
  for (const FlowReport& f : flows)
    if (f.roce) roce.push_back(&f);
  std::string text;
  if (roce.empty()) return text;
  const Out out = std::back_inserter(text);
  const auto uc =
      static_cast<std::size_t>(std::ranges::count_if(roce, [](const auto* f) { return f->roce->qp_type == "uc"; }));
  const std::string over = uc == 0             ? "over RC"
                           : uc == roce.size() ? "over UC"
                                               : fmt::format("({} over RC, {} over UC)", roce.size() - uc, uc);
  fmt::format_to(out, "RoCE: {} flow{} {}\n", roce.size(), roce.size() == 1 ? "" : "s", over);
  if (roce.size() <= kMostLines) lines(out, roce);
  sums(out, roce);
  failures(out, roce);
  return text;
}

}  // namespace railyard::report
