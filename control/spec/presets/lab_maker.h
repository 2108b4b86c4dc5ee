// What every preset does: nodes and links, one at a time, as if the file had them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "control/spec/spec.h"
#include "control/spec/yaml/tree.h"

namespace railyard::spec {

inline constexpr int kMostSwitches = 4096;  // of a kind in a preset
inline constexpr int kMostHosts = 65536;    // in a preset
inline constexpr int kMostPorts = 8191;     // of a node

// Refuses more than `limit` of `what`, at `topology`.
inline void check_most(const Tree& topology, std::int64_t count, std::string_view what, int limit) {
  if (count > limit) topology.fail(fmt::format("{} {}; expected at most {}", count, what, limit));
}

class LabMaker {
 public:
  // `topology`: where the file says so.
  LabMaker(const Tree& topology, Lab& lab) : topology_(topology), lab_(lab) {}

  NodeSpec& add_switch(std::string name, const char* role, const std::string& profile) {
    NodeSpec& node = add_node(std::move(name), NodeSpec::Kind::kSwitch, profile);
    node.role = role;
    return node;
  }
  NodeSpec& add_host(std::string name, int nics, const std::string& profile) {
    NodeSpec& node = add_node(std::move(name), NodeSpec::Kind::kHost, profile);
    NicSpec nic;
    nic.place = topology_.place;
    node.nics.assign(static_cast<std::size_t>(nics), nic);
    return node;
  }
  void add_link(const LinkSpec& like, PortName a, PortName b) {
    LinkSpec& link = lab_.links.emplace_back(like);
    link.a = std::move(a);
    link.b = std::move(b);
    link.place = topology_.place;
  }

 private:
  NodeSpec& add_node(std::string name, NodeSpec::Kind kind, const std::string& profile) {
    NodeSpec& node = lab_.nodes.emplace_back();
    node.name = std::move(name);
    node.kind = kind;
    node.profile = profile;
    node.place = topology_.place;
    return node;
  }

  const Tree& topology_;
  Lab& lab_;
};

}  // namespace railyard::spec
