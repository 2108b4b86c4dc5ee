#include "control/lint/rules/rules.h"

namespace railyard::lint {

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all{
      kFramesWithoutPcp,
      kPcpLost,
      kVlansApart,
      kClassMapsDisagree,
      kLossyOnLosslessPath,
      kPfcOnOneSide,
      kRdmaInLossyClass,
      kKminAboveXoff,
      kKminAboveLimit,
      kDropAboveLimit,
      kControlWithoutMarks,
      kGoBackNSprayed,
      kTelemetryManyPaths,
      kTelemetryNotReturned,
      kPathSlowerThanNics,
      kRateAboveLink,
      kReceiverSlowerThanLink,
      kNicAbovePcie,
      kCablesUnused,
      kRanksWithoutScaleUp,
      kRailsUnused,
      kGpusShared,
      kWindowBelowBdp,
      kSprayInFixedOrder,
      kUetNotSprayed,
      kUetWindowBelowBdp,
      kLimitBelowFrame,
      kPacketMemory,
      kBufferCycle,
      kAcceptedBufferCycle,
  };
  return all;
}

std::vector<Finding> lint(build::BuiltLab& lab, const spec::Tree& document) {
  const Facts facts(lab);
  std::vector<Finding> all;
  Findings findings(document, all);
  for (const Rule& rule : rules()) {
    findings.begin(rule.name, rule.severity);
    rule.find(facts, findings);
  }
  return all;
}

}  // namespace railyard::lint
