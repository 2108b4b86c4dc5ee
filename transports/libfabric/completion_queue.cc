// Completion queues.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include <poll.h>

#include "transports/application/give_way.h"
#include "transports/libfabric/completions.h"
#include "transports/libfabric/objects.h"
#include "transports/libfabric/waitable.h"
#include "transports/libfabric/stub.h"
#include "transports/uet/wire/return_code.h"

namespace railyard::libfabric {

void Cq::push(const Entry& entry) {
  entries.push_back(entry);
  signal.raise();
}

namespace {

// Of reads in a row that find nothing, after every so many the processor is given to others; after so many by sleeping:
// ranks of MPI are bound to processors, and the fabric, which they wait for, may have to run on one of these.
constexpr std::uint32_t kEmptyReads = 64, kManyEmptyReads = 2048;
// Of reads that find something: every so many the engine is driven, too.
constexpr std::uint32_t kReadsPerPump = 8;
// How often a reader that may sleep looks before it does.
constexpr int kLooks = 200;

std::size_t entry_octets(fi_cq_format format) noexcept {
  switch (format) {
    case FI_CQ_FORMAT_MSG:
      return sizeof(fi_cq_msg_entry);
    case FI_CQ_FORMAT_DATA:
      return sizeof(fi_cq_data_entry);
    case FI_CQ_FORMAT_TAGGED:
      return sizeof(fi_cq_tagged_entry);
    default:
      return sizeof(fi_cq_entry);
  }
}

// Each format begins with those before it.
void write(const Entry& e, fi_cq_format format, void* out) noexcept {
  const fi_cq_tagged_entry whole{e.context, e.flags, e.octets, e.buffer, e.data, e.tag};
  std::memcpy(out, &whole, entry_octets(format));
}

void note_taken(Cq& cq) noexcept {
  if (cq.entries.empty()) cq.signal.lower();
}

ssize_t take(Cq& cq, void* buffer, std::size_t count, fi_addr_t* sources) noexcept {
  if (!cq.entries.empty() && cq.entries.front().error != 0) return -FI_EAVAIL;
  std::size_t n = 0;
  auto* to = static_cast<std::byte*>(buffer);
  for (; n < count && !cq.entries.empty() && cq.entries.front().error == 0; ++n) {
    write(cq.entries.front(), cq.format, to);
    to += entry_octets(cq.format);
    if (sources != nullptr) sources[n] = cq.entries.front().source;
    cq.entries.pop_front();
  }
  if (n > 0) note_taken(cq);
  return n == 0 && count > 0 ? -FI_EAGAIN : static_cast<ssize_t>(n);
}

ssize_t read_from(fid_cq* handle, void* buffer, std::size_t count, fi_addr_t* sources) {
  Cq& cq = of(handle);
  Domain& domain = *cq.domain;
  std::uint32_t empty = 0;
  ssize_t n = 0;
  {
    const std::lock_guard lock(domain.nic->mutex());
    if (cq.entries.empty() || ++cq.reads % kReadsPerPump == 0) progress(domain, false);
    n = take(cq, buffer, count, sources);
    if (n != -FI_EAGAIN) {
      cq.empty = 0;
      // Nothing is under way any more: the application may wait for what comes next elsewhere.
      if (domain.sends_open + domain.receives_open == 0) domain.nic->leave();
    } else {
      empty = ++cq.empty;
    }
  }
  if (empty % kEmptyReads != 0 || empty == 0) return n;
  if (empty < kManyEmptyReads) {
    application::give_way(empty / kEmptyReads);
  } else {
    application::sleep_a_moment();
  }
  return n;
}

ssize_t read(fid_cq* handle, void* buffer, std::size_t count) { return read_from(handle, buffer, count, nullptr); }

ssize_t read_error(fid_cq* handle, fi_cq_err_entry* out, std::uint64_t) {
  Cq& cq = of(handle);
  const std::lock_guard lock(cq.domain->nic->mutex());
  if (cq.entries.empty() || cq.entries.front().error == 0) return -FI_EAGAIN;
  const Entry& e = cq.entries.front();
  out->op_context = e.context;
  out->flags = e.flags;
  out->len = e.octets;
  out->buf = e.buffer;
  out->data = e.data;
  out->tag = e.tag;
  out->olen = e.missing;
  out->err = e.error;
  out->prov_errno = e.return_code;
  out->err_data_size = 0;
  cq.entries.pop_front();
  note_taken(cq);
  return 1;
}

ssize_t sleep_read_from(fid_cq* handle, void* buffer, std::size_t count, fi_addr_t* sources, const void*, int timeout) {
  Cq& cq = of(handle);
  if (!cq.waits) return -FI_ENOSYS;
  const Instant from = Nic::now();
  for (int looks = 0;; ++looks) {
    const ssize_t n = read_from(handle, buffer, count, sources);
    if (n != -FI_EAGAIN || timeout == 0) return n;
    const std::int64_t passed_ms = (Nic::now() - from).ps / 1'000'000'000;
    if (timeout > 0 && passed_ms >= timeout) return -FI_EAGAIN;
    if (looks < kLooks) continue;
    if (cq.signal.fd() < 0) {
      application::give_way(static_cast<unsigned>(looks - kLooks));
      continue;
    }
    {
      const std::lock_guard lock(cq.domain->nic->mutex());
      if (!cq.entries.empty()) continue;
      cq.signal.lower();
      cq.domain->nic->hand_over();
    }
    pollfd on{.fd = cq.signal.fd(), .events = POLLIN, .revents = 0};
    const int woken = ::poll(&on, 1, timeout < 0 ? -1 : static_cast<int>(timeout - passed_ms));
    if (woken < 0) return -errno;
    // fi_cq_signal(): nothing has come, and the caller is to look around.
    const std::lock_guard lock(cq.domain->nic->mutex());
    if (woken > 0 && cq.entries.empty()) {
      cq.signal.lower();
      return -FI_EAGAIN;
    }
  }
}

ssize_t sleep_read(fid_cq* handle, void* buffer, std::size_t count, const void* condition, int timeout) {
  return sleep_read_from(handle, buffer, count, nullptr, condition, timeout);
}

int signal(fid_cq* handle) {
  of(handle).signal.wake();
  return 0;
}

const char* error_text(fid_cq*, int return_code, const void*, char* buffer, std::size_t octets) {
  const std::string_view text = uet::name(static_cast<uet::ReturnCode>(return_code));
  static thread_local char kept[64];
  char* const to = buffer != nullptr && octets > 0 ? buffer : kept;
  const std::size_t room = to == buffer ? octets : sizeof kept;
  const std::size_t n = std::min(text.size(), room - 1);
  text.copy(to, n);
  to[n] = '\0';
  return to;
}

fi_ops cq_object_operations = waitable_operations(close_unused<Cq>, get_wait<Cq>);
fi_ops_cq cq_operations = {.size = sizeof(fi_ops_cq),
                           .read = read,
                           .readfrom = read_from,
                           .readerr = read_error,
                           .sread = sleep_read,
                           .sreadfrom = sleep_read_from,
                           .signal = signal,
                           .strerror = error_text};

}  // namespace

int open_cq(fid_domain* handle, fi_cq_attr* attr, fid_cq** out, void* context) try {
  Domain& domain = *domain_of(handle);
  if (attr->wait_cond != FI_CQ_COND_NONE || !is_wait_object(attr->wait_obj)) return -FI_ENOSYS;
  if (attr->format > FI_CQ_FORMAT_TAGGED) return -FI_EINVAL;
  auto cq = std::make_unique<Cq>(has_descriptor(attr->wait_obj));
  cq->domain = &domain;
  cq->format = attr->format == FI_CQ_FORMAT_UNSPEC ? FI_CQ_FORMAT_TAGGED : attr->format;
  attr->format = cq->format;
  cq->waits = attr->wait_obj != FI_WAIT_NONE;
  cq->fid = {.fid = {.fclass = FI_CLASS_CQ, .context = context, .ops = &cq_object_operations}, .ops = &cq_operations};
  const std::lock_guard lock(domain.nic->mutex());
  ++domain.users;
  *out = &cq.release()->fid;
  return 0;
} catch (const std::bad_alloc&) {
  return -FI_ENOMEM;
} catch (const std::system_error& error) {
  return -error.code().value();
}

}  // namespace railyard::libfabric
