#include "control/report/failures.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "control/report/measure.h"
#include "control/report/report.h"
#include "control/spec/condition.h"
#include "control/spec/select.h"

namespace railyard::report {
namespace {

using Kind = Failure::Kind;
using Term = spec::Condition::Term;

// A figure that says that something failed, what it says that of, and what it is when nothing did.
struct Word {
  std::string_view figure;
  Kind kind;
  double without;
};
constexpr Word kWords[] = {{"failed_flows", Kind::kFlowFailed, 0},     {"completed", Kind::kFlowFailed, 1},
                           {"completed", Kind::kFlowIncomplete, 1},    {"completed", Kind::kCollectiveIncomplete, 1},
                           {"missing", Kind::kFlowFailed, 0},          {"missing", Kind::kFlowIncomplete, 0},
                           {"missing", Kind::kFlowCorrupted, 0},       {"corrupted", Kind::kFlowCorrupted, 0},
                           {"wrong_bytes", Kind::kCollectiveWrong, 0}, {"deadlocks", Kind::kDeadlock, 0}};

bool asks_for(const Report& report, const Term& term, const Failure& failure) {
  const spec::Measure& m = term.what;
  if (m.at || !m.reason.empty()) return false;
  if (!m.of.empty() && !spec::matches(m.of, failure.name) && !spec::matches(m.of, failure.traffic)) return false;
  const Word* const word = std::ranges::find_if(kWords, [&](const Word& w) {
    const bool names = w.figure == m.figure && w.kind == failure.kind;
    return names && (failure.has_end || m.figure == "failed_flows" || m.figure == "corrupted");
  });
  if (word == std::end(kWords)) return false;
  double bound = term.value;
  if (term.other) {
    const Measured other = measure(report, *term.other);
    if (!other.value) return false;
    bound *= *other.value;
  }
  return !term.holds(word->without, bound);
}

bool is_expected(const Report& report, const Failure& failure) {
  const auto asks = [&](const Expectation& e) {
    const auto condition = spec::parse_condition(e.text);
    return e.met && condition &&
           std::ranges::any_of(condition->terms, [&](const Term& t) { return asks_for(report, t, failure); });
  };
  return std::ranges::any_of(report.expectations, asks) || std::ranges::any_of(report.evidence, asks);
}

}  // namespace

std::string failure_text(const Failure& f) {
  switch (f.kind) {
    case Kind::kFlowFailed:
      return fmt::format("flow {} failed", f.name);
    case Kind::kFlowIncomplete:
      return fmt::format("flow {} did not complete", f.name);
    case Kind::kFlowCorrupted:
      return fmt::format("data of flow {} arrived corrupted", f.name);
    case Kind::kCollectiveIncomplete:
      return fmt::format("collective {} did not complete", f.name);
    case Kind::kCollectiveWrong:
      return fmt::format("collective {} has wrong data", f.name);
    case Kind::kDeadlock:
      return fmt::format("queues deadlocked, {} first", f.name);
  }
  return "";
}

std::string failures_text(const std::vector<Failure>& all) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), kMost); ++i) text += (i == 0 ? "" : "; ") + failure_text(all[i]);
  if (all.size() > kMost) text += fmt::format("; and {} more", all.size() - kMost);
  return text;
}

std::vector<Failure> failures(const Report& report) {
  std::vector<Failure> all;
  for (const FlowReport& f : report.flows) {
    const std::string traffic = f.traffic < report.traffic.size() ? report.traffic[f.traffic].name : std::string();
    const auto add = [&](Kind kind) { all.push_back({kind, f.name, traffic, f.asked_bytes > 0}); };
    if (f.failed())
      add(Kind::kFlowFailed);
    else if (f.is_incomplete())
      add(Kind::kFlowIncomplete);
    if (f.corrupted > 0) add(Kind::kFlowCorrupted);
  }
  for (const RpingReport& r : report.rpings) {
    const auto add = [&](Kind kind) { all.push_back({kind, r.name, r.name.substr(0, r.name.find('/'))}); };
    if (!r.failure.empty()) add(Kind::kFlowFailed);
    if (r.corrupted > 0) add(Kind::kFlowCorrupted);
  }
  for (const CollectiveReport& c : report.collectives) {
    if (!c.completed) all.push_back({Kind::kCollectiveIncomplete, c.name, ""});
    if (!c.wrong.empty()) all.push_back({Kind::kCollectiveWrong, c.name, ""});
  }
  for (const telemetry::DeadlockWatch::Seen& d : report.deadlocks)
    all.push_back({Kind::kDeadlock, d.ring.empty() ? std::string() : d.ring.front(), ""});
  return all;
}

std::vector<Failure> unexpected_failures(const Report& report) {
  std::vector<Failure> all = failures(report);
  std::erase_if(all, [&](const Failure& f) { return is_expected(report, f); });
  return all;
}

}  // namespace railyard::report
