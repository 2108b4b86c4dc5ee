#include "control/jobs/chakra.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "control/base/json_text.h"
#include "control/jobs/chakra_node.h"
#include "control/jobs/graph_builder.h"

namespace railyard::jobs {
namespace {

using Kind = Operation::Kind;
using Wrong = std::unexpected<TraceFileError>;

// CollectiveCommType of et_def.proto.
constexpr std::array kTypes{collectives::Operation::kAllReduce, collectives::Operation::kReduce,    collectives::Operation::kAllGather,
                            collectives::Operation::kGather,    collectives::Operation::kScatter,   collectives::Operation::kBroadcast,
                            collectives::Operation::kAllToAll,  collectives::Operation::kReduceScatter, collectives::Operation::kReduceScatter,
                            collectives::Operation::kBarrier};

std::string number_text(const std::optional<Int128>& number) { return number ? fmt::format("{}", *number) : "missing"; }

class Reader {
 public:
  Reader(const std::vector<ChakraFile>& files, const ChakraFile& groups) : files_(files), build_(files.size()), groups_file_(groups) {}

  std::expected<JobGraph, TraceFileError> read() {
    if (files_.size() < 2) return Wrong({{0, fmt::format("{} file of a rank; expected at least 2", files_.size())}, {}});
    if (auto ok = read_groups(); !ok) return Wrong(ok.error());
    for (rank_ = 0; rank_ < files_.size(); ++rank_)
      if (auto ok = read_rank(); !ok) return Wrong(ok.error());
    return build_.take();
  }

 private:
  Wrong wrong(const std::string& text) const { return Wrong({{0, text}, files_[rank_].name}); }
  Wrong wrong(const ChakraNode& node, const std::string& text) const {
    return wrong(fmt::format("node {} ({}): {}", node.id, node.name, text));
  }

  // In the file of groups; line 0: in all of it.
  Wrong wrong_groups(int line, const std::string& text) const { return Wrong({{line, text}, groups_file_.name}); }

  // The line of an octet, or of the first group of that name.
  int groups_line(std::size_t octet) const {
    return 1 + static_cast<int>(std::ranges::count(groups_file_.octets.substr(0, octet), '\n'));
  }
  int groups_line(const std::string& name) const {
    const std::size_t at = groups_file_.octets.find(json_text(nlohmann::json(name)));
    return at == groups_file_.octets.npos ? 0 : groups_line(at);
  }

  std::expected<void, TraceFileError> read_groups() {
    if (groups_file_.octets.empty()) return {};
    if (is_nested_too_deeply(groups_file_.octets)) return wrong_groups(0, "nested too deeply");
    nlohmann::json json;
    try {
      json = nlohmann::json::parse(groups_file_.octets);
    } catch (const nlohmann::json::parse_error& e) {
      return wrong_groups(groups_line(e.byte > 0 ? e.byte - 1 : 0), "no JSON; expected groups of ranks, {\"name\": [rank, ...]}");
    }
    if (!json.is_object()) return wrong_groups(0, "found no JSON object; expected groups of ranks, {\"name\": [rank, ...]}");
    for (const auto& [name, list] : json.items()) {
      std::vector<std::uint32_t> ranks;
      for (const auto& rank : list) {
        if (!rank.is_number_unsigned() || rank.get<std::uint64_t>() >= files_.size())
          return wrong_groups(groups_line(name), fmt::format("group {}: found {}; expected ranks 0..{}", name, json_text(rank), files_.size() - 1));
        ranks.push_back(rank.get<std::uint32_t>());
      }
      if (!list.is_array() || ranks.size() < 2)
        return wrong_groups(groups_line(name), fmt::format("group {}: expected a list of at least 2 ranks", name));
      groups_[name] = std::move(ranks);
    }
    return {};
  }

  std::expected<void, TraceFileError> read_rank() {
    const auto nodes = chakra_nodes(files_[rank_].octets);
    if (!nodes) return wrong(nodes.error());
    if (build_.operations() + nodes->size() > kMostTraceOperations) return wrong(fmt::format("more than {} nodes", kMostTraceOperations));
    std::unordered_map<std::uint64_t, std::uint32_t> number;
    for (const ChakraNode& node : *nodes) {
      auto operation = operation_of(node);
      if (!operation) return Wrong(operation.error());
      if (!number.try_emplace(node.id, build_.add(rank_, std::move(*operation))).second) return wrong(node, "is given twice; expected each id once");
    }
    for (const ChakraNode& node : *nodes)
      for (const std::uint64_t id : node.dependencies) {
        const auto before = number.find(id);
        if (before == number.end()) return wrong(node, fmt::format("depends on node {}, which is not there", id));
        if (id == node.id) return wrong(node, "depends on itself");
        std::vector<std::uint32_t>& after = build_.at(rank_, number.at(node.id)).after;
        if (std::ranges::find(after, before->second) == after.end()) after.push_back(before->second);
      }
    return {};
  }

