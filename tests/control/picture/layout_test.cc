// Where things are: tiers one below the other, nothing on top of anything else.
#include "control/picture/layout.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/picture/svg.h"
#include "control/picture/text_width.h"
#include "control/spec/load.h"
#include "tests/control/spec/random_lab.h"

namespace railyard::picture {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Ge;
using testing::Le;

const std::filesystem::path kSources = RAILYARD_SOURCE_DIR;

// With room for what is rounded.
bool covers(const Rect& outer, const Rect& inner) {
  return inner.x >= outer.x - 0.01 && inner.y >= outer.y - 0.01 && inner.right() <= outer.right() + 0.01 &&
         inner.bottom() <= outer.bottom() + 0.01;
}

// Whether the piece of line from a to b passes through the inside of a box.
bool crosses(Point a, Point b, const Rect& box) {
  constexpr int kSteps = 200;
  const Rect inside = box.grown(-0.5);
  for (int i = 0; i <= kSteps; ++i) {
    const double t = static_cast<double>(i) / kSteps;
    const Point p{a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
    if (p.x > inside.x && p.x < inside.right() && p.y > inside.y && p.y < inside.bottom()) return true;
  }
  return false;
}

Rect around(const Text& t) {
  const double width = text_width(t.text, t.size, t.bold);
  const double left = t.anchor == Text::Anchor::kStart ? 0 : t.anchor == Text::Anchor::kMiddle ? width / 2 : width;
  return {t.at.x - left, t.at.y - 0.8 * t.size, width, t.size};
}

double top_of_arc(const std::vector<Point>& c) {
  return std::min({c[0].y, c[3].y, (c[0].y + 3 * c[1].y + 3 * c[2].y + c[3].y) / 8});
}

double bottom_of(const Picture& p, const std::string& text) {
  for (const Text& t : p.texts)
    if (t.text == text) return t.at.y + 4;
  return 0;
}

template <class Things, class Place>
void expect_apart(const Things& things, Place place, const char* what) {
  for (std::size_t i = 0; i < things.size(); ++i)
    for (std::size_t j = i + 1; j < things.size(); ++j)
      EXPECT_FALSE(place(things[i]).overlaps(place(things[j]))) << what << " " << i << " and " << j;
}

void expect_good(const spec::Lab& lab, Direction direction) {
  const Diagram d = diagram(lab);
  const Picture p = layout(d, lab, direction);
  const Rect paper{0, 0, p.width, p.height};
  ASSERT_EQ(p.boxes.size(), d.boxes.size());
  ASSERT_EQ(p.lines.size(), d.lines.size());

  expect_apart(
      p.boxes, [](const PlacedBox& b) { return b.place; }, "boxes");
  expect_apart(
      p.rates, [](const Plate& t) { return t.place; }, "rates");
  expect_apart(
      p.ports, [](const Plate& t) { return t.place; }, "ports");
  for (const PlacedBox& b : p.boxes) {
    EXPECT_TRUE(covers(paper, b.place));
    for (const Text& t : b.texts) EXPECT_TRUE(covers(b.place, around(t))) << t.text;
    for (const Text& t : b.texts)
      for (const Plate& port : p.ports)
        EXPECT_FALSE(port.place.overlaps(around(t))) << t.text << ", " << port.text.text;
    for (const Plate& t : p.rates) EXPECT_FALSE(t.place.overlaps(b.place)) << t.text.text;
  }
  for (const Text& t : p.texts) {
    EXPECT_TRUE(covers(paper, around(t))) << t.text;
    for (const PlacedBox& b : p.boxes) EXPECT_FALSE(b.place.overlaps(around(t))) << t.text;
  }
  for (std::size_t l = 0; l < p.lines.size(); ++l) {
    for (const auto& points : p.lines[l].strands) {
      for (const Point& at : points) EXPECT_TRUE(covers(paper, {at.x, at.y, 0, 0}));
      for (std::size_t i = 1; !p.lines[l].is_arc && i < points.size(); ++i)
        for (const PlacedBox& b : p.boxes)
          EXPECT_FALSE(crosses(points[i - 1], points[i], b.place)) << d.lines[l].detail << " through " << b.detail;
    }
    if (p.lines[l].is_arc && direction == Direction::kDown) {
      EXPECT_GT(top_of_arc(p.lines[l].strands.front()), bottom_of(p, d.size)) << "arcs stay below the title";
    }
    // It begins and ends at its boxes.
    const auto touches = [&](Point at, std::size_t box) {
      return p.boxes[box].place.grown(0.01).overlaps({at.x, at.y, 1e-9, 1e-9});
    };
    EXPECT_TRUE(touches(p.lines[l].strands.front().front(), d.lines[l].a));
    EXPECT_TRUE(touches(p.lines[l].strands.front().back(), d.lines[l].b));
  }
  // Rows one behind the other.
  for (std::size_t b = 0; b < d.boxes.size(); ++b)
    for (std::size_t c = 0; c < d.boxes.size(); ++c) {
      if (d.row_of[b] >= d.row_of[c]) continue;
      const Rect& upper = p.boxes[b].place;
      const Rect& lower = p.boxes[c].place;
      EXPECT_LT(direction == Direction::kDown ? upper.bottom() : upper.right(),
                direction == Direction::kDown ? lower.y : lower.x);
    }
  EXPECT_EQ(svg(layout(diagram(lab), lab, direction)), svg(p)) << "the same lab gives the same picture";
}

TEST(Layout, OfEveryLabThatIsShipped) {
  for (const auto& entry : std::filesystem::directory_iterator(kSources / "topologies")) {
    if (entry.path().extension() != ".yaml") continue;
    SCOPED_TRACE(entry.path());
    for (const Direction to : {Direction::kDown, Direction::kRight}) expect_good(spec::load(entry.path()), to);
  }
}

TEST(Layout, OfLabsByChance) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const spec::Lab lab = spec::random_lab(random);
    for (const Direction to : {Direction::kDown, Direction::kRight}) expect_good(lab, to);
    if (HasFailure()) return;
  }
}

