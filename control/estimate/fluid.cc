#include "control/estimate/fluid.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "control/build/planned_collectives.h"
#include "control/estimate/flow_network.h"
#include "control/report/collective_limit.h"
#include "control/report/framing.h"
#include "control/report/tensor_groups.h"
#include "control/spec/collective_ranks.h"
#include "control/spec/frame_tags.h"
#include "control/spec/value.h"
#include "dataplane/base/hash.h"
#include "dataplane/switch/path/path_config.h"

namespace railyard::estimate {
namespace {

using Step = CollectiveStep;

// Flows that would end within this of each other end together: fewer instants, and no more than this of error each.
constexpr double kTogetherPs = 1000;

class Fluid {
 public:
  Fluid(const spec::Lab& lab, std::vector<build::PlannedCollective> planned)
      : lab_(lab), network_(lab), max_min_(capacities()), carried_(network_.links(), 0), planned_(std::move(planned)) {
    for (const spec::LinkSpec& l : lab.links) rates_of_[l.a] = rates_of_[l.b] = l.rate;
  }

  std::expected<Estimate, std::string> run() {
    for (std::uint32_t c = 0; c < planned_.size(); ++c)
      if (const auto added = add(c); !added) return std::unexpected(added.error());
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      const Collective& c = collectives_[ranks_[r].collective];
      at(c.start + c.launch_cost, Kind::kBegin, r, 0);
    }
    while (advance()) {
    }
    return result();
  }

 private:
  enum class Kind : std::uint8_t { kBegin, kComputed, kDone, kArrives };
  struct Event {
    std::int64_t at;
    std::uint64_t order;
    Kind kind;
    std::uint32_t rank;
    std::uint32_t step;
    bool operator>(const Event& o) const noexcept { return std::tie(at, order) > std::tie(o.at, o.order); }
  };
  struct Connection {
    std::uint32_t peer = 0;  // rank
    bool scale_up = false;
    const std::vector<LinkUse>* path = nullptr;
    std::int64_t latency = 0, round_trip = 0;  // ps
    std::queue<std::uint32_t> waiting{};       // steps, behind the one that is sent
    bool busy = false;
  };
  struct Stream {
    bool busy = false;
    std::queue<std::uint32_t> waiting{};
  };
  struct Rank {
    std::uint32_t collective = 0;
    RankProgram* program = nullptr;
    std::vector<std::uint32_t> waits{};
    std::vector<Connection> connections{};
    std::vector<Stream> streams{};
    std::uint32_t port = 0;  // in its host's scale-up network
    std::size_t left = 0;
    std::int64_t computed = 0;
    std::int64_t in_host = 0;  // time that it sent over its scale-up network
    std::int64_t result = 0;  // when its last receive or computing was done
    std::vector<StepTimes> times{};  // of jobs of inference
  };
  struct Collective {
    std::int64_t start = 0;
    std::int64_t launch_cost = 0;
    std::uint32_t first = 0;  // of ranks_
    double per_octet = 1;     // on the wire, framing included
    int frame = 0;            // octets of a full one
    double reduce_ps = 0;     // per octet
    std::int64_t step_cost = 0;
    double scale_up_share = 1;
  };
  struct Flow {
    std::uint32_t rank, step;
    double left;  // octets on the wire
  };
  struct Port {
    std::int64_t sends_until = 0, takes_until = 0;
    double rate = 0;  // octets per ps
    std::int64_t latency = 0;
    std::int64_t answers = 0;  // later a sender knows that its message is there
  };

  std::vector<double> capacities() const {
    std::vector<double> all;
    for (std::uint32_t l = 0; l < network_.links(); ++l) all.push_back(network_.capacity(l) / 1e12);  // octets per ps
    return all;
  }

  // Over all paths, or over one for each connection.
  bool spreads(const spec::CollectiveSpec& c, int dscp, const spec::PortName& from) const {
    if (c.is_uet() && c.service == spec::CollectiveService::kRud) return true;
    // As the switch of its host does it.
    for (const spec::LinkSpec& link : lab_.links) {
      if (link.a != from && link.b != from) continue;
      const spec::NodeSpec& leaf = *lab_.find((link.a == from ? link.b : link.a).node);
      if (leaf.kind != spec::NodeSpec::Kind::kSwitch) return false;
      const spec::QosProfile& qos = lab_.qos.at(lab_.switches.at(leaf.profile).qos);
      const int k = spec::class_at_switch(lab_, qos, dscp);
      return qos.classes[static_cast<std::size_t>(k)].path.policy != PathPolicy::kEcmp;
    }
    return false;
  }

