#include "control/report/service_report.h"

#include <cstddef>
#include <iterator>

#include <fmt/format.h>

#include "control/report/units.h"

namespace railyard::report {
namespace {

constexpr std::size_t kMostServiceLines = 16;

using Out = std::back_insert_iterator<std::string>;

std::string label_of(const build::BuiltLab& lab, const spec::PortName& p) {
  return lab.spec().find(p.node)->nics.size() == 1 ? p.node : fmt::format("{}:{}", p.node, p.port);
}

template <class Reason, class Counts>
std::map<std::string, std::uint64_t> by_reason(const Counts& counts) {
  std::map<std::string, std::uint64_t> out;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (const std::uint64_t n = counts[i].read(); n > 0) out.emplace(name(static_cast<Reason>(i)), n);
  return out;
}

ServiceReport service(std::string_view name, const roce::ServiceCounters& c) {
  return {.name = std::string(name),
          .connections = c.connections,
          .open = c.open,
          .refused = c.refused,
          .rounds = c.rounds,
          .verified_bytes = c.octets,
          .corrupted = c.corrupted,
          .violations = c.violations,
          .failed = c.failed,
          .status = c.failed > 0 ? std::string(roce::name(c.status)) : std::string()};
}

std::string sum_text(const std::map<std::string, std::uint64_t>& counts) {
  std::string text;
  for (const auto& [reason, n] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", reason, count_text(n));
  return text;
}

void nic_lines(Out out, const ServiceNicReport& n) {
  for (const ServiceReport& s : n.services) {
    if (s.name == "udaddy") {
      fmt::format_to(
          out, "  {} serves udaddy: {} clients resolved its QP, {} datagrams returned, {}{}\n", n.nic,
          count_text(s.connections), count_text(s.rounds), size_text(s.verified_bytes),
          s.violations + s.failed > 0 ? fmt::format(", {} not from udaddy", count_text(s.violations + s.failed)) : "");
      continue;
    }
    const bool pings = s.name == "rping";
    fmt::format_to(out, "  {} serves {}: {} connections ({} open), {} {}, {} verified{}\n", n.nic, s.name,
                   count_text(s.connections), count_text(s.open), count_text(s.rounds), pings ? "pings" : "rounds",
                   size_text(s.verified_bytes),
                   s.corrupted > 0 ? fmt::format(", {} CORRUPTED", count_text(s.corrupted)) : "");
    if (s.refused + s.violations + s.failed > 0)
      fmt::format_to(out, "    {} refused, {} protocol violations, {} failed{}\n", count_text(s.refused),
                     count_text(s.violations), count_text(s.failed),
                     s.status.empty() ? std::string() : fmt::format(" (first: {})", s.status));
  }
  fmt::format_to(out, "    {}: {} of {} packets retransmitted, {} NAKs and {} RNR NAKs received, {} timeouts{}\n",
                 n.nic, count_text(n.retransmitted_packets), count_text(n.packets_sent), count_text(n.packet_seq_err),
                 count_text(n.rnr_nak_received), count_text(n.local_ack_timeout_err),
                 n.dropped.empty() ? std::string() : "; discarded: " + sum_text(n.dropped));
  if (!n.cm_ignored.empty())
    fmt::format_to(out, "    {}: connection management: {} retransmitted; discarded: {}\n", n.nic,
                   count_text(n.cm_sent_again), sum_text(n.cm_ignored));
}

}  // namespace

std::vector<ServiceNicReport> service_nic_reports(const build::BuiltLab& lab) {
  std::vector<ServiceNicReport> out;
  for (const build::ServiceNics::Nic& nic : lab.service_nics()) {
    const roce::ServiceEndpoint& e = *nic.endpoint;
    const roce::Counters& c = e.engine().counters();
    const roce::cm::CmCounters& cm = e.connections().counters();
    ServiceNicReport r;
    r.nic = label_of(lab, nic.name);
    if (const roce::RpingServer* s = e.rping_server()) r.services.push_back(service("rping", s->counters()));
    if (const roce::UdaddyServer* s = e.udaddy_server()) r.services.push_back(service("udaddy", s->counters()));
    if (const roce::AtomicsServer* s = e.atomics_server()) r.services.push_back(service("atomics", s->counters()));
    r.packets_sent = c.sent_packets.read();
    r.packets_received = c.received_packets.read();
    r.retransmitted_packets = c.retransmitted_packets.read();
    r.out_of_sequence = c.out_of_sequence.read();
    r.packet_seq_err = c.packet_seq_err.read();
    r.implied_nak_seq_err = c.implied_nak_seq_err.read();
    r.duplicate_request = c.duplicate_request.read();
    r.out_of_buffer = c.out_of_buffer.read();
    r.rnr_nak_received = c.rnr_nak_received.read();
    r.local_ack_timeout_err = c.local_ack_timeout_err.read();
    r.dropped = by_reason<roce::Drop>(c.dropped);
    r.cm_received = cm.received.read();
    r.cm_sent = cm.sent.read();
    r.cm_sent_again = cm.sent_again.read();
    r.cm_ignored = by_reason<roce::cm::Ignored>(cm.ignored);
    r.cm_malformed = by_reason<roce::cm::Malformed>(cm.malformed);
    out.push_back(std::move(r));
  }
  return out;
}

std::vector<RpingReport> rping_reports(const build::BuiltLab& lab) {
  std::vector<RpingReport> out;
  for (const build::RpingRun& run : lab.rping_runs()) {
    const roce::RpingClient& client = run.client();
    const roce::ServiceCounters& c = client.counters();
    RpingReport r;
    r.name = run.plan.name;
    r.source = label_of(lab, run.plan.source);
    r.destination = label_of(lab, run.plan.destination);
    r.state = name(client.state());
    r.failure = name(client.failure());
    if (client.failure() == roce::RpingClient::Failure::kRejected) r.reason = name(client.reason());
    if (client.failure() == roce::RpingClient::Failure::kError) r.reason = roce::name(c.status);
    r.attempts_failed = client.attempts_failed();
    r.rounds = c.rounds;
    r.verified_bytes = c.octets;
    r.corrupted = c.corrupted;
    r.latency_ns = Percentiles::of(client.latency());
    out.push_back(std::move(r));
  }
  return out;
}

std::string service_text(const std::vector<ServiceNicReport>& nics, const std::vector<RpingReport>& clients) {
  std::string text;
  if (nics.empty()) return text;
  const Out out = std::back_inserter(text);
  fmt::format_to(out, "RDMA services (rdma_cm):\n");
  for (std::size_t i = 0; i < nics.size() && i < kMostServiceLines; ++i) nic_lines(out, nics[i]);
  if (nics.size() > kMostServiceLines) fmt::format_to(out, "  and {} more NICs\n", nics.size() - kMostServiceLines);
  std::size_t failed = 0;
  for (const RpingReport& r : clients) failed += r.failure.empty() ? 0u : 1u;
  if (!clients.empty())
    fmt::format_to(out, "  {} rping client{}{}\n", clients.size(), clients.size() == 1 ? "" : "s",
                   failed > 0 ? fmt::format(", {} FAILED", failed) : std::string());
  for (std::size_t i = 0; i < clients.size() && i < kMostServiceLines; ++i) {
    const RpingReport& r = clients[i];
    fmt::format_to(out, "  {}: {}{}{}; {} pings, {} verified{}; ping p50 / p99 / max: {}\n", r.name, r.state,
                   r.failure.empty() ? "" : ": " + r.failure, r.reason.empty() ? "" : " (" + r.reason + ")",
                   count_text(r.rounds), size_text(r.verified_bytes),
                   r.corrupted > 0 ? fmt::format(", {} CORRUPTED", count_text(r.corrupted)) : "",
                   time_text(r.latency_ns));
  }
  return text;
}

}  // namespace railyard::report
