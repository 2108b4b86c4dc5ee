#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/spec/check/check.h"
#include "control/spec/check/check_uet.h"
#include "control/spec/check/path_mtu.h"
#include "control/spec/check/traffic_ends.h"
#include "control/spec/collective_ranks.h"
#include "control/spec/rank_links.h"
#include "control/spec/reducers.h"
#include "control/spec/suggest.h"

namespace railyard::spec {
namespace {

// IP, UDP, BTH, RETH, immediate data and ICRC; and the SRETH of selective repeat.
constexpr int kWriteImmOctets = 8 + 12 + 16 + 4 + 4;
constexpr int kSelectiveRepeatOctets = 8;
constexpr std::size_t kMostRealRanks = 64;
constexpr std::uint32_t kMostChunk = 1u << 30;

class CollectiveCheck {
 public:
  // `like`: its packets of each kind, which outlive `uet`.
  CollectiveCheck(const Lab& lab, const CollectiveSpec& collective, const std::vector<TrafficSpec>& like, const Tree& said,
                  PathMtu& mtu, UetCheck& uet)
      : lab_(lab), c_(collective), like_(like), said_(said), mtu_(mtu), uet_(uet) {}

  void run() {
    check_ranks();
    check_division();
    if (const auto refusal = c_.used_algorithm()->refusal(layout(lab_, ranks_)))
      at(std::string(refusal->key).c_str()).fail(refusal->text);
    check_reduction();
    if (c_.pxn && places(lab_, ranks_).host.empty())
      at("pxn").fail("no two ranks share a host with a scale-up network; expected hosts.<profile>.scale-up");
    check_stragglers();
    check_messages();
    if (c_.is_uet())
      for (const TrafficSpec& like : like_) uet_.check(like, said_, {ends_, ends_});
    else
      check_recovery();
    if (has_agents(lab_, ranks_)) check_agents();
    if (RankLinks links(lab_, ends_); links.all_by_their_own() || has_agents(lab_, ranks_))
      check_paths();
    else
      check_neighbours(links);
    if (lab_.run.payload == Payload::kReal) check_memory();
  }

 private:
  const Tree& at(const char* key) const { return said_.at_or_self(key); }
  const Tree& selector_at(std::size_t n) const {
    const Tree& list = at("ranks");
    return &list != &said_ && n < list.items.size() ? list.items[n] : list;
  }

  // Selector by selector, because each NIC is there once.
  void check_ranks() {
    std::map<RankAt, std::size_t> rank;
    for (std::size_t n = 0; n < c_.ranks.size() && c_.placement.empty(); ++n) {
      CollectiveSpec one;
      one.ranks = {c_.ranks[n]};
      const std::vector<RankAt> own = ranks_at(lab_, one);
      if (own.empty()) fail_selector(c_.ranks[n], selector_at(n));
      for (const RankAt& at : own)
        if (const auto [found, is_new] = rank.try_emplace(at, rank.size()); !is_new)
          selector_at(n).fail(fmt::format("'{}': {} is already rank {}; expected each {} once", c_.ranks[n],
                                          at.gpu > 0 ? format(lab_, at) : format(at.nic), found->second,
                                          at.gpu > 0 ? "GPU" : "NIC"));
    }
    ranks_ = spec::ranks(lab_, c_);
    if (c_.is_graph() && ranks_.size() < c_.traced.graph->ranks.size())
      at(c_.is_job() ? "parallelism" : "trace").fail(fmt::format("has {} ranks, but there are {} NICs or GPUs; expected as many", c_.traced.graph->ranks.size(),
                                   ranks_.size()));
    if (ranks_.size() < 2) at(c_.placement.empty() ? "ranks" : "placement").fail("one rank; expected at least 2");
    if (collectives::traits(c_.collective).has_root && static_cast<std::size_t>(c_.root) >= ranks_.size())
      at("root").fail(fmt::format("there is no rank {}; expected 0..{}", c_.root, ranks_.size() - 1));
  }

