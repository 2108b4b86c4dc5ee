// A rule: the signature of one cause in the counters.
#pragma once

#include <string>
#include <vector>

#include "control/doctor/case.h"

namespace railyard::doctor {

struct Diagnosis {
  std::string element{};                // "leaf1:3-h3:1", "h2", "leaf1"
  double confidence = 0;                // 0..1: how seldom anything else looks like this
  std::vector<std::string> evidence{};  // counters, with their values
};

struct Rule {
  const char* id;       // "mtu-mismatch"
  const char* finds;    // one sentence
  const char* remedy;   // what to change
  const char* refutes;  // what would show that it is something else
  std::vector<Diagnosis> (*look)(const Case&);
  std::vector<Input> needs;  // without these it is not asked
};

namespace rules {
extern const Rule kMtuMismatch, kFrameErrors, kPayloadErrors, kOneWayLoss, kLinkDown, kLinkFlapping, kSwitchReset,
    kBlackHole, kFailoverBlocked, kDeadlock, kPfcIgnored, kPfcLost, kPfcOneSided, kHeadroomSmall, kPfcStorm,
    kSlowReceiver, kDscpRewritten, kEcnAbsent, kEcnLate, kEcnEarly, kEcnNotEchoed, kNoCongestionControl,
    kUnexplainedMarks, kMixedTraffic, kLossyClass, kBufferFull, kUnevenPaths, kFewFlows, kSlowLink, kSpeedMismatch,
    kPcieLimit, kSlowSender, kWindowSmall, kDuplicatedFrames, kReordering, kExtraDelay, kClockSkew, kTrimLost,
    kReceiverNotReady, kRdmaLoss, kCableSwapped, kStraggler, kRingLatency, kTensorAcrossHosts, kPipelineBubbles, kGuestSlow,
    kEmulatorLate, kHopDelay, kSlowProbes, kWrongSwitch, kSlowerThanPlanned,
     kLargePacketsLost, kNoAnswer, kPathMtuDiffers, kConnectUnanswered, kConnectRefused, kRoceV1;
}  // namespace rules

struct Found {
  const Rule* rule = nullptr;
  Diagnosis what{};
};

std::vector<const Rule*> all_rules();

// Whether the case has the counters that a rule reads.
bool can_look(const Rule& rule, const Case& c);

// What the rules find, the surest first. A cause hides what only follows from it: pauses upstream of a storm, drops
// behind an end that ignores PFC.
std::vector<Found> diagnose(const Case& c);

}  // namespace railyard::doctor
