// The scale-up network of a host, over which its ranks (GPUs) reach each other without a NIC: a model of a pipe.
//
// Each rank's port sends at `rate`, one message after the other, and takes in at the same rate; the first octet of a
// message is there `latency` after it has left. Nothing is lost, and there are no headers.
//
// What one rank does may be another's business at the next instant. So the NICs of such a host do what is due together,
// in the order of time, whichever of them is asked first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "dataplane/base/histogram.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"

namespace railyard {

class CollectiveRank;
class RankHost;

struct ScaleUpConfig {
  BitRate rate{};      // of each rank, in each direction; above 0
  Duration latency{};  // above 0
};

// Of what a rank has sent.
struct ScaleUpCounters {
  std::uint64_t messages = 0;
  std::uint64_t octets = 0;
  Duration busy{};    // octets over the rate
  Histogram latency;  // ps, of first octets
};

class ScaleUp {
 public:
  struct Message {
    CollectiveRank* from = nullptr;
    CollectiveRank* to = nullptr;
    std::uint32_t connection = 0;  // at the receiver
    std::uint32_t sent_step = 0;   // the sender's step, and
    std::uint32_t step = 0;        // the receiver's
    std::uint32_t repeat = 0;
    std::uint64_t sum = 0;  // elided payload: of its contributors
    std::uint64_t offset = 0;  // of the octets, in the sender's memory of a repeat
    std::uint32_t octets = 0;  // 0: a credit
  };

  explicit ScaleUp(const ScaleUpConfig& config) : config_(config) {}

  // A NIC's place in it: what is due at any is done in the order of time.
  std::uint32_t join(RankHost& nic);
  // Where a GPU (from 1) of ranks at a NIC's place sends and takes in; 0: the NIC itself, where hosts have no GPUs.
  std::uint32_t port(std::uint32_t place, std::uint32_t gpu);

  // From one port to another. Returns how long the first octet takes: the latency, and what it waits for.
  Duration send(Instant now, std::uint32_t from, std::uint32_t to, const Message& message);
  Duration time_of(std::uint32_t octets) const noexcept { return Bytes{octets} / config_.rate; }

  // Each NIC was told when something would be due here (ready()); by what one has received that is earlier now. The
  // host looks at this, asks all NICs again, and takes it back.
  const std::shared_ptr<bool>& changed() const noexcept { return changed_; }
  void note_change() noexcept { *changed_ = true; }

  // When something is due at any of its NICs, or arrives.
  Instant next_due() const noexcept;
  // All that is due up to `now`.
  void run_due(Instant now);

 private:
  struct Port {
    Instant sends_until{};
    Instant takes_until{};
  };
  struct Arrival {
    Instant at;
    std::uint64_t number;  // of those at one instant the first that was sent is the first
    Message message;
    bool operator>(const Arrival& o) const noexcept { return at != o.at ? at > o.at : number > o.number; }
  };

  ScaleUpConfig config_;
  std::vector<RankHost*> nics_;  // by place
  std::vector<Port> ports_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> port_of_;  // by place and GPU
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  std::uint64_t sent_ = 0;
  std::shared_ptr<bool> changed_ = std::make_shared<bool>(false);
};

}  // namespace railyard