  void check_reduction() {
    ends_ = ranks_;
    if (!is_in_switches(c_)) return;
    const CollectiveAlgorithm algorithm = c_.algorithm.value_or(c_.used_algorithm());
    if (has_agents(lab_, ranks_))
      at("algorithm").fail(fmt::format("{}: a rank is an agent's, and agents do not send to reducers; expected built-in hosts",
                                       algorithm->name));
    if (c_.is_graph())
      check_reduction_of_graph(*algorithm);
    else if (const auto problem =
                 collectives::reduction_problem(shape_of(lab_, c_, ranks_), static_cast<std::uint32_t>(ranks_.size())))
      at("ranks").fail(fmt::format("{}: {}", algorithm->name, *problem));
    for (RankAt& reducer : reducers(lab_, c_)) ends_.push_back(std::move(reducer.nic));
    if (const std::set<int> vlans = vlans_of_hosts(lab_); vlans.size() > 1 && !reducers(lab_).empty())
      at("algorithm").fail(fmt::format("{}: hosts are in several VLANs ({}), which a reducer cannot join; expected one",
                                       algorithm->name, fmt::join(vlans, ", ")));
  }

  // Collectives that switches cannot do have their usual algorithm; but some can.
  void check_reduction_of_graph(const collectives::Algorithm& algorithm) const {
    if (const auto refusal = algorithm.refusal(layout(lab_, ranks_))) at("algorithm").fail(refusal->text);
    const jobs::CompileOptions options = compile_options(lab_, c_, ranks_);
    const jobs::JobGraph& graph = c_.traced.whole();
    jobs::Shapes shapes(graph, options);
    if (std::ranges::none_of(graph.collectives, [&](const jobs::Collective& c) { return shapes.of(c).algorithm == &algorithm; }))
      at("algorithm").fail(fmt::format("{}: there is no collective in it that switches can do; expected one among ranks that a "
                                       "switch with reduction or a scale-up network with reduces joins",
                                       algorithm.name));
  }

  [[noreturn]] void fail_selector(const std::string& selector, const Tree& where) const {
    const std::string host = selector.substr(0, selector.find(':'));
    std::vector<std::string> names;
    for (const NodeSpec& node : lab_.nodes)
      if (node.kind == NodeSpec::Kind::kHost) names.push_back(node.name);
    const NodeSpec* node = lab_.find(host);
    if (node != nullptr && node->kind != NodeSpec::Kind::kHost)
      where.fail(fmt::format("'{}' is not a host; expected hosts", host));
    if (node != nullptr && node->reduces)
      where.fail(fmt::format("'{}' is the reducer of a switch; expected hosts", selector));
    if (node != nullptr && host.size() != selector.size() &&
        static_cast<std::size_t>(selector.back() - '0') > node->nics.size())
      where.fail(fmt::format("'{}': {} has {} NIC{}", selector, host, node->nics.size(),
                             node->nics.size() == 1 ? "" : "s"));
    if (node != nullptr)
      where.fail(
          fmt::format("{} is attached and has its own QPs; expected built-in hosts, or hosts with an agent", host));
    where.fail(fmt::format("'{}' matches no built-in host{}", selector, did_you_mean(host, names)));
  }

  void check_division() const {
    if (c_.is_graph()) return;
    const std::size_t n = ranks_.size();
    const bool by_blocks = collectives::traits(c_.collective).by_blocks && !c_.has_unequal_parts();
    const auto unit = static_cast<std::int64_t>(c_.element_octets() * (by_blocks ? n : 1));
    if (c_.size.n % unit != 0) {
      const std::int64_t below = c_.size.n / unit * unit;
      at("size").fail(fmt::format("{} bytes cannot be divided {}; expected a multiple of {}: {}{}B", c_.size.n,
                                  by_blocks ? fmt::format("among {} ranks in elements of {}", n, c_.element_octets())
                                            : fmt::format("into elements of {}", c_.element_octets()),
                                  unit, below > 0 ? fmt::format("{}B or ", below) : "", below + unit));
    }
  }

  void check_stragglers() const {
    // Those that only store are the last ones, and compute nothing.
    const std::size_t working = ranks_.size() - (c_.is_job() ? storage_ranks(lab_, *c_.job) : 0);
    std::set<int> said;
    for (std::size_t n = 0; n < c_.stragglers.size(); ++n)
      for (const int rank : c_.stragglers[n].ranks) {
        const Tree& where = at("stragglers").items[n];
        if (static_cast<std::size_t>(rank) >= working)
          where.fail(fmt::format("there is no rank {}{}; expected 0..{}", rank,
                                 working < ranks_.size() ? " that computes" : "", working - 1));
        if (!said.insert(rank).second) where.fail(fmt::format("rank {} is given twice; expected it once", rank));
      }
  }

