// A flow of a built lab, with its two ends: of the traffic generators, or of RoCE NICs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "control/workload/flow_plan.h"
#include "dataplane/base/flow_counters.h"
#include "dataplane/nic/traffic_generator.h"
#include "transports/roce/flows/flow_connection.h"

namespace railyard::build {

struct Flow {
  workload::FlowPlan plan;
  Priority priority{};  // class of its data at the sending NIC
  BitRate rate{};       // 0: greedy
  Bytes total{};        // 0: no end
  Instant start{};
  bool ect = true;
  // Of the generators ...
  TrafficGenerator* sender = nullptr;
  TrafficGenerator* receiver = nullptr;  // nullptr: an attached host, which does not tell
  std::size_t tx_index = 0;              // in the sender
  // ... or of RoCE NICs.
  roce::FlowEndpoint* source = nullptr;
  roce::FlowEndpoint* sink = nullptr;
  roce::FlowConnection::Places places{};

  bool is_roce() const noexcept { return source != nullptr; }
  // Whether what arrives is known.
  bool measured() const noexcept { return is_roce() || receiver != nullptr; }

  TxFlowCounters sent() const;
  // What has arrived; nothing if an attached host receives it.
  const RxFlowCounters& received() const;
  // When all of it was there: of RoCE, when its last message was complete where it was asked for.
  std::optional<Instant> complete() const;

  // Of the generators.
  const TxFlowConfig& config() const { return sender->tx_config(tx_index); }
  // Of RoCE: of its QPs at both ends; of its messages, where they are asked for; how many were verified at the sink.
  roce::QpCounters qps() const;
  const roce::MessageCounters& messages() const;
  std::uint64_t verified() const { return sink->verified(places.at_sink); }
  const roce::FlowConfig& roce_config() const { return source->config(places.at_source); }

  // At its sender. The NIC must be told (Host::endpoint_changed).
  void set_rate(Instant now, BitRate to) const;
};

}  // namespace railyard::build
