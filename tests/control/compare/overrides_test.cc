#include "control/compare/overrides.h"

#include <stdexcept>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/load.h"

namespace railyard::compare {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kLab = R"(
name: x
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }
hosts: { default: {}, fast: {} }
traffic:
  - { name: all, pattern: permutation, transport: roce, bytes: 1MB, dscp: 26 }
  - { name: noise, from: h1, to: h2, dscp: 10, bytes: 1MB }
collectives:
  - { name: train, collective: all-reduce, size: 1MB, dscp: 34 }
)";

std::vector<std::string> sets(const std::string& lab, const std::string& column) {
  // What can be taken away is there.
  const auto is_said = [&](const std::string& path) {
    try {
      spec::parse(lab, "x.yaml", {path + "="});
      return true;
    } catch (const spec::SpecError&) {
      return false;
    }
  };
  return sets_of(overrides(spec::parse(lab, "x.yaml"), *spec::parse_column(column), is_said));
}

TEST(Overrides, AreOfAllThatATransportCarriesAndItsClasses) {
  EXPECT_THAT(
      sets(kLab, "roce/sr/swift/adaptive/lossy, run.duration=1ms"),
      ElementsAre("traffic.all.transport=roce", "collectives.train.transport=roce",
                  "hosts.default.roce.loss-recovery=selective-repeat", "hosts.default.roce.congestion=swift",
                  "hosts.fast.roce.loss-recovery=selective-repeat", "hosts.fast.roce.congestion=swift",
                  "qos.default.classes.3.path=adaptive", "qos.default.classes.4.path=adaptive",
                  "qos.default.classes.3.lossless=false", "qos.default.classes.4.lossless=false", "run.duration=1ms"));
}

TEST(Overrides, CreditsTakeThePlaceOfPausesAndTheOtherWayRound) {
  EXPECT_THAT(sets(kLab, "roce/cbfc"),
              AllOf(Contains("qos.default.classes.3.lossless=true"), Contains("qos.default.classes.3.cbfc=on")));
  const std::string with =
      std::string(kLab) + "qos: { default: { classes: { 3: { lossless: true, cbfc: { sync: 5us } } } } }\n";
  EXPECT_THAT(sets(with, "roce/pfc"), Contains("qos.default.classes.3.cbfc=off"));
  EXPECT_THAT(sets(with, "roce/cbfc"), Not(Contains(HasSubstr("classes.3.cbfc"))));
  EXPECT_THAT(sets(with, "roce/lossy"), Not(Contains(HasSubstr("classes.3.cbfc")))) << "it rests";
}

TEST(Overrides, LinksAreRetriedThatDoNotSayOtherwise) {
  EXPECT_THAT(sets(kLab, "roce/llr"), Contains("defaults.link.llr=on"));
}

TEST(Overrides, LeaveWhatNoWordIsAbout) {
  EXPECT_THAT(sets(kLab, "roce"), ElementsAre("traffic.all.transport=roce", "collectives.train.transport=roce"));
}

TEST(Overrides, OfRoceTheServiceIsTheTypeOfItsQps) {
  EXPECT_THAT(sets(kLab, "roce/rc"),
              ElementsAre("traffic.all.transport=roce", "traffic.all.qp-type=rc", "collectives.train.transport=roce"));
  const std::string lab =
      "name: x\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 2 }\n"
      "traffic: [ { name: all, from: h1, to: h2, transport: uet, bytes: 1MB } ]\n";
  EXPECT_THAT(sets(lab, "roce/uc"), ElementsAre("traffic.all.transport=roce", "traffic.all.qp-type=uc"));
  try {
    sets(kLab, "roce/uc");
    FAIL() << "was taken";
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(),
                HasSubstr("collectives.train: uc may lose messages, and collectives need all of them; expected rc"));
  }
}

// A file may say more of its transport than which it is.
TEST(Overrides, TakeAwayWhatTheFileSaysOfTheOtherTransport) {
  const std::string topology = "name: x\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 2 }\n";
  const std::string uet = topology +
                          "traffic: [ { name: all, from: h1, to: h2, transport: uet, service: rod, bytes: 1MB } ]\n"
                          "collectives: [ { name: c, size: 1MB, transport: uet, service: rud } ]\n";
  const std::string roce =
      topology + "traffic: [ { name: all, from: h1, to: h2, transport: roce, qp-type: rc, bytes: 1MB } ]\n";
  for (const auto& [lab, column] : {std::pair{uet, "roce/gbn"}, std::pair{uet, "uet/rud"}, std::pair{uet, "uet/spray"},
                                    std::pair{roce, "uet/rud"}, std::pair{roce, "roce/uc"}})
    EXPECT_NO_THROW(spec::parse(lab, "x.yaml", sets(lab, column))) << column;
  EXPECT_EQ(spec::parse(uet, "x.yaml", sets(uet, "uet/spray")).traffic[0].service, spec::UetService::kRod)
      << "what no word is about stays";
}

