// `railyard port test`: between the two ends of one shared memory, so that no privilege is needed.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class PortTest : public CommandLine {
 protected:
  std::string server(const char* name) const { return "memif:" + (folder_ / name).string(); }
  std::string client(const char* name) const { return "memif-client:" + (folder_ / name).string(); }
};

TEST_F(PortTest, SaysWhatPassesBothWays) {
  const Outcome r = railyard({"port", "test", server("m.sock"), client("m.sock"), "--mtu", "4000"});
  EXPECT_EQ(r.exit_code, kOk) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr(server("m.sock") + " -> " + client("m.sock")),
                           HasSubstr(client("m.sock") + " -> " + server("m.sock")), HasSubstr("4014"),
                           HasSubstr("2000 of 2000 received, 0 out of order, 0 damaged")));
  EXPECT_THAT(files(), testing::Not(testing::Contains("m.sock")));
}

TEST_F(PortTest, SaysItAsJson) {
  const Outcome r = railyard({"port", "test", server("m.sock"), client("m.sock"), "--json"});
  EXPECT_EQ(r.exit_code, kOk) << r.err;
  const json out = json::parse(r.out);
  EXPECT_TRUE(out["good"]);
  ASSERT_EQ(out["ways"].size(), 2u);
  for (const json& way : out["ways"]) {
    EXPECT_EQ(way["largest_frame"], 9230);
    for (const char* what :
         {"shortest_frame", "tagged", "pfc", "pause", "roce", "checksums_unchanged", "ecn_unchanged"})
      EXPECT_TRUE(way[what]) << what;
    EXPECT_EQ(way["burst"]["lost"], 0);
  }
}

TEST_F(PortTest, RefusesWhatIsNoCable) {
  EXPECT_EQ(error(kUsage, {"port", "test", "v0", "v0"}),
            "railyard: 'v0' is given twice; expected the two ends of a cable");
  EXPECT_EQ(error(kUsage, {"port", "test", "v0", "tup:v1"}),
            "railyard: 'tup:v1': there is no kind of port 'tup'; did you mean 'tap'?");
  EXPECT_THAT(error(kUsage, {"port", "test", "v0", "bridge:br0"}),
              HasSubstr("expected an interface, a PCI address, or one of netdev:, dpdk:"));
  EXPECT_EQ(error(kUsage, {"port", "test", "v0", "tap:"}), "railyard: 'tap:': missing value after 'tap:'");
  EXPECT_THAT(
      error(kFailed, {"port", "test", "0000:fe:1f.7", "v0"}),
      AllOf(StartsWith("railyard: 0000:fe:1f.7: port '0000:fe:1f.7': DPDK cannot use it"), HasSubstr("vfio-pci")));
}

}  // namespace
}  // namespace railyard::tools
