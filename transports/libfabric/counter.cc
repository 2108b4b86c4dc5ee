// Counters of completed operations.
#include <memory>
#include <system_error>

#include <poll.h>

#include "transports/application/give_way.h"
#include "transports/libfabric/objects.h"
#include "transports/libfabric/waitable.h"
#include "transports/libfabric/stub.h"

namespace railyard::libfabric {
namespace {

std::uint64_t look(Counter& counter, std::uint64_t Counter::*which) {
  const std::lock_guard lock(counter.domain->nic->mutex());
  counter.signal.lower();
  progress(*counter.domain, false);
  return counter.*which;
}
std::uint64_t read_counter(fid_cntr* handle) { return look(of(handle), &Counter::successes); }
std::uint64_t read_counter_errors(fid_cntr* handle) { return look(of(handle), &Counter::errors); }

int change(Counter& counter, std::uint64_t Counter::*which, std::uint64_t value, bool adds) {
  const std::lock_guard lock(counter.domain->nic->mutex());
  counter.*which = adds ? counter.*which + value : value;
  counter.signal.raise();
  return 0;
}
int add_to_counter(fid_cntr* c, std::uint64_t n) { return change(of(c), &Counter::successes, n, true); }
int set_counter(fid_cntr* c, std::uint64_t n) { return change(of(c), &Counter::successes, n, false); }
int add_counter_errors(fid_cntr* c, std::uint64_t n) { return change(of(c), &Counter::errors, n, true); }
int set_counter_errors(fid_cntr* c, std::uint64_t n) { return change(of(c), &Counter::errors, n, false); }

int wait_for_counter(fid_cntr* handle, std::uint64_t threshold, int timeout) {
  constexpr int kCounterLooks = 1000;
  Counter& waited = of(handle);
  const std::uint64_t errors = read_counter_errors(handle);
  const Instant from = Nic::now();
  for (int looks = 0; read_counter(handle) < threshold; ++looks) {
    if (read_counter_errors(handle) != errors) return -FI_EAVAIL;
    if (timeout >= 0 && Nic::now() - from >= Duration{std::int64_t{timeout} * 1'000'000'000}) return -FI_ETIMEDOUT;
    if (looks < kCounterLooks || waited.signal.fd() < 0) {
      if (looks % 64 == 63) application::give_way();
      continue;
    }
    {
      const std::lock_guard lock(waited.domain->nic->mutex());
      if (waited.successes >= threshold) break;
      waited.domain->nic->hand_over();
    }
    pollfd on{.fd = waited.signal.fd(), .events = POLLIN, .revents = 0};
    ::poll(&on, 1, 10);
  }
  return 0;
}

fi_ops counter_object_operations = waitable_operations(close_unused<Counter>, get_wait<Counter>);
fi_ops_cntr counter_operations = {.size = sizeof(fi_ops_cntr),
                                  .read = read_counter,
                                  .readerr = read_counter_errors,
                                  .add = add_to_counter,
                                  .set = set_counter,
                                  .wait = wait_for_counter,
                                  .adderr = add_counter_errors,
                                  .seterr = set_counter_errors};

}  // namespace

int open_counter(fid_domain* handle, fi_cntr_attr* attr, fid_cntr** out, void* context) try {
  Domain& domain = *domain_of(handle);
  const fi_wait_obj object = attr != nullptr ? attr->wait_obj : FI_WAIT_UNSPEC;
  if (!is_wait_object(object)) return -FI_ENOSYS;
  auto counter = std::make_unique<Counter>(has_descriptor(object));
  counter->domain = &domain;
  counter->fid = {.fid = {.fclass = FI_CLASS_CNTR, .context = context, .ops = &counter_object_operations},
                  .ops = &counter_operations};
  const std::lock_guard lock(domain.nic->mutex());
  ++domain.users;
  *out = &counter.release()->fid;
  return 0;
} catch (const std::bad_alloc&) {
  return -FI_ENOMEM;
} catch (const std::system_error& error) {
  return -error.code().value();
}

}  // namespace railyard::libfabric
