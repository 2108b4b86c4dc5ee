// Which classes the RDMA traffic of a lab is in, port by port, and whether its path keeps it from loss anywhere.
#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>

#include "control/build/built_lab.h"
#include "dataplane/base/ids.h"

namespace railyard::report {

// Of flows over RoCE and UET and of collectives, on all shortest paths of each, there and back (acknowledgements in
// a class of their own too); by the DSCP and 802.1Q tag that they are sent with and what the switches make of them
// (trust, maps, remap-to). A path counts as lossless if any of
// its switches, or without switches its receiver, has the class lossless: one switch that drops is then a mistake.
class RdmaClasses {
 public:
  enum class Kind : unsigned char {
    kNone,      // no RDMA traffic enters or leaves here in the class
    kLossy,     // its path is lossy everywhere
    kLossless,  // of at least one path that is lossless somewhere
  };

  // `ports`: whether at() will be asked. In a large lab it takes long to find all ports on all paths of all flows.
  explicit RdmaClasses(const build::BuiltLab& lab, bool ports = true);

  // `port` from 1. kNone without `ports`.
  Kind at(const std::string& node, int port, std::size_t priority) const;
  // Whether the lab has RDMA traffic.
  bool any() const noexcept { return any_; }
  // "class 3 at leaf1": where RoCE enters a path that is lossy everywhere; empty: it enters none.
  const std::string& lossy_roce() const noexcept { return lossy_roce_; }

 private:
  std::map<std::pair<std::string, int>, std::array<Kind, kPriorities>> ports_;
  bool any_ = false;
  std::string lossy_roce_;
};

}  // namespace railyard::report
