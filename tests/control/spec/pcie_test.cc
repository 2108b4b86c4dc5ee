// hosts.NAME.pcie: slots, and uplinks that NICs share.
#include "control/spec/pcie.h"

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/load.h"
#include "control/spec/to_yaml.h"

namespace railyard::spec {
namespace {

using testing::ElementsAre;

std::string pcie_lab(const std::string& pcie, int nics) {
  std::string links;
  for (int n = 1; n <= nics; ++n) links += fmt::format("{}[h:{}, sw:{}]", n > 1 ? ", " : "", n, n);
  return "name: x\nhosts: { default: { pcie: " + pcie + " } }\nnodes: { sw: { kind: switch }, h: { kind: host, nics: " + std::to_string(nics) + " } }\nlinks: [" + links + "]\n";
}

std::vector<std::vector<int>> groups_of(const std::string& pcie, int nics, const std::vector<std::string>& sets = {}) {
  const Lab lab = parse(pcie_lab(pcie, nics), "x.yaml", sets);
  std::vector<std::vector<int>> all;
  for (const PcieGroup& g : pcie_groups(lab, *lab.find("h"))) all.push_back(g.nics);
  return all;
}

std::string pcie_error(const std::string& pcie) {
  try {
    parse(pcie_lab(pcie, 2), "x.yaml");
  } catch (const SpecError& e) {
    return e.what();
  }
  return "(no error)";
}

TEST(PcieSpec, NeighboursShareAnUplinkAndTheLastOneHasTheRest) {
  EXPECT_THAT(groups_of("{ slot: gen5x16, shared-by: 2 }", 5), ElementsAre(ElementsAre(1, 2), ElementsAre(3, 4)));
  EXPECT_THAT(groups_of("{ slot: gen5x16, shared-by: 3 }", 5), ElementsAre(ElementsAre(1, 2, 3), ElementsAre(4, 5)));
  EXPECT_TRUE(groups_of("gen5x16", 4).empty());
  EXPECT_TRUE(groups_of("{ slot: gen5x16 }", 4).empty());
  EXPECT_TRUE(groups_of("unlimited", 4).empty());
}

// They have PCI Express of their own.
TEST(PcieSpec, NicsOfHostsOutsideAreInNoGroup) {
  EXPECT_TRUE(groups_of("{ slot: gen5x16, shared-by: 2 }", 4, {"nodes.h.attach=namespace", "run.clock=wall"}).empty());
}

TEST(PcieSpec, OneAloneHasTheLesserOfSlotAndUplink) {
  const auto rate = [](const std::string& pcie) {
    const Lab lab = parse(pcie_lab(pcie, 2), "x.yaml");
    return pcie_rate(lab, *lab.find("h"));
  };
  EXPECT_EQ(rate("{ slot: gen4x16, uplink: gen5x16, shared-by: 4 }"), rate_of({4, 16}));
  EXPECT_EQ(rate("{ slot: gen5x16, uplink: gen5x8, shared-by: 2 }"), rate_of({5, 8}));
  EXPECT_EQ(rate("{ slot: gen5x16, shared-by: 2 }"), rate_of({5, 16}));
  EXPECT_EQ(rate("unlimited"), std::nullopt);
}

TEST(PcieSpec, IsShownAsItIsWritten) {
  for (const char* pcie : {"gen4x8", "{ slot: gen5x16, shared-by: 2 }", "{ slot: gen4x16, shared-by: 4, uplink: gen5x16 }"}) {
    const Lab lab = parse(pcie_lab(pcie, 4), "x.yaml");
    EXPECT_TRUE(parse(to_yaml(lab), "shown") == lab) << pcie;
  }
  EXPECT_THAT(to_yaml(parse(pcie_lab("{ slot: gen4x8 }", 2), "x.yaml")), testing::HasSubstr("pcie: gen4x8"));
}

TEST(PcieSpec, BadValuesAreRefusedWhereTheyStand) {
  EXPECT_EQ(pcie_error("gen7x16").find("x.yaml:2:27: hosts.default.pcie: unknown 'gen7x16'"), 0u) << pcie_error("gen7x16");
  EXPECT_EQ(pcie_error("{ shared-by: 2 }"), "x.yaml:2:27: hosts.default.pcie: key 'slot' is missing: slot of each NIC");
  EXPECT_EQ(pcie_error("{ slot: gen5x16, shared-by: 0 }"), "x.yaml:2:55: hosts.default.pcie.shared-by: 0 is out of range; expected 1..64");
  EXPECT_EQ(pcie_error("{ slot: gen5x16, uplink: gen5x16 }"),
            "x.yaml:2:52: hosts.default.pcie.uplink: no NICs share it; expected shared-by: the number of NICs behind an uplink");
  EXPECT_NE(pcie_error("{ slot: gen5x16, shared: 2 }").find("unknown key 'shared'; did you mean 'shared-by'?"), std::string::npos);
}

}  // namespace
}  // namespace railyard::spec
