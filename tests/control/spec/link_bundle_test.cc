// Bundles of links (control/spec/link_bundle.h).
#include "control/spec/link_bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "control/spec/to_yaml.h"

namespace railyard::spec {
namespace {

using testing::HasSubstr;

Lab by_hand(const std::string& links) {
  return parse(
      "name: b\nnodes:\n  s1: { kind: switch }\n  s2: { kind: switch }\n  s3: { kind: switch }\n  h1: { kind: host }\n"
      "  h2: { kind: host }\nlinks:\n  - [h1:1, s1:1]\n  - [h2:1, s2:1]\n" +
          links,
      "x.yaml");
}

std::string error(const std::string& links) {
  try {
    by_hand(links);
    return "";
  } catch (const SpecError& e) {
    return e.what();
  }
}

TEST(LinkBundles, AreNamedByTheirEnds) {
  const Lab lab = parse(
      "name: b\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 1, uplinks-per-spine: 3, "
      "fabric-link: { bundle: auto } }\n",
      "x.yaml");
  const std::vector<LinkBundle> bundles = link_bundles(lab);
  ASSERT_EQ(bundles.size(), 4u);
  EXPECT_EQ(bundles[0].name, "leaf1-spine1");
  for (const LinkBundle& b : bundles) EXPECT_EQ(b.links.size(), 3u);
  EXPECT_EQ(parse(to_yaml(lab), "y.yaml"), lab);
}

TEST(LinkBundles, HaveTheNameThatTheFileGives) {
  const Lab lab = by_hand("  - [s1:2, s2:2, { bundle: po1 }]\n  - [s2:3, s1:3, { bundle: po1 }]\n  - [s1:4, s2:4]\n");
  const std::vector<LinkBundle> bundles = link_bundles(lab);
  ASSERT_EQ(bundles.size(), 1u);
  EXPECT_EQ(bundles[0].links, (std::vector<std::size_t>{2, 3}));
}

TEST(LinkBundles, AreBetweenTwoSwitchesAndOfOneRate) {
  EXPECT_THAT(error("  - [s1:2, s2:2, { bundle: po1 }]\n  - [s1:3, s3:3, { bundle: po1 }]\n"),
              HasSubstr("x.yaml:12:28: links.3.2.bundle: bundle po1 is between s1 and s2; expected a link between these"));
  EXPECT_THAT(error("  - [s1:2, s2:2, { bundle: po1 }]\n  - [s1:3, s2:3, { bundle: po1, rate: 25Gbps }]\n"),
              HasSubstr("expected the same rate, and not 25Gbps"));
  EXPECT_THAT(error("  - [s1:2, s2:2]\n  - [s3:1, h3:1, { bundle: po1 }]\n"), HasSubstr("h3"));
  EXPECT_THAT(error("  - [s1:2, s2:2, { bundle: 'a b' }]\n"), HasSubstr("'a b'"));
}

TEST(LinkBundles, NoneLeadsToAHost) {
  try {
    parse(
        "name: b\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2, host-link: { bundle: auto } "
        "}\n",
        "x.yaml");
    FAIL();
  } catch (const SpecError& e) {
    EXPECT_THAT(e.what(), HasSubstr("expected a link between two switches"));
  }
}

}  // namespace
}  // namespace railyard::spec
