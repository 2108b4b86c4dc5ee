// A flow of messages between two UET NICs, as both of them know it.
#pragma once

#include "transports/base/flow_config.h"
#include "transports/uet/wire/pds_type.h"

namespace railyard::uet {

// Message i goes over lane i mod `qps`, which has a PDC of its own as long as there are lanes (SendWr::lane). RUDI
// carries WRITEs and READs, UUD SENDs of at most a Payload MTU. Of RUDI and UUD, which have no PDC, a rate is kept by
// when messages are posted.
struct FlowConfig : railyard::FlowConfig {
  DeliveryMode mode = DeliveryMode::kRud;
  // SENDs of RUD and ROD: TAGGED_SENDs. Their tags are those of the flow, with the low bits of the message's number,
  // and a receive request takes any of the flow.
  bool tagged = false;
  // Flows of one number to one peer share a PDC; 0: it has its own, as long as there are lanes.
  std::uint32_t connection = 0;

  static constexpr std::uint64_t kNumberOfTag = 0xFFFF;  // bits of a tag
  constexpr std::uint64_t tag(std::uint64_t number) const noexcept {
    return id * (kNumberOfTag + 1) | (number & kNumberOfTag);
  }
  constexpr bool has_pdc() const noexcept { return mode == DeliveryMode::kRud || mode == DeliveryMode::kRod; }
};

}  // namespace railyard::uet
