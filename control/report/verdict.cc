#include "control/report/verdict.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "control/report/pause_totals.h"
#include "control/report/report.h"
#include "control/report/units.h"

namespace railyard::report {
namespace {

using Answer = Verdict::Answer;

std::uint64_t budgeted(const Percentiles& p, int percentile) {
  switch (percentile) {
    case 5000:
      return p.p50;
    case 9000:
      return p.p90;
    case 9900:
      return p.p99;
    case 9990:
      return p.p999;
    case 9999:
      return p.p9999;
    default:
      return p.max;
  }
}

std::string percentile_word(int percentile) {
  if (percentile == 10000) return "the largest latency";
  return percentile % 100 == 0 ? fmt::format("p{}", percentile / 100)
                               : fmt::format("p{}.{}", percentile / 100, percentile % 10 == 0 ? "9" : "99");
}

Verdict latency_verdict(const Report& r) {
  const auto limit = static_cast<std::uint64_t>(nanoseconds(r.budgets.scale_out));
  std::uint64_t flows = 0;
  std::uint64_t within = 0;
  const FlowReport* worst = nullptr;
  for (const FlowReport& f : r.flows) {
    if (f.latency_ns.max == 0) continue;
    ++flows;
    within += is_within(r.budgets, f.latency_ns);
    if (worst == nullptr ||
        budgeted(f.latency_ns, r.budgets.percentile) > budgeted(worst->latency_ns, r.budgets.percentile))
      worst = &f;
  }
  Verdict v{"latency", Answer::kOpen, "no packet has arrived"};
  if (worst == nullptr) return v;
  v.answer = within == flows ? Answer::kPass : Answer::kFail;
  v.text = fmt::format("{} of {} of {} flows is within {}; the worst is {}: {}", percentile_word(r.budgets.percentile),
                       count_text(within), count_text(flows), nanoseconds_text(limit), worst->name,
                       nanoseconds_text(budgeted(worst->latency_ns, r.budgets.percentile)));
  return v;
}

// Nothing: no lab without scale-up networks needs to hear of them.
std::optional<Verdict> scale_up_verdict(const Report& r) {
  const auto limit = static_cast<std::uint64_t>(nanoseconds(r.budgets.scale_up));
  const CollectiveReport* worst = nullptr;
  const auto found = [&](const CollectiveReport& c) {
    return budgeted(c.scale_up->latency_ns, r.budgets.percentile);
  };
  for (const CollectiveReport& c : r.collectives)
    if (c.scale_up && (worst == nullptr || found(c) > found(*worst))) worst = &c;
  if (worst == nullptr) return std::nullopt;
  return Verdict{"scale-up-latency", found(*worst) <= limit ? Answer::kPass : Answer::kFail,
                 fmt::format("{} of first octets from rank to rank in a host: {} at worst ({}); the budget is {}",
                             percentile_word(r.budgets.percentile), nanoseconds_text(found(*worst)), worst->name,
                             nanoseconds_text(limit))};
}

Verdict loss_verdict(const Report& r) {
  if (!r.lossless_drops) return {"lossless", Answer::kOpen, "no class of this lab is lossless"};
  const LosslessDrops& d = *r.lossless_drops;
  const std::string elsewhere =
      d.otherwise == 0 ? std::string() : fmt::format("; {} frames for other reasons (drops)", count_text(d.otherwise));
  if (d.for_room > 0)
    return {"lossless", Answer::kFail,
            fmt::format("{} frames of lossless classes were dropped for want of buffer{}", count_text(d.for_room),
                        elsewhere)};
  return {"lossless", Answer::kPass, "nothing of a lossless class was dropped for want of buffer" + elsewhere};
}

// Marks are to slow senders down before anybody must be paused.
Verdict order_verdict(const Report& r) {
  const CeAndXoff o = ce_and_xoff(r);
  if (o.queues == 0) return {"ce-before-xoff", Answer::kPass, "no queue filled its ingress groups up to XOFF; " + pause_totals(r).text()};
  return {"ce-before-xoff", o.ce_first == o.queues ? Answer::kPass : Answer::kFail,
          fmt::format("{} of {} congested queues marked CE before XOFF; {} sent XOFF first; {} never marked", o.ce_first,
                      o.queues, o.xoff_first, o.never_marked)};
}

Verdict completion_verdict(const Report& r) {
  std::uint64_t with_end = 0;
  std::uint64_t complete = 0;
  std::uint64_t failed = 0;
  for (const TrafficReport& t : r.traffic) {
    with_end += t.with_end;
    complete += t.complete;
    failed += t.failed;
  }
  std::uint64_t collectives = 0;
  for (const CollectiveReport& c : r.collectives) collectives += c.completed;
  if (with_end == 0 && failed == 0 && r.collectives.empty())
    return {"completion", Answer::kOpen, "no flow has an end"};
  std::string text;
  if (!r.collectives.empty())
    text = fmt::format("{} of {} collectives are complete", count_text(collectives), count_text(r.collectives.size()));
  if (with_end > 0 || failed > 0)
    text += fmt::format("{}{} of {} flows with an end are complete{}", text.empty() ? "" : "; ", count_text(complete),
                        count_text(with_end),
                        failed > 0 ? fmt::format("; {} have failed", count_text(failed)) : std::string());
  const auto waits = [](const FlowReport& f) { return !f.waits_for.empty(); };
  if (const auto first = std::ranges::find_if(r.flows, waits); first != r.flows.end())
    text += fmt::format("; {} never started: {} waits for {}",
                        count_text(static_cast<std::uint64_t>(std::ranges::count_if(r.flows, waits))), first->name,
                        first->waits_for);
  const bool all = complete == with_end && failed == 0 && collectives == r.collectives.size();
  return {"completion", all ? Answer::kPass : Answer::kFail, std::move(text)};
}

Verdict data_verdict(const Report& r) {
  std::uint64_t corrupted = 0;
  for (const FlowReport& f : r.flows) corrupted += f.corrupted;
  for (const CollectiveReport& c : r.collectives)
    if (!c.wrong.empty()) return {"data", Answer::kFail, fmt::format("{} has wrong data: {}", c.name, c.wrong)};
  if (corrupted > 0)
    return {"data", Answer::kFail, fmt::format("{} packets or messages were not what was sent", count_text(corrupted))};
  std::uint64_t waiting = 0;
  for (const FlowReport& f : r.flows) waiting += f.uet ? f.uet->waiting() : 0;
  if (r.audit.balanced && waiting > 0)
    return {"data", Answer::kOpen,
            fmt::format("what arrived is what was sent, and the books balance; {} messages wait at their targets for a "
                        "buffer",
                        count_text(waiting))};
  return {"data", r.audit.balanced ? Answer::kPass : Answer::kFail,
          r.audit.balanced ? "what arrived is what was sent, and the books balance" : "the books do not balance"};
}

}  // namespace

bool is_within(const Budgets& budgets, const Percentiles& latency_ns) {
  return budgeted(latency_ns, budgets.percentile) <= static_cast<std::uint64_t>(nanoseconds(budgets.scale_out));
}

CeAndXoff ce_and_xoff(const Report& r) {
  CeAndXoff o;
  for (const PortReport& p : r.ports)
    for (const ClassCounters& c : p.counters.classes) {
      if (!p.is_switch || c.first_xoff == Instant::never()) continue;
      ++o.queues;
      if (c.first_ce == Instant::never())
        ++o.never_marked;
      else
        ++(c.first_ce < c.first_xoff ? o.ce_first : o.xoff_first);
    }
  return o;
}

std::string_view word(Verdict::Answer answer) {
  switch (answer) {
    case Answer::kPass:
      return "pass";
    case Answer::kFail:
      return "fail";
    case Answer::kOpen:
      return "open";
  }
  return "";
}

std::vector<Verdict> Report::verdicts() const {
  std::vector<Verdict> all{latency_verdict(*this), loss_verdict(*this), order_verdict(*this),
                           completion_verdict(*this), data_verdict(*this)};
  if (auto of_hosts = scale_up_verdict(*this)) all.insert(all.begin() + 1, std::move(*of_hosts));
  return all;
}

}  // namespace railyard::report
