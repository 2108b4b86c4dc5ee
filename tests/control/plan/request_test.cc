// Impossible requests: one error, with its place and what was expected.
#include "control/plan/request.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/plan/planned.h"

namespace railyard::plan {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Request, ErrorsNameTheOptionAndWhatWasExpected) {
  const auto wrong = [](const Said& more) {
    Said said{{"gpus", "128"}};
    for (const auto& m : more) {
      if (m.first == "gpus") said.erase(said.begin());
      said.push_back(m);
    }
    return problem(said);
  };
  EXPECT_THAT(wrong({{"radix", "3"}}), AllOf(StartsWith("--radix"), HasSubstr("4..1024")));
  EXPECT_THAT(wrong({{"gpus", "0"}}), AllOf(StartsWith("--gpus"), HasSubstr("1..")));
  EXPECT_THAT(wrong({{"gpus", "100"}}), AllOf(StartsWith("--gpus"), HasSubstr("multiple of 8 (96 or 104)")));
  EXPECT_THAT(wrong({{"workload", "training"}}),
              AllOf(StartsWith("--workload"), HasSubstr("did you mean 'pretraining'")));
  EXPECT_THAT(wrong({{"gpus-later", "64"}}), AllOf(StartsWith("--gpus-later"), HasSubstr("expected 128 or more")));
  EXPECT_THAT(wrong({{"gpus-later", "132"}}), AllOf(StartsWith("--gpus-later"), HasSubstr("multiple of 8")));
  EXPECT_THAT(wrong({{"nic-rate", "800Gbps"}}), AllOf(StartsWith("--nic-rate"), HasSubstr("400Gbps or less")));
  EXPECT_THAT(wrong({{"nics-per-node", "3"}}), AllOf(StartsWith("--nics-per-node"), HasSubstr("divisor")));
  EXPECT_THAT(wrong({{"radix", "8"}, {"design", "fat-tree"}}),
              AllOf(StartsWith("--design"), HasSubstr("do not fit at one leaf")));
  EXPECT_THAT(wrong({{"gpus", "1000000"}}),
              AllOf(StartsWith("--gpus"), HasSubstr("more than three tiers"), HasSubstr("expected some")));
  EXPECT_THAT(wrong({{"core-cable", "11km"}, {"gpus", "4096"}}),
              AllOf(StartsWith("--core-cable"), HasSubstr("10km or less")));
  EXPECT_THAT(wrong({{"radix", "64"}, {"capacity", "25.6Tbps"}}),
              AllOf(StartsWith("--capacity"), HasSubstr("one of the two")));
  EXPECT_THAT(wrong({{"model", "80B"}}), AllOf(StartsWith("--model"), HasSubstr("llama-8b")));
  EXPECT_THAT(problem({{"workload", "mixed"}}), HasSubstr("'gpus' is missing"));
}

TEST(Request, ThePageHasAllKeys) {
  std::ifstream page(RAILYARD_SOURCE_DIR "/docs/plan.md");
  std::stringstream text;
  text << page.rdbuf();
  for (const std::string& key : request_keys().known()) EXPECT_THAT(text.str(), HasSubstr("`--" + key + "`"));
  for (const std::string& key : price_keys().known()) EXPECT_THAT(text.str(), HasSubstr("`" + key + "`"));
}

class RequestFile : public testing::Test {
 protected:
  std::string write(const std::string& text) {
    const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "request.yaml";
    std::ofstream(path) << text;
    return path.string();
  }
};

TEST_F(RequestFile, OptionsWinOverTheFile) {
  const std::string file = write("workload: mixed\ngpus: 64\nnic-rate: 200Gbps\n");
  const Request r = read_request(file, {{"gpus", "128"}});
  EXPECT_EQ(r.workload, Workload::kMixed);
  EXPECT_EQ(r.gpus, 128);
  EXPECT_EQ(r.nic_rate().bps, 200'000'000'000);
}

TEST_F(RequestFile, ErrorsNameTheLine) {
  const std::string file = write("gpus: 64\nradix: 3\n");
  try {
    static_cast<void>(read_request(file, {}));
    FAIL();
  } catch (const std::exception& e) {
    EXPECT_THAT(e.what(), HasSubstr("request.yaml:2:8: radix"));
  }
  try {
    static_cast<void>(read_request(write("gpu-s: 64\n"), {}));
    FAIL();
  } catch (const std::exception& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("unknown key 'gpu-s'"), HasSubstr("did you mean 'gpus'")));
  }
}

}  // namespace
}  // namespace railyard::plan
