// The scale-up network of a host, or of several, over which their ranks (GPUs) reach each other without a NIC: a model of
// a pipe.
//
// Each rank's port sends at `rate`, one message after the other, and takes in at the same rate; the first octet of a
// message is there `latency` after it has left. Nothing is lost, and there are no headers.
//
// What one rank does may be another's business at the next instant. So the NICs of such a host do what is due together,
// in the order of time, whichever of them is asked first.
//
// Where several hosts share one network (spread()), each has its part of it, since hosts are advanced by themselves, on
// any worker, up to a window ahead of each other. Whatever one part tells another matters `latency` later at the
// earliest: the first octet of a message, which then waits for its turn at the receiver's port; and back, that it is
// there, so that a send is complete that much later than within one host. No window is longer than that (SideLink), and
// each host does what is due at that very instant (SharedWork). So who is where, and who is advanced first, is all one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "dataplane/base/device_wake.h"
#include "dataplane/base/histogram.h"
#include "dataplane/base/shared_work.h"
#include "dataplane/base/state_archive.h"
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

  // All of it, to or from another process.
  void exchange(StateArchive& archive) { archive(messages, octets, busy, latency); }
};

class ScaleUp final : public SharedWork {
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
    Duration time{};           // that they take at a port of one rank
  };

  explicit ScaleUp(const ScaleUpConfig& config) : config_(config) {}

  // This is the part of the network's host number `host`, from 0; before anything is sent.
  void spread(std::uint32_t host) noexcept {
    spread_ = true;
    host_ = host;
  }
  // The part of another host, and what wakes its device. Each is told of the other.
  void meet(const ScaleUp& other, std::shared_ptr<DeviceWake> wake);
  // Whether ranks at the two reach each other.
  bool reaches(const ScaleUp& other) const noexcept {
    return this == &other || (spread_ && other.host_ < wakes_.size() && wakes_[other.host_] != nullptr);
  }

  // A NIC's place in it: what is due at any is done in the order of time.
  std::uint32_t join(RankHost& nic);
  // Where a GPU (from 1) of ranks at a NIC's place sends and takes in; 0: the NIC itself, where hosts have no GPUs. `ranks`: it
  // is as fast as so many, as what adds the data of all of them in the network's switches (RankProgram::reducer_latency).
  std::uint32_t port(std::uint32_t place, std::uint32_t gpu, std::uint32_t ranks = 1);

  // From a port here to one of `there`, which this reaches. Returns how long the first octet takes: the latency, and what
  // it waits for. Nothing: that is known when the message is there, and on_scale_up_sent() says it.
  std::optional<Duration> send(Instant now, std::uint32_t from, ScaleUp& there, std::uint32_t to, const Message& message);
  Duration time_of(std::uint32_t octets) const noexcept { return Bytes{octets} / config_.rate; }

  // Each NIC was told when something would be due here (ready()); by what one has received that is earlier now. The
  // host looks at this, asks all NICs again, and takes it back.
  const std::shared_ptr<bool>& changed() const noexcept { return changed_; }
  void note_change() noexcept { *changed_ = true; }

  void collect() override;
  // When something is due at any of its NICs, or arrives.
  Instant next_due() const noexcept override;
  // All that is due up to `now`.
  void run_due(Instant now) override;

 private:
  struct Port {
    std::uint32_t ranks = 1;  // it is as fast as
    Instant sends_until{};
    Instant takes_until{};
  };
  static Duration time_at(const Port& port, const Message& message) noexcept { return message.time / port.ranks; }
  struct Arrival {
    Instant at;
    std::uint64_t number;  // of those at one instant the first that was sent, or began to come, is the first
    Message message;
    ScaleUp* sender = nullptr;  // that is to be told when it is there; nullptr: it knows
    Duration first{};           // what its first octet took
    bool operator>(const Arrival& o) const noexcept { return at != o.at ? at > o.at : number > o.number; }
  };
  // What a part tells another, or itself: the first octet of a message is at `port`; or, all of it was there.
  struct Notice {
    Instant at;
    std::uint32_t host;    // that says it: of those at one instant the first host is the first, and
    std::uint64_t number;  // of those of one host its first
    ScaleUp* sender;       // of the message
    std::uint32_t port;
    bool complete;
    Instant sent{};    // the message was, and how long it takes to leave; with `complete`:
    Duration leaving{};
    Duration first{};  // Arrival's
    Message message;
    bool operator>(const Notice& o) const noexcept {
      return std::tie(at, host, number) > std::tie(o.at, o.host, o.number);
    }
  };

  void hand_over(ScaleUp& there, const Notice& notice);
  void take(const Notice& notice);
  void arrived(const Arrival& arrival);

  ScaleUpConfig config_;
  bool spread_ = false;
  std::uint32_t host_ = 0;
  std::vector<std::shared_ptr<DeviceWake>> wakes_;  // by host
  std::vector<RankHost*> nics_;               // by place
  std::vector<Port> ports_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> port_of_;  // by place and GPU
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  std::priority_queue<Notice, std::vector<Notice>, std::greater<>> notices_;
  std::uint64_t sent_ = 0;
  std::uint64_t begun_ = 0;  // to come
  std::shared_ptr<bool> changed_ = std::make_shared<bool>(false);
  std::mutex mutex_;  // of what other hosts, on other workers perhaps, have handed over:
  std::vector<Notice> handed_over_;
};

}  // namespace railyard