TEST(Layout, OfPresetsOfManySizes) {
  for (const int leaves : {1, 2, 3, 12, 33, 100})
    for (const int spines : {1, 4, 24})
      for (const int parallel : {1, 3, 5}) {
        const std::string yaml = "name: x\ntopology: { preset: leaf-spine, leaves: " + std::to_string(leaves) +
                                 ", spines: " + std::to_string(spines) +
                                 ", uplinks-per-spine: " + std::to_string(parallel) + ", hosts-per-leaf: 5 }\n";
        SCOPED_TRACE(yaml);
        expect_good(spec::parse(yaml, "x.yaml"), Direction::kDown);
      }
}

// Switches in a ring, a chord across it, a host at a spine, one linked to nothing, and the longest names there are.
TEST(Layout, OfAnOddLab) {
  const std::string longest(63, 'W');
  std::string yaml = "name: x\nnodes:\n  top: { kind: switch, role: spine }\n  far: { kind: host }\n";
  std::string links = "links:\n  - [far:1, top:8000, { rate: 25Gbps }]\n";
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i);
    yaml += "  s" + n + ": { kind: switch, role: leaf, profile: " + longest + " }\n  h" + n + longest.substr(2) +
            ": { kind: host, nics: 2 }\n";
    links += "  - [s" + n + ":1001, s" + std::to_string((i + 1) % 6) + ":1002]\n  - [s" + n + ":8191, top:1" + n +
             "]\n" + "  - [h" + n + longest.substr(2) + ":2, s" + n + ":1]\n";
    if (i < 3)
      links += "  - [h" + n + longest.substr(2) + ":1, h" + std::to_string(i + 3) + longest.substr(2) + ":1]\n";
  }
  yaml += "  alone: { kind: switch }\n" + links +
          "  - [s1:9, s4:9]\n  - [s0:20, s3:20, { rate: 1Gbps }]\nswitches: { " + longest + ": {} }\n";
  const spec::Lab lab = spec::parse(yaml, "x.yaml");
  for (const Direction to : {Direction::kDown, Direction::kRight}) expect_good(lab, to);
  // Without the spine what goes over the leaves is at the upper edge.
  const spec::Lab ring = spec::parse(
      "name: x\nnodes: { a: { kind: switch }, b: { kind: switch }, c: { kind: switch } }\n"
      "links: [[a:1, b:1], [b:2, c:2], [c:1, a:2]]\n",
      "x.yaml");
  for (const Direction to : {Direction::kDown, Direction::kRight}) expect_good(ring, to);
}

TEST(Layout, NeighboursAreLinkedStraightWhateverPassesTheirRow) {
  // From the second leaf straight to the super-spine, through the row of the two spines.
  const spec::Lab lab = spec::parse(
      "name: x\nnodes:\n  l1: { kind: switch, role: leaf }\n  l2: { kind: switch, role: leaf }\n"
      "  l3: { kind: switch, role: leaf }\n  s1: { kind: switch, role: spine }\n  s3: { kind: switch, role: spine }\n"
      "  top: { kind: switch, role: super-spine }\n"
      "links: [[l1:1, s1:1], [l3:1, s3:1], [l2:1, top:1], [s1:9, s3:9]]\n",
      "x.yaml");
  for (const Direction to : {Direction::kDown, Direction::kRight}) {
    expect_good(lab, to);
    EXPECT_FALSE(layout(diagram(lab), lab, to).lines[3].is_arc);
  }
}

// ---- What is written ----------------------------------------------------------------------------------------------

std::vector<std::string> texts(const std::vector<Plate>& plates) {
  std::vector<std::string> out;
  for (const Plate& p : plates) out.push_back(p.text.text);
  return out;
}

std::vector<std::string> texts(const std::vector<Text>& those) {
  std::vector<std::string> out;
  for (const Text& t : those) out.push_back(t.text);
  return out;
}