  std::expected<void, std::string> add(std::uint32_t number) {
    build::PlannedCollective& p = planned_[number];
    const spec::CollectiveSpec& c = lab_.collectives[p.spec];
    const spec::HostProfile& profile = lab_.hosts.at(lab_.find(p.nics[0].node)->profile);
    const bool selective = profile.roce.loss_recovery == spec::RoceLossRecovery::kSelectiveRepeat;
    const spec::TrafficSpec like = spec::like_traffic(c);
    Collective& own = collectives_.emplace_back();
    own.start = c.start.ps;
    const CollectiveConfig config = build::config_of(lab_, p.spec);
    own.launch_cost = config.launch_cost.ps;
    own.step_cost = config.step_cost.ps;
    own.scale_up_share = config.scale_up_share;
    own.first = static_cast<std::uint32_t>(ranks_.size());
    own.per_octet = 1 / report::framing_efficiency(like, Bytes{}, selective, profile.uet, Framing{});
    own.frame = report::data_frame_octets(like, profile.uet);
    own.reduce_ps = c.reduce_rate.bps > 0 ? 8e12 / static_cast<double>(c.reduce_rate.bps) : 0;
    std::map<int, bool> spread;  // by DSCP
    for (const spec::TrafficSpec& kind : spec::all_like_traffic(c)) spread[kind.dscp] = spreads(c, kind.dscp, p.nics[0]);
    for (std::uint32_t r = 0; r < p.programs.size(); ++r) {
      Rank rank{.collective = number, .program = &p.programs[r]};
      for (const Step& s : p.programs[r].steps) {
        rank.waits.push_back(s.waits_for);
        if (s.kind == Step::Kind::kCompute && s.connection != Step::kNone && s.connection >= rank.streams.size())
          rank.streams.resize(s.connection + 1);
      }
      rank.left = p.programs[r].steps.size();
      if (c.is_job() && c.job->inference) rank.times.resize(rank.left);
      if (const auto& said = lab_.hosts.at(lab_.find(p.nics[r].node)->profile).scale_up)
        rank.port = port(p.nics[r], p.gpus[r], *said, p.programs[r]);
      for (const RankConnection& to : p.programs[r].connections) {
        Connection& made = rank.connections.emplace_back(
            Connection{.peer = own.first + to.peer, .scale_up = to.scale_up});
        if (to.scale_up || to.sends == 0) continue;
        const spec::PortName& from = p.nic(r, to.peer, to.channel);
        const spec::PortName& there = p.nic(to.peer, r, to.channel);
        if (from == there) {  // within a NIC
          made.scale_up = false;
          made.path = &nothing_;
          continue;
        }
        const int dscp = spec::like_traffic(c, p.ranks(), r, to.peer).dscp;
        made.path = &network_.path(from, there, spread.at(dscp), mix64(std::uint64_t{own.first + r} << 32 | (to.peer << 8 ^ to.channel)));
        if (made.path->empty())
          return std::unexpected(fmt::format("{}: there is no path from {} to {}", c.name, format(from), format(there)));
        made.latency = network_.latency(from, there, own.frame).ps;
        made.round_trip = made.latency + network_.latency(there, from, 64).ps;
      }
      ranks_.push_back(std::move(rank));
    }
    return {};
  }

  std::uint32_t port(const spec::PortName& nic, int gpu, const spec::ScaleUpSpec& said, const RankProgram& program) {
    // What reduces there is as fast as all its ranks.
    const std::int64_t share = program.reducer_latency ? std::ranges::count(program.connections, true, &RankConnection::scale_up) : 1;
    const auto [found, is_new] =
        port_of_.try_emplace({nic.node, gpu > 0 ? 0 : nic.port, gpu}, static_cast<std::uint32_t>(ports_.size()));
    if (is_new) ports_.push_back({.rate = static_cast<double>(said.rate.bps * share) / 8e12, .latency = said.latency.ps, .answers = said.hosts > 1 ? said.latency.ps : 0});
    return found->second;
  }

  // ---- Time --------------------------------------------------------------------------------------------------------

  void at(std::int64_t when, Kind kind, std::uint32_t rank, std::uint32_t step) {
    events_.push({when, order_++, kind, rank, step});
  }

