// What a sender knows of its packets that are not answered (uet §5.8, §5.9, §7).
//
//   answered | acknowledged here and there: each one in flight, lost, received or answered | never sent
//           una                                                                           next
//
// `received`: it is at the destination, as a SACK says, but its response is not here: it is not sent again, it is asked
// after. `answered`: the response is here.
#pragma once

#include <cstdint>

#include "dataplane/base/ring_queue.h"
#include "dataplane/base/time.h"
#include "transports/uet/pds/psn.h"

namespace railyard::uet {

// What a packet is made of, so that it can be made again.
struct Cargo {
  enum class Kind : std::uint8_t { kRequest, kReadData, kCloseCmd, kCloseReq, kNoop };
  Kind kind = Kind::kRequest;
  std::uint32_t item = 0;   // kRequest: the message; kReadData: the job
  std::uint32_t index = 0;  // kRequest: which packet of it

  bool is_control() const noexcept { return kind != Kind::kRequest && kind != Kind::kReadData; }
};

struct SentPacket {
  Instant sent_at{};
  Cargo cargo{};
  std::uint32_t octets = 0;  // as counted for congestion control
  std::uint16_t entropy = 0;
  static constexpr std::uint8_t kMostCounted = 255;
  std::uint8_t transmissions = 0;  // no further than kMostCounted
  std::uint8_t timeouts = 0;       // of this packet in a row
  bool lost : 1 = false;           // goes again
  bool received : 1 = false;
  bool answered : 1 = false;
  bool unclear : 1 = false;  // more than one of its retransmissions may have arrived
  bool passed : 1 = false;   // what was sent after it with the same entropy value has arrived

  // Whether an answer that says so of itself (`retx`) can only be of the last transmission, and so how long that took
  // (uet §5.9: of those after the first it says no more).
  bool is_of_last(bool retx) const noexcept { return retx ? transmissions > 1 && !unclear : transmissions == 1; }
};

class SentPackets {
 public:
  // The first packet will have `start`.
  void start(Psn start) noexcept {
    while (!packets_.empty()) packets_.pop();
    una_ = next_ = lost_from_ = start;
    highest_ = start - 1;
    lost_ = received_ = again_ = 0;
    sacked_ = 0;
  }
  // The same packets with other numbers.
  void renumber(Psn una) noexcept {
    next_ = una + size();
    una_ = lost_from_ = una;
    highest_ = una - 1;
    sacked_ = 0;
  }

  Psn una() const noexcept { return una_; }
  Psn next() const noexcept { return next_; }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(packets_.size()); }
  bool empty() const noexcept { return packets_.empty(); }
  // The newest that is known to have arrived; una() - 1: none.
  Psn highest_received() const noexcept { return highest_; }
  bool any_lost() const noexcept { return lost_ > 0; }
  std::uint32_t lost() const noexcept { return lost_; }
  // Whether some may still be under way: neither lost nor received.
  bool any_in_flight() const noexcept { return size() > lost_ + received_; }
  // Whether some of them are before one that has arrived. (Of what is lost all may be.)
  bool any_overtaken() const noexcept {
    return highest_ - una_ >= 0 && static_cast<std::uint32_t>(highest_ - una_) + 1 > received_ + lost_;
  }

  // nullptr: it is answered with all before it, or was never sent.
  SentPacket* find(Psn psn) noexcept {
    const std::int32_t i = psn - una_;
    return i < 0 || psn - next_ >= 0 ? nullptr : &packets_[static_cast<std::size_t>(i)];
  }
  // Of one that is outstanding.
  SentPacket& at(Psn psn) noexcept { return packets_[static_cast<std::size_t>(psn - una_)]; }
  const SentPacket& at(Psn psn) const noexcept { return packets_[static_cast<std::size_t>(psn - una_)]; }
  SentPacket& front() noexcept { return packets_.front(); }

  // Allocates only while more are outstanding than ever before.
  Psn add(const SentPacket& packet) {
    packets_.push(packet);
    const Psn psn = next_;
    ++next_;
    return psn;
  }

