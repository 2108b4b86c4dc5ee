// Domains: a NIC each, and the operations that are under way on it.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <expected>
#include <string>

#include "transports/libfabric/completions.h"
#include "transports/libfabric/objects.h"
#include "transports/libfabric/stub.h"

namespace railyard::libfabric {
namespace {

// For people, on standard error: libfabric has no way to pass on more than a number.
void complain(const std::string& device, const std::string& why) noexcept {
  std::fprintf(stderr, "railyard: cannot open %s: %s\n", device.c_str(), why.c_str());
}

int close_domain(fid* fid) {
  auto& domain = *domain_of(fid);
  {
    const std::lock_guard lock(domain.nic->mutex());
    if (domain.users > 0) return -FI_EBUSY;
  }
  domain.nic->linger();
  domain.nic.reset();
  --domain.fabric->users;
  delete &domain;
  return 0;
}

// (Of an event queue nothing comes: memory is registered at once.)
int bind_domain(fid*, fid* other, std::uint64_t) { return other->fclass == FI_CLASS_EQ ? 0 : -FI_EINVAL; }

fi_ops domain_object_operations = {.size = sizeof(fi_ops),
                                   .close = close_domain,
                                   .bind = bind_domain,
                                   .control = kNotImplemented,
                                   .ops_open = kNotImplemented,
                                   .tostr = kNotImplemented,
                                   .ops_set = kNotImplemented};
fi_ops_domain domain_operations = {.size = sizeof(fi_ops_domain),
                                   .av_open = open_av,
                                   .cq_open = open_cq,
                                   .endpoint = open_endpoint,
                                   .scalable_ep = kNotImplemented,
                                   .cntr_open = open_counter,
                                   .poll_open = kNotImplemented,
                                   .stx_ctx = kNotImplemented,
                                   .srx_ctx = kNotImplemented,
                                   .query_atomic = query_atomic,
                                   .query_collective = kNotImplemented,
                                   .endpoint2 = kNotImplemented};

// The JobID of this program, by RAILYARD_JOB_ID: programs of one job understand each other, and nobody else. 0: not
// said.
std::expected<std::uint32_t, std::string> wanted_job() {
  const char* const text = std::getenv("RAILYARD_JOB_ID");
  if (text == nullptr || *text == '\0') return 0;
  std::uint32_t job = 0;
  const char* const end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, job);
  if (error != std::errc{} || rest != end || job == 0 || job > 0xFF'FFFF)
    return std::unexpected(std::string("RAILYARD_JOB_ID is '") + text + "'; expected a number in 1..16777215");
  return job;
}

}  // namespace

int open_domain(fid_fabric* fabric, fi_info* info, fid_domain** out, void* context) try {
  if (info == nullptr || info->domain_attr == nullptr || info->domain_attr->name == nullptr) return -FI_EINVAL;
  const std::string name = info->domain_attr->name;
  const std::vector<Device> all = devices();
  const auto device = std::ranges::find(all, name, &Device::name);
  if (device == all.end()) return -FI_ENODEV;
  const auto job = wanted_job();
  if (!job) {
    complain(name, job.error());
    return -FI_EINVAL;
  }
  auto connection =
      application::Connection::open(device->socket, device->host, device->nic, application::Transport::kUet, *job);
  if (connection && (*connection)->settings().size() != sizeof(NicSettings))
    connection = std::unexpected(application::OpenError{EPROTO, "the lab is of another version of Railyard"});
  if (!connection) {
    complain(name, connection.error().why);
    return -connection.error().error;
  }
  auto domain = std::make_unique<Domain>();
  const int mode = info->domain_attr->mr_mode;
  domain->memory = {.chosen_keys = mode != FI_MR_BASIC && (mode & FI_MR_PROV_KEY) == 0,
                    .virtual_addresses = mode == FI_MR_BASIC || (mode & FI_MR_VIRT_ADDR) != 0};
  const application::NicGrant grant = (*connection)->nic();
  domain->address = grant.address_v4 != wire::IpAddress{} ? grant.address_v4 : grant.address_v6;
  domain->fabric = &object_of<Fabric>(fabric);
  domain->nic = std::make_unique<Nic>(std::move(*connection), domain->memory, *domain);
  domain->open.fid = {.fid = {.fclass = FI_CLASS_DOMAIN, .context = context, .ops = &domain_object_operations},
                      .ops = &domain_operations,
                      .mr = &memory_operations};
  domain->open.domain = domain.get();
  ++domain->fabric->users;
  *out = &domain.release()->open.fid;
  return 0;
} catch (const std::bad_alloc&) {
  return -FI_ENOMEM;
} catch (const std::exception& error) {
  complain("a device", error.what());
  return -FI_EOTHER;
}

void progress(Domain& domain, bool sleeps_next) noexcept {
  Nic& nic = *domain.nic;
  const Instant now = Nic::now();
  if (!sleeps_next) nic.enter(now);
  nic.pump(now);
  if (sleeps_next) nic.hand_over();
}

// ---- Operations
// ------------------------------------------------------------------------------------------------------

namespace {

void unlink(Operation& o) noexcept {
  Endpoint& endpoint = *o.endpoint;
  (o.before != nullptr ? o.before->after : endpoint.open) = o.after;
  if (o.after != nullptr) o.after->before = o.before;
  --(o.receives ? endpoint.receives_open : endpoint.sends_open);
}
void link(Operation& o, Endpoint& endpoint) noexcept {
  o.endpoint = &endpoint;
  o.before = nullptr;
  o.after = endpoint.open;
  if (endpoint.open != nullptr) endpoint.open->before = &o;
  endpoint.open = &o;
  ++(o.receives ? endpoint.receives_open : endpoint.sends_open);
}

}  // namespace

Operation* Domain::take(Endpoint& endpoint, bool receives) {
  const bool full = receives ? endpoint.receives_open >= kMostReceives
                             : endpoint.sends_open >= kMostSends || sends_open >= Nic::kCompletions / 2;
  if (full) return nullptr;
  if (free.empty()) {
    operations.emplace_back();
    free.push_back(&operations.back());
  }
  Operation* const o = free.back();
  free.pop_back();
  o->receives = receives;
  link(*o, endpoint);
  ++(receives ? receives_open : sends_open);
  return o;
}

void Domain::abandon(Operation& o) noexcept {
  unlink(o);
  o.counter = nullptr;
  o.piece_count = 0;
  nobody.domain = this;
  link(o, nobody);
}

void Domain::give_back(Operation& o) noexcept {
  unlink(o);
  --(o.receives ? receives_open : sends_open);
  o.whole.reset();
  o.counter = nullptr;
  o.unseen = false;
  o.reported = true;
  o.filled = 0;
  o.to_fill.reset();
  o.piece_count = 0;
  free.push_back(&o);
}

}  // namespace railyard::libfabric
