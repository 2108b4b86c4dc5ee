// The devices of a fabric as in-band telemetry names them (int_stack.h), and as numbers: what processes that run the
// fabric together tell each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace railyard {

struct IntNodes {
  struct Node {
    const std::string* name;  // as IntHop::node has it
    std::size_t ports;
  };
  std::vector<Node> nodes;  // by number; the same in all processes
  std::unordered_map<const std::string*, std::uint32_t> numbers;

  void add(const std::string& name, std::size_t ports) {
    numbers[&name] = static_cast<std::uint32_t>(nodes.size());
    nodes.push_back({&name, ports});
  }
  // Of a name that is here.
  std::uint32_t number_of(const std::string& name) const { return numbers.at(&name); }
};

}  // namespace railyard
