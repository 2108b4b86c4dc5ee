// Settings of a UET engine; defaults are those of uet §5.15 unless said otherwise.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "dataplane/base/gap_jitter.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "transports/uet/congestion/congestion_control.h"
#include "transports/uet/congestion/credit_pacer.h"
#include "transports/uet/congestion/rccc.h"
#include "transports/uet/multipath/path_selector.h"
#include "transports/uet/wire/dialect.h"

namespace railyard::uet {

// Data of one class of traffic: requests, and data of READs that are sent for them. PDCs belong to one.
struct DataClass {
  Priority priority{0};    // the NIC's class
  std::uint8_t dscp = 0;   // DSCP_TRIMMABLE of it
  bool ect = true;         // ECN-capable: ECT(0)
  bool trimming = false;   // switches trim what they have no room for: other losses are few, and not waited for so soon
  bool lossless = false;   // switches pause it: what is late may wait, so that time alone does not say of a loss
  // Packets of one entropy value stay in order: switches choose the path by hash. Then one that arrives shows that those
  // before it on its path are lost, however long another path is paused.
  bool ordered_paths = false;
  CongestionConfig congestion = NsccConfig::of({});
  std::optional<RcccConfig> credit{};  // sends by its receivers' credit, too; RUD and ROD only
  MultipathConfig multipath{};
};

// As it goes from the daemon to applications: no allocation, one data class.
struct EngineSettings {
  static constexpr int kMostDoublings = 16;  // of a timeout that are reckoned with

  std::uint32_t payload_mtu = 4096;  // 1024..8192, by the standard a power of two; the same at all ends
  Dialect dialect{};

