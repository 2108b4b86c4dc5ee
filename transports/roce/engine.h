// A RoCEv2 NIC's transport: QPs and what they need, packets in and packets out. Sans-IO: it owns no thread, socket or
// clock; `now` never goes back. RoceEndpoint (roce_endpoint.h) puts it behind a NIC.
//
// After a post, a packet or a timer the QPs concerned stand in line for their class: answers that are never held back
// (ACK, NAK, atomic) before data (requests, READ responses), one packet each in turn; data that is paced waits for its
// instant, and so do timers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dataplane/base/endpoint.h"
#include "dataplane/base/path_telemetry.h"
#include "dataplane/base/ring_queue.h"
#include "dataplane/base/units.h"
#include "transports/base/wake_queue.h"
#include "transports/roce/congestion/cnp_pacing.h"
#include "transports/roce/datagrams.h"
#include "transports/roce/nic_state.h"
#include "transports/roce/qp.h"
#include "transports/roce/qp_state.h"

namespace railyard::roce {

// What a QP is made with.
struct QpInit {
  QpType type = QpType::kRc;
  ProtectionDomain domain{};
  CqId send_cq{};
  CqId recv_cq{};
  std::optional<SrqId> srq{};     // where its receive requests come from; else its own queue
  std::size_t max_send_wr = 128;  // 1..
  std::size_t max_recv_wr = 128;
  bool signal_all = false;
  bool gsi = false;  // UD: is QP 1
  bool cnps = true;  // answers CE-marked packets by CNPs; off towards a peer that mistakes them (rxe)
  // Its data on the wire, preamble and gap included, at most; 0: no limit of its own. verbs: rate_limit.
  BitRate rate_limit{};
  std::optional<SelectiveRepeatConfig> selective_repeat{};  // RC, and the peer has it, too; else go-back-N
};
enum class CreateError : std::uint8_t { kTooManyQps, kUnknownCq, kUnknownSrq, kGsiTaken, kSelectiveRepeatNotRc };
std::string_view name(CreateError error) noexcept;

// A packet that has come, its ICRC right.
struct InPacket {
  Packet packet{};
  PayloadRef payload{};  // without padding
  wire::IpAddress source;
  wire::IpAddress destination;
  bool ce = false;                  // congestion experienced
  std::span<const std::byte> ip{};  // the IP header; used by UD only
  const PathTelemetry* telemetry = nullptr;  // what the packet carried beside itself; nullptr: nothing
};

class alignas(64) Engine {
 public:
  explicit Engine(EngineConfig config);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // ---- Control: may allocate ----
  MemoryRegions& memory() noexcept { return nic_.memory; }
  CqId create_cq(std::size_t capacity);
  SrqId create_srq(ProtectionDomain domain, std::size_t max_wr);
  AhId create_ah(const AddressVector& av);
  // What is posted and not sent goes there, too.
  void modify_ah(AhId ah, const AddressVector& av) { handles_[ah.index()] = Path(av); }
  std::expected<QpNumber, CreateError> create_qp(const QpInit& init);
  // Whether there was such a QP. Its work requests are forgotten.
  bool destroy_qp(QpNumber number);
  // Sets the attributes in `given` to their values in `values` on the way to state `to`. On error nothing changes.
  std::expected<void, ModifyError> modify_qp(Instant now, QpNumber number, QpState to, QpAttributeSet given,
                                             const QpAttributes& values);
  // Whether there was such a QP. What is sent after `now` keeps to `limit` (QpInit::rate_limit).
  bool set_rate_limit(Instant now, QpNumber number, BitRate limit);
  // nullopt: there is no such QP.
  std::optional<QpState> state(QpNumber number) const noexcept;
  // nullptr: there is no such QP.
  const Qp* qp(QpNumber number) const noexcept { return find(number); }

  // ---- Work ----
  std::expected<void, PostError> post_send(Instant now, QpNumber number, const SendWr& wr);
  std::expected<void, PostError> post_recv(Instant now, QpNumber number, const RecvWr& wr);
  std::expected<void, PostError> post_srq_recv(SrqId srq, const RecvWr& wr);
  // Takes up to `out.size()` completions; returns how many.
  std::size_t poll(CqId cq, std::span<Completion> out) noexcept { return cqs_[cq.index()].poll(out); }
  // Whether there was a completion in any queue since this was asked last.
  bool take_completed() noexcept { return std::exchange(completed_, false); }
  CompletionQueue& cq(CqId cq) noexcept { return cqs_[cq.index()]; }
  ReceiveQueue& srq(SrqId srq) noexcept { return srqs_[srq.index()]; }
  // What happened since the last call.
  std::vector<AsyncEvent> take_events();

  // ---- Packets ----
  // This packet comes soon: fetches what it will touch. Whoever has several at hand says so a few ahead.
  void expect(const Packet& packet) const noexcept { expect(QpNumber{packet.bth.dest_qp}, packet.info().response); }
  void expect(QpNumber number, bool response) const noexcept {
    const Qp* const qp = find(number);
    if (qp == nullptr) return;
    if (response) {
      qp->prefetch_to_hear();
    } else {
      qp->prefetch_to_receive();
      nic_.memory.prefetch();
    }
  }
  // The same of what will be sent next.
  void expect_send() const noexcept {
    if (lined_up_ == nullptr) return;
    lined_up_->prefetch_to_send(controlled());
    __builtin_prefetch(&nic_.config);
    nic_.memory.prefetch();
  }
  // Returns why it was of no use; nullopt: it was taken.
  std::optional<Drop> on_packet(Instant now, const InPacket& in);
  // One that came and was none: counted.
  void on_drop(Drop reason) noexcept;
  void on_malformed(Malformed reason) noexcept;

