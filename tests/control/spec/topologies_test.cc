// The labs that we ship.
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "control/spec/load.h"
#include "control/spec/to_yaml.h"

namespace railyard::spec {
namespace {

const std::filesystem::path kTopologies = RAILYARD_SOURCE_DIR "/topologies";

TEST(Topologies, AllLoadAndAreNamedAsTheirFiles) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kTopologies)) {
    if (entry.path().extension() != ".yaml") continue;
    try {
      const Lab lab = load(entry.path());
      EXPECT_EQ(lab.name, entry.path().stem().string());
      EXPECT_FALSE(lab.description.empty()) << entry.path();
      EXPECT_TRUE(parse(to_yaml(lab), "shown") == lab) << entry.path();
      names.insert(lab.name);
    } catch (const SpecError& e) {
      ADD_FAILURE() << e.what();
    }
  }
  for (const char* name : {"explicit", "incast-8to1", "lossy-vs-lossless", "permutation-128", "rails-4x8"})
    EXPECT_TRUE(names.contains(name)) << name;
}

// What the comments at the top of the files tell people to try.
TEST(Topologies, TheOverridesInTheirCommentsWork) {
  const auto loads = [](const char* file, const std::vector<std::string>& overrides) {
    try {
      load(kTopologies / file, overrides);
    } catch (const SpecError& e) {
      ADD_FAILURE() << e.what();
    }
  };
  loads("incast-8to1.yaml", {"qos.default.classes.3.ecn=off"});
  loads("incast-8to1.yaml", {"topology.spines=4"});
  loads("incast-8to1.yaml", {"traffic.incast.rate=10Gbps"});
  for (const char* file : {"incast-8to1.yaml", "explicit.yaml", "lossy-vs-lossless.yaml", "permutation-128.yaml"})
    loads(file, {"qos.default.classes.3.lossless=false"});
  loads("permutation-128.yaml", {"topology.fabric-link.rate=200Gbps"});
  loads("permutation-128.yaml", {"run.seed=2"});
  loads("permutation-128.yaml", {"qos.default.classes.3.path=spray"});
  loads("rails-4x8.yaml", {"topology.oversubscription=1"});
  loads("rails-4x8.yaml", {"traffic.across.rate=400Gbps"});
  loads("lossy-vs-lossless.yaml", {"qos.default.classes.1.queue-alpha=1/8"});
  loads("lossy-vs-lossless.yaml", {"qos.default.classes.3.ecn.kmin=50KB"});
  loads("labs/rails-4x8.yaml",
        {"topology.host-link.rate=500Mbps", "qos.default.classes.0.ecn={ kmin: 20KB, kmax: 60KB }"});
}

TEST(Topologies, AreAsLargeAsTheirNamesSay) {
  EXPECT_EQ(load(kTopologies / "permutation-128.yaml").nodes.size(), 8u + 8 + 128);
  const Lab rails = load(kTopologies / "rails-4x8.yaml");
  EXPECT_EQ(rails.nodes.size(), 4u + 2 + 8);
  EXPECT_EQ(rails.find("h8")->nics.size(), 4u);
}

}  // namespace
}  // namespace railyard::spec
