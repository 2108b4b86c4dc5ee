// UUD (uet §5.13), and what else belongs to no PDC in its turn: answers of RUDI READs first, then datagrams, then RUDI.
#include "transports/uet/engine.h"

namespace railyard::uet {

bool Engine::has_connectionless(const DataLine& line) const noexcept {
  return !line.replies.empty() || !line.datagrams.empty() || !line.rudi.empty();
}

bool Engine::send_connectionless(Instant now, DataLine& line, OutPacket& out) {
  if (!line.replies.empty()) {
    const DataReply reply = line.replies.front();
    line.replies.pop();
    --fep_.peer(reply.peer).rudi_replies;
    out.begin(reply.peer, reply.entropy, false, number_of(line));
    out.again = reply.pds.retx;
    out.packet = {.pds = reply.pds, .ses = reply.ses, .payload_octets = reply.payload.octets};
    out.payload = reply.payload;
    out.read_from = reply.read_from;
    return true;
  }
  if (!line.datagrams.empty()) {
    const Cargo cargo{.item = line.datagrams.front()};
    line.datagrams.pop();
    out.begin(initiator_.message(cargo.item).wr.peer, datagram_paths_.next(now, chance_), false, number_of(line));
    initiator_.fill(cargo, out.packet, out.payload, out.small);
    name_message(cargo.item, out);
    out.packet.pds = PdsUudValues{};
    initiator_.finish_connectionless(cargo.item);
    return true;
  }
  return send_rudi(now, line, out);
}

std::optional<Drop> Engine::on_datagram(const InPacket& in) {
  const auto* const request = std::get_if<SesRequestValues>(&in.packet.ses);
  // (Nobody is remembered for what nobody waits for.)
  if (request == nullptr || !target_.waits_for_datagram(*request, in.payload)) return Drop::kNoMatch;
  const auto peer = learn_peer(in);
  if (!peer) return Drop::kNoPeer;
  target_.on_datagram(*peer, *request, in.payload);
  return std::nullopt;
}

}  // namespace railyard::uet