  // To the next instant at which something happens, and all of that. False: nothing does any more.
  bool advance() {
    const double next_flow = next_flow_end();
    const double next_event = events_.empty() ? std::numeric_limits<double>::infinity() : static_cast<double>(events_.top().at);
    const double until = std::min(next_flow, next_event);
    if (std::isinf(until)) return false;
    const double passed = until - now_;
    for (std::size_t f = 0; f < flows_.size(); ++f) flows_[f].left -= rates_[f] * passed;
    now_ = until;
    end_flows();
    while (!events_.empty() && static_cast<double>(events_.top().at) <= now_) {
      const Event e = events_.top();
      events_.pop();
      if (e.kind == Kind::kBegin) begin(e.rank);
      if (e.kind == Kind::kComputed) computed(e.rank, e.step);
      if (e.kind == Kind::kDone) done(e.rank, e.step);
      if (e.kind == Kind::kArrives) arrives(static_cast<std::int64_t>(now_), e.rank, e.step);
    }
    if (std::exchange(changed_, false)) share_out();
    return true;
  }

  double next_flow_end() const {
    double first = std::numeric_limits<double>::infinity();
    for (std::size_t f = 0; f < flows_.size(); ++f) first = std::min(first, now_ + std::max(flows_[f].left, 0.0) / rates_[f]);
    return first;
  }

  void end_flows() {
    std::size_t kept = 0;
    std::vector<Flow> ended;
    for (std::size_t f = 0; f < flows_.size(); ++f) {
      if (flows_[f].left <= rates_[f] * kTogetherPs) {
        ended.push_back(flows_[f]);
      } else {
        flows_[kept] = flows_[f];
        rates_[kept++] = rates_[f];
      }
    }
    if (ended.empty()) return;
    flows_.resize(kept);
    rates_.resize(kept);
    changed_ = true;
    for (const Flow& flow : ended) {
      Rank& rank = ranks_[flow.rank];
      const Step& s = rank.program->steps[flow.step];
      Connection& c = rank.connections[s.connection];
      const auto now = static_cast<std::int64_t>(now_);
      received(now + c.latency, c.peer, s);
      at(now + c.round_trip, Kind::kDone, flow.rank, flow.step);
      c.busy = false;
      if (!c.waiting.empty()) {
        const std::uint32_t next = c.waiting.front();
        c.waiting.pop();
        send(flow.rank, next);
      }
    }
  }

  void share_out() {
    uses_.clear();
    for (const Flow& f : flows_) {
      const Rank& rank = ranks_[f.rank];
      uses_.emplace_back(*rank.connections[rank.program->steps[f.step].connection].path);
    }
    max_min_.rates(uses_, rates_);
  }

  // ---- Ranks -------------------------------------------------------------------------------------------------------

  void begin(std::uint32_t r) {
    const RankProgram& p = *ranks_[r].program;
    for (std::uint32_t s = 0; s < p.steps.size(); ++s)
      if (!p.steps[s].receives() && p.steps[s].waits_for == 0) start(r, s);
  }

  void start(std::uint32_t r, std::uint32_t s) {
    Rank& rank = ranks_[r];
    const Step& step = rank.program->steps[s];
    if (step.kind == Step::Kind::kSend) return send(r, s);
    if (step.time == Duration{}) return at(static_cast<std::int64_t>(now_), Kind::kDone, r, s);
    Stream& stream = rank.streams[step.connection];
    if (stream.busy)
      stream.waiting.push(s);
    else
      compute(r, s);
  }
  void compute(std::uint32_t r, std::uint32_t s) {
    Rank& rank = ranks_[r];
    const Step& step = rank.program->steps[s];
    rank.streams[step.connection].busy = true;
    if (!step.idle) rank.computed += step.time.ps;
    note_begin(rank, s);
    at(static_cast<std::int64_t>(now_) + step.time.ps, Kind::kComputed, r, s);
  }
  void computed(std::uint32_t r, std::uint32_t s) {
    Stream& stream = ranks_[r].streams[ranks_[r].program->steps[s].connection];
    stream.busy = false;
    if (!stream.waiting.empty()) {
      const std::uint32_t next = stream.waiting.front();
      stream.waiting.pop();
      compute(r, next);
    }
    done(r, s);
  }

  void note_begin(Rank& rank, std::uint32_t step) const {
    if (!rank.times.empty() && rank.times[step].began == Instant::never())
      rank.times[step].began = Instant{static_cast<std::int64_t>(now_)};
  }

