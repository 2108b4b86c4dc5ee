#include "control/report/uet_report.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

#include "control/report/flow_report.h"
#include "control/report/json_values.h"
#include "control/report/nic_name.h"

namespace railyard::report {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::map<std::string, std::uint64_t> by_code(const std::array<Counter, 256>& counters) {
  std::map<std::string, std::uint64_t> all;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    const std::uint64_t n = counters[i].read();
    if (n == 0) continue;
    const std::string name = lower(uet::name(static_cast<uet::NackCode>(i)));
    all[name.empty() ? fmt::format("{:#04x}", i) : name] = n;
  }
  return all;
}

}  // namespace

UetReport uet_report(const build::Flow& flow) {
  const build::Flow::Uet& u = *flow.uet;
  const uet::FlowConfig& c = u.config();
  const uet::MessageCounters& m = u.messages();
  UetReport r;
  r.service = lower(uet::name(c.mode));
  r.operation = c.tagged ? "tagged" : word(c.operation);
  r.lanes = static_cast<int>(c.qps);
  r.messages = m.completed;
  r.verified = u.verified();
  r.message_ns = Percentiles::of(m.latency);
  r.discarded = flow.received().discarded;
  r.retransmitted_packets = u.sent().retransmitted;
  r.completion_errors = m.errors;
  if (m.errors > 0) {
    r.status = uet::name(m.status);
    if (m.status == uet::Status::kRefused) r.status += fmt::format(": {}", uet::name(m.code));
    r.failed_ns = nanoseconds(m.failed_at - Instant{});
  }
  return r;
}

std::vector<UetNicReport> uet_nic_reports(const build::BuiltLab& lab) {
  std::vector<UetNicReport> all;
  for (const build::UetNics::Named& nic : lab.uet_nics()) {
    const uet::Engine& engine = nic.endpoint->engine();
    const uet::Counters& c = engine.counters();
    UetNicReport r;
    r.nic = nic_name(lab, nic.name);
    r.pdcs_opened = c.pdcs_opened.read();
    r.pdcs_closed = c.pdcs_closed.read();
    r.pdcs_failed = c.pdcs_failed.read();
    r.pdcs_left = engine.pdcs();
    r.open_messages = engine.open_messages();
    r.sent_packets = c.sent_packets.read();
    r.received_packets = c.received_packets.read();
    r.acks_sent = c.acks_sent.read();
    r.acks_received = c.acks_received.read();
    r.nacks_sent = by_code(c.nacks_sent);
    r.nacks_received = by_code(c.nacks_received);
    r.retransmitted_packets = c.retransmitted_packets.read();
    r.retransmission_timeouts = c.retransmission_timeouts.read();
    r.inferred_losses = c.inferred_losses.read();
    r.probes_sent = c.probes_sent.read();
    r.credits_sent = c.credits_sent.read();
    r.credits_received = c.credits_received.read();
    r.credit_requests_sent = c.credit_requests_sent.read();
    r.credit_requests_received = c.credit_requests_received.read();
    r.speculative_packets = c.speculative_packets.read();
    r.ecn_marked_packets = c.ecn_marked_packets.read();
    r.ecn_marked_acks = c.ecn_marked_acks.read();
    r.out_of_order = c.placed_out_of_order.read();
    for (std::size_t i = 0; i < uet::kDrops; ++i)
      if (const std::uint64_t n = c.dropped[i].read(); n > 0)
        r.dropped[std::string(uet::name(static_cast<uet::Drop>(i)))] = n;
    for (std::size_t i = 0; i < c.malformed.size(); ++i)
      if (const std::uint64_t n = c.malformed[i].read(); n > 0)
        r.malformed[std::string(uet::name(static_cast<uet::Malformed>(i)))] = n;
    for (std::size_t i = 0; i < c.not_uet.size(); ++i)
      if (const std::uint64_t n = c.not_uet[i].read(); n > 0)
        r.not_uet[std::string(uet::name(static_cast<uet::NotUet>(i)))] = n;
    r.secured_packets_sent = c.secured_packets_sent.read();
    r.secured_packets_received = c.secured_packets_received.read();
    for (std::size_t i = 0; i < c.security.size(); ++i)
      if (const std::uint64_t n = c.security[i].read(); n > 0)
        r.security_drops[std::string(uet::name(static_cast<uet::SecurityDrop>(i)))] = n;
    all.push_back(std::move(r));
  }
  return all;
}

nlohmann::ordered_json uet_json(const UetReport& r) {
  nlohmann::ordered_json j = {{"service", r.service},
                              {"operation", r.operation},
                              {"lanes", r.lanes},
                              {"messages", r.messages},
                              {"verified", r.verified},
                              {"message_ns", percentiles_json(r.message_ns)},
                              {"discarded", r.discarded},
                              {"retransmitted_packets", r.retransmitted_packets},
                              {"completion_errors", r.completion_errors}};
  j["status"] = r.status.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(r.status);
  j["failed_ns"] = r.failed_ns ? nlohmann::ordered_json(*r.failed_ns) : nlohmann::ordered_json(nullptr);
  return j;
}

nlohmann::ordered_json uet_nic_json(const UetNicReport& n) {
  return {{"nic", n.nic},
          {"pdcs_opened", n.pdcs_opened},
          {"pdcs_closed", n.pdcs_closed},
          {"pdcs_failed", n.pdcs_failed},
          {"pdcs_left", n.pdcs_left},
          {"open_messages", n.open_messages},
          {"sent_packets", n.sent_packets},
          {"received_packets", n.received_packets},
          {"acks_sent", n.acks_sent},
          {"acks_received", n.acks_received},
          {"nacks_sent", n.nacks_sent},
          {"nacks_received", n.nacks_received},
          {"retransmitted_packets", n.retransmitted_packets},
          {"retransmission_timeouts", n.retransmission_timeouts},
          {"inferred_losses", n.inferred_losses},
          {"probes_sent", n.probes_sent},
          {"credits_sent", n.credits_sent},
          {"credits_received", n.credits_received},
          {"credit_requests_sent", n.credit_requests_sent},
          {"credit_requests_received", n.credit_requests_received},
          {"speculative_packets", n.speculative_packets},
          {"ecn_marked_packets", n.ecn_marked_packets},
          {"ecn_marked_acks", n.ecn_marked_acks},
          {"out_of_order", n.out_of_order},
          {"dropped", n.dropped},
          {"malformed", n.malformed},
          {"not_uet", n.not_uet},
          {"secured_packets_sent", n.secured_packets_sent},
          {"secured_packets_received", n.secured_packets_received},
          {"security_drops", n.security_drops}};
}

}  // namespace railyard::report