  // PDCs.
  std::uint16_t most_pdcs = 0xFFFF;     // at a time, 2..65535; a quarter of them, and at least one, is for others' alone
  std::uint16_t first_pdcid = 1;        // of so many as most_pdcs: several engines may share an address
  Duration pdcid_quiet{1'000'000'000};  // a PDCID that has gone is not used again this long
  // An initiator closes a PDC that had nothing to do this long. (No source has a default.)
  Duration idle_close{1'000'000'000};
  // A target asks for the close of one that heard nothing this long; an initiator that waits for data of READs only gives
  // it up, though its NOOPs are answered.
  Duration target_idle{5'000'000'000'000};
  // But not before one who sends as this end does would have given up.
  Duration target_waits() const noexcept { return std::max(target_idle, silence()); }
  // Whether it asks with NOOPs meanwhile; off for peers that do not know them.
  bool keep_alive = true;
  Duration close_req_time{1'000'000'000'000};  // Close_REQ_Time: and closes it in error when nothing comes of it
  // How long a target may keep a PDC whose initiator has given it up: until its own data have been sent often enough,
  // it has heard nothing for long, and nothing comes of its CLOSE_REQ. So long the PDCID is not used again.
  Duration target_keeps() const noexcept { return silence() + target_waits() + close_req_time; }

  // Windows, in PSNs. The reference provider has 128 for both.
  std::uint32_t window = 512;    // outstanding at most, 1..4096
  std::uint32_t mp_range = 512;  // MP_RANGE, what a receiver takes beyond CACK: a power of two, 128..16384
  // The least MP_RANGE of any peer, as far as is known: before a peer has said its own no more are sent. (The standard
  // has 4096; but what is beyond is no part of the PDC for its target, INVALID_SYN, and the PDC fails.)
  std::uint32_t first_range = 4096;

  // Acknowledgements.
  bool ack_cc = true;                  // ACK_CC with NSCC state and SACK; else plain ACK
  std::uint32_t ack_trigger = 16'384;  // ACK_Gen_Trigger, octets; 0, 1: every packet
  // The same while packets are missing before the newest, if it is less: then the sender has more to learn.
  std::uint32_t ack_trigger_missing = ~std::uint32_t{0};
  std::uint32_t ack_min_add = 1024;    // ACK_Gen_Min_Pkt_Add
  // Whether a duplicate that says that it is none (retx = 0), so one that the network has made, is answered, too.
  bool answer_all_duplicates = true;

  // Loss.
  Duration rto_init{5'000'000'000};  // RTO_INIT
  std::uint8_t retries = 5;          // timeouts in a row; one more, and the PDC is closed in error
  // What a timeout is of. false: of the oldest packet that is not acknowledged, and after it of all (uet §5.9). true: each
  // packet of RUD has a timer of its own, as in uet-htsim: what is lost again delays no other.
  bool packet_timers = false;
  // RTO_INIT x 2^n after n timeouts in a row (uet §5.9); false: always RTO_INIT (uet-htsim). Tries of a tail double, too.
  bool rto_doubles = true;
  // For how long at most nothing is heard until then. As long what was cut by switches, again and again, is sent again.
  Duration silence() const noexcept {
    return rto_init * (std::int64_t{1} << std::min<int>(retries + 1, kMostDoublings));
  }
  // A message whose PDC its target does not know any more goes again on another one (INV_DPDCID and the like, uet §3.10),
  // so many times. (No source has a limit.)
  std::uint8_t pdc_retries = 5;
  // A NACK that asks for another try: the packet goes again no sooner; doubles in a row, up to rto_init. (No source has
  // a default: a round trip or two.)
  Duration nack_backoff{20'000'000};
  std::uint16_t setup_retries = 1000;  // tries at a target without resources for a PDC
  // RUD: what nobody tells of, as switches do that trim, is inferred by time (engine_losses.cc).
  bool infer_loss = true;
  // At the tail by PROBEs (uet §9.5), too: these ask when nothing was heard for a round trip and more. Where control
  // packets have a class of their own they overtake data: their quick return says nothing of the queues.
  bool probe = false;

  // A message of which something is missing, and nothing has come for so long, is given up by its target: what it held
  // is free again, and packets of it that come nevertheless are refused (DROPPED).
  Duration half_message_idle{5'000'000'000'000};
  // But not before one who sends as this end does would have given up: what is missing may be lost again and again.
  Duration half_message_keeps() const noexcept { return std::max(half_message_idle, silence()); }

  // Guaranteed responses that a target keeps for one PDC, and READs that it has not answered.
  std::uint32_t most_stored_responses = 256;
  std::uint32_t most_read_jobs = 1024;
  std::uint32_t most_reads_in_flight = 256;  // READ requests of an initiator's PDC whose data is not here

  // RUDI packets to one peer in one class outstanding at a time. (No source has a default: as of a PDC.)
  std::uint32_t rudi_window = 512;
  // And to all peers: beyond that others wait. 1..2^20: pkt_id has as many numbers for places.
  std::uint32_t most_rudi = 1u << 20;

  // Data of one peer's RUDI READs that wait to be sent, in packets; beyond that a READ is answered NO_RESOURCE. (No
  // source has a limit: as the largest window of a PDC.)
  std::uint32_t most_rudi_replies = 4096;
  // Answers to what is of no PDC that wait to be sent; beyond that there are none.
  std::uint32_t most_replies = 65'536;
  // Peers that are heard and that this end has not named; what others send is dropped.
  std::uint32_t most_strangers = 65'536;

  // A message that found no buffer (NO_MATCH, DISABLED_GEN) goes again after a random time, which doubles.
  Duration no_match_least{50'000'000'000};
  Duration no_match_most{100'000'000'000};
  std::uint8_t no_match_retries = 5;

  // What is around a packet on the wire beside its IP header: Ethernet, UDP, CRC, FCS, preamble and gap, which may
  // come to less than nothing (framing.h). For rates.
  std::int32_t around_octets = 14 + 8 + 4 + 4 + 20;

  PacingConfig pacing{};  // of what keeps to a rate

  Priority data{0};       // the NIC's class of requests
  bool trimming = false;  // as of DataClass
  bool lossless = false;  // as of DataClass
  bool ordered_paths = false;  // as of DataClass
  Priority control{6};  // of ACK, NACK and CP, whatever the class of what they are about

  CongestionConfig congestion = NsccConfig::of({});
  std::optional<RcccConfig> credit{};  // as of DataClass
  CreditPacerConfig grants{};          // to senders that ask for credit
  MultipathConfig multipath{};  // of RUD; a PDC for ROD has one path

  // How peers name memory. A key is the region's; or what the owner of the memory has chosen (Engine::choose_key()).
  bool chosen_keys = false;
  // buffer_offset counts from the beginning of the region; or it is an address of the region's owner.
  bool virtual_addresses = false;
};
static_assert(std::is_trivially_copyable_v<EngineSettings>);

struct EngineConfig : EngineSettings {
  // All the above, and DSCP and ECN of the encapsulation, are of data class 0; those from 1 on. At most 255.
  std::vector<DataClass> other_classes{};
};

}  // namespace railyard::uet
