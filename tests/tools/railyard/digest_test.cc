// --digest: the same run, whoever runs it.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

class Digest : public CommandLine {
 protected:
  std::string digest(std::vector<std::string> options) const {
    options.insert(options.begin(), {"run", topology("incast-8to1.yaml"), "--duration", "200us", "--digest", "--json"});
    const Outcome o = railyard(options);
    EXPECT_EQ(o.exit_code, kOk) << o.err;
    return nlohmann::json::parse(o.out)["trace_digest"];
  }
};

TEST_F(Digest, DoesNotDependOnTheNumberOfWorkers) {
  const std::string one = digest({});
  EXPECT_EQ(one.size(), 16u);
  EXPECT_EQ(digest({"--workers", "2"}), one);
  EXPECT_EQ(digest({"--workers", "3"}), one);
}

TEST_F(Digest, IsTheSeeds) {
  const std::string one = digest({});
  EXPECT_EQ(digest({}), one);
  EXPECT_NE(digest({"--seed", "2"}), one);
}

TEST_F(Digest, IsThatOfTheSameLabWithoutItsPreset) {
  write("shown.yaml", railyard({"show", topology("incast-8to1.yaml")}).out);
  const Outcome o = railyard({"run", "shown.yaml", "--duration", "200us", "--digest", "--json"});
  EXPECT_EQ(nlohmann::json::parse(o.out)["trace_digest"], digest({}));
}

}  // namespace
}  // namespace railyard::tools
