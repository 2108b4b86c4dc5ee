// What is worked out before any site is asked.
#include <cstdio>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/front/site_plan.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"

namespace railyard::front {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string file_with(const std::string& more) {
  const std::string file = testing::TempDir() + "site_plan.yaml";
  FILE* out = std::fopen(file.c_str(), "w");
  std::fputs(("name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 1 }\ntrunks: { delay: 1ms }\n" + more).c_str(), out);
  std::fclose(out);
  return file;
}

TEST(SitePlan, EachSiteCanReadItsPartFromTheOneFile) {
  const SitePlan plan = plan_sites(file_with("sites: { a: { address: 192.0.2.1, ssh: root@m1 }, b: { address: 192.0.2.2 }, c: { } }\n"), {}, {"a", "b"});
  EXPECT_THAT(plan.sites, ElementsAre("a", "b"));
  EXPECT_EQ(plan.lab.sites.at("a").ssh, "root@m1");
  EXPECT_EQ(plan.lab.sites.at("b").ssh, "192.0.2.2");
  const spec::Lab read = spec::parse(plan.file, "sent.yaml");
  EXPECT_EQ(read.sites.size(), 2u);
  for (const std::string site : {"a", "b"})
    EXPECT_TRUE(sites::part_of(read, site) == sites::part_of(plan.lab, site)) << plan.file;
  ASSERT_EQ(plan.trunks.at("a").size() + plan.trunks.at("b").size(), 2u);
  EXPECT_EQ(plan.trunks.at("a").begin()->second.other, "b");
}

TEST(SitePlan, SitesThatTheFileDoesNotHaveAreTargetsOfSsh) {
  const SitePlan plan = plan_sites(file_with(""), {}, {"root@192.0.2.1", "192.0.2.2"});
  EXPECT_THAT(plan.sites, ElementsAre("192-0-2-1", "192-0-2-2"));
  EXPECT_EQ(plan.lab.sites.at("192-0-2-1").ssh, "root@192.0.2.1");
  EXPECT_EQ(wire::to_string(*plan.lab.sites.at("192-0-2-1").address), "192.0.2.1");
}

TEST(SitePlan, AHostWithoutAnAddressIsRefused) {
  try {
    plan_sites(file_with(""), {}, {"no-such-host.invalid", "192.0.2.2"});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("site no-such-host: no address for 'no-such-host.invalid'"));
  }
  EXPECT_THROW(plan_sites(file_with(""), {}, {"-oProxyCommand=x", "192.0.2.2"}), std::invalid_argument);
  try {
    plan_sites(file_with("sites:\n  a: { ssh: root@no-such-host.invalid }\n  b: { address: 192.0.2.2 }\n"), {}, {"a", "b"});
    FAIL();
  } catch (const spec::SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("site_plan.yaml:5:3: site a: no address for 'no-such-host.invalid'"));
  }
}

}  // namespace
}  // namespace railyard::front
