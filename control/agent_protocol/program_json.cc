#include "control/agent_protocol/program_json.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "control/agent_protocol/fields.h"
#include "dataplane/base/assert.h"

namespace railyard::agents {
namespace {

using nlohmann::json;
using Kind = CollectiveStep::Kind;

constexpr std::uint64_t kMostRanks = 1 << 16;
constexpr std::uint64_t kMostPeers = 1 << 16;
constexpr std::uint64_t kMostDataOctets = std::uint64_t{1} << 40;
constexpr std::uint64_t kMostDuration = std::uint64_t{100'000} * 1'000'000'000'000;
constexpr std::size_t kStepNumbers = 10;
constexpr std::size_t kConnectionNumbers = 5;
constexpr std::size_t kExtentNumbers = 4;

json extents(const std::vector<CollectiveExtent>& all) {
  json out = json::array();
  for (const CollectiveExtent& e : all) out.push_back({e.offset, e.octets, e.rank, e.source_offset});
  return out;
}

const json& row(const Fields& fields, const char* key, const json& value, std::size_t numbers) {
  if (!value.is_array() || value.size() != numbers) fields.fail(key, fmt::format("expected lists of {}", numbers));
  return value;
}

std::vector<CollectiveExtent> extents_of(const Fields& f, const char* key, const RankProgram& p, bool sums) {
  std::vector<CollectiveExtent> all;
  for (const json& value : f.list(key, kMostSteps)) {
    const json& r = row(f, key, value, kExtentNumbers);
    CollectiveExtent e;
    e.offset = f.number_of<std::uint64_t>(r[0], key, 0, p.data_octets);
    e.octets = f.number_of<std::uint64_t>(r[1], key, 0, p.data_octets - e.offset);
    e.rank = f.number_of<std::uint32_t>(r[2], key);
    e.source_offset = f.number_of<std::uint64_t>(r[3], key, 0, kMostDataOctets);
    if (e.rank >= p.ranks && !(sums && e.rank == CollectiveExtent::kSum)) f.fail(key, "there is no such rank");
    all.push_back(e);
  }
  return all;
}

// What they are called by number. Agents' ranks relay nothing, and have no scale-up network (spec::check_collectives).
constexpr std::array kKinds{Kind::kSend, Kind::kReduce, Kind::kCopy, Kind::kCompute};
std::size_t number_of(Kind kind) {
  const auto found = std::ranges::find(kKinds, kind);
  RAILYARD_ASSERT(found != kKinds.end(), "unknown kind of step in an agent's program");
  return static_cast<std::size_t>(found - kKinds.begin());
}

CollectiveStep step_of(const Fields& f, const json& value, const RankProgram& p) {
  const char* const key = "steps";
  const json& r = row(f, key, value, kStepNumbers);
  CollectiveStep s;
  s.kind = kKinds[f.number_of<std::uint8_t>(r[0], key, 0, kKinds.size() - 1)];
  s.connection = f.number_of<std::uint32_t>(r[1], key);
  s.offset = f.number_of<std::uint64_t>(r[2], key, 0, p.data_octets);
  s.octets = f.number_of<std::uint32_t>(r[3], key, 0, p.data_octets - s.offset);
  s.peer_step = f.number_of<std::uint32_t>(r[4], key, 0, kMostSteps - 1);
  // A send's is in its peer's memory, and the peer's to check.
  const std::uint64_t all = p.data_octets + p.staging_octets;
  s.place = f.number_of<std::uint64_t>(r[5], key, 0, s.kind == Kind::kSend ? 2 * kMostDataOctets : all);
  if (s.receives() && s.octets > all - s.place) f.fail(key, "a message lies outside the rank's memory");
  s.waits_for = f.number_of<std::uint32_t>(r[6], key, 0, kMostSteps);
  s.first_after = f.number_of<std::uint32_t>(r[7], key, 0, p.after.size());
  s.end_after = f.number_of<std::uint32_t>(r[8], key, s.first_after, p.after.size());
  s.time = Duration{static_cast<std::int64_t>(f.number_of<std::uint64_t>(r[9], key, 0, kMostDuration))};
  if (s.kind != Kind::kCompute && s.connection >= p.connections.size()) f.fail(key, "there is no such connection");
  return s;
}

// Each step waits for as many as name it, and connections have as many messages as they say.
void check_consistent(const Fields& f, const RankProgram& p) {
  std::vector<std::uint32_t> waits(p.steps.size());
  for (const std::uint32_t next : p.after) {
    if (next >= p.steps.size() || p.steps[next].receives()) f.fail("after", "there is no such waiting step");
    ++waits[next];
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> messages(p.connections.size());
  std::uint32_t after = 0;
  for (std::size_t i = 0; i < p.steps.size(); ++i) {
    const CollectiveStep& s = p.steps[i];
    if (s.first_after != after) f.fail("steps", "'after' does not match the steps");
    after = s.end_after;
    if (s.waits_for != waits[i])
      f.fail("steps", fmt::format("{} steps precede step {}, but it waits for {}", waits[i], i, s.waits_for));
    if (s.kind == Kind::kSend) ++messages[s.connection].first;
    if (s.receives()) ++messages[s.connection].second;
  }
  if (after != p.after.size()) f.fail("steps", "'after' does not match the steps");
  for (std::size_t c = 0; c < p.connections.size(); ++c)
    if (messages[c] != std::pair(p.connections[c].sends, p.connections[c].receives))
      f.fail("connections", fmt::format("{} has a wrong number of messages", c));
}

}  // namespace

json to_json(const RankProgram& p) {
  json steps = json::array();
  for (const CollectiveStep& s : p.steps)
    steps.push_back({number_of(s.kind), s.connection, s.offset, s.octets, s.peer_step, s.place,
                     s.waits_for, s.first_after, s.end_after, s.time.ps});
  json connections = json::array();
  for (const RankConnection& c : p.connections)
    connections.push_back({c.peer, c.at_peer, c.channel, c.sends, c.receives});
  return {{"rank", p.rank},
          {"ranks", p.ranks},
          {"data", p.data_octets},
          {"staging", p.staging_octets},
          {"reduces", p.reduces},
          {"steps", std::move(steps)},
          {"after", p.after},
          {"connections", std::move(connections)},
          {"inputs", extents(p.inputs)},
          {"results", extents(p.results)}};
}

RankProgram program_from_json(const json& value) {
  const Fields f(value, "program");
  RankProgram p;
  p.ranks = f.number<std::uint32_t>("ranks", 2, kMostRanks);
  p.rank = f.number<std::uint32_t>("rank", 0, p.ranks - 1);
  p.data_octets = f.number<std::uint64_t>("data", 4, kMostDataOctets);
  p.staging_octets = f.number<std::uint64_t>("staging", 0, kMostDataOctets);
  p.reduces = f.flag("reduces");
  for (const json& c : f.list("connections", kMostPeers)) {
    const json& r = row(f, "connections", c, kConnectionNumbers);
    p.connections.push_back({.peer = f.number_of<std::uint32_t>(r[0], "connections", 0, p.ranks - 1),
                             .at_peer = f.number_of<std::uint32_t>(r[1], "connections"),
                             .channel = f.number_of<std::uint32_t>(r[2], "connections"),
                             .sends = f.number_of<std::uint32_t>(r[3], "connections", 0, kMostSteps),
                             .receives = f.number_of<std::uint32_t>(r[4], "connections", 0, kMostSteps)});
  }
  constexpr std::size_t kMostAfter = std::size_t{8} * kMostSteps;
  for (const json& a : f.list("after", kMostAfter)) p.after.push_back(f.number_of<std::uint32_t>(a, "after"));
  for (const json& s : f.list("steps", kMostSteps)) p.steps.push_back(step_of(f, s, p));
  check_consistent(f, p);
  p.inputs = extents_of(f, "inputs", p, false);
  p.results = extents_of(f, "results", p, true);
  return p;
}

}  // namespace railyard::agents
