// Trains between the NICs of a lab that runs.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "control/build/built_lab.h"
#include "control/probes/train.h"
#include "dataplane/base/state_archive.h"
#include "dataplane/nic/probe_endpoint.h"
#include "dataplane/run/engine.h"

namespace railyard::probes {

// Trains that cannot be sent. The message names the NIC and why.
class NoProbe : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Some trains at a time. All calls by the engine's thread, or while the engine rests.
class Prober {
 public:
  static constexpr std::size_t kMostTrains = 20'000;

  // `lab` outlives it.
  explicit Prober(build::BuiltLab& lab) : lab_(lab) {}
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  // Sends `trains` from `now` on. Throws NoProbe, and nothing has changed then: trains are on their way already, a NIC
  // is attached or somebody else drives it (a replay), a train is too long for its link's MTU.
  void begin(Engine& engine, Instant now, std::vector<Train> trains, const Shape& shape);
  // Whether begin() could send to and from this NIC.
  bool is_free(const spec::PortName& nic) const;
  // Whether begin() was called, and end() was not since.
  bool running() const noexcept { return !nics_.empty(); }
  // Which begin() it was, from 1: trains of one may be taken away, and others sent, before somebody asks for them.
  std::uint64_t job() const noexcept { return job_; }
  // Whether what came has waited for a minute of simulated time, and nobody has asked for it.
  bool is_abandoned(Instant now) const noexcept {
    constexpr Duration kMinute{60'000'000'000'000};
    return running() && now >= ends_ + kMinute;
  }
  // When all frames have been sent on an idle fabric, and have arrived; later on a busy one.
  Instant ends() const noexcept { return ends_; }
  // Whether all frames were handed to their NICs and had time to arrive.
  bool is_over(Instant now) const;
  // What came, in the order of the trains; frames that are still on their way are lost. NICs are driven by their own
  // endpoints again.
  std::vector<Arrived> end(Engine& engine, Instant now);

  // What NICs of those devices count of trains that go on: told by the process that runs these, taken by others, which
  // have begun the same trains.
  void exchange_figures(StateArchive& archive, const std::function<bool(DeviceId)>& is_its);

  // Which trains go on.
  const std::vector<Train>& trains() const noexcept { return trains_; }
  const Shape& shape() const noexcept { return shape_; }
  // How long the frames of a train take on the slower of its two links, all but the first.
  Duration least_time(const Train& train, const Shape& shape) const;

 private:
  struct Nic {
    Host* host;
    PortIndex port;
    ProbeEndpoint* endpoint;                           // of the host from the next window on
    std::unique_ptr<ProbeEndpoint> waiting = nullptr;  // until then
  };
  struct Place {
    PortRef from, to;
    std::size_t index;  // of the train among those that its sender sends
    std::uint64_t id;
  };
  struct Ends;

  TxFlowConfig config_of(const Train& train, const Shape& shape, Instant now, std::uint64_t id) const;
  PortRef free_nic(const spec::PortName& name) const;
  void put_back(Engine& engine, Instant now);

  build::BuiltLab& lab_;
  std::vector<Train> trains_;
  Shape shape_;
  std::vector<Place> places_;  // by train
  std::map<PortRef, std::shared_ptr<Nic>> nics_;
  Instant ends_{};
  std::uint64_t job_ = 0;
  std::uint64_t begun_ = 0;  // trains so far: names the payload of the next
};

}  // namespace railyard::probes
