#include <algorithm>
#include <array>
#include <set>

#include "control/doctor/rule.h"

namespace railyard::doctor {
namespace {

constexpr std::array kRules{
    &rules::kSwitchReset,  &rules::kLinkDown,      &rules::kMtuMismatch, &rules::kFrameErrors,   &rules::kPayloadErrors,
    &rules::kOneWayLoss,   &rules::kPfcOneSided,   &rules::kPfcLost,     &rules::kPfcIgnored,    &rules::kPfcStorm,
    &rules::kSlowReceiver, &rules::kDscpRewritten, &rules::kDeadlock,    &rules::kHeadroomSmall, &rules::kEcnAbsent,
    &rules::kEcnNotEchoed, &rules::kBufferFull,    &rules::kUnevenPaths, &rules::kBlackHole,     &rules::kStraggler,
    &rules::kEmulatorLate,
};

// What a cause, once found, explains: these rules are not asked then.
struct Hides {
  const Rule* cause;
  std::vector<const Rule*> symptoms;
};

const std::vector<Hides>& hidden() {
  static const std::vector<Hides> all{
      {&rules::kLinkDown, {&rules::kBlackHole}},
      {&rules::kSwitchReset, {&rules::kLinkDown, &rules::kBlackHole}},
      {&rules::kOneWayLoss, {&rules::kBlackHole}},
      {&rules::kPfcStorm, {&rules::kEcnAbsent, &rules::kBufferFull, &rules::kUnevenPaths}},
      {&rules::kSlowReceiver, {&rules::kEcnAbsent, &rules::kBufferFull, &rules::kUnevenPaths}},
      {&rules::kPfcIgnored, {&rules::kHeadroomSmall, &rules::kEcnAbsent, &rules::kBufferFull}},
      {&rules::kPfcLost, {&rules::kHeadroomSmall, &rules::kEcnAbsent, &rules::kBufferFull}},
      {&rules::kPfcOneSided, {&rules::kHeadroomSmall, &rules::kEcnAbsent, &rules::kBufferFull}},
      {&rules::kDscpRewritten, {&rules::kBufferFull}},
  };
  return all;
}

}  // namespace

std::vector<const Rule*> all_rules() { return {kRules.begin(), kRules.end()}; }

std::vector<Found> diagnose(const Case& c) {
  std::vector<Found> out;
  std::set<const Rule*> explained;
  for (const Rule* rule : kRules) {
    if (explained.contains(rule)) continue;
    const std::vector<Diagnosis> found = rule->look(c);
    for (const Diagnosis& d : found) out.push_back({rule, d});
    if (found.empty()) continue;
    for (const Hides& h : hidden())
      if (h.cause == rule) explained.insert(h.symptoms.begin(), h.symptoms.end());
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, [](const Found& f) { return f.what.confidence; });
  return out;
}

}  // namespace railyard::doctor
