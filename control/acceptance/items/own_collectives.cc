// Running labs: the lab's own collectives and jobs against the estimate.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/acceptance/figures.h"
#include "control/acceptance/item.h"
#include "control/report/units.h"

namespace railyard::acceptance {
namespace {

using Json = nlohmann::ordered_json;

struct Judged {
  Answer answer = Answer::kPass;
  std::string text{};
};

std::string ns_text(const Json& ns) { return report::nanoseconds_text(static_cast<std::uint64_t>(ns.get<double>())); }

std::string steps_text(const Json& c, const char* one) {
  const auto n = c["iterations"].get<std::uint64_t>();
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

// Nothing: it was measured.
std::optional<Judged> not_measured(const Json& c) {
  const auto name = c["name"].get<std::string>();
  if (const auto failure = c["failure"].get<std::string>(); !failure.empty())
    return Judged{Answer::kFail, fmt::format("{}: {}", name, failure)};
  if (const auto why = c["why"].get<std::string>(); !why.empty())
    return Judged{Answer::kNotRun, fmt::format("{}: {}", name, why)};
  return std::nullopt;
}

// What shares its links slows it down, and that is no fault of theirs.
Answer below(const Json& c) { return c["beside"].empty() ? Answer::kFail : Answer::kWarn; }

Judged judge_one(const Subject& s, const Json& c) {
  if (auto why = not_measured(c)) return *std::move(why);
  Judged j;
  j.text = fmt::format("{}: {} in {}, {}", c["name"].get<std::string>(),
                       c["busbw_bps"].is_number() ? "busbw " + report::rate_text(c["busbw_bps"].get<double>()) : "done",
                       ns_text(c["median_ns"]), steps_text(c, "iteration"));
  if (c["agents"].get<bool>()) {
    j.answer = Answer::kReport;
    j.text += " of agents: wall time";
    return j;
  }
  if (!c["reference_ns"].is_number()) {
    j.answer = Answer::kReport;
    return j;
  }
  const double under = 1 - c["reference_ns"].get<double>() / c["median_ns"].get<double>();
  j.text += under > 0 ? fmt::format(", {} below the reference", share_text(under)) : ", not below the reference";
  if (under > s.settings.below_reference) j.answer = below(c);
  return j;
}

constexpr double kShareOfBest = 0.9;

Judged judge_job(const Subject& s, const Json& c) {
  if (auto why = not_measured(c)) return *std::move(why);
  Judged j;
  j.text = fmt::format("{}: {} of {}", c["name"].get<std::string>(), steps_text(c, "step"), ns_text(c["median_ns"]));
  if (!c["utilisation"].is_number()) {
    j.answer = Answer::kReport;
    return j;
  }
  const auto found = c["utilisation"].get<double>();
  j.text += fmt::format(", utilisation {}", share_text(found));
  if (c["computed"].is_number()) {
    const auto best = c["computed"].get<double>();
    j.text += fmt::format(", {} on a perfect network", share_text(best));
    if (found < kShareOfBest * best) j.answer = c["agents"].get<bool>() ? Answer::kWarn : below(c);
  }
  if (found < s.settings.least_utilisation && j.answer == Answer::kPass) j.answer = Answer::kWarn;
  return j;
}

// The worse, the earlier.
int place(Answer a) {
  switch (a) {
    case Answer::kFail:
    case Answer::kBroken:
      return 0;
    case Answer::kWarn:
      return 1;
    case Answer::kPass:
      return 2;
    case Answer::kReport:
      return 3;
    case Answer::kNotRun:
      return 4;
  }
  return 4;
}

Finding judge_all(const Subject& s, const Runs& runs, bool jobs, Judged (*judge)(const Subject&, const Json&)) {
  const Json& all = report_of(runs, ProbeKind::kOwnCollectives)["collectives"];
  std::vector<std::pair<Judged, const Json*>> judged;
  for (const Json& c : all)
    if (c["is_job"].get<bool>() == jobs) judged.emplace_back(judge(s, c), &c);
  if (judged.empty())
    return {.found = fmt::format("skipped: the lab has no {} of its own", jobs ? "jobs" : "`collectives:`")};
  std::ranges::stable_sort(judged, {}, [](const auto& j) { return place(j.first.answer); });
  Finding f;
  f.answer = judged.front().first.answer;
  f.found = judged.front().first.text;
  for (const auto& [one, c] : judged) {
    if (&one != &judged.front().first) f.evidence.push_back(one.text);
    if (one.answer == Answer::kNotRun) continue;
    f.evidence.push_back(fmt::format("{}: {}; {} ranks{}", (*c)["name"].get<std::string>(), (*c)["how"].get<std::string>(),
                                     (*c)["ranks"].get<std::size_t>(),
                                     (*c)["reference_ns"].is_number()
                                         ? fmt::format(", {} on links that are shared perfectly (railyard estimate)",
                                                       ns_text((*c)["reference_ns"]))
                                         : std::string()));
    if (!(*c)["beside"].empty())
      f.evidence.push_back(fmt::format("{} shared the network with {}", (*c)["name"].get<std::string>(),
                                       fmt::join((*c)["beside"].get<std::vector<std::string>>(), ", ")));
  }
  return f;
}

Finding own_collectives(const Subject& s, const Runs& runs) {
  Finding f = judge_all(s, runs, false, judge_one);
  if (f.answer == Answer::kNotRun) return f;
  f.threshold = fmt::format("at most {} below the reference", share_text(s.settings.below_reference));
  if (f.answer == Answer::kFail || f.answer == Answer::kWarn)
    f.remedy =
        "`railyard doctor LAB` names causes. If it shared the network, `railyard stop NAME` the other work, and repeat "
        "this.";
  return f;
}

Finding own_jobs(const Subject& s, const Runs& runs) {
  Finding f = judge_all(s, runs, true, judge_job);
  if (f.answer == Answer::kNotRun) return f;
  f.threshold =
      fmt::format("utilisation >= {}, and {} of the best", share_text(s.settings.least_utilisation), share_text(kShareOfBest));
  if (f.answer == Answer::kFail || f.answer == Answer::kWarn)
    f.remedy =
        "Below 50 % on a well-sized model it is usually the network: `railyard doctor LAB` names causes. If a perfect network "
        "is as bad, the model sends too much for it.";
  return f;
}

}  // namespace

namespace list {
const Item kOwnCollectives{"own-collectives",
                           "Are the lab's own collectives as fast as they can be?",
                           "design guides: collectives against a reference; the limit of 10 % is Railyard's",
                           {ProbeKind::kOwnCollectives},
                           own_collectives};
const Item kOwnJobs{"own-jobs",
                    "Do ranks of the lab's own jobs compute most of the time?",
                    "design guides: below 50 % it is usually the network; 90 % of the roofline is Railyard's limit",
                    {ProbeKind::kOwnCollectives},
                    own_jobs};
}  // namespace list

}  // namespace railyard::acceptance