Picture picture_of(const std::string& yaml) {
  const spec::Lab lab = spec::parse(yaml, "x.yaml");
  return layout(diagram(lab), lab, Direction::kDown);
}

TEST(Layout, SaysWhatTheLabIs) {
  const spec::Lab lab = spec::load(kSources / "topologies/rails-4x8.yaml");
  const Diagram d = diagram(lab);
  ASSERT_EQ(d.rows.size(), 3u);
  EXPECT_THAT(d.rows, ElementsAre(testing::Field(&Row::name, "2 spines"), testing::Field(&Row::name, "4 leaves"),
                                  testing::Field(&Row::name, "8 hosts")));
  const Picture p = layout(d, lab, Direction::kDown);
  EXPECT_EQ(p.title, "rails-4x8");
  const auto all = texts(p.texts);
  for (const char* text : {"Eight hosts on four rails, traffic within and across rails",
                           "2 spines, 4 leaves, 8 hosts with 32 NICs, 40 links", "32 × 400 Gb/s", "8 × 800 Gb/s",
                           "Rails", "1 (NIC 1 of a host)", "4", "800 Gb/s (8 links)", "3 m (32 links)", "9216"})
    EXPECT_THAT(all, Contains(text));
  EXPECT_TRUE(p.rates.empty()) << "each gap has one rate, and it is said once";
  EXPECT_EQ(p.ports.size(), 2 * lab.links.size());
}

TEST(Layout, RailsAreInTheirColours) {
  const spec::Lab lab = spec::load(kSources / "topologies/rails-4x8.yaml");
  const Diagram d = diagram(lab);
  const Picture p = layout(d, lab, Direction::kDown);
  for (std::size_t l = 0; l < d.lines.size(); ++l) {
    // Nodes are leaf-r1.., spine1.., h1..: boxes 0..3 are the leaves.
    const std::size_t leaf = std::min(d.lines[l].a, d.lines[l].b);
    ASSERT_LT(leaf, 4u);
    EXPECT_EQ(p.lines[l].colour, p.boxes[leaf].edge);
    EXPECT_NE(p.lines[l].colour, p.boxes[(leaf + 1) % 4].edge);
  }
}

TEST(Layout, ALinkOfAnotherRateThanItsNeighboursSaysSo) {
  const std::string yaml =
      "name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }\n"
      "nodes: { fast: { kind: host } }\nlinks: [[fast:1, leaf1:20, { rate: 400Gbps }]]\n";
  EXPECT_THAT(texts(picture_of(yaml).rates), ElementsAre("400 Gb/s"));
}

TEST(Layout, ParallelLinksAreDrawnApartAndSayHowManyOnce) {
  const Picture p = picture_of(
      "name: x\nnodes: { a: { kind: switch }, b: { kind: switch, role: spine }, h: { kind: host } }\n"
      "links: [[h:1, a:9], [a:1, b:1], [a:2, b:2], [a:3, b:3]]\n");
  EXPECT_THAT(texts(p.rates), ElementsAre("3 × 100 Gb/s"));
  const auto& strands = p.lines[1].strands;
  ASSERT_EQ(strands.size(), 3u);
  EXPECT_GE(strands[1].front().x - strands[0].front().x, 12);
  EXPECT_GE(strands[2].back().x - strands[1].back().x, 12);
}

TEST(Layout, ALargeFabricStaysSmall) {
  const spec::Lab lab = spec::load(kSources / "tests/bench/permutation-1024.yaml");
  const Diagram d = diagram(lab);
  EXPECT_EQ(d.boxes.size(), 1u + 32 + 32);
  EXPECT_EQ(d.lines.size(), 32u + 32);
  EXPECT_EQ(d.boxes.back().name, "h993..h1024");
  EXPECT_EQ(d.boxes.back().lines.front().text, "32 hosts");
  const Picture p = layout(d, lab, Direction::kDown);
  EXPECT_THAT(texts(p.rates), AllOf(testing::SizeIs(64), testing::Each(std::string("32 × 100 Gb/s"))));
  EXPECT_LT(p.width, 4500);
  EXPECT_LT(p.height, 1200);
  EXPECT_LT(svg(p).size(), 100'000u);
  expect_good(lab, Direction::kDown);
  expect_good(lab, Direction::kRight);
}

TEST(Layout, TheLargestFabricToo) {
  const spec::Lab lab = spec::parse(
      "name: x\ntopology: { preset: rail-optimized, hosts: 4096, rails: 8, hosts-per-group: 64, spines: 32 }\n",
      "x.yaml");
  const Diagram d = diagram(lab);
  EXPECT_EQ(d.boxes.size(), 8u + 1 + 1);
  EXPECT_LT(svg(layout(d, lab, Direction::kDown)).size(), 20'000u);
  expect_good(lab, Direction::kDown);
}

}  // namespace
}  // namespace railyard::picture
