// Headroom of a plan can be computed again from what is printed.
#include "control/plan/buffers.h"

#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/plan/sections.h"
#include "tests/control/plan/planned.h"

namespace railyard::plan {
namespace {

// All numbers of a text, without their separators: "1 x (32 NICs x 1,234 B)" is 1, 32, 1234.
std::vector<double> numbers_in(std::string text) {
  std::erase(text, ',');
  std::vector<double> out;
  const std::regex number(R"((\d+(\.\d+)?))");
  for (auto i = std::sregex_iterator(text.begin(), text.end(), number); i != std::sregex_iterator(); ++i)
    out.push_back(std::stod(i->str()));
  return out;
}

const std::vector<Said>& requests() {
  static const std::vector<Said> all{{{"gpus", "64"}},
                                     {{"gpus", "128"}},
                                     {{"gpus", "128"}, {"asic", "tomahawk5-64x800"}, {"lossless-classes", "2"}},
                                     {{"gpus", "512"}, {"workload", "inference-rag"}, {"fabric-cable", "300m"}},
                                     {{"gpus", "4096"}, {"core-cable", "500m"}}};
  return all;
}

TEST(Buffers, EachLineIsItsOwnArithmetic) {
  for (const Said& said : requests()) {
    const Section s = buffer_section(planned(said));
    const std::string where = testing::PrintToString(said);
    int seen = 0;
    for (const Line& l : s.lines) {
      const std::vector<double> n = numbers_in(l.formula), result = numbers_in(l.result);
      ASSERT_FALSE(result.empty()) << where << l.what;
      if (l.what.ends_with("until a pause works")) {
        // (cable + response + pipeline) ns x Gb/s / 8, + 1 B; the length of the cable stands between.
        ASSERT_EQ(n.size(), 7u) << where << l.formula;
        EXPECT_NEAR(std::floor((n[0] + n[2] + n[3]) * n[4] / n[5]) + n[6], result[0], 1) << where << l.formula;
      } else if (l.formula.find("own frame") != std::string::npos) {
        EXPECT_EQ(n[0] + n[1] + n[2] + n[3], result[0]) << where << l.formula;
      } else if (l.formula.find("rounded up") != std::string::npos) {
        EXPECT_EQ(std::ceil(n[0] / (n[1] + n[2])), result[0]) << where << l.formula;
      } else if (l.formula.find("frames x") != std::string::npos) {
        EXPECT_EQ(n[0] * n[1] * n[2], result[0]) << where << l.formula;
      } else if (l.what.starts_with("headroom of a full")) {
        double sum = 0;
        for (std::size_t i = 1; i + 1 < n.size(); i += 2) sum += n[i] * n[i + 1];
        EXPECT_EQ(n[0] * sum, result[0]) << where << l.formula;
      } else if (l.what.starts_with("buffer left")) {
        EXPECT_EQ(std::abs(n[0] - n[1]), result[0]) << where << l.formula;
      } else {
        continue;
      }
      ++seen;
    }
    EXPECT_GE(seen, 5) << where;
  }
}

TEST(Buffers, AreTheSumOfTheirPorts) {
  const Plan p = planned({{"gpus", "128"}});
  const Buffers& b = p.buffers;
  EXPECT_EQ(b.leaf.n, 32 * b.node.buffer.n + 32 * b.fabric.buffer.n);
  EXPECT_EQ(b.spine_down, 32) << "four leaves with eight links each";
  EXPECT_EQ(b.spine.n, 32 * b.fabric.buffer.n);
  EXPECT_EQ(b.left_spine.n, p.chosen.profile.buffer.n - b.spine.n);
  EXPECT_EQ(b.node.buffer.n, p.chosen.profile.cell.n * headroom_cells(b.node.terms, p.chosen.profile.cell));
}

TEST(Buffers, WithoutLosslessClassesThereIsNoHeadroom) {
  const Section s = buffer_section(planned({{"gpus", "128"}, {"lossless-classes", "0"}}));
  ASSERT_EQ(s.lines.size(), 1u);
  EXPECT_THAT(s.notes, testing::ElementsAre("Without a lossless class no headroom is set aside."));
}

}  // namespace
}  // namespace railyard::plan