  void send(std::uint32_t r, std::uint32_t s) {
    Rank& rank = ranks_[r];
    const Step& step = rank.program->steps[s];
    Connection& c = rank.connections[step.connection];
    ++messages_;
    note_begin(rank, s);
    const auto now = static_cast<std::int64_t>(now_);
    if (c.scale_up) {
      Port& from = ports_[rank.port];
      const std::int64_t time = time_at(from, rank, step);
      const std::int64_t leaves = std::max(now, from.sends_until);
      from.sends_until = leaves + time;
      rank.in_host += time;
      // In a network of several hosts messages have their turn at the receiver in the order in which they come, as in a run.
      if (from.answers > 0) return at(leaves + from.latency, Kind::kArrives, r, s);
      return arrives(leaves + from.latency, r, s);
    }
    if (c.path->empty()) {
      received(now, c.peer, step);
      return at(now, Kind::kDone, r, s);
    }
    if (c.busy) {
      --messages_;
      c.waiting.push(s);
      return;
    }
    c.busy = true;
    const double octets = step.octets * collectives_[rank.collective].per_octet;
    for (const LinkUse& use : *c.path) carried_[use.link] += octets * use.share;
    flows_.push_back({r, s, octets});
    rates_.push_back(0);
    changed_ = true;
  }

  std::int64_t time_at(const Port& port, const Rank& rank, const Step& step) const {
    return static_cast<std::int64_t>(step.octets / (port.rate * collectives_[rank.collective].scale_up_share));
  }

  // The first octet of a message over a scale-up network is at its receiver's port.
  void arrives(std::int64_t when, std::uint32_t r, std::uint32_t s) {
    const Rank& rank = ranks_[r];
    const Step& step = rank.program->steps[s];
    const Connection& c = rank.connections[step.connection];
    const Port& from = ports_[rank.port];
    Port& to = ports_[ranks_[c.peer].port];
    const std::int64_t taking = time_at(to, rank, step);
    const std::int64_t comes = std::max(when, to.takes_until);
    to.takes_until = comes + taking;
    const std::int64_t whole = comes + std::max(time_at(from, rank, step), taking);
    received(whole, c.peer, step);
    at(whole + from.answers, Kind::kDone, r, s);
  }

  void received(std::int64_t when, std::uint32_t peer, const Step& sent) {
    const Rank& rank = ranks_[peer];
    const Step& s = rank.program->steps[sent.peer_step];
    if (rank.program->reducer_latency)
      return at(when + rank.program->reducer_latency->ps + s.time.ps, Kind::kDone, peer, sent.peer_step);
    const double reduce = collectives_[rank.collective].reduce_ps;
    if (s.kind == Step::Kind::kReduce && reduce > 0) when += static_cast<std::int64_t>(reduce * s.octets);
    at(when + collectives_[rank.collective].step_cost + s.time.ps, Kind::kDone, peer, sent.peer_step);
  }

  void done(std::uint32_t r, std::uint32_t s) {
    Rank& rank = ranks_[r];
    const RankProgram& p = *rank.program;
    const Step& step = p.steps[s];
    --rank.left;
    if (!rank.times.empty()) rank.times[s].ended = Instant{static_cast<std::int64_t>(now_)};
    if (step.kind != Step::Kind::kSend) rank.result = static_cast<std::int64_t>(now_);
    for (std::uint32_t i = step.first_after; i < step.end_after; ++i)
      if (const std::uint32_t next = p.after[i]; --rank.waits[next] == 0 && !p.steps[next].receives()) start(r, next);
  }

  // ---- Results -----------------------------------------------------------------------------------------------------

  double limit(std::uint32_t number) const {
    const build::PlannedCollective& p = planned_[number];
    const spec::CollectiveSpec& c = lab_.collectives[p.spec];
    const auto through = build::nics_of_connections(p);
    std::vector<report::RankOnLinks> ranks;
    for (std::uint32_t r = 0; r < p.programs.size(); ++r) ranks.push_back({&p.programs[r], p.nics[r], through[r]});
    return report::busbw_limit(
        lab_, [&](const spec::PortName& nic) { return rates_of_.at(nic); }, ranks,
        static_cast<double>(c.size.n) * spec::busbw_factor(lab_, c, p.rank_nics()), 1 / collectives_[number].per_octet);
  }

