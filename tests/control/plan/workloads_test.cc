// The table of workloads is the one that docs/plan.md shows.
#include "control/plan/workloads.h"

#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/plan/arithmetic.h"

namespace railyard::plan {
namespace {

TEST(Workloads, ThePageHasTheSameTable) {
  std::ifstream page(RAILYARD_SOURCE_DIR "/docs/plan.md");
  std::stringstream text;
  text << page.rdbuf();
  for (const WorkloadNeeds& w : workloads())
    EXPECT_THAT(text.str(), testing::HasSubstr(fmt::format("| `{}` | {} | {} | {} |", w.name,
                                                           ratio_text(w.oversubscription.value()),
                                                           w.oversubscription_source, name(w.isolation))));
}

}  // namespace
}  // namespace railyard::plan
