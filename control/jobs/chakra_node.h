// One node of a Chakra execution trace, as its file has it.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/base/units.h"

namespace railyard::jobs {

struct ChakraNode {
  // NodeType of et_def.proto.
  enum class Type : std::uint32_t { kInvalid, kMetadata, kMemoryLoad, kMemoryStore, kCompute, kSend, kReceive, kCollective };
  std::uint64_t id = 0;
  std::string_view name{};
  std::uint32_t type = 0;
  std::vector<std::uint64_t> dependencies{};  // data and control
  std::uint64_t duration_us = 0;
  // Attributes, signed or unsigned; nothing: it has none of that name.
  std::optional<Int128> comm_type{}, comm_size{}, comm_src{}, comm_dst{}, comm_tag{}, root{}, num_ops{};
  std::string group{};  // pg_name, a number as text
  bool is_cpu_op = false;
};

// Nodes of a file, behind its metadata. The views last as long as `octets`. Error: what is broken, and which record (from 1).
std::expected<std::vector<ChakraNode>, std::string> chakra_nodes(std::string_view octets);

}  // namespace railyard::jobs