  // About as many as there will be.
  void check_messages() const {
    const auto n = static_cast<double>(ranks_.size());
    const double pieces = static_cast<double>(c_.size.n) / c_.chunk;
    const double channels = c_.channel_count() * c_.buckets;
    const double of_channel = static_cast<double>(c_.size.n) / channels;
    collectives::Layout of_ranks = layout(lab_, ranks_);
    of_ranks.channels = static_cast<std::uint32_t>(c_.channel_count());
    double all = 2 * n * pieces + channels * c_.used_algorithm()->transfers(of_ranks, of_channel);
    if (c_.pxn) all *= 2;
    if (c_.is_graph()) {
      jobs::CompileOptions options = compile_options(lab_, c_, ranks_);
      // What an estimate needs at least; what a run needs is checked when its programs are made.
      options.chunk = std::max(options.chunk, kLeastEstimatedChunk);
      all = jobs::messages(c_.traced.whole(), options);
    }
    if (all > kMostCollectiveMessages)
      at("chunk").fail(
          fmt::format("needs about {:.0f} messages per iteration; expected at most {:.0f}: larger chunks, or fewer "
                      "channels or ranks",
                      all, kMostCollectiveMessages));
  }

  const RoceNicSpec& roce_of(const PortName& nic) const { return lab_.hosts.at(lab_.find(nic.node)->profile).roce; }

  // Agents have real data, and their devices speak go-back-N.
  void check_agents() const {
    const PortName& nic = *std::ranges::find_if(
        ranks_, [&](const PortName& rank) { return lab_.find(rank.node)->agent.has_value(); });
    if (c_.is_graph()) at(c_.is_job() ? "ranks" : "trace").fail(fmt::format("rank {} is an agent's, and agents run no {}s", format(nic), c_.operation_name()));
    if (c_.is_uet()) at("transport").fail(fmt::format("rank {} is an agent's RoCE device; expected roce", format(nic)));
    if (lab_.run.payload != Payload::kReal)
      at("ranks").fail(
          fmt::format("rank {} is an agent's and sends real data; expected run.payload: real", format(nic)));
    if (c_.pxn)
      at("pxn").fail(fmt::format("rank {} is an agent's, and agents do not relay; expected pxn: false", format(nic)));
    const RankPlaces where = places(lab_, ranks_);
    for (std::size_t r = 0; r < where.host.size(); ++r)
      if (lab_.find(ranks_[r].node)->agent && std::ranges::count(where.host, where.host[r]) > 1)
        at("ranks").fail(fmt::format("{} has an agent, whose ranks use NICs only; expected a profile without scale-up",
                                     ranks_[r].node));
    for (const PortName& rank : ranks_)
      if (roce_of(rank).loss_recovery == RoceLossRecovery::kSelectiveRepeat)
        at("ranks").fail(
            fmt::format("rank {} is an agent's device, which uses go-back-N, but {} has selective-repeat in its "
                        "profile; expected loss-recovery: go-back-n",
                        format(nic), format(rank)));
  }

  // All ranks may be each other's peers.
  void check_recovery() const {
    const auto selective = [&](const PortName& nic) {
      return roce_of(nic).loss_recovery == RoceLossRecovery::kSelectiveRepeat;
    };
    for (const PortName& nic : ends_)
      if (selective(nic) != selective(ranks_[0]))
        at("ranks").fail(fmt::format("{} and {} have different loss-recovery in their profiles; expected the same",
                                     format(ranks_[0]), format(nic)));
  }

  // Only those that send to each other need a path, by whichever of their NICs.
  void check_neighbours(RankLinks& links) {
    const std::vector<RankProgram> programs = c_.is_graph() ? programs_of(lab_, c_, ranks_) : small_programs();
    const int packet = packet_octets();
    for (std::uint32_t r = 0; r < programs.size(); ++r)
      for (const RankConnection& c : programs[r].connections) {
        if (c.scale_up) continue;
        const auto nics = links.between(r, c.peer, c.channel);
        if (!nics) fail_neighbours(r, c.peer);
        check_mtu(packet, nics->first, nics->second);
      }
  }

  // The same transfers as of the collective, of few octets.
  std::vector<RankProgram> small_programs() const {
    collectives::CollectiveShape shape = shape_of(lab_, c_, ranks_);
    if (shape.matrix.empty())
      shape.size = std::uint64_t{64} * shape.element * shape.channels * shape.buckets * ranks_.size();
    shape.chunk = kMostChunk / shape.element * shape.element;
    return collectives::plan_collective(shape, static_cast<std::uint32_t>(ranks_.size()));
  }