TEST(Overrides, UetSpraysByThePolicyOfTheFileOrByTheWord) {
  const std::string lab =
      "name: x\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 2 }\n"
      "traffic: [ { name: all, from: h1, to: h2, transport: uet, bytes: 1MB } ]\n";
  const auto policy = [](const std::string& text, const std::string& column) {
    return spec::parse(text, "x.yaml", sets(text, column)).hosts.at("default").uet.path_policy;
  };
  EXPECT_EQ(policy(lab, "uet/rud/spray"), spec::UetPathPolicy::kReps) << "as in any lab that says nothing";
  EXPECT_EQ(policy(lab, "uet/rud/mixed"), spec::UetPathPolicy::kMixed);
  EXPECT_EQ(policy(lab, "uet/rud/oblivious"), spec::UetPathPolicy::kOblivious);
  EXPECT_EQ(policy(lab, "uet/rud/ecmp"), spec::UetPathPolicy::kSingle);
  const std::string bitmap = lab + "hosts: { default: { uet: { path-policy: bitmap } } }\n";
  EXPECT_EQ(policy(bitmap, "uet/rud/spray"), spec::UetPathPolicy::kBitmap);
  const std::string single = lab + "hosts: { default: { uet: { path-policy: single } } }\n";
  EXPECT_EQ(policy(single, "uet/rud/spray"), spec::UetPathPolicy::kReps);
  for (const char* column : {"uet/rud/spray", "uet/rud/bitmap"})
    EXPECT_THAT(sets(lab, column), Contains(testing::EndsWith(".path=ecmp"))) << column << ": switches hash";
}

TEST(Overrides, ATrimmingClassNeedsOneForWhatIsTrimmed) {
  EXPECT_THAT(sets(kLab, "roce/trim"), Contains("qos.default.classes.3.trim={ class: 6, dscp: 48 }"));
  const std::string none = std::string(kLab) + "qos: { default: { classes: { 3: { lossless: true } } } }\n";
  try {
    sets(none, "roce/trim");
    FAIL() << "was taken";
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(), HasSubstr("qos.default has no class for trimmed frames; expected a strict"));
  }
  const std::string own =
      std::string(kLab) +
      "qos: { default: { classes: { 3: { trim: { class: 5, dscp: 40 } }, 5: {}, 6: { strict: true } } } }\n";
  EXPECT_THAT(sets(own, "roce/trim"), Not(Contains(HasSubstr("classes.3.trim")))) << "the file's own stays";
  EXPECT_THAT(sets(own, "roce/pfc"), Contains("qos.default.classes.3.trim=")) << "and goes where nothing is refused";
}

// Without UDP the entropy of UET is in a header of its own, which switches hash if they are told to.
TEST(Overrides, SprayHasSwitchesHashWhatPacketsWithoutUdpCarry) {
  std::string ip = kLab;
  ip.replace(ip.find("default: {}"), 11, "default: { uet: { encapsulation: ip } }");
  constexpr const char* kFields = "switches.default.ecmp.fields=[addresses, ports, uet-entropy]";
  EXPECT_THAT(sets(ip, "uet/rud/spray/trim"), Contains(kFields));
  EXPECT_THAT(sets(kLab, "uet/rud/spray/trim, hosts.default.uet.encapsulation=ip"), Contains(kFields));
  EXPECT_THAT(sets(ip, "uet/rod/ecmp"), Not(Contains(HasSubstr("ecmp.fields"))));
  EXPECT_THAT(sets(ip, "roce/spray"), Not(Contains(HasSubstr("ecmp.fields"))));
  EXPECT_THAT(sets(kLab, "uet/rud/spray/trim"), Not(Contains(HasSubstr("ecmp.fields"))));
}

TEST(Overrides, AreTakenByTheLab) {
  const std::string lab =
      "name: x\n"
      "topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }\n"
      "traffic: [{ name: all, pattern: permutation, transport: roce, bytes: 1MB }]\n"
      "qos: { default: { classes: { 3: { queue-alpha: 2, ecn: { kmin: 10KB, kmax: 20KB, "
      "drop-not-ect: true }, trim: { class: 6, dscp: 48 } }, 6: { strict: true } } } }\n";
  for (const char* column : {"roce/gbn/ecmp/pfc", "roce/sr/dcqcn/spray/trim", "roce/no-cc/flowlet/lossy"})
    EXPECT_NO_THROW(spec::parse(lab, "x.yaml", sets(lab, column))) << column;
  EXPECT_TRUE(spec::parse(lab, "x.yaml", sets(lab, "roce/pfc")).qos.at("default").classes[3].lossless);
}

TEST(Overrides, RefuseALabWithNothingToCompare) {
  const std::string topology = "name: x\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 2 }\n";
  EXPECT_THROW(sets(topology + "traffic: [{ name: t, from: h1, to: h2, bytes: 1MB }]\n", "roce"),
               std::invalid_argument);
  EXPECT_THROW(
      sets(topology + "hosts: { default: { roce: { services: [rping-server] } } }\n"
                      "traffic: [{ name: t, from: h1, to: h2, transport: roce, operation: rping, rping: { count: 1 } "
                      "}]\n",
           "roce"),
      std::invalid_argument);
}

}  // namespace
}  // namespace railyard::compare
