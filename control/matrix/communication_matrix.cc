#include "control/matrix/communication_matrix.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/spec/collective_ranks.h"
#include "control/spec/input_error.h"

namespace railyard::matrix {
namespace {

using Step = CollectiveStep;

struct Sums {
  std::vector<std::string> names;
  std::map<std::string, std::size_t> number;
  std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> bytes;
  std::map<std::uint32_t, std::uint64_t> sizes;  // messages by their size
  std::vector<std::uint64_t> at_once;            // by round
  std::map<std::string, std::map<std::string, std::uint64_t>> of_ranks;

  std::size_t of(const std::string& name) {
    const auto [found, is_new] = number.try_emplace(name, names.size());
    if (is_new) names.push_back(name);
    return found->second;
  }
};

// In which round each message goes if each takes one: the longest chain of messages before it.
void add_rounds(const std::vector<RankProgram>& programs, Sums& sums) {
  struct At {
    std::uint32_t rank, step;
  };
  std::vector<std::vector<std::uint32_t>> waits, round;
  std::vector<At> ready;
  for (std::uint32_t r = 0; r < programs.size(); ++r) {
    waits.emplace_back();
    round.emplace_back(programs[r].steps.size());
    for (std::uint32_t s = 0; s < programs[r].steps.size(); ++s) {
      waits[r].push_back(programs[r].steps[s].waits_for + (programs[r].steps[s].receives() ? 1 : 0));
      if (waits[r][s] == 0) ready.push_back({r, s});
    }
  }
  const auto reach = [&](std::uint32_t r, std::uint32_t s, std::uint32_t at) {
    round[r][s] = std::max(round[r][s], at);
    if (--waits[r][s] == 0) ready.push_back({r, s});
  };
  while (!ready.empty()) {
    const At at = ready.back();
    ready.pop_back();
    const RankProgram& p = programs[at.rank];
    const Step& step = p.steps[at.step];
    std::uint32_t now = round[at.rank][at.step];
    if (step.kind == Step::Kind::kSend) {
      if (now >= sums.at_once.size()) sums.at_once.resize(now + 1);
      ++sums.at_once[now];
      ++now;
      reach(p.connections[step.connection].peer, step.peer_step, now);
    }
    for (std::uint32_t i = step.first_after; i < step.end_after; ++i) reach(at.rank, p.after[i], now);
  }
}

void add(const spec::Lab& lab, const spec::CollectiveSpec& c, By by, Sums& sums, Profile& profile) {
  std::vector<spec::RankAt> at = spec::ranks_at(lab, c);
  for (const spec::RankAt& reducer : spec::reducers(lab, c)) at.push_back(reducer);
  const std::vector<spec::PortName> nics = spec::ranks(lab, c);
  const std::vector<RankProgram> programs = spec::programs_of(lab, c, nics);
  std::vector<std::size_t> row;
  std::vector<std::string> rank;
  for (const spec::RankAt& r : at) {
    rank.push_back(spec::format(lab, r));
    row.push_back(sums.of(by == By::kHost ? r.nic.node : rank.back()));
  }
  for (std::uint32_t r = 0; r < programs.size(); ++r)
    for (const Step& s : programs[r].steps) {
      if (s.kind != Step::Kind::kSend) continue;
      const RankConnection& to = programs[r].connections[s.connection];
      sums.bytes[{row[r], row[to.peer]}] += s.octets;
      sums.of_ranks[rank[r]][rank[to.peer]] += s.octets;
      ++sums.sizes[s.octets];
      ++profile.messages;
      profile.bytes += s.octets;
      if (to.scale_up) profile.scale_up_bytes += s.octets;
    }
  add_rounds(programs, sums);
}

// The size that a share of the messages do not exceed.
std::uint64_t percentile(const Sums& sums, std::uint64_t messages, double share) {
  auto left = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(messages)));
  for (const auto& [size, count] : sums.sizes) {
    if (left <= count) return size;
    left -= count;
  }
  return 0;
}

void set_entropy(const Sums& sums, Profile& profile) {
  if (sums.of_ranks.empty()) return;
  for (const auto& [from, row] : sums.of_ranks) {
    double all = 0;
    for (const auto& [to, bytes] : row) all += static_cast<double>(bytes);
    for (const auto& [to, bytes] : row)
      if (bytes > 0) profile.entropy -= static_cast<double>(bytes) / all * std::log2(static_cast<double>(bytes) / all);
    profile.destinations += static_cast<double>(row.size());
  }
  const auto senders = static_cast<double>(sums.of_ranks.size());
  profile.entropy = std::abs(profile.entropy / senders);
  profile.destinations /= senders;
}

}  // namespace

std::uint64_t CommunicationMatrix::total() const noexcept { return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}); }

Communication communication_of(const spec::Lab& lab, By by, const std::string& name) {
  Sums sums;
  Communication out;
  Profile& profile = out.profile;
  std::vector<std::string> names;
  for (const spec::CollectiveSpec& c : lab.collectives) {
    names.push_back(c.name);
    if (name.empty() || c.name == name) add(lab, c, by, sums, profile);
  }
  if (names.empty()) throw InputError("the lab has no collectives or traces; expected at least one");
  if (!name.empty() && std::ranges::find(names, name) == names.end())
    throw InputError(fmt::format("--collective: there is no '{}'; expected {}", name, fmt::join(names, " or ")));
  out.matrix.names = sums.names;
  out.matrix.bytes.resize(sums.names.size() * sums.names.size());
  for (const auto& [ends, bytes] : sums.bytes) out.matrix.bytes[ends.first * sums.names.size() + ends.second] = bytes;
  if (!sums.sizes.empty()) {
    profile.least = sums.sizes.begin()->first;
    profile.p50 = percentile(sums, profile.messages, 0.5);
    profile.p99 = percentile(sums, profile.messages, 0.99);
    profile.most = sums.sizes.rbegin()->first;
  }
  set_entropy(sums, profile);
  std::map<std::string, int> ranks;
  for (const auto& [from, row] : sums.of_ranks) {
    ++ranks[from];
    for (const auto& [to, bytes] : row) ++ranks[to];
  }
  profile.most_entropy = ranks.size() > 2 ? std::log2(static_cast<double>(ranks.size() - 1)) : 0;
  profile.rounds = sums.at_once.size();
  if (profile.rounds > 0) {
    profile.most_at_once = std::ranges::max(sums.at_once);
    profile.mean_at_once = static_cast<double>(profile.messages) / static_cast<double>(profile.rounds);
  }
  return out;
}

}  // namespace railyard::matrix
