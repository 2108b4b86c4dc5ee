#include "control/build/uet_nics.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "control/build/device_settings.h"
#include "control/build/uet_security.h"
#include "control/routing/path_times.h"
#include "control/spec/collective_ranks.h"
#include "control/spec/frame_tags.h"
#include "control/spec/uet_security_octets.h"
#include "dataplane/nic/split_endpoint.h"
#include "dataplane/nic/traffic_generator.h"
#include "dataplane/packet/packet.h"
#include "dataplane/switch/path/policies.h"
#include "dataplane/wire/fcs.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/udp.h"
#include "dataplane/wire/uet_entropy.h"
#include "transports/uet/wire/profile.h"

namespace railyard::build {
namespace {

// Of TxFrame::flow where others use the NIC, too: beyond all of theirs, and not where a NIC remembers their first ones.
constexpr std::uint32_t kFirstFlow = (1u << 31) + 1024;

const uet::Profile& profile_of(spec::UetProfile profile) noexcept {
  return profile == spec::UetProfile::kRefProv ? uet::kRefProvProfile : uet::kStandardProfile;
}

double number(spec::Ratio r) noexcept { return static_cast<double>(r.numerator) / static_cast<double>(r.denominator); }

// Octets of a frame around a UET packet, FCS included.
int around(const spec::TrafficSpec& t, const spec::UetNicSpec& s) {
  const int ip = t.ip_version == 4 ? int{wire::Ipv4::kOctets} : int{wire::Ipv6::kOctets};
  const int l4 = s.udp ? int{wire::Udp::kOctets} : int{wire::UetEntropy::kOctets};
  const int trailer = s.security ? spec::uet_security_octets(t.ip_version)  // TSS header and ICV
                      : s.crc    ? static_cast<int>(uet::kCrcOctets)
                                 : 0;
  return int{wire::Ethernet::kOctets} + ip + l4 + trailer + static_cast<int>(wire::kFcsOctets);
}

uet::PathPolicy policy_of(spec::UetPathPolicy p) {
  switch (p) {
    case spec::UetPathPolicy::kSingle:
      return uet::PathPolicy::kSingle;
    case spec::UetPathPolicy::kOblivious:
      return uet::PathPolicy::kOblivious;
    case spec::UetPathPolicy::kBitmap:
      return uet::PathPolicy::kBitmap;
    case spec::UetPathPolicy::kReps:
      return uet::PathPolicy::kReps;
    case spec::UetPathPolicy::kMixed:
      return uet::PathPolicy::kMixed;
  }
  return {};
}

// Octets of a full packet as they are counted for congestion control.
std::uint32_t full_packet(const spec::UetNicSpec& s, std::uint32_t mtu) {
  const bool credit = spec::has_rccc(s.congestion);
  return static_cast<std::uint32_t>(credit ? uet::PdsRequestCc::kOctets : uet::PdsRequest::kOctets) +
         static_cast<std::uint32_t>(uet::SesStd::kOctets) + mtu;
}

// What the window is at most, in BDPs, where switches do not trim.
//
// DEVIATION: the reference has 3/2, whatever the BDP, for networks where that is many packets. Where it is few, half a
// BDP is less than what waits for an ACK (ACK_Gen_Trigger), and for the packet that an ACK in turn waits behind at a
// NIC that sends, too: a link that is full both ways would idle.
double most_window(const uet::NsccConfig& c, std::uint32_t ack_trigger) {
  constexpr double kReference = 1.5;
  const auto bdp = static_cast<double>((c.rate * c.base_rtt).n);
  return bdp > 0 ? std::max(kReference, 1 + (ack_trigger + c.packet) / bdp) : kReference;
}

bool are_of_one_class(const spec::TrafficSpec& a, const spec::TrafficSpec& b) {
  return a.dscp == b.dscp && a.priority == b.priority && a.ect == b.ect;
}

}  // namespace

struct UetNics::Nic {
  std::vector<const spec::TrafficSpec*> likes;  // what its data look like, of each class
  BitRate rate{};                               // of the slowest link that it sends to, its own included
  BitRate own_rate{};                           // of its own link
  Framing framing;                              // of its own link
  std::size_t completions = 0;                  // of flows, that can wait at once
  bool ranks = false;                           // of collectives, that are here or go through here
  bool carries = false;                         // a rank of this host goes through several NICs, this one among them
  uet::FlowEndpoint* endpoint = nullptr;
  std::unique_ptr<uet::FlowEndpoint> owned;
};

UetNics::UetNics(const spec::Lab& lab, const std::vector<workload::FlowPlan>& plans,
                 std::vector<PlannedCollective> collectives, ScaleUpNetworks& networks, const NicClocks& clocks)
    : lab_(lab), clocks_(clocks), collectives_(std::move(collectives)) {
  for (const workload::FlowPlan& plan : plans) {
    const spec::TrafficSpec& t = lab.traffic[plan.traffic];
    if (!t.is_uet()) continue;
    // Whoever asks has so many work requests, and the receiver as many messages that come.
    const auto each = static_cast<std::size_t>(std::max(t.roce.outstanding, t.roce.receives.value_or(0)));
    for (const spec::PortName& name : {plan.source, plan.destination})
      add_nic(name, t).completions += static_cast<std::size_t>(t.roce.qps) * each;
  }
  for (const PlannedCollective& planned : collectives_)
    like_.push_back(spec::all_like_traffic(lab.collectives[planned.spec]));
  for (std::size_t i = 0; i < collectives_.size(); ++i) note_ranks(i);
  if (nics_.empty()) return;
  find_network(plans);
  const bool real = lab.run.payload == spec::Payload::kReal;
  std::size_t ssi = 0;  // of endpoints with security: each has another
  for (auto& [name, nic] : nics_) {
    nic.owned = std::make_unique<uet::FlowEndpoint>(
        engine_config(name, nic), encapsulation(name, nic),
        RngStream(lab.run.seed, fmt::format("uet/{}:{}", name.node, name.port)), real, nic.completions,
        profile_of(settings(name).profile).first_resource_index);
    nic.endpoint = nic.owned.get();
    if (settings(name).security)
      nic.endpoint->secure(security_config(*settings(name).security, static_cast<std::uint32_t>(++ssi)));
  }
  join_scale_up(networks);
}

void UetNics::note_ranks(std::size_t collective) {
  const PlannedCollective& planned = collectives_[collective];
  for (const spec::TrafficSpec& like : like_[collective]) {
    for (const spec::PortName& name : planned.nics) add_nic(name, like).ranks = true;
    for (const auto& [ends, name] : planned.towards) {
      Nic& nic = add_nic(name, like);
      nic.ranks = nic.carries = nics_.at(planned.nics[std::get<0>(ends)]).carries = true;
    }
  }
}

UetNics::Nic& UetNics::add_nic(const spec::PortName& name, const spec::TrafficSpec& like) {
  Nic& nic = nics_[name];
  if (std::ranges::none_of(nic.likes, [&](const spec::TrafficSpec* l) { return are_of_one_class(*l, like); }))
    nic.likes.push_back(&like);
  return nic;
}

std::uint8_t UetNics::class_at(const spec::PortName& name, const spec::TrafficSpec& t) const {
  const std::vector<const spec::TrafficSpec*>& likes = nics_.at(name).likes;
  const auto found = std::ranges::find_if(likes, [&](const auto* l) { return are_of_one_class(*l, t); });
  return static_cast<std::uint8_t>(found - likes.begin());
}

// The NICs of ranks that have others in their host. RoCE's have joined before; a NIC that has ranks over both has two
// places, one for each.
void UetNics::join_scale_up(ScaleUpNetworks& networks) {
  for (auto nic = nics_.begin(); nic != nics_.end(); ++nic) {
    if (!nic->second.ranks) continue;
    const std::string& host = nic->first.node;
    const auto next = std::next(nic);
    const bool others = lab_.hosts.at(lab_.find(host)->profile).gpus || networks.has(host) || networks.is_shared(host) ||
                        (next != nics_.end() && next->first.node == host);
    const auto network = nic->second.carries ? networks.together(host) : others ? networks.of(host) : nullptr;
    if (network != nullptr) nic->second.endpoint->join(network);
  }
}

std::vector<Collective> UetNics::make_collectives(const Way& way) {
  std::vector<Collective> made;
  for (std::size_t i = 0; i < collectives_.size(); ++i) {
    PlannedCollective& planned = collectives_[i];
    const spec::CollectiveSpec& c = lab_.collectives[planned.spec];
    uet::RankJob job{
        .job_id = uet::kFlowsJob + 1 + static_cast<std::uint32_t>(planned.spec),
        .mode = c.service == spec::CollectiveService::kRud ? uet::DeliveryMode::kRud : uet::DeliveryMode::kRod};
    std::vector<uet::CollectiveEnd> ends;
    Collective& collective = made.emplace_back(
        Collective{.spec = planned.spec, .reducers = planned.reducers, .nics = planned.nics, .gpus = planned.gpus, .through = nics_of_connections(planned)});
    for (std::size_t r = 0; r < collective.nics.size(); ++r) {
      uet::FlowEndpoint& nic = *nics_.at(collective.nics[r]).endpoint;
      job.data_class = class_at(collective.nics[r], like_[i].front());
      job.pid_on_fep = static_cast<std::uint16_t>(collective.gpus[r]);
      const Duration phase = clocks_.phase(collective.nics[r], static_cast<std::uint32_t>(c.path_mtu));
      uet::UetRank& rank =
          nic.add_rank(starting_later(config_of(lab_, planned.spec), phase), std::move(planned.programs[r]), job);
      ends.push_back({&rank, &nic, static_cast<std::uint32_t>(collective.gpus[r])});
      use_nics(rank, planned, static_cast<std::uint32_t>(r), like_[i].front());
      collective.ranks.push_back(&rank);
    }
    uet::connect_ranks(ends, [&](std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
      return way(planned.nic(from, to, channel), planned.nic(to, from, channel), like_[i].front());
    });
  }
  collectives_.clear();
  return made;
}

void UetNics::use_nics(uet::UetRank& rank, const PlannedCollective& planned, std::uint32_t r,
                       const spec::TrafficSpec& like) {
  std::map<spec::PortName, std::uint32_t> numbers{{planned.nics[r], 0}};
  for (std::uint32_t c = 0; c < rank.program().connections.size(); ++c) {
    const RankConnection& to = rank.program().connections[c];
    const spec::PortName& nic = planned.nic(r, to.peer, to.channel);
    const auto [known, is_new] = numbers.try_emplace(nic, 0);
    if (is_new) known->second = nics_.at(nic).endpoint->carry_for(rank, class_at(nic, like));
    rank.use_nic(c, known->second);
    const spec::TrafficSpec own = spec::like_traffic(lab_.collectives[planned.spec], planned.ranks(), r, to.peer);
    if (!are_of_one_class(own, like)) rank.use_class(c, class_at(nic, own));
  }
}

UetNics::~UetNics() = default;

const spec::UetNicSpec& UetNics::settings(const spec::PortName& name) const {
  return lab_.hosts.at(lab_.find(name.node)->profile).uet;
}

// Rates, and the longest round trip without queues: of a full packet, and of the ACK that comes back.
void UetNics::find_network(const std::vector<workload::FlowPlan>& plans) {
  routing::PathTimes times(lab_);
  for (auto& [name, nic] : nics_) {
    nic.rate = nic.own_rate = times.rate(name);
    nic.framing = framing_of_frames(lab_, name, times.framing(name));
  }
  const auto consider = [&](const spec::PortName& from, const spec::PortName& to, const spec::TrafficSpec& t) {
    const BitRate slower = std::min(times.rate(from), times.rate(to));
    for (const spec::PortName& end : {from, to}) {
      Nic& nic = nics_.at(end);
      nic.rate = std::min(nic.rate, slower);
    }
    const int outer = around(t, settings(from));
    const int data = outer + int{uet::PdsRequest::kOctets} + int{uet::SesStd::kOctets} + t.roce.path_mtu;
    const int ack = std::max(outer + int{uet::PdsAckCc::kOctets} + int{uet::SesResponse::kOctets},
                             static_cast<int>(kLeastFrameOctets));
    constexpr auto kSlowest = routing::PathTimes::Which::kSlowest;
    const auto there = times.one_way(from, to, data, kSlowest);
    const auto back = times.one_way(to, from, ack, kSlowest);
    if (there && back) base_rtt_ = std::max(base_rtt_, *there + *back);
  };
  for (const workload::FlowPlan& plan : plans)
    if (const spec::TrafficSpec& t = lab_.traffic[plan.traffic]; t.is_uet()) consider(plan.source, plan.destination, t);
  for (std::size_t i = 0; i < collectives_.size(); ++i)
    for (std::size_t r = 0; r < collectives_[i].nics.size(); ++r)
      for (const RankConnection& c : collectives_[i].programs[r].connections)
        if (const auto rank = static_cast<std::uint32_t>(r);
            !c.scale_up && (c.channel == 0 || !collectives_[i].towards.empty()))
          consider(collectives_[i].nic(rank, c.peer, c.channel), collectives_[i].nic(c.peer, rank, c.channel),
                   like_[i].front());
}

// What a switch does with it.
const spec::TrafficClass& UetNics::class_of(const spec::NodeSpec& of_switch, const spec::TrafficSpec& t) const {
  const spec::QosProfile& qos = lab_.qos.at(lab_.switches.at(of_switch.profile).qos);
  return qos.classes[static_cast<std::size_t>(spec::class_at_switch(lab_, qos, t))];
}

const UetNics::AtSwitches& UetNics::at_switches(const spec::TrafficSpec& t) const {
  const auto [known, is_new] = at_switches_.try_emplace(&t);
  AtSwitches& all = known->second;
  if (!is_new) return all;
  std::set<std::string> profiles;  // switches of one profile do the same
  for (const spec::NodeSpec& n : lab_.nodes) {
    if (n.kind != spec::NodeSpec::Kind::kSwitch || !profiles.insert(n.profile).second) continue;
    const spec::TrafficClass& c = class_of(n, t);
    all.trims |= c.trim.has_value();
    all.lossless &= c.lossless;
    all.keeps_order &= unit_of(c.path) == PathUnit::kFlow;
    if (!all.last_hop_dscp && c.trim && c.trim->last_hop_dscp && c.trim->last_hop_dscp != c.trim->dscp)
      all.last_hop_dscp = c.trim->last_hop_dscp;
  }
  return all;
}

uet::NsccConfig UetNics::nscc_config(const Nic& nic, const spec::UetNicSpec& said, const spec::TrafficSpec& t) const {
  const auto mtu = static_cast<std::uint32_t>(t.roce.path_mtu);
  const spec::NsccSpec& s = said.nscc;
  uet::NsccNetwork network{.rate = nic.rate,
                           .base_rtt = s.base_rtt.value_or(base_rtt_),
                           .mtu = mtu,
                           .packet_octets = full_packet(said, mtu),
                           .trimming = said.trimming.value_or(at_switches(t).trims && !said.security)};
  uet::NsccConfig c = uet::NsccConfig::of(network);
  // DEVIATION: where switches trim, as much is in flight as the path and more than one queue of a BDP take, so that the
  // links of a sprayed and full fabric do not idle; and no delay is too long that comes of this alone. The reference
  // has 3/2, and 3/4 of the base RTT.
  c.max_wnd_bdps = s.max_window       ? number(*s.max_window)
                   : network.trimming ? 2.5
                                      : most_window(c, said.ack_bytes.value_or(uet::EngineConfig{}.ack_trigger));
  const Duration of_window{static_cast<std::int64_t>((c.max_wnd_bdps - 1) * static_cast<double>(c.base_rtt.ps))};
  // alpha is 4 a b mtu / target, and b is the target / 12 us: it does not depend on it.
  c.target = s.target.value_or(std::max(c.target, of_window));
  c.alpha *= number(s.alpha) / 4;
  c.fi *= number(s.fi) / 5;
  c.eta *= number(s.eta) / 0.15;
  c.fi_scale *= number(s.fi_scale) / 0.25;
  c.gamma = number(s.gamma);
  c.max_md_jump = number(s.max_md_jump);
  c.qa_gate = static_cast<std::uint32_t>(s.qa_gate);
  c.qa_threshold = Duration{static_cast<std::int64_t>(static_cast<double>(c.target.ps) * number(s.qa_threshold))};
  c.adjust_period = s.adjust_period.value_or(c.base_rtt);
  c.adjust_bytes = static_cast<double>(s.adjust_packets) * network.packet_octets;
  c.first_wnd_bdps = s.initial_window ? std::min(number(*s.initial_window), c.max_wnd_bdps) : c.max_wnd_bdps;
  c.min_wnd = number(s.min_window) * network.packet_octets;
  c.part_gain = number(s.part_gain);
  c.no_queue = s.no_queue;
  c.delay_weight = number(s.delay_weight);
  return c;
}

uet::RcccConfig UetNics::rccc_config(const Nic& nic, const spec::UetNicSpec& said, const spec::TrafficSpec& t) const {
  const Duration base_rtt = said.rccc.base_rtt.value_or(base_rtt_);
  const std::uint32_t packet = full_packet(said, static_cast<std::uint32_t>(t.roce.path_mtu));
  const double most = number(said.rccc.max_window) * static_cast<double>((nic.rate * base_rtt).n);
  return {.max_credit = std::max(static_cast<std::int64_t>(most), std::int64_t{packet}),
          .packet = packet,
          .base_rtt = base_rtt};
}

// DEVIATION: a credit is octets from the PDS header on, without what else is on the wire; the simulator's packets have nothing
// else. Grants keep to the rate of what they bring about with it, in full packets.
uet::CreditPacerConfig UetNics::grants(const Nic& nic, const spec::UetNicSpec& said, const spec::TrafficSpec& t) const {
  const auto mtu = static_cast<std::uint32_t>(t.roce.path_mtu);
  const std::uint32_t packet = full_packet(said, mtu);
  return {.rate = nic.own_rate,
          .rate_share = number(said.rccc.rate_share),
          .grant = static_cast<std::uint32_t>(said.rccc.grant_packets) * mtu,
          .max_ahead = rccc_config(nic, said, t).max_credit,
          .on_wire = static_cast<double>(static_cast<int>(packet) + around(t, said) + nic.framing.around()) / packet,
          .oversubscription = said.rccc.oversubscription ? number(*said.rccc.oversubscription) : 0,
          .base_rtt = rccc_config(nic, said, t).base_rtt};
}

uet::EngineConfig UetNics::engine_config(const spec::PortName& name, const Nic& nic) const {
  const spec::UetNicSpec& s = settings(name);
  const spec::TrafficSpec& t = *nic.likes.front();
  const spec::QosProfile& qos = lab_.qos.at(lab_.hosts.at(lab_.find(name.node)->profile).qos);
  const auto class_of = [&](const std::optional<int>& said, int dscp) {
    return Priority{static_cast<std::uint8_t>(said.value_or(qos.dscp_to_class[static_cast<std::size_t>(dscp)]))};
  };
  uet::EngineConfig c;
  c.pacing = clocks_.pacing(name);
  c.payload_mtu = static_cast<std::uint32_t>(t.roce.path_mtu);
  c.most_pdcs = static_cast<std::uint16_t>(s.pdcs);
  c.idle_close = s.idle_close;
  c.keep_alive = s.keep_alive;
  c.dialect = profile_of(s.profile).dialect;
  c.window = static_cast<std::uint32_t>(s.window);
  c.mp_range = static_cast<std::uint32_t>(s.mp_range);
  for (const auto& [of, host] : lab_.hosts)
    c.first_range = std::min(c.first_range, static_cast<std::uint32_t>(host.uet.mp_range));
  c.ack_cc = s.ack_cc;
  if (s.ack_bytes) {
    c.ack_trigger = *s.ack_bytes;
  } else {
    c.ack_trigger_missing = c.ack_trigger / 2;
  }
  c.rto_init = s.rto;
  c.packet_timers = s.rto_timer == spec::UetRtoTimer::kPacket;
  c.rto_doubles = s.rto_backoff == spec::UetRtoBackoff::kDouble;
  c.retries = static_cast<std::uint8_t>(s.retries);
  c.infer_loss = s.loss_inference.value_or(true);
  c.probe = s.probe;
  c.rudi_window = static_cast<std::uint32_t>(s.rudi_window);
  c.around_octets =
      around(t, s) - (t.ip_version == 4 ? int{wire::Ipv4::kOctets} : int{wire::Ipv6::kOctets}) + nic.framing.around();
  c.control = class_of(s.control_priority, s.control_dscp);
  for (const spec::TrafficSpec* of : nic.likes) {
    const uet::DataClass data = data_class(nic, s, *of, class_of(of->priority, of->dscp));
    if (of != nic.likes.front()) {
      c.other_classes.push_back(data);
      continue;
    }
    c.data = data.priority;
    c.trimming = data.trimming;
    c.lossless = data.lossless;
    c.ordered_paths = data.ordered_paths;
    c.congestion = data.congestion;
    c.credit = data.credit;
    c.grants = grants(nic, s, *of);
    c.multipath = data.multipath;
  }
  return c;
}

uet::DataClass UetNics::data_class(const Nic& nic, const spec::UetNicSpec& s, const spec::TrafficSpec& t,
                                   Priority priority) const {
  // Nobody tells of a secured packet that was trimmed.
  const bool trimming = s.trimming.value_or(at_switches(t).trims && !s.security);
  uet::DataClass c{.priority = priority,
                   .dscp = static_cast<std::uint8_t>(t.dscp),
                   .ect = t.ect,
                   .trimming = trimming,
                   .lossless = !s.loss_inference && at_switches(t).lossless,
                   .ordered_paths = at_switches(t).keeps_order};
  if (spec::has_nscc(s.congestion)) {
    c.congestion = nscc_config(nic, s, t);
  } else {
    c.congestion = uet::NoCongestionControl{};
  }
  if (spec::has_rccc(s.congestion)) c.credit = rccc_config(nic, s, t);
  c.multipath.policy = policy_of(s.path_policy);
  c.multipath.paths = static_cast<std::uint32_t>(s.paths);
  c.multipath.recycled = static_cast<std::uint32_t>(s.recycled);
  if (!trimming) c.multipath.reps.freeze = Duration{};
  return c;
}

uet::EncapsulationConfig UetNics::encapsulation(const spec::PortName& name, const Nic& nic) const {
  const spec::UetNicSpec& s = settings(name);
  uet::EncapsulationConfig e;
  e.udp = s.udp;
  e.udp_port = static_cast<std::uint16_t>(s.udp_port);
  e.ip_protocol = static_cast<std::uint8_t>(s.ip_protocol);
  e.crc = s.crc;
  e.ect = nic.likes.front()->ect;
  e.dscp.trimmable = static_cast<std::uint8_t>(nic.likes.front()->dscp);
  e.dscp.control = static_cast<std::uint8_t>(s.control_dscp);
  if (s.trimmed_dscp) e.dscp.trimmed = static_cast<std::uint8_t>(*s.trimmed_dscp);
  // The same of all of them that have one.
  std::optional<int> last_hop = s.trimmed_lasthop_dscp;
  for (const spec::TrafficSpec* of : nic.likes)
    if (!last_hop) last_hop = at_switches(*of).last_hop_dscp;
  if (last_hop) e.dscp.trimmed_lasthop = static_cast<std::uint8_t>(*last_hop);
  return e;
}

// DEVIATION: a round trip between applications takes the time of two processes and of the fabric between them, however
// short the path is; without it NSCC would take that for a queue. `nscc.base-rtt` says another. A round trip in which all of
// them happened to have a processor is not typical: the window does not become that of such a path.
libfabric::NicSettings UetNics::application_settings(const spec::Lab& lab, const spec::PortName& name, BitRate rate,
                                                     Framing framing, std::uint32_t mtu) {
  constexpr Duration kProcesses{100'000'000};
  const NicClocks clocks(lab);
  ScaleUpNetworks none(lab);
  UetNics nics(lab, {}, {}, none, clocks);
  nics.base_rtt_ = kProcesses;
  spec::TrafficSpec like;
  like.transport = spec::TrafficSpec::Transport::kUet;
  // The largest of the standard's that fits, and of which a slot of a ring has room.
  like.roce.path_mtu = 4096;
  while (like.roce.path_mtu > 1024 && static_cast<std::uint32_t>(like.roce.path_mtu) + 160 > mtu)
    like.roce.path_mtu /= 2;
  Nic& nic = nics.add_nic(name, like);
  nic.rate = nic.own_rate = rate;
  nic.framing = framing;
  libfabric::NicSettings out{nics.engine_config(name, nic), nics.encapsulation(name, nic)};
  if (auto* const nscc = std::get_if<uet::NsccConfig>(&out.engine.congestion)) nscc->keeps_base_rtt = true;
  return out;
}

void UetNics::connect(Flow& flow, const uet::FlowConfig& config, const uet::AddressVector& forth,
                      const uet::AddressVector& back) {
  const auto end = [&](const spec::PortName& nic, const uet::AddressVector& av) {
    return uet::FlowEnd{nics_.at(nic).endpoint, av, class_at(nic, lab_.traffic[flow.plan.traffic])};
  };
  const uet::FlowEnd source = end(flow.plan.source, forth);
  const uet::FlowEnd sink = end(flow.plan.destination, back);
  const auto places = uet::FlowConnection::make(config, source, sink);
  flow.uet = Flow::Uet{source.nic, sink.nic, places};
}

std::unique_ptr<Endpoint> UetNics::drive(const spec::PortName& name, std::unique_ptr<Endpoint> rest) {
  const auto found = nics_.find(name);
  if (found == nics_.end()) return rest;
  const auto* const generator = dynamic_cast<const TrafficGenerator*>(rest.get());
  if (generator != nullptr && !generator->has_flows()) return std::move(found->second.owned);
  const spec::UetNicSpec& s = settings(name);
  const SplitEndpoint::Uet uet{s.udp, static_cast<std::uint16_t>(s.udp_port), static_cast<std::uint8_t>(s.ip_protocol)};
  return std::make_unique<SplitEndpoint>(std::move(rest), std::move(found->second.owned), uet, kFirstFlow);
}

std::vector<UetNics::Named> UetNics::endpoints() const {
  std::vector<Named> all;
  for (const auto& [name, nic] : nics_) all.push_back({name, nic.endpoint});
  return all;
}

}  // namespace railyard::build
