// What rules ask of a lab: who sends to whom in which class, over which ports.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/build/built_lab.h"
#include "control/routing/buffer_cycles.h"
#include "control/routing/class_walk.h"
#include "control/routing/graph.h"
#include "control/spec/spec.h"

namespace railyard::lint {

// What an entry of `traffic` or `collectives` sends between two NICs, however many flows, QPs or channels it has there.
struct Stream {
  std::string path;       // "traffic.0", "collectives.1"
  std::string name;       // of the entry
  spec::TrafficSpec like;  // what its packets look like; collectives' as those of traffic
  bool is_collective = false;
  spec::PortName from;
  spec::PortName to;
  int nic_class = 0;  // at the sender
};

// A switch on one of a stream's shortest paths: by which port and class it comes in, by which it may leave.
struct Hop {
  std::size_t node = 0;
  int in_port = 0;  // from 1
  int in_class = 0;
  int out_port = 0;
  int out_class = 0;  // after remap-to
  routing::CodePoint arrives = {};
  routing::CodePoint leaves = {};  // after remap-to, which writes it
};

class Facts {
 public:
  // `lab` outlives this. Routing as of the start of the run: links that faults take down later are there.
  explicit Facts(build::BuiltLab& lab);

  build::BuiltLab& built() const noexcept { return lab_; }
  const spec::Lab& lab() const noexcept { return lab_.spec(); }
  const routing::Graph& graph() const noexcept { return graph_; }
  const std::vector<Stream>& streams() const noexcept { return streams_; }
  // For rules that look at one stream at a time. In a lab with more than kMostStreams these are only the first ones of their
  // kind: others have the same settings between nodes that are alike (alike.h) and as far from each other, so rules would
  // say the same of them.
  const std::vector<Stream>& kinds_of_streams() const;
  static constexpr std::size_t kMostStreams = 2'000;

  // Buffers that wait for each other in a circle; none: there is no such circle. Found once.
  const std::vector<routing::WaitingBuffer>& buffer_cycle() const;
  // All hops of all shortest paths of a stream.
  std::vector<Hop> hops(const Stream& stream) const;

  const spec::QosProfile& qos(const spec::NodeSpec& node) const;
  // The class that a device puts packets into which come with this code point.
  int class_at(const spec::NodeSpec& node, const routing::CodePoint& point) const {
    return routing::class_of(qos(node), point);
  }
  // The key by which it does so: "qos.default.dscp.26".
  std::string class_key(const spec::NodeSpec& node, const routing::CodePoint& point) const;
  const std::string& qos_name(const spec::NodeSpec& node) const;
  const spec::HostProfile& host(const std::string& node) const;
  const spec::LinkSpec& link_at(const spec::PortName& port) const;
  // The port at the other end of the link.
  spec::PortName peer_of(const spec::PortName& port) const;
  // The highest rate that the stream can have between its NICs, their links included: over the best of its paths, or,
  // if switches or UET spread its packets, over all of them.
  BitRate bottleneck(const Stream& stream) const;

  // That of a collective or job in the document, by its number in the lab: "collectives.1", "jobs.0".
  static std::string collective_path(const spec::Lab& lab, std::size_t collective);
  // The path of a class's keys: "qos.default.classes.3".
  static std::string class_path(const std::string& qos, int priority);

 private:
  bool spreads(const Stream& stream) const;
  // Hops between two switches: 0, 1, 2, or 3 for more.
  int apart(std::size_t a, std::size_t b) const;
  void add_stream(std::set<std::string>& seen, Stream stream);
  const routing::Graph::Edge& edge_of(const spec::PortName& nic) const;

  build::BuiltLab& lab_;
  routing::Graph graph_;
  std::vector<Stream> streams_;
  mutable routing::ClassWalk classes_;
  mutable std::optional<std::vector<Stream>> kinds_;  // if there are many
  mutable std::optional<std::vector<routing::WaitingBuffer>> buffer_cycle_;
};

}  // namespace railyard::lint