  // Does what fell due, and says what could be sent and until when the answer holds.
  Readiness ready(Instant now);
  // The next packet of a class. False: there is none. Payload and path hold until the next begin_burst() or control.
  bool send(Instant now, Priority priority, OutPacket& out);
  // The payload of the packets before is not needed any more.
  void begin_burst() noexcept { nic_.bounce.reset(); }

  const Counters& counters() const noexcept { return nic_.counters; }
  // The same, told by the process that runs the NIC, taken by others.
  void exchange_figures(StateArchive& archive) { archive(nic_.counters); }

 private:
  Qp* find(QpNumber number) const noexcept {
    const Found& last = found_[number.value % std::size(found_)];
    return last.number == number ? last.qp : look_up(number);
  }
  Qp* look_up(QpNumber number) const noexcept;
  Qp* in_slot(std::uint32_t slot) const noexcept { return slot < qps_.size() ? qps_[slot].get() : nullptr; }
  void apply(QpInfo& info, QpAttributeSet given, const QpAttributes& values);
  void enter(Instant now, Qp& qp, QpState to);
  void flush_receives(Qp& qp) noexcept;
  void to_error(Qp& qp, bool answers) noexcept;
  void settle(Instant now, Qp& qp);
  void settle_responder(Instant now, Qp& qp);
  void line_up(Instant now, Qp& qp);
  void set_timer(Qp& qp);
  void run_due(Instant now) {
    if (next_wake_ <= now) run_wakes(now);
  }
  void run_wakes(Instant now);

  std::optional<Drop> accept(Instant now, const InPacket& in);
  std::optional<Drop> admit(const Qp& qp, const InPacket& in) const noexcept;
  std::optional<Drop> dispatch(Instant now, Qp& qp, const InPacket& in);
  std::optional<Drop> on_cnp(Instant now, Qp& qp);
  void note_ce(Instant now, Qp& qp, const InPacket& in);
  void note_telemetry(Qp& qp, const PathTelemetry& telemetry, bool response);

  bool controlled() const noexcept { return controlled_; }
  void add_telemetry(const Qp& qp, OutPacket& out) const noexcept;
  void prefetch_wakes() const noexcept;
  void prefetch_line(const RingQueue<std::uint32_t>& line) const noexcept;
  void owe_cnp(Qp& qp);
  void forget_cnp(Qp& qp);
  bool send_cnp(OutPacket& out);
  bool send_control(Instant now, std::size_t priority, OutPacket& out);
  bool send_data(Instant now, std::size_t priority, OutPacket& out);
  void pace(Instant now, Qp& qp, std::uint32_t octets) noexcept;
  void count_data(Instant now, Qp& qp, const OutPacket& out) noexcept;
  void count_sent(const OutPacket& out) noexcept;

  struct Lines {
    RingQueue<std::uint32_t> control;  // slots
    RingQueue<std::uint32_t> data;
  };
  void stand_in_line(RingQueue<std::uint32_t> Lines::*line, std::size_t priority, std::uint32_t slot) {
    (lines_[priority].*line).push(slot);
    in_line_ = static_cast<PriorityMask>(in_line_ | 1u << priority);
  }
  void leave_line(RingQueue<std::uint32_t> Lines::*line, std::size_t priority) noexcept {
    (lines_[priority].*line).pop();
    if (lines_[priority].control.empty() && lines_[priority].data.empty())
      in_line_ = static_cast<PriorityMask>(in_line_ & ~(1u << priority));
  }
  void wake_at(const Wake& wake) {
    wakes_.push(wake);
    if (wake.at < next_wake_) next_wake_ = wake.at;
  }
  // What every packet touches comes first: a fabric of a thousand NICs finds none of it in its cache.
  std::vector<std::unique_ptr<Qp>> qps_;  // slot 0 is the GSI's; QP number first_qpn + slot - 1
  RingQueue<std::uint32_t> cnps_;         // slots of the QPs that owe one, each of them once
  // The QPs that packets were for last, by their numbers: most NICs talk to few peers at a time.
  struct Found {
    QpNumber number{};
    Qp* qp = nullptr;
  };
  mutable std::array<Found, 4> found_;
  const Qp* lined_up_ = nullptr;  // which did so last, if it is there still: one of those that send soon
  bool completed_ = false;    // since take_completed()
  PriorityMask in_line_ = 0;  // classes in whose lines somebody stands
  const bool controlled_;     // there is congestion control,
  const bool telemetry_;      // ... and it reads in-band telemetry
  Instant next_wake_ = Instant::never();
  alignas(64) WakeQueue wakes_;
  alignas(64) NicState nic_;
  std::array<Lines, kPriorities> lines_;
  CnpPacing cnp_pacing_;
  std::deque<CompletionQueue> cqs_;
  std::deque<ReceiveQueue> srqs_;
  AddressHandles handles_;
  std::deque<std::uint32_t> free_;  // the slot that is longest free first
  std::uint32_t next_flow_ = 0;
};

}  // namespace railyard::roce
