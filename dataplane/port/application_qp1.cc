// Frames for QP 1 of a NIC, and what is answered where no process is.
#include <algorithm>
#include <cstring>

#include <unistd.h>

#include "dataplane/port/application_port.h"
#include "dataplane/port/received_packet.h"
#include "dataplane/wire/icrc.h"
#include "dataplane/wire/parse.h"

namespace railyard {
namespace {

// Answers that wait; who asks for more at once gets none, and asks again.
constexpr std::size_t kMostAnswers = 64;

}  // namespace

// nullptr: nobody's; it may be answered.
ApplicationProcess* ApplicationPort::for_shared_qp(const Packet& packet) {
  const std::span frame(packet.header(), std::size_t{packet.header_octets} + packet.payload_octets);
  SharedQp::Verdict verdict = shared_qp_->for_frame(frame, packet.has(Packet::kIcrcPending));
  if (verdict.first_qpn) return by_qpn_[*verdict.first_qpn / ApplicationProcess::kQpnsPerProcess % kBlocks];
  if (!verdict.answer.empty() && answers_.size() < kMostAnswers) answer(std::move(verdict.answer));
  return nullptr;
}

void ApplicationPort::answer(std::vector<std::byte> frame) {
  answers_.push_back(std::move(frame));
  const std::uint64_t one = 1;
  static_cast<void>(::write(answers_wait_.get(), &one, sizeof one));
}

std::size_t ApplicationPort::take_answers(const Room& room, PacketPool& pool, std::span<Packet*> packets) {
  std::uint64_t rung;
  static_cast<void>(::read(answers_wait_.get(), &rung, sizeof rung));
  std::size_t n = 0;
  for (; n < packets.size() && !answers_.empty(); ++n) {
    const std::vector<std::byte>& answer = answers_.front();
    if (const auto view = wire::parse_frame(answer, answer.size() + wire::kIcrcOctets);
        view && (room.classes & bit(classify(room.trust, *view))) == 0)
      break;
    Packet* const p = pool.allocate_real();
    if (p == nullptr) break;
    std::memcpy(p->header(), answer.data(), answer.size());
    describe_received(*p, static_cast<std::uint32_t>(answer.size()), stream_, received_.read());
    p->flags = static_cast<std::uint8_t>(p->flags | Packet::kIcrcPending);
    p->frame_octets += static_cast<std::uint32_t>(wire::kIcrcOctets);
    received_.increment();
    answers_.pop_front();
    packets[n] = p;
  }
  return n;
}

}  // namespace railyard
