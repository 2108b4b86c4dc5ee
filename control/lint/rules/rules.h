// The rules, each beside its code in the file that is named.
#pragma once

#include "control/lint/rule.h"

namespace railyard::lint {

extern const Rule kFramesWithoutPcp;      // tags.cc
extern const Rule kPcpLost;               // tags.cc
extern const Rule kVlansApart;            // tags.cc
extern const Rule kKminAboveXoff;         // marking_before_pfc.cc
extern const Rule kKminAboveLimit;         // marking.cc
extern const Rule kDropAboveLimit;         // marking.cc
extern const Rule kControlWithoutMarks;    // marking.cc
extern const Rule kClassMapsDisagree;      // class_maps.cc
extern const Rule kLossyOnLosslessPath;    // losslessness.cc
extern const Rule kRdmaInLossyClass;       // losslessness.cc
extern const Rule kPfcOnOneSide;           // losslessness.cc
extern const Rule kGoBackNSprayed;         // ordering.cc
extern const Rule kTelemetryManyPaths;     // telemetry.cc
extern const Rule kTelemetryNotReturned;   // telemetry.cc
extern const Rule kPathSlowerThanNics;     // speeds.cc
extern const Rule kRateAboveLink;          // speeds.cc
extern const Rule kReceiverSlowerThanLink; // speeds.cc
extern const Rule kNicAbovePcie;          // speeds.cc
extern const Rule kCablesUnused;           // speeds.cc
extern const Rule kRanksWithoutScaleUp;    // ranks.cc
extern const Rule kRailsUnused;            // ranks.cc
extern const Rule kGpusShared;             // ranks.cc
extern const Rule kSprayInFixedOrder;      // paths.cc
extern const Rule kLimitBelowFrame;        // memory.cc
extern const Rule kPacketMemory;           // memory.cc
extern const Rule kWindowBelowBdp;         // windows.cc
extern const Rule kUetNotSprayed;          // uet_paths.cc
extern const Rule kUetWindowBelowBdp;      // uet_paths.cc
extern const Rule kBufferCycle;            // deadlocks.cc
extern const Rule kAcceptedBufferCycle;    // deadlocks.cc

}  // namespace railyard::lint
