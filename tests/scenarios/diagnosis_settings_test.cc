// Scenarios with a diagnosis, set to something else: its text appears where it is still true, and nowhere else.
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/report/judge.h"
#include "control/spec/load.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

bool shows(const std::string& scenario, const std::vector<std::string>& sets) {
  Scenario s = Scenario::ready(scenario, sets);
  if (const auto& duration = s.lab().spec().run.duration)
    s.run_until(*duration);
  else
    s.run_to_the_end();
  return s.shows_its_diagnosis();
}

struct Case {
  const char* scenario;
  std::vector<std::string> sets;
};

// The symptom may be the same; the cause is another.
TEST(Diagnoses, AnotherSettingGetsNoWrongText) {
  const std::vector<Case> cases{
      // The headroom is enough; NICs do not obey pauses.
      {"roce-incast-headroom", {"qos.default.classes.3.headroom=200KB", "hosts.default.pfc=off"}},
      {"roce-incast-headroom", {"hosts.default.pfc=off"}},
      // The thresholds are right; packets say that they must not be marked, or nobody listens.
      {"roce-ecn-thresholds",
       {"qos.default.classes.3.ecn={ kmin: 100KB, kmax: 400KB, pmax: 20% }", "traffic.incast.ecn=false"}},
      {"roce-ecn-thresholds", {"traffic.incast.ecn=false"}},
      {"roce-ecn-thresholds", {"hosts.default.roce.congestion=none"}},
      {"roce-ecn-thresholds", {"qos.default.classes.3.ecn={ kmin: 1KB, kmax: 2KB, pmax: 100% }"}},
      // Not go-back-N.
      {"roce-degraded-link", {"faults.bad-cable.bit-errors=3e-6", "hosts.default.roce.loss-recovery=selective-repeat"}},
      {"roce-mixed-priority", {"traffic.backup.ecn=true"}},
      {"roce-mixed-priority", {"traffic.train.dscp=0"}},
      // NAKs, and no timeout; or one that costs nothing to speak of.
      {"roce-one-drop", {"faults.one.match.nth=300", "traffic.t.outstanding=8"}},
      {"roce-one-drop", {"hosts.default.roce.ack-timeout=4"}},
      {"roce-pfc-misaligned", {"qos.default.classes.4.lossless=false"}},
      {"roce-polarisation",
       {"switches.default.ecmp={ fields: [addresses, ports, destination-qp] }", "traffic.elephants.qps=1"}},
      {"roce-mtu-mismatch", {"traffic.large.transport=uet"}},
      {"pfc-watchdog", {"switches.default.pfc-watchdog=off"}},
      {"pfc-watchdog", {"switches.default.pfc-watchdog.action=alert"}},
  };
  for (const Case& c : cases) EXPECT_FALSE(shows(c.scenario, c.sets)) << c.scenario << " " << c.sets[0];
}

TEST(Diagnoses, ASettingThatChangesNothingOfTheCauseKeepsTheText) {
  const std::vector<Case> cases{{"roce-one-drop", {"hosts.default.roce.ack-timeout=16"}},
                                {"roce-one-drop", {}},
                                {"roce-degraded-link", {"traffic.t.path-mtu=1024", "faults.bad-cable.bit-errors=2e-6"}},
                                {"roce-incast-headroom", {"traffic.incast.bytes=4MB"}},
                                {"roce-ecn-thresholds", {"traffic.incast.outstanding=4"}},
                                {"pfc-watchdog", {}}};
  for (const Case& c : cases) EXPECT_TRUE(shows(c.scenario, c.sets)) << c.scenario;
}

// A figure would be wrong as soon as anything else is set; the evidence has it.
TEST(Diagnoses, OfWhatIsShippedHaveNoFigures) {
  const std::regex figure("[0-9] ?(ms|us|s|%|Gb/s|Gbps|KB|MB)\\b");
  for (const auto& entry : std::filesystem::directory_iterator(RAILYARD_SOURCE_DIR "/topologies/scenarios")) {
    const spec::DiagnosisSpec d = spec::load(entry.path()).diagnosis;
    const std::string cause = std::regex_replace(d.cause, std::regex("4\\.096 us x"), "");  // of the standard
    EXPECT_FALSE(std::regex_search(d.symptom, figure)) << entry.path();
    EXPECT_FALSE(std::regex_search(cause, figure)) << entry.path();
  }
}

// At the file itself they are what it has.
TEST(Diagnoses, OfWhatIsShippedNameTheSettingsOfTheirFiles) {
  for (const auto& entry : std::filesystem::directory_iterator(RAILYARD_SOURCE_DIR "/topologies/scenarios"))
    EXPECT_TRUE(report::has_settings(spec::load(entry.path()))) << entry.path();
}

}  // namespace
}  // namespace railyard::test
