// A flow of a built lab, with its two ends: of the traffic generators, or of RoCE or UET NICs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "control/spec/spec.h"
#include "control/workload/flow_plan.h"
#include "dataplane/base/flow_counters.h"
#include "dataplane/base/flow_listener.h"
#include "dataplane/nic/traffic_generator.h"
#include "transports/roce/flows/flow_connection.h"
#include "transports/uet/flows/flow_connection.h"

namespace railyard::build {

struct Flow {
  workload::FlowPlan plan;
  Priority priority{};  // class of its data at the sending NIC
  BitRate rate{};       // 0: greedy
  Bytes total{};        // 0: no end
  Instant start{};
  Instant stop = Instant::never();  // it is asked to send until then
  bool ect = true;
  // Of the generators ...
  TrafficGenerator* sender = nullptr;
  TrafficGenerator* receiver = nullptr;  // nullptr: an attached host, which does not tell
  std::size_t tx_index = 0;              // in the sender
  // ... or of RoCE NICs ...
  roce::FlowEndpoint* source = nullptr;
  roce::FlowEndpoint* sink = nullptr;
  roce::FlowConnection::Places places{};
  // ... or of UET NICs.
  struct Uet {
    uet::FlowEndpoint* source = nullptr;
    uet::FlowEndpoint* sink = nullptr;
    uet::FlowConnection::Places places{};

    bool asks(bool is_source) const { return config().asks(is_source); }
    const uet::FlowConfig& config() const { return source->config(places.at_source); }
    const uet::MessageCounters& messages() const {
      return asks(true) ? source->messages(places.at_source) : sink->messages(places.at_sink);
    }
    std::uint64_t verified() const { return sink->verified(places.at_sink); }
    const uet::FlowPackets& sent() const { return source->packets(places.at_source); }
  };
  std::optional<Uet> uet{};

  bool is_roce() const noexcept { return source != nullptr; }
  bool is_uc() const noexcept { return is_roce() && source->qp_type(places.at_source) == roce::QpType::kUc; }
  bool is_uet() const noexcept { return uet.has_value(); }
  bool is_generated() const noexcept { return !is_roce() && !is_uet(); }
  // Whether what arrives is known.
  bool measured() const noexcept { return !is_generated() || receiver != nullptr; }

  // Where its messages are asked for, and so where it is started: READs at the destination.
  bool asks_at_source() const noexcept {
    return is_uet() ? uet->asks(true) : !is_roce() || roce_config().asks(true);
  }
  // When it has begun, or will by itself; never(): it waits for a trigger.
  Instant started() const noexcept;
  // It begins now. By its device, which asks the NIC's endpoint afterwards what there is to do.
  void start_at(Instant now) const;
  // `listener` is told when its source, or its destination, is done with it (FlowListener).
  void tell(bool source, FlowListener& listener, std::uint32_t token) const;

  TxFlowCounters sent() const;
  // What has arrived; nothing if an attached host receives it.
  const RxFlowCounters& received() const;
  // When all of it was there: of RoCE and UET, when its last message was complete where it was asked for; of UUD and
  // UC, which nobody answers, when it had come.
  std::optional<Instant> complete() const;

  // Of the generators.
  const TxFlowConfig& config() const { return sender->tx_config(tx_index); }
  // Of RoCE: of its QPs at both ends; of its messages, where they are asked for; how many were verified at the sink.
  roce::QpCounters qps() const;
  const roce::MessageCounters& messages() const;
  std::uint64_t verified() const { return sink->verified(places.at_sink); }
  const roce::FlowConfig& roce_config() const { return source->config(places.at_source); }

  // Where its rate is kept: at its sender, of UET's READs at the receiver, who asks for them. The NIC must be told
  // (Host::endpoint_changed).
  const spec::PortName& paced_at() const { return is_uet() && !uet->asks(true) ? plan.destination : plan.source; }
  void set_rate(Instant now, BitRate to) const;
};

}  // namespace railyard::build
