// What `railyard check` says that hosts, switches and the report take, against what a run takes.
#include "control/build/state_memory.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/build/allocated.h"
#include "control/lab/session.h"
#include "control/report/doctor_text.h"
#include "control/spec/load.h"

namespace railyard::lab {
namespace {

spec::Lab permutation(const std::string& transport) {
  return spec::parse("name: p\ntopology: { preset: leaf-spine, leaves: 8, spines: 8, hosts-per-leaf: 16 }\n"
                     "traffic: [ { name: t, pattern: permutation, transport: " +
                         transport + ", message: 64KB, bytes: 64KB } ]\nrun: { memory: 1GiB }\n",
                     "p.yaml");
}

// Packets are in memory of their own, which is not counted here.
void expect_near(const std::string& transport) {
  const std::int64_t before = build::allocated_octets();
  if (before == 0) GTEST_SKIP() << "this build does not tell what is allocated";
  const std::atomic<bool> stop{false};
  Session session(permutation(transport), {});
  const std::int64_t said = build::state_memory(session.lab()).total();
  const report::Report report = session.run(stop);
  const std::vector<doctor::Found> causes = report::findings(report);
  const std::int64_t took = build::allocated_octets() - before;
  testing::Test::RecordProperty("said", std::to_string(said));
  testing::Test::RecordProperty("took", std::to_string(took));
  EXPECT_GT(static_cast<double>(said), 0.65 * static_cast<double>(took)) << took;
  EXPECT_LT(static_cast<double>(said), 1.5 * static_cast<double>(took)) << took;
}

TEST(StateMemory, IsAboutWhatARunOfRoceTakes) { expect_near("roce"); }

TEST(StateMemory, IsAboutWhatARunOfUetTakes) { expect_near("uet"); }

}  // namespace
}  // namespace railyard::lab
