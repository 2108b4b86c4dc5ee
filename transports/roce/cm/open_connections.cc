#include "transports/roce/cm/open_connections.h"

namespace railyard::roce::cm {

void OpenConnections::came(const AddressVector& back, const Message& message) {
  if (const auto* const req = std::get_if<Req>(&message)) {
    if (asked_.size() < kMost)
      asked_[{back.destination, req->local_comm_id}] = {back, req->local_comm_id, req->local_qpn};
  } else if (const auto* const look_up = std::get_if<SidrReq>(&message)) {
    if (asked_.size() < kMost) asked_[{back.destination, look_up->request_id}] = {};
  } else if (const auto* const rep = std::get_if<Rep>(&message)) {
    if (open_.size() < kMost) open_[rep->remote_comm_id] = {back, rep->local_comm_id, rep->local_qpn};
  } else if (const auto* const rej = std::get_if<Rej>(&message)) {
    open_.erase(rej->remote_comm_id);
    asked_.erase({back.destination, rej->local_comm_id});
  } else if (const auto* const drep = std::get_if<Drep>(&message)) {
    open_.erase(drep->remote_comm_id);
  }
}

void OpenConnections::went(const wire::IpAddress& peer, const Message& message) {
  if (const auto* const rep = std::get_if<Rep>(&message)) {
    const auto asked = asked_.find({peer, rep->remote_comm_id});
    if (asked == asked_.end()) return;
    if (open_.size() < kMost) open_[rep->local_comm_id] = asked->second;
    asked_.erase(asked);
  } else if (const auto* const rej = std::get_if<Rej>(&message)) {
    open_.erase(rej->local_comm_id);
    asked_.erase({peer, rej->remote_comm_id});
  } else if (const auto* const found = std::get_if<SidrRep>(&message)) {
    asked_.erase({peer, found->request_id});
  } else if (const auto* const drep = std::get_if<Drep>(&message)) {
    open_.erase(drep->local_comm_id);
  }
}

std::vector<std::pair<AddressVector, Dreq>> OpenConnections::ends() const {
  std::vector<std::pair<AddressVector, Dreq>> out;
  for (const auto& [own, peer] : open_)
    out.push_back({peer.way, {.local_comm_id = own, .remote_comm_id = peer.comm_id, .remote_qpn = peer.qpn}});
  return out;
}

}  // namespace railyard::roce::cm
