// A picture as shapes and text with places: what is left is to write it down.
//
// Units are pixels of a picture of natural size; x grows to the right and y downwards.
#pragma once

#include <string>
#include <vector>

namespace railyard::picture {

struct Point {
  double x = 0;
  double y = 0;
};

struct Rect {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;

  double right() const noexcept { return x + width; }
  double bottom() const noexcept { return y + height; }
  bool overlaps(const Rect& o) const noexcept {
    return x < o.right() && o.x < right() && y < o.bottom() && o.y < bottom();
  }
  Rect grown(double by) const noexcept { return {x - by, y - by, width + 2 * by, height + 2 * by}; }
};

struct Text {
  enum class Anchor { kStart, kMiddle, kEnd };
  Point at;  // on the baseline
  std::string text;
  double size = 10.5;
  bool bold = false;
  Anchor anchor = Anchor::kStart;
  std::string colour;
};

struct Dot {
  Point at;
  double radius = 3;
  std::string colour;
};

struct PlacedBox {
  Rect place;
  bool is_host = false;
  bool is_many = false;  // several nodes: drawn as a pile
  std::string fill;
  std::string edge;
  std::vector<Text> texts;
  std::vector<Dot> dots;
  std::string detail;  // shown on request
};

// Links between two boxes, side by side.
struct PlacedLine {
  std::vector<std::vector<Point>> strands;
  bool is_arc = false;  // strands are then single cubic Bézier curves
  std::string colour;
  double width = 1;
  double opacity = 1;
  std::string detail;
};

// Text on a plate: a port number at a link's end, a rate on a link.
struct Plate {
  Rect place;
  Text text;
  std::string edge;  // colour; empty: none
};

// A short piece of line, for the legend.
struct Sample {
  Point from;
  Point to;
  std::string colour;
  double width = 1;
};

struct Picture {
  double width = 0;
  double height = 0;
  std::string title;
  std::string description;
  std::vector<Rect> bands;        // one behind each row
  std::vector<PlacedLine> lines;  // in the order of Diagram::lines
  std::vector<PlacedBox> boxes;   // in the order of Diagram::boxes
  std::vector<Plate> ports;
  std::vector<Plate> rates;
  std::vector<Text> texts;  // titles, names of rows, legend
  std::vector<Sample> samples;
  std::vector<Dot> dots;
};

}  // namespace railyard::picture
