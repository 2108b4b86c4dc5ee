// What a plan prints, over a wide grid of requests: numbers as people write them.
#include <regex>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/plan/fabric_file.h"
#include "control/plan/job.h"
#include "tests/control/plan/planned.h"

namespace railyard::plan {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::vector<Said> grid() {
  std::vector<Said> out;
  for (const char* gpus : {"8", "64", "72", "128", "1000", "1024", "16384"})
    for (const char* radix : {"32", "64", "128"})
      for (const char* workload : {"pretraining", "fine-tuning", "inference-rag", "mixed"})
        out.push_back({{"gpus", gpus}, {"radix", radix}, {"workload", workload}});
  for (const char* gpus : {"1", "9", "64"})
    out.push_back({{"gpus", gpus}, {"gpus-per-node", "1"}});
  out.push_back({{"gpus", "72"}, {"gpus-per-node", "72"}});
  out.push_back({{"gpus", "128"}, {"nics-per-node", "1"}, {"gpus-later", "4096"}});
  return out;
}

void expect_well_written(const std::string& text, const std::string& where) {
  std::smatch bad;
  static const std::regex one(R"((^|[^\d,.x:/-])1 (GPUs|nodes|NICs|leaves|spines|cores|switches|ports|uplinks|links|cables|planes|pods|groups|copies|frames|cells|fibres)\b)");
  EXPECT_FALSE(std::regex_search(text, bad, one)) << where << ": " << bad.str();
  static const std::regex long_number(R"((^|[^\d,.\w-])\d{4,}\b(?! Gb))");
  EXPECT_FALSE(std::regex_search(text, bad, long_number)) << where << ": " << bad.str();
  EXPECT_THAT(text, AllOf(Not(HasSubstr(" = ,")), Not(HasSubstr("= \n"))))
      << where;
  static const std::regex no_number(R"(\b(inf|nan)\b)");
  EXPECT_FALSE(std::regex_search(text, bad, no_number)) << where << ": " << bad.str();
}

TEST(Sections, NumbersAreAsPeopleWriteThem) {
  for (const Said& said : grid()) {
    const std::string where = testing::PrintToString(said);
    if (const std::string wrong = problem(said); !wrong.empty()) {
      EXPECT_THAT(wrong, HasSubstr("expected")) << where;
      continue;
    }
    const Plan p = planned(said);
    expect_well_written(text(sections(p)), where);
    if (p.request.nodes() > 1) expect_well_written(planned_job(p.request, p.request.nodes(), 0).description, where);
  }
}

TEST(Sections, WholeNodesAreSaidSo) {
  const std::string all = text(sections(planned({{"gpus", "128"}})));
  EXPECT_THAT(all, HasSubstr("rounded up to whole GPUs = 3 GPUs (1 node)")) << "8B";
  EXPECT_THAT(all, HasSubstr("rounded up to whole nodes of 8 = "));
}

TEST(Sections, GpusThatFillNoNodeAreRefusedWithWhatWouldDo) {
  EXPECT_THAT(problem({{"gpus", "1"}}), HasSubstr("1 GPU in nodes of 8; expected 8, or --gpus-per-node 1"));
  EXPECT_THAT(problem({{"gpus", "9"}}), HasSubstr("9 GPUs in nodes of 8; expected a multiple of 8 (8 or 16)"));
}

// A number that is rounded says so, and one that is not does not.
TEST(Sections, RoundedUpIsSaidWhereItIs) {
  const std::string even = text(sections(planned({{"gpus", "128"}})));
  EXPECT_THAT(even, HasSubstr("16 nodes / 16 in a group x 4 leaves = 4"));
  const std::string odd = text(sections(planned({{"gpus", "1000"}})));
  EXPECT_THAT(odd, HasSubstr("groups (125 nodes / "));
}

}  // namespace
}  // namespace railyard::plan