  std::expected<Operation, TraceFileError> operation_of(const ChakraNode& node) {
    Operation o{.label = build_.label(node.name)};
    switch (static_cast<ChakraNode::Type>(node.type)) {
      case ChakraNode::Type::kMetadata:
        o.stream = kNoStream;
        return o;
      case ChakraNode::Type::kMemoryLoad:
      case ChakraNode::Type::kMemoryStore:
      case ChakraNode::Type::kCompute:
        if (node.duration_us == 0 && node.num_ops.value_or(0) > 0) return wrong(node, "has num_ops, which says no time; expected duration_micros");
        if (node.duration_us > kMostTraceNanoseconds / 1000) return wrong(node, fmt::format("duration_micros {}; expected at most {}", node.duration_us, kMostTraceNanoseconds / 1000));
        o.stream = node.is_cpu_op ? 1 : 0;
        o.time = Duration{static_cast<std::int64_t>(node.duration_us) * 1'000'000};
        return o;
      case ChakraNode::Type::kSend:
      case ChakraNode::Type::kReceive:
        return message_of(node, std::move(o));
      case ChakraNode::Type::kCollective:
        return collective_of(node, std::move(o));
      case ChakraNode::Type::kInvalid:
        break;
    }
    return wrong(node, fmt::format("type {}; expected METADATA, MEM_LOAD, MEM_STORE, COMP, COMM_SEND, COMM_RECV or COMM_COLL (1 to 7)", node.type));
  }

  std::expected<std::uint64_t, TraceFileError> size_of(const ChakraNode& node) const {
    if (!node.comm_size || *node.comm_size < 0 || *node.comm_size > kMostTraceOctets)
      return wrong(node, fmt::format("comm_size {}; expected bytes up to {}", number_text(node.comm_size), kMostTraceOctets));
    return static_cast<std::uint64_t>(*node.comm_size);
  }

  std::expected<Operation, TraceFileError> message_of(const ChakraNode& node, Operation o) const {
    const bool sends = static_cast<ChakraNode::Type>(node.type) == ChakraNode::Type::kSend;
    o.kind = sends ? Kind::kSend : Kind::kReceive;
    const auto size = size_of(node);
    if (!size) return Wrong(size.error());
    o.octets = *size;
    const std::optional<Int128> peer = sends ? node.comm_dst : node.comm_src;
    if (!peer || *peer < 0 || *peer >= files_.size() || *peer == rank_)
      return wrong(node, fmt::format("{} {}; expected another rank, 0..{}", sends ? "comm_dst" : "comm_src", number_text(peer), files_.size() - 1));
    o.peer = static_cast<std::uint32_t>(*peer);
    o.tag = static_cast<std::uint32_t>(node.comm_tag.value_or(0));
    return o;
  }

  std::expected<Operation, TraceFileError> collective_of(const ChakraNode& node, Operation o) {
    if (!node.comm_type || *node.comm_type < 0 || *node.comm_type >= kTypes.size())
      return wrong(node, fmt::format("comm_type {}; expected 0..{}", number_text(node.comm_type), kTypes.size() - 1));
    Collective c{.operation = kTypes[static_cast<std::size_t>(*node.comm_type)]};
    if (c.operation != collectives::Operation::kBarrier) {
      const auto size = size_of(node);
      if (!size) return Wrong(size.error());
      c.octets = *size;
    }
    std::vector<std::uint32_t> ranks;
    if (const auto found = groups_.find(node.group); found != groups_.end())
      ranks = found->second;
    else if (node.group.empty() || (groups_.empty() && node.group == "0"))
      for (std::uint32_t r = 0; r < files_.size(); ++r) ranks.push_back(r);
    else
      return wrong(node, fmt::format("pg_name {}; expected a group of the file of groups", node.group));
    if (std::ranges::find(ranks, rank_) == ranks.end()) return wrong(node, fmt::format("rank {} is not in its group '{}'", rank_, node.group));
    if (node.root) {
      const auto place = std::ranges::find(ranks, *node.root);
      if (place == ranks.end()) return wrong(node, fmt::format("root_rank {}; expected a rank of its group", *node.root));
      c.root = static_cast<std::uint32_t>(place - ranks.begin());
    }
    c.communicator = build_.communicator(ranks);
    o.kind = Kind::kCollective;
    const std::pair key{c.communicator, nth_[{rank_, c.communicator}]++};
    const auto known = known_.find(key);
    if (known == known_.end()) {
      o.collective = build_.collective(c);
      known_[key] = {c, o.collective, rank_, node.id};
      return o;
    }
    const Known& first = known->second;
    if (first.collective.operation != c.operation || first.collective.octets != c.octets || first.collective.root != c.root)
      return wrong(node, fmt::format("{} of {} bytes, but rank {} does {} of {} bytes (node {}); expected the same", name(c.operation), c.octets,
                                     first.rank, name(first.collective.operation), first.collective.octets, first.node));
    o.collective = first.number;
    return o;
  }

  struct Known {
    Collective collective;
    std::uint32_t number = 0, rank = 0;
    std::uint64_t node = 0;
  };
  static constexpr std::uint8_t kNoStream = 255;

  const std::vector<ChakraFile>& files_;
  GraphBuilder build_;
  ChakraFile groups_file_;
  std::map<std::string, std::vector<std::uint32_t>, std::less<>> groups_;
  std::uint32_t rank_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> nth_;    // by rank and communicator
  std::map<std::pair<std::uint32_t, std::uint32_t>, Known> known_;          // by communicator and how manieth
};

}  // namespace

std::expected<JobGraph, TraceFileError> read_chakra(const std::vector<ChakraFile>& files, const ChakraFile& groups) {
  return Reader(files, groups).read();
}

}  // namespace railyard::jobs
