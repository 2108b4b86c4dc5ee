// The classes that frames are in along their shortest paths: by DSCP or 802.1Q tag, and by what remapping switches make
// of these.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "control/routing/graph.h"
#include "control/spec/spec.h"

namespace railyard::routing {

// What devices find a frame's class by.
struct CodePoint {
  static constexpr int kUntagged = -1;
  int dscp = 0;         // 0..63
  int pcp = kUntagged;  // 0..7

  auto operator<=>(const CodePoint&) const = default;
};

// As `nic` sends the frames of such a traffic.
CodePoint sent_by(const spec::Lab& lab, const spec::PortName& nic, const spec::TrafficSpec& like);

// The class that a device with this profile puts such frames into.
int class_of(const spec::QosProfile& qos, const CodePoint& point);

// What a switch with this profile makes of frames that it moves to class `priority` (dataplane/switch/class_remap.cc):
// the first code point of the class; as before, if the class has none.
CodePoint remarked(const spec::QosProfile& qos, int priority, CodePoint point);

// A switch on a path, for frames that come to it with one code point.
struct ClassStep {
  std::size_t node = 0;
  CodePoint arrives = {};
  int in_class = 0;
  struct Exit {
    const Graph::Edge* edge;
    int out_class;  // after remap-to
    CodePoint leaves;
  };
  std::vector<Exit> next = {};  // to the next switches; none at the last
};

class ClassWalk {
 public:
  static constexpr int kUnreachable = -1;

  // `graph` outlives this.
  explicit ClassWalk(const Graph& graph) : graph_(graph) {}

  // All shortest paths from switch `from` to switch `to` of frames that arrive at `from` as `sent`: each switch once
  // for each code point, nearest first. Nothing: there is no path, or `from` is no switch.
  std::vector<ClassStep> steps(std::size_t from, std::size_t to, const CodePoint& sent);

  // How frames that come to a switch as `arrives` leave by a link.
  ClassStep::Exit exit(std::size_t node, const Graph::Edge& by, const CodePoint& arrives) const;

  // Links from each node to `to` through switches; kUnreachable: there is no such path.
  const std::vector<int>& distances(std::size_t to);

 private:
  const Graph& graph_;
  // Where paths are ordered: the links by which a node leads on.
  using Onward = std::vector<std::vector<PortIndex>>;
  const Onward& onward(std::size_t to);

  std::map<std::size_t, std::vector<int>> distances_;
  std::map<std::size_t, Onward> onward_;
};

}  // namespace railyard::routing
