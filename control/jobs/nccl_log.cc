#include "control/jobs/nccl_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/jobs/graph_builder.h"
#include "control/jobs/nccl_choices.h"

namespace railyard::jobs {
namespace {

using Kind = Operation::Kind;
using Wrong = std::unexpected<TraceError>;

constexpr std::string_view kInfo = " NCCL INFO ";

// Octets by ncclDataType_t: int8, uint8, int32, uint32, int64, uint64, float16, float32, float64, bfloat16, float8 (two).
constexpr std::array<std::uint64_t, 12> kOctets{1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

struct Name {
  std::string_view text;
  Kind kind;
  collectives::Operation operation = collectives::Operation::kAllReduce;
  bool by_ranks = false;  // its count is of one rank's block
};
constexpr Name kNames[] = {{"AllReduce", Kind::kCollective, collectives::Operation::kAllReduce},
                           {"AllGather", Kind::kCollective, collectives::Operation::kAllGather, true},
                           {"ReduceScatter", Kind::kCollective, collectives::Operation::kReduceScatter, true},
                           {"Broadcast", Kind::kCollective, collectives::Operation::kBroadcast},
                           {"Bcast", Kind::kCollective, collectives::Operation::kBroadcast},
                           {"Reduce", Kind::kCollective, collectives::Operation::kReduce},
                           {"AlltoAll", Kind::kCollective, collectives::Operation::kAllToAll, true},
                           {"AllToAll", Kind::kCollective, collectives::Operation::kAllToAll, true},
                           {"Gather", Kind::kCollective, collectives::Operation::kGather, true},
                           {"Scatter", Kind::kCollective, collectives::Operation::kScatter, true},
                           {"Send", Kind::kSend},
                           {"Recv", Kind::kReceive}};

Wrong wrong(int line, std::string text) { return Wrong(TraceError{.line = line, .text = std::move(text)}); }

std::optional<std::uint64_t> number(std::string_view text, int base = 10) {
  if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || bad != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The word behind a word; empty: there is none.
std::string_view word_after(std::string_view line, std::string_view key) {
  for (std::size_t at = line.find(key); at != line.npos; at = line.find(key, at + 1)) {
    const std::size_t from = at + key.size();
    if ((at > 0 && line[at - 1] != ' ' && line[at - 1] != '[') || from >= line.size() || (line[from] != ' ' && line[from] != '=')) continue;
    const std::size_t to = std::min(line.find_first_of(" ]\r", from + 1), line.size());
    return line.substr(from + 1, to - from - 1);
  }
  return {};
}

// One process's end of a communicator.
struct Member {
  std::uint64_t id = 0;  // of the communicator, the same for all of its ranks: commId, or of a split identity_of()
  std::uint32_t rank = 0, ranks = 0;
  int line = 0;
};

struct Entry {
  std::size_t process = 0;
  const Name* name = nullptr;
  std::uint64_t op_count = 0, octets = 0, root = 0;
  std::string_view communicator, stream;
  int line = 0;
};

class Reader {
 public:
  std::expected<JobGraph, TraceError> read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++line_;
      if (auto ok = read_line(text.substr(0, end)); !ok) return Wrong(ok.error());
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (entries_.empty()) return wrong(0, "no operation in this log; expected NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=INIT,COLL");
    if (entries_.size() > kMostTraceOperations) return wrong(0, fmt::format("{} operations; expected at most {}", entries_.size(), kMostTraceOperations));
    if (auto ok = number_ranks(); !ok) return Wrong(ok.error());
    return graph();
  }

 private:
  std::expected<void, TraceError> read_line(std::string_view line) {
    const std::size_t info = line.find(kInfo);
    if (info == line.npos) return {};
    const std::string_view text = line.substr(info + kInfo.size());
    if (NcclChoices::is_one(text)) return choices_.add(process_of(line.substr(0, info)), text, line_);
    const bool is_split = text.contains(" parent ") && text.contains(" splitCount ");
    const bool begins = (text.contains(" commId ") || is_split) && text.contains(" rank ") && text.contains("nranks ");
    const auto name = std::ranges::find_if(kNames, [&](const Name& n) {
      return text.starts_with(n.text) && text.substr(n.text.size()).starts_with(": opCount ");
    });
    if (!begins && name == std::end(kNames)) {
      if (const std::size_t at = text.find(": opCount "); at != text.npos && text.contains("sendbuff"))
        return wrong(line_, fmt::format("operation '{}'; expected AllReduce, AllGather, ReduceScatter, Broadcast, Reduce, AlltoAll, Gather, "
                                        "Scatter, Send or Recv", text.substr(0, std::min<std::size_t>(at, 40))));
      return {};
    }
    const std::size_t process = process_of(line.substr(0, info));
    return begins ? read_member(process, text) : read_entry(process, *name, text);
  }

  // "node1:4711:4720 [3]": the thread does not matter, the device does, because one process may have several. What stands before
  // is of launchers and loggers: "[default0]:" (torchrun), "[1,0]<stdout>:" (mpirun), "0: " (srun), "[2025-03-01 10:11:12] ".
  std::size_t process_of(std::string_view prefix) {
    std::string_view device;
    if (const std::size_t bracket = prefix.rfind('['); bracket != prefix.npos && prefix.ends_with(']')) {
      device = prefix.substr(bracket);
      prefix = prefix.substr(0, bracket);
      while (prefix.ends_with(' ')) prefix.remove_suffix(1);
    }
    if (const std::size_t blank = prefix.rfind(' '); blank != prefix.npos) prefix.remove_prefix(blank + 1);
    const std::size_t thread = prefix.rfind(':');
    if (thread != prefix.npos) prefix = prefix.substr(0, thread);
    if (const std::size_t pid = prefix.rfind(':'); pid != prefix.npos && pid > 0)
      if (const std::size_t host = prefix.rfind(':', pid - 1); host != prefix.npos) prefix.remove_prefix(host + 1);
    return processes_.try_emplace(fmt::format("{} {}", prefix, device), processes_.size()).first->second;
  }

  // By what the ranks of a communicator know it. Of ncclCommSplit and ncclCommShrink, whose lines have no commId, it is made of what
  // is the same at all of its ranks, as NCCL itself does; the parent is known by its address, which is this process's own.
  std::expected<std::uint64_t, TraceError> identity_of(std::size_t process, std::string_view text) {
    const std::string_view parent = word_after(text, "parent");
    if (parent.empty()) {
      const auto id = number(word_after(text, "commId"), 16);
      if (!id) return wrong(line_, "this communicator has no commId; expected a hexadecimal number");
      if (*id == 0)
        return wrong(line_, "commId 0x0: a communicator of ncclCommSplit without its parent, splitCount and color; expected the log "
                            "from its \"Init START\" on, of NCCL 2.19 or later");
      return *id;
    }
    const auto split = number(word_after(text, "splitCount"));
    const auto color = number(word_after(text, "color"));
    if (!split || !color) return wrong(line_, "ncclCommSplit: no splitCount and color; expected a line of NCCL 2.19 or later");
    const auto from = members_.find({process, std::string(parent)});
    if (from == members_.end())
      return wrong(line_, fmt::format("ncclCommSplit: parent {} of this process has no line of its beginning; expected the log from its "
                                      "start, with NCCL_DEBUG_SUBSYS=INIT,COLL", parent));
    std::uint64_t id = from->second.id;
    for (const std::uint64_t part : {*split, *color}) {
      id = (id ^ part) * 0x9e37'79b9'7f4a'7c15;
      id ^= id >> 32;
    }
    names_.try_emplace(id, fmt::format("ncclCommSplit (color {}, splitCount {}) of {}", *color, *split, name_of(from->second.id)));
    return id;
  }

  // In messages.
  std::string name_of(std::uint64_t id) const {
    const auto split = names_.find(id);
    return split != names_.end() ? split->second : fmt::format("commId 0x{:x}", id);
  }

  std::expected<void, TraceError> read_member(std::size_t process, std::string_view text) {
    const auto rank = number(word_after(text, "rank"));
    const auto ranks = number(word_after(text, "nranks"));
    const std::string_view communicator = word_after(text, "comm");
    if (!rank || !ranks || communicator.empty() || *ranks > kMostTraceRanks || *rank >= *ranks)
      return wrong(line_, "this communicator has no comm, rank and nranks that fit together");
    // Before 2.21 "Init COMPLETE" of ncclCommSplit has "commId 0x0"; its "Init START" has said what it is.
    if (number(word_after(text, "commId"), 16) == 0 && members_.contains({process, std::string(communicator)})) return {};
    const auto id = identity_of(process, text);
    if (!id) return Wrong(id.error());
    const Member member{*id, static_cast<std::uint32_t>(*rank), static_cast<std::uint32_t>(*ranks), line_};
    // "Init START" and "Init COMPLETE" say the same.
    members_[{process, std::string(communicator)}] = member;
    std::map<std::uint32_t, std::size_t>& of = communicators_.try_emplace(*id).first->second;
    if (of.empty()) order_.push_back(*id);
    const auto [there, is_new] = of.try_emplace(member.rank, process);
    if (!is_new && there->second != process)
      return wrong(line_, fmt::format("rank {} of {} is another process already; expected each rank once", member.rank, name_of(*id)));
    sizes_[*id] = member.ranks;
    return {};
  }

  std::expected<void, TraceError> read_entry(std::size_t process, const Name& name, std::string_view text) {
    const auto op_count = number(word_after(text, "opCount"), 16);
    const auto count = number(word_after(text, "count"));
    const auto datatype = number(word_after(text, "datatype"));
    const auto root = number(word_after(text, "root"));
    const auto ranks = number(word_after(text, "nranks"));
    if (!op_count || !count || !datatype || !root || !ranks)
      return wrong(line_, "this operation has no opCount, count, datatype, root and nranks; expected a line of NCCL's COLL log");
    if (*datatype >= kOctets.size()) return wrong(line_, fmt::format("datatype {}; expected 0..{}", *datatype, kOctets.size() - 1));
    const std::uint64_t each = kOctets[*datatype] * (name.by_ranks ? std::max<std::uint64_t>(*ranks, 1) : 1);
    if (*count > kMostTraceOctets / each) return wrong(line_, fmt::format("count {}; expected at most {} bytes in all", *count, kMostTraceOctets));
    const std::string_view communicator = word_after(text, "comm");
    const auto member = members_.find({process, std::string(communicator)});
    if (member == members_.end())
      return wrong(line_, fmt::format("comm {} of this process has no line of its beginning; expected NCCL_DEBUG_SUBSYS=INIT,COLL", communicator));
    if (member->second.ranks != *ranks)
      return wrong(line_, fmt::format("nranks={}, but its communicator has {} ranks (line {})", *ranks, member->second.ranks, member->second.line));
    if (*root >= *ranks) return wrong(line_, fmt::format("root {}; expected 0..{}", *root, *ranks - 1));
    entries_.push_back({process, &name, *op_count, *count * each, *root, communicator, word_after(text, "stream"), line_});
    entry_members_.push_back(member->second);
    return {};
  }

  std::expected<void, TraceError> number_ranks() {
    std::vector<std::uint64_t> by_size = order_;
    std::ranges::stable_sort(by_size, std::ranges::greater{}, [&](std::uint64_t id) { return sizes_[id]; });
    for (const std::uint64_t id : by_size) {
      const auto& ranks = communicators_[id];
      if (ranks.size() != sizes_[id]) {
        std::uint32_t missing = 0;
        while (ranks.contains(missing)) ++missing;
        return wrong(0, fmt::format("{} of {} ranks of {} are in this log, not rank {}; expected the logs of all processes",
                                    ranks.size(), sizes_[id], name_of(id), missing));
      }
      for (const auto& [rank, process] : ranks) rank_of_.try_emplace(process, static_cast<std::uint32_t>(rank_of_.size()));
    }
    return {};
  }

  std::expected<JobGraph, TraceError> graph() {
    GraphBuilder build(rank_of_.size());
    // By process and stream: the operations that the next one waits for, and those of the group that goes on.
    struct Stream {
      std::vector<std::uint32_t> before, group;
      std::tuple<std::string_view, std::uint64_t> of_group{};
    };
    std::map<std::pair<std::size_t, std::string_view>, Stream> streams;
    std::map<std::pair<std::uint64_t, std::size_t>, std::size_t> nth;               // collectives, by communicator and process
    std::map<std::pair<std::uint64_t, std::size_t>, std::uint32_t> known;           // by communicator and how manieth
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Entry& e = entries_[i];
      const Member& member = entry_members_[i];
      const std::map<std::uint32_t, std::size_t>& processes = communicators_[member.id];
      const std::uint32_t rank = rank_of_[e.process];
      Operation o{.kind = e.name->kind, .octets = e.octets, .label = build.label(e.name->text), .line = e.line};
      if (o.kind == Kind::kCollective) {
        o.octets = 0;
        const std::pair key{member.id, nth[{member.id, e.process}]++};
        auto found = known.find(key);
        if (found == known.end()) {
          std::vector<std::uint32_t> ranks;
          for (const auto& [place, process] : processes) ranks.push_back(rank_of_[process]);
          if (ranks.size() < 2) continue;
          found = known.emplace(key, build.collective({.operation = e.name->operation, .communicator = build.communicator(ranks),
                                                       .octets = e.octets, .root = static_cast<std::uint32_t>(e.root), .line = e.line})).first;
          firsts_.push_back(i);
        } else if (const Entry& first = entries_[firsts_[found->second]];
                   first.name->operation != e.name->operation || first.octets != e.octets || first.root != e.root) {
          return wrong(e.line, fmt::format("{} of {} bytes, but another rank does {} of {} bytes (line {}); expected the same", e.name->text,
                                           e.octets, first.name->text, first.octets, first.line));
        }
        o.collective = found->second;
        // Before 2.24 rank 0 alone says so.
        if (const auto choice = choices_.of(e.process, e.name->text, e.octets, e.line)) {
          Collective& c = build.at(o.collective);
          c.algorithm = choice->algorithm;
          c.protocol = choice->protocol;
        }
      } else {
        o.peer = rank_of_[processes.at(static_cast<std::uint32_t>(e.root))];
        o.tag = static_cast<std::uint32_t>(member.id ^ (member.id >> 32));
        const bool sends = o.kind == Kind::kSend;
        Messages& all = messages_[{member.id, sends ? rank : o.peer, sends ? o.peer : rank}];
        (sends ? all.sends : all.receives).push_back(e.line);
      }
      Stream& stream = streams[{e.process, e.stream}];
      const std::tuple group{e.communicator, e.op_count};
      // A new group waits for all of the one before. Collectives of a group go one after the other.
      if (stream.group.empty() || stream.of_group != group || o.kind == Kind::kCollective) {
        stream.before = std::exchange(stream.group, {});
        stream.of_group = group;
      }
      o.after = stream.before;
      stream.group.push_back(build.add(rank, std::move(o)));
    }
    if (auto ok = check_messages(); !ok) return Wrong(ok.error());
    return build.take();
  }

  // Here and not in check(), which would name a tag that the log does not have.
  std::expected<void, TraceError> check_messages() const {
    for (const auto& [between, lines] : messages_) {
      const auto& [id, from, to] = between;
      const std::size_t both = std::min(lines.sends.size(), lines.receives.size());
      if (both < lines.sends.size())
        return wrong(lines.sends[both], fmt::format("rank {} sends a message to rank {} of {} that is not received", from, to, name_of(id)));
      if (both < lines.receives.size())
        return wrong(lines.receives[both], fmt::format("rank {} receives a message from rank {} of {} that is not sent", to, from, name_of(id)));
    }
    return {};
  }

  // The lines of what one rank sends to another in a communicator.
  struct Messages {
    std::vector<int> sends, receives;
  };

  int line_ = 0;
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>, Messages> messages_;  // by commId, sender and receiver
  std::map<std::string, std::size_t, std::less<>> processes_;
  std::map<std::pair<std::size_t, std::string>, Member> members_;                      // by process and communicator
  std::map<std::uint64_t, std::map<std::uint32_t, std::size_t>> communicators_;        // by commId: process by rank
  std::map<std::uint64_t, std::uint32_t> sizes_;
  std::map<std::uint64_t, std::string> names_;                                         // of those that have no commId
  std::vector<std::uint64_t> order_;
  std::vector<Entry> entries_;
  std::vector<Member> entry_members_;
  std::map<std::size_t, std::uint32_t> rank_of_;  // by process
  NcclChoices choices_;
  std::vector<std::size_t> firsts_;               // by collective: its first entry
};

}  // namespace

bool is_nccl_log(std::string_view text) {
  constexpr std::size_t kLooked = 65'536;
  return text.substr(0, kLooked).contains(kInfo);
}

std::expected<JobGraph, TraceError> read_nccl_log(std::string_view text) { return Reader().read(text); }

}  // namespace railyard::jobs
