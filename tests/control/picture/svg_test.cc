// Well-formed, self-contained, and everything that people may write into a file is escaped.
#include "control/picture/svg.h"

#include <filesystem>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/picture/layout.h"
#include "control/picture/xml.h"
#include "control/spec/load.h"
#include "tests/control/picture/well_formed.h"
#include "tests/control/spec/random_lab.h"

namespace railyard::picture {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string svg_of(const spec::Lab& lab, Direction direction = Direction::kDown) {
  return svg(layout(diagram(lab), lab, direction));
}

TEST(Svg, TheCheckerFindsWhatIsNotWellFormed) {
  EXPECT_EQ(read_xml("<a x=\"1\"><b/>t &amp; u</a>").error, "");
  for (const char* bad : {"<a>", "<a></b>", "<a/><a/>", "<a>&</a>", "<a x=\"<\"/>", "<a x=1/>", "<a x=\"1\" x=\"1\"/>",
                          "text", "", "<a>\x01</a>"})
    EXPECT_NE(read_xml(bad).error, "") << bad;
}

TEST(Svg, IsWellFormedForEveryLab) {
  for (const auto& entry : std::filesystem::directory_iterator(RAILYARD_SOURCE_DIR "/topologies")) {
    if (entry.path().extension() != ".yaml") continue;
    EXPECT_EQ(read_xml(svg_of(spec::load(entry.path()))).error, "") << entry;
  }
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::mt19937_64 random(seed);
    EXPECT_EQ(read_xml(svg_of(spec::random_lab(random), Direction::kRight)).error, "") << "seed " << seed;
  }
}

TEST(Svg, NeedsNothingElse) {
  const std::string text = svg_of(spec::load(RAILYARD_SOURCE_DIR "/topologies/rails-4x8.yaml"));
  for (const char* outside : {"href", "url(", "<script", "@import", "<image"})
    EXPECT_THAT(text, Not(HasSubstr(outside)));
  const Document d = read_xml(text);
  ASSERT_EQ(d.error, "");
  EXPECT_EQ(d.elements[0].name, "svg");
  EXPECT_EQ(d.elements[0].attributes.at("xmlns"), "http://www.w3.org/2000/svg");
  EXPECT_EQ(d.elements[1].text, "rails-4x8");
  EXPECT_EQ(d.elements[3].name, "rect") << "a background of its own, for dark viewers";
  EXPECT_EQ(d.elements[3].attributes.at("fill"), "#ffffff");
}

TEST(Svg, HasEachNodeWithItsAddressAndWhatIsBehindIt) {
  const std::string text =
      svg_of(spec::parse("name: x\nnodes: { s: { kind: switch }, h1: { kind: host, attach: { tap: tap7 } }, h2: { "
                         "kind: host, address: 10.1.2.3 } }\n"
                         "links: [[h1:1, s:1], [h2:1, s:2]]\nrun: { clock: wall }\n",
                         "x.yaml"));
  for (const char* part : {">h1<", ">TAP tap7<", ">h2<", ">built-in<", ">10.1.2.3<", ">s<", ">10.255.0.1<",
                           "h2:1 – s:2, 100 Gb/s, 3 m, MTU 9216"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(Svg, EscapesWhatPeopleWrite) {
  spec::Lab lab = spec::parse(
      "name: x\ndescription: 'a <b> & \"c\"'\nnodes: { s: { kind: switch, role: '</title>' }, h: { kind: host, attach: "
      "{ "
      "vhost-user: '/tmp/<&>.sock' } } }\nlinks: [[h:1, s:1]]\nrun: { clock: wall }\n",
      "x.yaml");
  const std::string text = svg_of(lab);
  EXPECT_EQ(read_xml(text).error, "");
  EXPECT_THAT(text, HasSubstr(">a &lt;b&gt; &amp; &quot;c&quot;<"));
  EXPECT_THAT(text, HasSubstr("vhost-user &lt;&amp;&gt;.sock"));
  EXPECT_THAT(text, HasSubstr("role &lt;/title&gt;"));
}

TEST(Xml, WhatXmlHasNoPlaceForIsReplaced) {
  EXPECT_EQ(escaped("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(escaped("µ → 日 😀"), "µ → 日 😀");
  EXPECT_EQ(escaped(std::string("a\0b", 3)), "a\uFFFDb");
  EXPECT_EQ(escaped("\x1b[1m"), "\uFFFD[1m");
  EXPECT_EQ(escaped("\xff"), "\uFFFD");
  EXPECT_EQ(escaped("\xc3"), "\uFFFD");
  EXPECT_EQ(escaped("\xc0\xaf"), "\uFFFD\uFFFD") << "overlong";
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD") << "a surrogate";
  EXPECT_EQ(escaped("\xef\xbf\xbf"), "\uFFFD\uFFFD\uFFFD") << "U+FFFF";
  EXPECT_EQ(escaped("it's"), "it&apos;s");
}

}  // namespace
}  // namespace railyard::picture
