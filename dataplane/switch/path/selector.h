// The seam for path selection: which of the equal next hops a packet takes, by traffic class.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/rng.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "dataplane/packet/packet.h"
#include "dataplane/switch/forwarding_table.h"
#include "dataplane/switch/path/drill.h"
#include "dataplane/switch/path/ecmp.h"
#include "dataplane/switch/path/flowlet.h"
#include "dataplane/switch/path/path_config.h"
#include "dataplane/switch/path/path_shares.h"
#include "dataplane/switch/path/port_load.h"
#include "dataplane/switch/path/remote_quality.h"
#include "dataplane/switch/path/sampled_load.h"
#include "dataplane/switch/path/spray.h"
#include "dataplane/switch/path/wcmp.h"

namespace railyard {

struct PathSelectorConfig {
  std::array<PathConfig, kPriorities> by_class{};
  std::uint64_t ecmp_seed = 0;
  EcmpFields ecmp_fields;
  // A member that goes down takes only its own flows with it, and gets them back; else all flows are hashed anew over
  // the members that are up.
  bool resilient = true;

  bool operator==(const PathSelectorConfig&) const = default;
};

// A member whose port is down is out of its groups at once. Chance is the switch's own: draws depend on the order of
// its packets only.
class PathSelector {
 public:
  PathSelector() = default;
  // `name` of the switch.
  PathSelector(const PathSelectorConfig& config, Seed seed, std::string_view name, std::size_t ports, Bytes cell);

  // For packets from now on. Groups that are sprayed go on in turn, flowlets that last on their path.
  void set(const PathSelectorConfig& config);
  // The groups are others from now on; `table` is asked until the next call. set_beyond() must follow.
  void set_table(const ForwardingTable& table);
  // What the switch at each port forwards by, where classes with PathConfig::global hear of it (remote_quality.h); of a
  // FecTable with `fecs` classes.
  void set_beyond(std::size_t fecs, std::span<const std::shared_ptr<const ForwardingTable>> beyond) {
    remote_.set_tables(*table_, fecs, beyond);
  }
  void set_up(PortIndex port, bool up) noexcept;
  void set_rate(PortIndex port, BitRate rate) noexcept;
  // Ports of one bundle (not 0) are one for ECMP and WCMP: flows of a member that is down go to the others of it.
  void set_bundle(PortIndex port, std::uint16_t bundle) noexcept { ports_[port.index()].bundle = bundle; }
  // Hosts are behind the port: what comes in there may take detours.
  void set_edge(PortIndex port) noexcept { edge_[port.index()] = true; }

  // Whether a class's choice depends on the moment: to be made by choose_now() when the packet's turn has come. Other
  // choices depend on the packets' order only: choose().
  bool depends_on_now(Priority priority) const noexcept { return at_its_turn_ >> priority.index() & 1; }
  // Whether anybody asks how much waits in a port; then load() has to be told.
  bool by_load() const noexcept { return by_load_; }
  // Whether somebody else asks: who reports loads() to the neighbours.
  void report_loads(bool on) noexcept {
    reported_ = on;
    by_load_ = reported_ || decides_by_load_;
  }
  std::span<const PortLoad> loads() const noexcept { return ports_; }
  const PortLoad& load_of(PortIndex port) const noexcept { return ports_[port.index()]; }
  RemoteQuality& remote() noexcept { return remote_; }
  const RemoteQuality& remote() const noexcept { return remote_; }
  // So many cells more wait in the port at `now`; fewer if below 0.
  void load(Instant now, PortIndex port, std::int32_t cells) {
    if (now >= sample_due_) [[unlikely]]
      sample(now);
    ports_[port.index()].cells += static_cast<std::uint32_t>(cells);
    if (cells < 0) left_[port.index()] += static_cast<std::uint64_t>(-std::int64_t{cells});
  }
  void set_load(PortIndex port, std::uint32_t cells) noexcept { ports_[port.index()].cells = cells; }