  Estimate result() const {
    Estimate out;
    out.messages = messages_;
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = 0;
    for (std::uint32_t n = 0; n < planned_.size(); ++n) {
      const spec::CollectiveSpec& c = lab_.collectives[planned_[n].spec];
      CollectiveEstimate e{.name = c.name,
                           .collective = c.operation_name(),
                           .algorithm = c.algorithm_name(),
                           .transport = c.is_uet() ? "uet" : "roce",
                           .ranks = planned_[n].ranks(),
                           .bytes = static_cast<std::uint64_t>(c.size.n),
                           .figures = {},
                           .storage = {}};
      std::int64_t end = collectives_[n].start;
      double computed = 0;
      std::int64_t in_host = 0;
      // Those that only store are done when the others are.
      const auto working = static_cast<std::uint32_t>(e.ranks - (c.is_job() ? static_cast<std::size_t>(c.job->training.storage.ranks) : 0));
      for (std::uint32_t r = collectives_[n].first; r < collectives_[n].first + working; ++r) {
        end = std::max(end, ranks_[r].result);
        computed += static_cast<double>(ranks_[r].computed);
        in_host = std::max(in_host, ranks_[r].in_host);
      }
      first = std::min(first, collectives_[n].start);
      last = std::max(last, end);
      e.time = Duration{end - collectives_[n].start};
      if (e.time > Duration{}) {
        e.scale_up = static_cast<double>(in_host) / static_cast<double>(e.time.ps);
        e.computed = computed / working / static_cast<double>(e.time.ps);
        e.busbw_bps = static_cast<double>(e.bytes) * 8e12 / static_cast<double>(e.time.ps) *
                      spec::busbw_factor(lab_, c, planned_[n].rank_nics());
        if (c.computes()) e.busbw_bps = 0;
        if (e.busbw_bps > 0) e.limit_bps = limit(n);
      }
      e.figures = report::job_figures(c, e.time.ps / 1000);
      if (e.figures) {
        report::add_tensor_across_hosts(*e.figures, lab_, c);
        e.figures->inference = report::inference_figures(
            lab_, c, planned_[n].rank_nics(),
            [&](std::uint32_t r, std::uint32_t s) { return ranks_[collectives_[n].first + r].times[s]; });
        if (const auto& f = e.figures->inference; f && e.time > Duration{}) {
          Duration busy{};
          for (const Duration d : f->busy) busy += d;
          e.computed = static_cast<double>(busy.ps) / static_cast<double>(e.ranks) / static_cast<double>(e.time.ps);
        }
      }
      out.collectives.push_back(std::move(e));
    }
    out.time = Duration{last - first};
    for (std::uint32_t l = 0; l < carried_.size(); ++l)
      if (carried_[l] > 0)
        out.links.push_back({network_.name(l), carried_[l],
                             last > first ? carried_[l] / (network_.capacity(l) / 1e12 * static_cast<double>(last - first)) : 0,
                             network_.between_switches(l), network_.is_uplink(l)});
    std::ranges::stable_sort(out.links, std::ranges::greater{}, &LinkEstimate::utilisation);
    return out;
  }

  const spec::Lab& lab_;
  FlowNetwork network_;
  MaxMin max_min_;
  std::vector<double> carried_;  // by link: octets
  std::map<spec::PortName, BitRate> rates_of_;  // of links, by their ends
  std::vector<build::PlannedCollective> planned_;
  std::vector<Collective> collectives_;
  std::vector<Rank> ranks_;  // of all collectives
  std::vector<Port> ports_;
  std::map<std::tuple<std::string, int, int>, std::uint32_t> port_of_;  // by host, NIC and GPU
  const std::vector<LinkUse> nothing_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t order_ = 0;
  std::vector<Flow> flows_;
  std::vector<double> rates_;  // octets per ps
  std::vector<std::span<const LinkUse>> uses_;
  bool changed_ = false;
  double now_ = 0;  // ps
  std::uint64_t messages_ = 0;
};

}  // namespace

std::expected<Estimate, std::string> fluid(const spec::Lab& lab) {
  std::vector<build::PlannedCollective> planned = build::plan_collectives(lab, spec::CollectiveTransport::kRoce);
  for (build::PlannedCollective& p : build::plan_collectives(lab, spec::CollectiveTransport::kUet)) planned.push_back(std::move(p));
  return Fluid(lab, std::move(planned)).run();
}

}  // namespace railyard::estimate
