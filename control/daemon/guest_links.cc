#include "control/daemon/guest_links.h"

#include <utility>

#include <fmt/format.h>

namespace railyard::daemon {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenTries{200};

}  // namespace

GuestLinks::GuestLinks(std::vector<Guest> guests, Log& log) : guests_(std::move(guests)), log_(log) {
  told_.resize(guests_.size());
  if (!guests_.empty()) thread_ = std::thread([this] { run(); });
}

GuestLinks::~GuestLinks() {
  {
    const std::scoped_lock lock(sleep_);
    ends_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void GuestLinks::run() {
  std::unique_lock lock(sleep_);
  while (!ends_) {
    lock.unlock();
    for (std::size_t g = 0; g < guests_.size(); ++g) look(guests_[g], told_[g]);
    lock.lock();
    wake_.wait_for(lock, kEvery, [this] { return ends_; });
  }
}

void GuestLinks::look(const Guest& guest, Told& told) {
  if (told.monitor && !told.monitor->is_open()) told.monitor.reset();
  if (!told.monitor) {
    if (Clock::now() < told.next_try) return;
    told.next_try = Clock::now() + kBetweenTries;
    told.monitor = guest::Monitor::open(guest.directory);
    if (!told.monitor) return;
    told.up.assign(guest.is_up.size(), true);
  }
  for (std::size_t n = 0; n < guest.is_up.size(); ++n) {
    const bool up = guest.is_up[n]();
    if (up == told.up[n]) continue;
    if (told.monitor->set_link(n, up)) {
      told.up[n] = up;
      continue;
    }
    if (!std::exchange(told.has_failed, true))
      log_.line(fmt::format("{}: eth{} was not told that its link is {}: {}", guest.name, n + 1, up ? "up" : "down",
                            told.monitor->error().empty() ? "QEMU's monitor does not answer" : told.monitor->error()));
    told.monitor.reset();  // and again soon
    return;
  }
}

}  // namespace railyard::daemon
