// What a picture of a lab shows, before it is known where: boxes in rows and lines between them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "control/spec/spec.h"

namespace railyard::picture {

struct TextLine {
  std::string text;
  int rail = 0;  // kNoRail: none
};

// A node, or nodes that are drawn as one.
struct Box {
  bool is_host = false;
  std::size_t nodes = 1;
  std::size_t first = 0;  // of them, in Lab::nodes
  std::vector<std::size_t> members;  // all of them, in Lab::nodes
  int rail = 0;
  std::string name;
  std::vector<TextLine> lines;  // below the name
  std::string detail;           // what is shown on request
};

// Links of one rate and rail between the same two boxes.
struct Line {
  std::size_t a = 0;  // the box that is higher, or equally high and earlier in the lab
  std::size_t b = 0;
  std::vector<std::size_t> links;  // in Lab::links
  BitRate rate;
  int rail = 0;
  bool single_nodes = true;  // both boxes are one node: then ends have port numbers

  // At each end of links[i].
  std::vector<int> ports_a;
  std::vector<int> ports_b;
  std::string detail;
};

struct Row {
  std::string name;  // "4 leaves"
  std::vector<std::size_t> boxes;
};

struct Diagram {
  std::string name;         // of the lab
  std::string description;  // may be empty
  std::string size;         // "2 spines, 4 leaves, 8 hosts with 32 NICs, 40 links"
  int rails = 0;            // how many there are
  std::vector<Box> boxes;
  std::vector<Line> lines;
  std::vector<Row> rows;            // from top to bottom: the highest tier first, hosts last
  std::vector<std::size_t> row_of;  // by box
};

// Which nodes share a box: as many as a picture needs to be read on paper (collapse.h), or none, for a picture that can
// be zoomed.
enum class Folding { kReadable, kNone };

// `lab` is expanded and valid.
Diagram diagram(const spec::Lab& lab, Folding folding = Folding::kReadable);

}  // namespace railyard::picture
