#include <algorithm>
#include <array>
#include <set>

#include "control/doctor/latencies.h"
#include "control/doctor/rule.h"

namespace railyard::doctor {
namespace {

constexpr std::array kRules{
    &rules::kSwitchReset,     &rules::kFailoverBlocked, &rules::kLinkFlapping,      &rules::kLinkDown,
    &rules::kMtuMismatch,     &rules::kFrameErrors,     &rules::kPayloadErrors,     &rules::kDuplicatedFrames,
    &rules::kOneWayLoss,      &rules::kSlowLink,        &rules::kSpeedMismatch,     &rules::kPfcOneSided,
    &rules::kPfcLost,         &rules::kPfcIgnored,      &rules::kPfcStorm,          &rules::kSlowReceiver,
    &rules::kDscpRewritten,   &rules::kDeadlock,        &rules::kHeadroomSmall,     &rules::kEcnNotEchoed,
    &rules::kNoCongestionControl, &rules::kUnexplainedMarks, &rules::kEcnAbsent,    &rules::kEcnLate,
    &rules::kEcnEarly,        &rules::kMixedTraffic,    &rules::kLossyClass,        &rules::kTrimLost,
    &rules::kBufferFull,      &rules::kUnevenPaths,     &rules::kFewFlows,          &rules::kBlackHole,
    &rules::kRoceV1,          &rules::kPathMtuDiffers,  &rules::kLargePacketsLost,  &rules::kNoAnswer,
    &rules::kConnectRefused,  &rules::kConnectUnanswered, &rules::kReceiverNotReady, &rules::kRdmaLoss, &rules::kReordering,     &rules::kClockSkew,         &rules::kExtraDelay,
    &rules::kPcieLimit,       &rules::kSlowSender,      &rules::kWindowSmall,       &rules::kCableSwapped,
    &rules::kStraggler,       &rules::kTensorAcrossHosts, &rules::kPipelineBubbles, &rules::kRingLatency,
    &rules::kGuestSlow,       &rules::kEmulatorLate,    &rules::kHopDelay,
    &rules::kWrongSwitch,     &rules::kSlowerThanPlanned, &rules::kSlowProbes,
};

// What a cause, once found, explains: these rules are not asked then.
struct Hides {
  std::vector<const Rule*> causes;
  std::vector<const Rule*> symptoms;
};

const std::vector<Hides>& hidden() {
  static const std::vector<Hides> all{
      {{&rules::kLinkDown, &rules::kLinkFlapping, &rules::kOneWayLoss}, {&rules::kBlackHole}},
      {{&rules::kFailoverBlocked}, {&rules::kLinkDown, &rules::kBlackHole}},
      {{&rules::kSwitchReset}, {&rules::kBlackHole}},
      {{&rules::kPfcStorm, &rules::kSlowReceiver, &rules::kDeadlock, &rules::kSlowLink},
       {&rules::kEcnAbsent, &rules::kEcnLate, &rules::kBufferFull, &rules::kUnevenPaths, &rules::kFewFlows,
        &rules::kSlowSender}},
      {{&rules::kPfcIgnored, &rules::kPfcLost, &rules::kPfcOneSided},
       {&rules::kHeadroomSmall, &rules::kEcnAbsent, &rules::kEcnLate, &rules::kBufferFull}},
      {{&rules::kDscpRewritten}, {&rules::kBufferFull, &rules::kLossyClass}},
      {{&rules::kEcnNotEchoed, &rules::kNoCongestionControl, &rules::kMixedTraffic},
       {&rules::kEcnAbsent, &rules::kEcnLate, &rules::kUnevenPaths, &rules::kFewFlows, &rules::kMixedTraffic}},
      {{&rules::kLossyClass, &rules::kTrimLost}, {&rules::kBufferFull}},
      {{&rules::kClockSkew}, {&rules::kExtraDelay}},
      {{&rules::kSlowSender, &rules::kPcieLimit, &rules::kSlowReceiver, &rules::kPfcStorm, &rules::kSlowLink}, {&rules::kRingLatency}},
      {{&rules::kSlowLink, &rules::kSpeedMismatch, &rules::kSlowerThanPlanned}, {&rules::kSlowProbes}},
      {{&rules::kExtraDelay, &rules::kPfcStorm, &rules::kSlowReceiver, &rules::kSlowLink, &rules::kEcnAbsent, &rules::kEcnLate,
        &rules::kBufferFull, &rules::kHeadroomSmall, &rules::kDeadlock, &rules::kPfcIgnored, &rules::kMixedTraffic},
       {&rules::kHopDelay}},
      {{&rules::kPathMtuDiffers, &rules::kLargePacketsLost, &rules::kNoAnswer}, {&rules::kRdmaLoss}},
  };
  return all;
}

// The same at the same element: a host whose slot is slow is slow.
const std::vector<Hides>& hidden_there() {
  static const std::vector<Hides> all{{{&rules::kPcieLimit}, {&rules::kSlowReceiver, &rules::kSlowSender, &rules::kPfcStorm}}};
  return all;
}

bool is_hidden_there(const Found& f, const std::vector<Found>& all) {
  return std::ranges::any_of(hidden_there(), [&](const Hides& h) {
    return std::ranges::find(h.symptoms, f.rule) != h.symptoms.end() && std::ranges::any_of(all, [&](const Found& cause) {
             return std::ranges::find(h.causes, cause.rule) != h.causes.end() && cause.what.element == f.what.element;
           });
  });
}

}  // namespace

std::vector<const Rule*> all_rules() { return {kRules.begin(), kRules.end()}; }

bool can_look(const Rule& rule, const Case& c) {
  return std::ranges::all_of(rule.needs, [&](Input input) { return c.has(input); });
}

std::vector<Found> diagnose(const Case& c) {
  std::vector<Found> out;
  std::set<const Rule*> explained;
  for (const Rule* rule : kRules) {
    if (explained.contains(rule) || !can_look(*rule, c)) continue;
    const std::vector<Diagnosis> found = rule->look(c);
    for (const Diagnosis& d : found) {
      out.push_back({rule, d});
      if (const std::string waits = rule == &rules::kHopDelay ? "" : waiting_at(c, d.element); !waits.empty())
        out.back().what.evidence.push_back(waits);
    }
    if (found.empty()) continue;
    for (const Hides& h : hidden())
      if (std::ranges::find(h.causes, rule) != h.causes.end()) explained.insert(h.symptoms.begin(), h.symptoms.end());
  }
  std::erase_if(out, [all = out](const Found& f) { return is_hidden_there(f, all); });
  std::ranges::stable_sort(out, std::ranges::greater{}, [](const Found& f) { return f.what.confidence; });
  return out;
}

}  // namespace railyard::doctor