  // Each returns whether that is new.
  bool mark_received(Psn psn) noexcept {
    SentPacket* const p = find(psn);
    return p != nullptr && mark_received(psn, *p);
  }
  // `packet`: the one of this PSN.
  bool mark_received(Psn psn, SentPacket& packet) noexcept {
    if (packet.received) return false;
    if (psn - highest_ > 0) highest_ = psn;
    leaves_flight(packet);
    packet.received = true;
    ++received_;
    not_lost(packet);
    return true;
  }
  bool mark_answered(Psn psn) noexcept {
    SentPacket* const p = find(psn);
    if (p == nullptr || p->answered) return false;
    if (psn - highest_ > 0) highest_ = psn;
    if (!p->received) {
      leaves_flight(*p);
      ++received_;
    }
    p->received = p->answered = true;
    not_lost(*p);
    return true;
  }
  // `told`: that the last transmission has not arrived, which else is only likely.
  bool mark_lost(Psn psn, bool told = false) noexcept {
    SentPacket* const p = find(psn);
    if (p == nullptr || p->received || p->lost) return false;
    leaves_flight(*p);
    p->lost = true;
    if (!told && p->transmissions > 1) p->unclear = true;
    if (lost_++ == 0 || psn - lost_from_ < 0) lost_from_ = psn;
    return true;
  }
  // The receiver says that it does not have what a SACK said it had.
  void forget_received(Psn psn) noexcept {
    SentPacket* const p = find(psn);
    if (p == nullptr || p->answered || !p->received) return;
    p->received = false;
    if (p->transmissions > 1) ++again_;
    --received_;
    sacked_ = 0;
  }
  // Of the packets that a SACK names (bit i: base + i), those that the one before, asked about so, did not.
  std::uint64_t new_in_sack(Psn base, std::uint64_t bitmap) noexcept {
    const std::int32_t ahead = base - sack_base_;
    std::uint64_t known = 0;
    if (ahead >= 0 && ahead < 64) known = sacked_ >> ahead;
    if (ahead < 0 && ahead > -64) known = sacked_ << -ahead;
    sack_base_ = base;
    sacked_ = bitmap;
    return bitmap & ~known;
  }
  // Forgets those at the front that are answered.
  void pop_answered() noexcept {
    while (!packets_.empty() && packets_.front().answered) {
      packets_.pop();
      --received_;
      ++una_;
    }
    if (lost_from_ - una_ < 0) lost_from_ = una_;
    if (highest_ - una_ < 0) highest_ = una_ - 1;
  }

  // The last transmission of `psn` has arrived: what was sent before it with the same entropy value took the same way,
  // and has not. Returns whether there is any such packet. Looks back to the one of that value before it that has
  // arrived; where some were sent again, at all.
  bool mark_passed(Psn psn) noexcept {
    const SentPacket& by = at(psn);
    if (by.cargo.is_control()) return false;
    if (again_ > 0 || by.transmissions > 1) return mark_passed(una_, next_, by.entropy, by.sent_at);
    bool any = false;
    for (Psn before = psn - 1; before - una_ >= 0; before = before - 1) {
      SentPacket& p = at(before);
      if (p.entropy != by.entropy) continue;
      if (p.received && p.transmissions == 1) break;
      any = pass(p, by.sent_at) || any;
    }
    return any;
  }
  // The same of packets from `first` to before `end` that were sent with `entropy` before `than`.
  bool mark_passed(Psn first, Psn end, std::uint16_t entropy, Instant than) noexcept {
    if (first - una_ < 0) first = una_;
    if (end - next_ > 0) end = next_;
    bool any = false;
    for (Psn psn = first; psn - end < 0; ++psn)
      if (SentPacket& p = at(psn); p.entropy == entropy) any = pass(p, than) || any;
    return any;
  }
  // Of what was sent after `than` and not after `until`: how many packets have arrived, and how many have not.
  struct Behind {
    std::uint32_t arrived = 0;
    std::uint32_t missing = 0;
  };
  Behind sent_behind(Instant than, Instant until) const noexcept {
    Behind behind;
    for (Psn psn = una_; psn - next_ < 0; ++psn) {
      const SentPacket& p = at(psn);
      if (p.sent_at <= than || p.sent_at > until || p.lost) continue;
      ++(p.received ? behind.arrived : behind.missing);
    }
    return behind;
  }
  // The oldest that goes again; there is one.
  Psn first_lost() noexcept {
    while (!at(lost_from_).lost) ++lost_from_;
    return lost_from_;
  }
  void sent_again(Psn psn, Instant now, std::uint16_t entropy) noexcept {
    SentPacket& p = at(psn);
    not_lost(p);
    p.sent_at = now;
    p.entropy = entropy;
    p.passed = false;
    if (p.transmissions < SentPacket::kMostCounted) ++p.transmissions;
    ++again_;
  }

 private:
  static bool pass(SentPacket& p, Instant than) noexcept {
    if (p.received || p.lost || p.cargo.is_control() || p.sent_at >= than) return false;
    return p.passed = true;
  }
  void leaves_flight(const SentPacket& p) noexcept {
    if (!p.lost && p.transmissions > 1) --again_;
  }
  void not_lost(SentPacket& p) noexcept {
    if (!p.lost) return;
    p.lost = false;
    --lost_;
  }

  RingQueue<SentPacket> packets_;  // from una_ on
  Psn una_{}, next_{}, highest_{};
  Psn lost_from_{};  // none before is lost
  std::uint32_t lost_ = 0;
  std::uint32_t received_ = 0;
  std::uint32_t again_ = 0;  // in flight, and not for the first time
  Psn sack_base_{};           // of the newest SACK
  std::uint64_t sacked_ = 0;  // and its bitmap
};

}  // namespace railyard::uet
