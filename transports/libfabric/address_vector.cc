// Address vectors. A fi_addr_t is the place in the vector, for maps as for tables.
#include <algorithm>
#include <cstring>
#include <memory>

#include "transports/libfabric/objects.h"
#include "transports/libfabric/stub.h"

namespace railyard::libfabric {
namespace {

// Whether an endpoint may be there.
bool is_good(const Address& a, const application::NicGrant& grant) noexcept {
  const wire::IpAddress& own = a.fabric_address.is_v4() ? grant.address_v4 : grant.address_v6;
  return a.version == 1 && a.pid_on_fep <= 0xFFF && a.resource_index <= 0xFFF && !a.fabric_address.is_unspecified() &&
         !a.fabric_address.is_multicast() && own != wire::IpAddress{};
}

fi_addr_t add(Av& av, const Address& a) {
  Nic& nic = *av.domain->nic;
  const application::NicGrant& grant = nic.grant();
  const uet::PeerId id = nic.engine().peer({.source_mac = grant.mac,
                                            .next_hop_mac = grant.next_hop,
                                            .source = a.fabric_address.is_v4() ? grant.address_v4 : grant.address_v6,
                                            .destination = a.fabric_address});
  const auto unused = std::ranges::find(av.peers, false, &Av::Peer::used);
  const auto place = static_cast<fi_addr_t>(unused - av.peers.begin());
  if (unused == av.peers.end()) av.peers.emplace_back();
  av.peers[place] = {a, id, true};
  av.by_name.try_emplace(Av::name(id, a.initiator), place);
  return place;
}

int insert(fid_av* handle, const void* addresses, std::size_t count, fi_addr_t* out, std::uint64_t flags,
           void* context) try {
  Av& av = of(handle);
  int good = 0;
  auto* const errors = (flags & FI_SYNC_ERR) != 0 ? static_cast<int*>(context) : nullptr;
  {
    const std::lock_guard lock(av.domain->nic->mutex());
    for (std::size_t i = 0; i < count; ++i) {
      Address a;
      std::memcpy(&a, static_cast<const std::byte*>(addresses) + i * sizeof a, sizeof a);
      const bool is = is_good(a, av.domain->nic->grant());
      const fi_addr_t place = is ? add(av, a) : FI_ADDR_NOTAVAIL;
      if (out != nullptr) out[i] = place;
      if (errors != nullptr) errors[i] = is ? 0 : FI_EADDRNOTAVAIL;
      good += is ? 1 : 0;
    }
  }
  if (!av.asynchronous) return good;
  if (av.eq == nullptr) return -FI_ENOEQ;
  const fi_eq_entry done{.fid = &av.fid.fid, .context = context, .data = static_cast<std::uint64_t>(good)};
  av.eq->push(FI_AV_COMPLETE, &done, sizeof done);
  return 0;
} catch (const std::bad_alloc&) {
  return -FI_ENOMEM;
}

int remove(fid_av* handle, fi_addr_t* addresses, std::size_t count, std::uint64_t) {
  Av& av = of(handle);
  const std::lock_guard lock(av.domain->nic->mutex());
  for (std::size_t i = 0; i < count; ++i) {
    const Av::Peer* const peer = av.find(addresses[i]);
    if (peer == nullptr) return -FI_EINVAL;
    const auto named = av.by_name.find(Av::name(peer->id, peer->address.initiator));
    if (named != av.by_name.end() && named->second == addresses[i]) av.by_name.erase(named);
    av.peers[addresses[i]].used = false;
  }
  return 0;
}

int look_up(fid_av* handle, fi_addr_t address, void* out, std::size_t* octets) {
  Av& av = of(handle);
  const std::lock_guard lock(av.domain->nic->mutex());
  const Av::Peer* const peer = av.find(address);
  if (peer == nullptr) return -FI_EINVAL;
  std::memcpy(out, &peer->address, std::min(*octets, sizeof(Address)));
  *octets = sizeof(Address);
  return 0;
}

const char* text(fid_av*, const void* address, char* buffer, std::size_t* octets) {
  Address a;
  std::memcpy(&a, address, sizeof a);
  const std::string s = to_string(a);
  if (*octets > 0) {
    const std::size_t n = std::min(s.size(), *octets - 1);
    s.copy(buffer, n);
    buffer[n] = '\0';
  }
  *octets = s.size() + 1;
  return buffer;
}

int bind_av(fid* fid, struct fid* other, std::uint64_t) {
  if (other->fclass != FI_CLASS_EQ) return -FI_EINVAL;
  object_of<Av>(fid).eq = &object_of<Eq>(other);
  return 0;
}

int close_av(fid* fid) {
  auto& av = object_of<Av>(fid);
  {
    const std::lock_guard lock(av.domain->nic->mutex());
    if (av.users > 0) return -FI_EBUSY;
    --av.domain->users;
  }
  delete &av;
  return 0;
}

fi_ops av_object_operations = {.size = sizeof(fi_ops),
                               .close = close_av,
                               .bind = bind_av,
                               .control = kNotImplemented,
                               .ops_open = kNotImplemented,
                               .tostr = kNotImplemented,
                               .ops_set = kNotImplemented};
fi_ops_av av_operations = {.size = sizeof(fi_ops_av),
                           .insert = insert,
                           .insertsvc = kNotImplemented,
                           .insertsym = kNotImplemented,
                           .remove = remove,
                           .lookup = look_up,
                           .straddr = text,
                           .av_set = kNotImplemented};

}  // namespace

int open_av(fid_domain* handle, fi_av_attr* attr, fid_av** out, void* context) try {
  Domain& domain = *domain_of(handle);
  // Shared with other processes, read only; scalable endpoints.
  if (attr->name != nullptr || (attr->flags & FI_READ) != 0 || attr->rx_ctx_bits > 0) return -FI_ENOSYS;
  auto av = std::make_unique<Av>();
  av->domain = &domain;
  av->asynchronous = (attr->flags & FI_EVENT) != 0;
  if (attr->type == FI_AV_UNSPEC) attr->type = FI_AV_TABLE;
  av->fid = {.fid = {.fclass = FI_CLASS_AV, .context = context, .ops = &av_object_operations}, .ops = &av_operations};
  const std::lock_guard lock(domain.nic->mutex());
  ++domain.users;
  *out = &av.release()->fid;
  return 0;
} catch (const std::bad_alloc&) {
  return -FI_ENOMEM;
}

}  // namespace railyard::libfabric
