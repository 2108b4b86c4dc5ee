#include "control/picture/words.h"

#include <gtest/gtest.h>

namespace railyard::picture {
namespace {

TEST(Words, RatesAsTheyAreSpokenOf) {
  EXPECT_EQ(rate_text({400'000'000'000}), "400 Gb/s");
  EXPECT_EQ(rate_text({1'600'000'000'000}), "1600 Gb/s");
  EXPECT_EQ(rate_text({12'800'000'000'000}), "12.8 Tb/s");
  EXPECT_EQ(rate_text({9'999'999'999'999}), "10 Tb/s");
  EXPECT_EQ(rate_text({2'500'000'000}), "2.5 Gb/s");
  EXPECT_EQ(rate_text({123'456'789'012}), "123.5 Gb/s");
  EXPECT_EQ(rate_text({50'000'000}), "50 Mb/s");
  EXPECT_EQ(rate_text({64'000}), "64 kb/s");
  EXPECT_EQ(rate_text({999}), "999 b/s");
}

TEST(Words, CablesOrDelays) {
  spec::LinkSpec link;
  EXPECT_EQ(cable_text(link), "3 m");
  link.cable.reset();
  link.delay = {500'000};
  EXPECT_EQ(cable_text(link), "500 ns");
}

TEST(Words, RunsOfNamesInShort) {
  EXPECT_EQ(names_text({"h1"}), "h1");
  EXPECT_EQ(names_text({"h1", "h2", "h3"}), "h1..h3");
  EXPECT_EQ(names_text({"h1", "h3", "h4"}), "h1, h3..h4");
  EXPECT_EQ(names_text({"h1", "h3", "h5"}), "h1 … h5");
  EXPECT_EQ(names_text({"h8", "h9", "h10"}), "h8..h10");
  EXPECT_EQ(names_text({"leaf-r1-g1", "leaf-r1-g2"}), "leaf-r1-g1..leaf-r1-g2");
  EXPECT_EQ(names_text({"storage", "tape"}), "storage, tape");
  EXPECT_EQ(names_text({"a1", "b2"}), "a1, b2");
}

TEST(Words, AttachmentsInShort) {
  EXPECT_EQ(attachment_text({}), "built-in");
  EXPECT_EQ(attachment_text(spec::AttachNamespace{}), "namespace");
  EXPECT_EQ(attachment_text(spec::AttachVm{}), "VM");
  EXPECT_EQ(attachment_text(spec::AttachTap{"tap0"}), "TAP tap0");
  EXPECT_EQ(attachment_text(spec::AttachNetdev{"eth1"}), "interface eth1");
  EXPECT_EQ(attachment_text(spec::AttachVhostUser{"/tmp/vm.sock"}), "vhost-user vm.sock");
  EXPECT_EQ(attachment_text(spec::AttachDpdk{"0000:03:00.0"}), "DPDK 0000:03:00.0");
  EXPECT_EQ(attachment_text(spec::AttachPcap{"a/in.pcap", "out.pcap", false}), "capture in.pcap");
  EXPECT_EQ(attachment_text(spec::AttachPcap{"", "a/out.pcap", false}), "capture to out.pcap");
}

TEST(Words, LongTextIsCutBetweenCharacters) {
  EXPECT_EQ(shortened("leaf", 4), "leaf");
  EXPECT_EQ(shortened("leaf1", 4), "lea…");
  EXPECT_EQ(shortened("äöüß", 4), "äöüß");
  EXPECT_EQ(shortened("äöüßx", 4), "äöü…");
}

}  // namespace
}  // namespace railyard::picture
