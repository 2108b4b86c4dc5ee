// The figures that runs are compared by, of small runs.
#include "control/report/summary.h"

#include <algorithm>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "control/report/report.h"
#include "control/spec/load.h"
#include "dataplane/run/virtual_clock.h"
#include "tests/control/report/sample.h"

namespace railyard::report {
namespace {

using namespace literals;

// Eight hosts at two leaves with four spines, so that what is sprayed comes out of order.
std::map<std::string, double> figures_of(const std::string& traffic, const std::string& classes = "{}",
                                         Duration time = 20_ms) {
  build::BuiltLab lab(
      spec::parse("name: x\n"
                  "topology: { preset: leaf-spine, leaves: 2, spines: 4, hosts-per-leaf: 4 }\n"
                  "hosts: { default: { uet: { rto: 200us }, roce: { ack-timeout: 8 } } }\n"
                  "qos: { default: { classes: { 3: " +
                      classes +
                      ", 5: { strict: true } } } }\n"
                      "traffic: [ { name: t, " +
                      traffic + " } ]\n",
                  "x.yaml"));
  Engine engine(lab.fabric(), {});
  engine.wake_all();
  run_virtual(engine, Instant{} + time);
  engine.settle(Instant{} + time);
  std::map<std::string, double> figures;
  for (const Figure& f : summary(collect(lab, {}))) figures[f.name] = f.value;
  return figures;
}

constexpr const char* kPermutation = "from: [h1, h2, h3, h4], to: [h5, h6, h7, h8], bytes: 1MB, transport: uet, ";

// Of flows that all got nothing there is no telling how evenly it was shared.
TEST(Summary, AnIndexOfNothingIsNotMeasured) {
  Report r = sample();
  const auto has_jain = [&] {
    return std::ranges::any_of(summary(r), [](const Figure& f) { return f.name == "jain"; });
  };
  EXPECT_TRUE(has_jain());
  for (FlowReport& f : r.flows) f.goodput_bytes = 0;
  EXPECT_FALSE(has_jain());
}

TEST(Summary, AllModesOfUetSayWhatCameOutOfOrder) {
  for (const std::string service : {"rud, message: 64KB", "rudi, message: 64KB", "rudi, message: 64KB, operation: read",
                                    "uud, message: 4096B, operation: send, outstanding: 64"}) {
    const auto sprayed = figures_of(std::string(kPermutation) + "service: " + service);
    EXPECT_GT(sprayed.at("out_of_order"), 0) << service;
    EXPECT_EQ(sprayed.at("lost"), 0) << service;
  }
}

TEST(Summary, OverOnePathNothingComesOutOfOrder) {
  for (const std::string service : {"rudi, message: 64KB", "uud, message: 4096B, operation: send, outstanding: 64"}) {
    build::BuiltLab lab(
        spec::parse("name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 1 }\n"
                    "traffic: [ { name: t, from: h1, to: h2, bytes: 1MB, transport: uet, service: " +
                        service + " } ]\n",
                    "x.yaml"));
    Engine engine(lab.fabric(), {});
    engine.wake_all();
    run_virtual(engine, Instant{} + 20_ms);
    const Report r = collect(lab, {});
    EXPECT_EQ(r.traffic[0].reordered, 0u) << service;
    EXPECT_GT(r.traffic[0].packets, 200u) << service;
  }
}

TEST(Summary, SaysWhichPartWasCompleted) {
  const std::string incast = "pattern: incast, from: [h2, h3, h5, h6], to: h1, bytes: 1MB, transport: roce";
  EXPECT_EQ(figures_of(incast).at("completed"), 1);
  EXPECT_EQ(figures_of(incast).at("missing"), 0);
  const auto cut = figures_of(incast, "{}", 200_us);
  EXPECT_LT(cut.at("completed"), 1);
  EXPECT_GT(cut.at("missing"), 0);
  EXPECT_EQ(figures_of("from: h1, to: h5, rate: 1Gbps, stop: 1ms").count("completed"), 0u) << "none has an end";
}

TEST(Summary, TrimmingIsRatedByTheQueuesThatTrim) {
  const auto figures =
      figures_of("pattern: incast, from: [h2, h3, h5, h6], to: h1, bytes: 1MB, transport: uet, message: 1MB",
                 "{ lossless: false, queue-alpha: 1/128, trim: { class: 5, dscp: 40 } }");
  EXPECT_GT(figures.at("trimmed"), 0);
  EXPECT_GT(figures.at("trim_rate"), 0);
  EXPECT_LT(figures.at("trim_rate"), 1);
  EXPECT_GT(figures.at("retransmission_rate"), 0);
  EXPECT_LT(figures.at("retransmission_rate"), 1);
  EXPECT_EQ(figures.at("missing"), 0) << "lost on the wire, not for the application";
  EXPECT_GE(figures.at("peak_buffer"), figures.at("max_queue")) << "all queues of a switch, not one";
  EXPECT_GT(figures.at("wire_bytes"), 4e6 * 2);
  EXPECT_NEAR(figures.at("goodput_part"), figures.at("goodput") / 100e9, 1e-9);
}

TEST(Summary, FiguresByTheirPathHaveTheUnitOfWhatTheyAreOf) {
  EXPECT_EQ(kind_of("/traffic/0/message_ns/p99").unit, Unit::kNanoseconds);
  EXPECT_TRUE(kind_of("/traffic/0/message_ns/p99").of_completed);
  EXPECT_EQ(kind_of("/traffic/0/message_ns/samples").unit, Unit::kCount);
  EXPECT_EQ(kind_of("/traffic/1/fct_ns/count").unit, Unit::kCount);
}

TEST(Summary, KnowsAllItsFigures) {
  const std::vector<std::string> known = known_figures();
  for (const auto& [name, value] : figures_of(std::string(kPermutation) + "message: 64KB"))
    EXPECT_NE(std::find(known.begin(), known.end(), name), known.end()) << name;
  for (const std::string& name : known) EXPECT_FALSE(kind_of(name).meaning.empty()) << name;
}

}  // namespace
}  // namespace railyard::report