  [[noreturn]] void fail_neighbours(std::uint32_t from, std::uint32_t to) const {
    const bool in_hosts = !places(lab_, ranks_).host.empty();
    const auto name_of = [&](std::uint32_t r) {
      return r < ranks_.size() ? fmt::format("rank {} ({})", r, format(ends_[r])) : ends_[r].node;
    };
    const char* const expected = in_hosts && !c_.pxn ? "pxn: true, or a path"
                                 : ends_[from].node == ends_[to].node
                                     ? "hosts.<profile>.scale-up, or one rank of each host"
                                     : "a path, or ranks in the order of their cables";
    said_.fail(fmt::format("{} sends from {} to {}, but their NICs are not connected; expected {}", c_.used_algorithm()->name,
                           name_of(from), name_of(to), expected));
  }

  int packet_octets() const {
    const bool selective = roce_of(ranks_[0]).loss_recovery == RoceLossRecovery::kSelectiveRepeat;
    const int transport = c_.is_uet() ? uet_.octets(ends_, c_.ip_version) : kWriteImmOctets + (selective ? kSelectiveRepeatOctets : 0);
    return c_.path_mtu + transport + (c_.ip_version == 4 ? 20 : 40);
  }

  void check_mtu(int packet, const PortName& a, const PortName& b) {
    const int mtu = mtu_.between(a, b);
    if (mtu == 0) said_.fail(fmt::format("there is no path from {} to {}", format(a), format(b)));
    if (packet > mtu)
      at("path-mtu")
          .fail(fmt::format("{} and {} bytes of headers make packets of {}; the MTU from {} to {} is {}", c_.path_mtu,
                            packet - c_.path_mtu, packet, format(a), format(b), mtu));
  }

  void check_paths() {
    const int packet = packet_octets();
    // One NIC of each kind of place is enough.
    std::map<std::size_t, std::vector<PortName>> groups;
    for (const PortName& nic : ranks_)
      if (auto& known = groups[mtu_.group(nic)]; known.size() < 2) known.push_back(nic);
    for (const auto& [to_group, to] : groups)
      for (const auto& [from_group, from] : groups) {
        const PortName& b = to_group == from_group ? to.back() : to[0];
        if (from[0] != b) check_mtu(packet, from[0], b);
      }
  }

  void check_memory() const {
    if (ranks_.size() > kMostRealRanks)
      at("ranks").fail(fmt::format("{} ranks, and run.payload: real verifies at most {}; expected fewer, or elided",
                                   ranks_.size(), kMostRealRanks));
    // Data and what comes to be added, for two repeats at a time.
    // And at reducers the sum, and what comes from each child.
    const std::size_t reducing = ends_.size() - ranks_.size();
    const double copies = 4.0 * static_cast<double>(ranks_.size() + reducing) +
                          (reducing > 0 ? 2.0 * static_cast<double>(ranks_.size()) : 0);
    const double held = static_cast<double>(c_.size.n) * copies;
    if (held > static_cast<double>(lab_.run.memory.n))
      at("size").fail(fmt::format("with run.payload: real, {} ranks need up to {:.0f} MB; run.memory is {}",
                                  ranks_.size(), held / 1e6, format(lab_.run.memory)));
  }

  const Lab& lab_;
  const CollectiveSpec& c_;
  const std::vector<TrafficSpec>& like_;
  const Tree& said_;
  PathMtu& mtu_;
  UetCheck& uet_;
  std::vector<PortName> ranks_;
  std::vector<PortName> ends_;  // ranks, and reducers
};

}  // namespace

void check_collectives(const Draft& draft) {
  if (draft.lab.collectives.empty()) return;
  PathMtu mtu(draft.lab);
  // Traffic and collectives share NICs.
  UetCheck uet(draft.lab);
  for (std::size_t i = 0; i < draft.lab.traffic.size(); ++i)
    if (const TrafficSpec& t = draft.lab.traffic[i]; t.is_uet())
      uet.check(t, *draft.traffic[i], find_ends(draft, t, *draft.traffic[i]));
  std::vector<std::vector<TrafficSpec>> like;
  for (const CollectiveSpec& c : draft.lab.collectives) like.push_back(all_like_traffic(c));
  std::set<std::string> names;
  for (std::size_t i = 0; i < draft.lab.collectives.size(); ++i) {
    const CollectiveSpec& collective = draft.lab.collectives[i];
    const Tree& said = *draft.collectives[i];
    if (!names.insert(collective.name).second)
      said.at_or_self("name").fail(
          fmt::format("two collectives have the name {}; expected unique names", collective.name));
    CollectiveCheck(draft.lab, collective, like[i], said, mtu, uet).run();
  }
}

}  // namespace railyard::spec
