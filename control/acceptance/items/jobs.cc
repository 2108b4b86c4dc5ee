// A job of its own, and what the file runs.
#include <algorithm>

#include <fmt/format.h>

#include "control/acceptance/figures.h"
#include "control/acceptance/item.h"
#include "control/report/units.h"

namespace railyard::acceptance {
namespace {

Finding job(const Subject& s, const Runs& runs) {
  const Run& run = runs.at(ProbeKind::kJob);
  const auto& c = run.report["collectives"][0];
  Finding f;
  f.threshold = fmt::format("utilisation >= {}", share_text(s.settings.least_utilisation));
  if (!c["completed"].get<bool>() || !c["job"].is_object() || !run.reference_ns) {
    f.answer = Answer::kFail;
    f.found = "it did not complete";
    return f;
  }
  const auto found = c["job"]["utilisation"].get<double>();
  const double best = static_cast<double>(kComputeRatio) / (kComputeRatio + 1);
  constexpr double kOfBest = 0.9;
  f.found = fmt::format("utilisation {}, {} on a perfect network", share_text(found), share_text(best));
  f.threshold += fmt::format(", and {} of the best", share_text(kOfBest));
  f.evidence.push_back(
      fmt::format("{} steps: computing for {}, then an all-reduce of {} over {} ranks", kJobSteps,
                  report::nanoseconds_text(static_cast<std::uint64_t>(*run.reference_ns * kComputeRatio)),
                  report::size_text(c["bytes"].get<std::uint64_t>()), c["ranks"].size()));
  f.answer = found < kOfBest * best                 ? Answer::kFail
             : found < s.settings.least_utilisation ? Answer::kWarn
                                                    : Answer::kPass;
  if (f.answer != Answer::kPass) f.remedy = "The network bounds the job: see the lines of collectives and bandwidth.";
  return f;
}

Finding own_work(const Subject& s, const Runs& runs) {
  const auto& report = report_of(runs, ProbeKind::kOwnWork);
  Finding f;
  f.answer = Answer::kPass;
  f.threshold = "no verdict fails";
  std::size_t judged = 0;
  for (const auto& v : report["verdicts"]) {
    if (v["verdict"] == "open") continue;
    ++judged;
    if (v["verdict"] != "fail") continue;
    f.answer = Answer::kFail;
    f.evidence.push_back(fmt::format("{}: {}", v["name"].get<std::string>(), v["text"].get<std::string>()));
  }
  f.found = f.evidence.empty() ? fmt::format("{} verdicts, none fails", judged) : f.evidence.front();
  for (const auto& c : report["collectives"]) {
    // Without a whole step there is no share of its time.
    if (!c["job"].is_object() || !c["time_ns"]["median"].is_number()) continue;
    const auto u = c["job"]["utilisation"].get<double>();
    f.evidence.push_back(fmt::format("{}: utilisation {}", c["name"].get<std::string>(), share_text(u)));
    if (u < s.settings.least_utilisation && f.answer == Answer::kPass) {
      f.answer = Answer::kWarn;
      f.found = f.evidence.back();
      f.remedy =
          "Below 50 % on a well-sized model it is usually the network: `railyard run --timeline` shows who waits for "
          "what.";
    }
  }
  return f;
}

}  // namespace

namespace list {
const Item kJob{"job",
                "Do ranks of a synthetic job compute most of the time?",
                "design guides: below 50 % it is usually the network; 90 % of the roofline is Railyard's limit",
                {ProbeKind::kJob},
                job};
const Item kOwnWork{"own-work",
                    "Does the file's own work pass its verdicts?",
                    "docs/expectations.md: verdicts",
                    {ProbeKind::kOwnWork},
                    own_work};
}  // namespace list

}  // namespace railyard::acceptance