  // Whether there is a choice for choose_now().
  static bool has_choice(const NextHops& hops) noexcept { return hops.count + hops.detours != 1; }
  // An index into `hops` (count > 0); choose_now(): from `count` on a detour.
  std::uint32_t choose(const NextHops& hops, const Packet& packet, PortIndex in, Priority priority) {
    if (hops.count == 1) return 0;
    std::uint32_t member;
    if (down_ != 0) [[unlikely]] {
      member = choose_among_up(hops, packet, in, priority);
    } else {
      const PathConfig& c = config_.by_class[priority.index()];
      if (c.policy == PathPolicy::kEcmp) [[likely]]
        member = ecmp_.choose(packet, in, hops.count);
      else if (c.policy == PathPolicy::kWcmp)
        member = wcmp_[wcmp_of_[hops.first]].choose(ecmp_.hash(packet, in));
      else if (c.order == SprayOrder::kShuffled)
        member = rounds_.choose(turn_of(hops, priority), hops.count);
      else if (c.order == SprayOrder::kRandom)
        member = static_cast<std::uint32_t>(random_.below(hops.count));
      else
        member = turns_.choose(turn_of(hops, priority), hops.count);
    }
    shares_.count(hops.first + member, packet.frame_octets);
    return member;
  }
  std::uint32_t choose_now(Instant now, const NextHops& hops, const Packet& packet, PortIndex in, Priority priority);

  // What choose() would say, where it follows from the flow alone; nothing: it does not. Nothing is counted.
  std::optional<std::uint32_t> by_hash(const NextHops& hops, const Packet& packet, PortIndex in, Priority priority) const;
  std::uint32_t hash(const Packet& packet, PortIndex in) const noexcept { return ecmp_.hash(packet, in); }

  // The same for what the switch makes itself: always by hash. It is made later than the frames that arrived with its
  // cause were decided about, and must not take one of their turns.
  std::uint32_t choose_for_own(const NextHops& hops, const Packet& packet, PortIndex self);

  const PathShares& shares() const noexcept { return shares_; }
  const PathSelectorConfig& config() const noexcept { return config_; }

 private:
  // One turn per group and class: groups never share their first member's place.
  static std::uint32_t turn_of(const NextHops& hops, Priority priority) noexcept {
    return static_cast<std::uint32_t>(hops.first * kPriorities + priority.index());
  }
  const PortLoad& port(const NextHops& hops, std::uint32_t member) const noexcept {
    return ports_[table_->member(hops, member).index()];
  }

  void set_sampling();
  // Averages of loads, before anything is made of `now`.
  void sample(Instant now);

  std::uint32_t choose_among_up(const NextHops& hops, const Packet& packet, PortIndex in, Priority priority);
  std::uint32_t hashed_among_up(const NextHops& hops, std::uint32_t hash, bool weighted) const noexcept;
  std::uint32_t in_its_bundle(const NextHops& hops, std::uint32_t member, std::uint32_t hash) const noexcept;
  bool bundle_up(const NextHops& hops, std::uint32_t member) const noexcept;
  std::uint32_t random_among_up(const NextHops& hops, RngStream& draws);
  std::uint32_t next_in_turn(const NextHops& hops, Priority priority, SprayOrder order);
  std::uint32_t drill(const NextHops& hops, Priority priority);
  std::uint32_t least_loaded(const NextHops& hops, Priority priority);
  std::uint32_t detour_or_not(const NextHops& hops, const PathConfig& c);
  // `behind`: by member, as RemoteQuality::to(); nullptr: local queues only.
  std::uint32_t best_band(Instant now, const NextHops& hops, Priority priority, const Instant* behind);

  PathSelectorConfig config_;
  Ecmp ecmp_;
  // choose() is ahead of choose_now() by as much as a slice of time is long: nothing that one of them changes may be
  // seen by the other.
  Spray turns_;
  ShuffledSpray rounds_;
  RngStream random_;
  Spray turns_now_;
  RngStream random_now_;
  Drill drill_;
  FlowletTable flowlets_;
  std::array<QualityBands, kPriorities> bands_;
  std::vector<Wcmp> wcmp_;              // by group
  std::vector<std::uint32_t> wcmp_of_;  // by NextHops::first
  std::vector<PortLoad> ports_;
  std::vector<std::uint64_t> left_;  // by port, cells
  std::vector<bool> edge_;           // by port
  std::vector<SampledLoad> sampled_;  // one per way of sampling that any class wants
  std::array<std::uint8_t, kPriorities> sampled_of_{};
  Instant sample_due_ = Instant::never();  // the first of any
  std::vector<std::uint32_t> equals_;  // members of a group among which one is chosen
  std::vector<std::uint64_t> drains_;  // by member: how long until a packet would be through, in 1/256 ns
  PathShares shares_;
  RemoteQuality remote_;
  const ForwardingTable* table_ = nullptr;
  Bytes cell_{256};
  std::uint32_t down_ = 0;  // ports
  PriorityMask at_its_turn_ = 0;
  bool by_load_ = false;  // because a policy asks, or somebody else
  bool decides_by_load_ = false;
  bool reported_ = false;
};

}  // namespace railyard
