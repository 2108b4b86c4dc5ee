// The linter is silent on every lab that is shipped, but on those that show the very mistake.
#include <filesystem>
#include <map>

#include <gmock/gmock.h>

#include "control/lint/rule.h"
#include "control/spec/load.h"
#include "tests/control/lint/lint_lab.h"

namespace railyard::lint {
namespace {

// Rules that these files break on purpose.
const std::map<std::string, std::vector<std::string>>& on_purpose() {
  static const std::map<std::string, std::vector<std::string>> files{
      {"comparisons/t6-2-latency.yaml", {"window-below-bdp"}},  // one message at a time, as a latency test sends them
      {"explicit.yaml", {"receiver-slower-than-link"}},         // every key by example, a slow host among them
      {"scenarios/ecn.yaml", {"kmin-above-xoff"}},  // marks are what it shows, pauses come first
      {"scenarios/deadlock-down-up.yaml", {"kmin-above-xoff", "accepted-buffer-cycle"}},
      {"scenarios/deadlock-ring.yaml", {"kmin-above-xoff", "accepted-buffer-cycle"}},
      {"scenarios/bubbles.yaml", {"path-slower-than-nics", "path-slower-than-nics"}},  // the slow way between racks is what it shows
      {"scenarios/pcie.yaml", {"nic-above-pcie"}},
      {"scenarios/shared-pcie.yaml", {"nic-above-pcie"}},
      {"scenarios/headroom.yaml", {"receiver-slower-than-link"}},
      {"scenarios/pfc-watchdog.yaml", {"receiver-slower-than-link"}},
      {"scenarios/roce-ecn-thresholds.yaml", {"kmin-above-xoff"}},
      {"scenarios/roce-mtu-mismatch.yaml", {"window-below-bdp"}},
      {"scenarios/roce-pair-passes.yaml", {"lossy-on-lossless-path"}},
      {"scenarios/roce-pfc-misaligned.yaml", {"rdma-in-lossy-class"}},
  };
  return files;
}

TEST(ShippedLabs, AreSilentOrBreakTheRuleThatTheyShow) {
  const std::filesystem::path root = RAILYARD_SOURCE_DIR "/topologies";
  std::size_t met = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::filesystem::path& path = entry.path();
    const auto folder = path.parent_path().filename();
    if (path.extension() != ".yaml" || folder == "profiles" || folder == "servers" || folder == "models") continue;
    spec::LabAndDocument loaded = spec::load_with_document(path);
    build::BuiltLab lab(std::move(loaded.lab), build::Outputs::kLeaveAlone);
    const std::string name = std::filesystem::relative(path, root);
    const auto expected = on_purpose().find(name);
    met += expected != on_purpose().end() ? 1 : 0;
    EXPECT_EQ(rules_of(lint(lab, loaded.document)),
              expected == on_purpose().end() ? std::vector<std::string>{} : expected->second)
        << name;
  }
  EXPECT_EQ(met, on_purpose().size());
}

}  // namespace
}  // namespace railyard::lint
