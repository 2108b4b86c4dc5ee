// docs/check.md has every rule as the table has it.
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "control/lint/rule.h"

namespace railyard::lint {
namespace {

TEST(LintDocs, ListEveryRule) {
  std::ifstream in(RAILYARD_SOURCE_DIR "/docs/check.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  for (const Rule& r : rules())
    EXPECT_THAT(page, testing::HasSubstr(fmt::format("| `{}` | {} | {} |\n", r.name, word(r.severity), r.summary)))
        << "railyard check --rules prints the table";
}

}  // namespace
}  // namespace railyard::lint
