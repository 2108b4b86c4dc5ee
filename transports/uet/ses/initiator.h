// The semantic sublayer of an initiator: messages become packets, and answers completions (uet §6).
#pragma once

#include <cstdint>
#include <expected>
#include <vector>

#include "dataplane/base/payload_ref.h"
#include "dataplane/base/rng.h"
#include "transports/base/stable_vector.h"
#include "transports/base/wake_queue.h"
#include "transports/uet/fep_state.h"
#include "transports/uet/pds/pdc.h"
#include "transports/uet/ses/context.h"
#include "transports/uet/ses/response.h"
#include "transports/uet/wire/packet.h"
#include "transports/uet/work_request.h"

namespace railyard::uet {

class Initiator {
 public:
  Initiator(FepState& fep, RngStream chance) : fep_(fep), chance_(chance) {}

  struct Message {
    SendWr wr{};
    ContextId context{};
    std::uint32_t job_id = 0;
    std::uint32_t initiator = 0;
    ProtectionDomain domain{};
    CqId cq{};
    std::uint64_t number = 0;  // in the order of posting
    std::uint16_t message_id = 0;
    std::uint8_t retries = 0;    // after NO_MATCH
    std::uint8_t moves = 0;      // to another PDC
    std::uint8_t generation = 0;  // of the target's index, as it has said
    std::uint16_t tries = 0;     // begun anew
    bool aborted = false;        // no more of it is sent
    bool sent_all = false;       // or nothing more is to be sent
    bool answered_data = false;  // small READ, fetching atomic: its data is here
    ReturnCode code = ReturnCode::kOk;
    Status status = Status::kSuccess;
    std::uint32_t octets = 0;
    std::uint32_t packets = 1;
    std::uint32_t next = 0;         // of its packets to be sent for the first time
    std::uint32_t outstanding = 0;  // sent, not answered
    std::uint32_t arrived = 0;      // READ: octets
    std::uint32_t slices = 0;       // READ: packets of them
    std::uint32_t modified = 0;     // what the target has changed, if it says so
    bool says_modified = false;
  };

  // A new message.
  std::expected<std::uint32_t, PostError> create(ContextId id, const ContextInit& context, const SendWr& wr);
  const Message& message(std::uint32_t i) const noexcept { return messages_[i]; }

  // Index of the packet that says that no more comes.
  static constexpr std::uint32_t kErrorPacket = ~std::uint32_t{0};

  // The next packet of the PDC's first message, and how many octets it has behind the PDS header. False: none may go
  // now.
  bool peek(Pdc& pdc, Cargo& cargo, std::uint32_t& octets) noexcept;
  // All that is to be sent of a message, with PDS headers of `pds_octets` in each packet.
  std::int64_t octets_to_send(std::uint32_t message, std::uint32_t pds_octets) const noexcept;
  // It is sent: begins the message if it is its first.
  void sent_first(Pdc& pdc, const Cargo& cargo);
  // The SES header and payload of a packet. When local memory may not be used so, it says so (ie), and is the last of
  // its message.
  void fill(const Cargo& cargo, Packet& packet, PayloadRef& payload, std::array<std::byte, kMostAckData>& small);
  bool is_last(const Cargo& cargo) const noexcept;
  // More of a READ follows when some of its data are here.
  bool waits_for_reads(const Pdc& pdc) const noexcept {
    return !pdc.messages.empty() && is_read(messages_[pdc.messages.front()]) &&
           pdc.reads_in_flight >= fep_.config.most_reads_in_flight;
  }
  // Of a packet of a READ: the octets that it asks for; of others 0.
  std::uint32_t read_octets(const Cargo& cargo) const noexcept {
    const Message& m = messages_[cargo.item];
    return is_read(m) && cargo.index != kErrorPacket ? octets_of_packet(m, cargo.index) : 0;
  }
  // The READ that a PDC's response names; nullptr: there is none.
  const Message* find_read(const Pdc& pdc, std::uint16_t message_id) const noexcept {
    for (const std::uint32_t i : pdc.begun)
      if (messages_[i].message_id == message_id) return is_read(messages_[i]) ? &messages_[i] : nullptr;
    return nullptr;
  }

  // A packet is answered: by `response`, or (nullptr) by a CACK, which says OK.
  void on_answered(Instant now, Pdc& pdc, const Cargo& cargo, const SesResponseValues* response,
                   const PayloadRef& payload);
  // A packet of what was read.
  Verdict on_read_data(Instant now, Pdc& pdc, const SesResponseValues& response, const PayloadRef& payload);
  // The PDC is gone. Messages that may be sent again on another are put into `again`, the others fail.
  // DEVIATION: the reference says to retry all; one that a target may have executed would happen twice, so only those
  // that were not begun, and WRITEs and READs, which may be repeated, are: `pdc_retries` times. `again` nullptr: none.
  void forget(Pdc& pdc, Status status, std::vector<std::uint32_t>* again);

  // ---- RUDI and UUD ----
  // The octets that the next packet of a RUDI message has behind the PDS header; of a READ those that it brings back.
  std::uint32_t peek_connectionless(std::uint32_t message) const noexcept;
  // The index of the next packet of a message; sent_all with the last.
  std::uint32_t begin_connectionless(std::uint32_t message) noexcept;
  void on_connectionless_answered(std::uint32_t message, std::uint32_t index, const SesResponseValues& response,
                                  const PayloadRef& payload);
  // One of its packets is given up.
  void on_connectionless_failed(std::uint32_t message, Status status);
  void send_no_more(std::uint32_t message) noexcept { messages_[message].sent_all = true; }
  // Nothing more is waited for.
  void finish_connectionless(std::uint32_t message);

  // Messages whose retry is due.
  Instant next_retry() const noexcept { return retries_.empty() ? Instant::never() : retries_.top().at; }
  std::uint32_t take_retry() noexcept {
    const std::uint32_t message = retries_.top().slot;
    retries_.pop();
    return message;
  }
  std::size_t open_messages() const noexcept { return messages_.size() - free_.size(); }

 private:
  bool is_read(const Message& m) const noexcept { return m.wr.operation == Operation::kRead; }
  bool wants_data(const Message& m) const noexcept {
    return m.wr.operation == Operation::kFetchingAtomic || (is_read(m) && m.octets > 0);
  }
  std::uint32_t octets_of_packet(const Message& m, std::uint32_t index) const noexcept;
  std::uint32_t atomic_octets(const Message& m) const noexcept;
  void take_data(Message& m, const SesResponseValues& response, const PayloadRef& payload);
  bool put(const Message& m, std::uint32_t offset, const PayloadRef& payload) noexcept;
  void finish_if_done(Instant now, Pdc& pdc, std::uint32_t i);
  void complete(const Message& m);
  void restart(Message& m) noexcept;
  std::uint16_t new_id(Pdc& pdc) noexcept;

  FepState& fep_;
  RngStream chance_;
  StableVector<Message> messages_;
  std::vector<std::uint32_t> free_;
  std::uint64_t posted_ = 0;
  std::uint16_t connectionless_id_ = 0;
  WakeQueue retries_;
};

}  // namespace railyard::uet
