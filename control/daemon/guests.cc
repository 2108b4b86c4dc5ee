#include "control/daemon/guests.h"

#include <chrono>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "control/guest/guest_error.h"
#include "control/guest/guest_files.h"

namespace railyard::daemon {
namespace {

constexpr std::chrono::seconds kBootLimit{120};
constexpr std::chrono::seconds kPowerOffGrace{10};

const std::string& name_of(const guest::Vm& vm) { return vm.config().network.hostname; }

}  // namespace

const char* text(Guests::State state) noexcept {
  switch (state) {
    case Guests::State::kUp:
      return "up";
    case Guests::State::kBooting:
      return "booting";
    case Guests::State::kDown:
      break;
  }
  return "down";
}

Guests::~Guests() {
  ending_ = true;
  for (Guest& guest : guests_)
    if (guest.booter.joinable()) guest.booter.join();
  for (Guest& guest : guests_) guest.vm.stop(std::chrono::milliseconds(0));
}

void Guests::add(guest::VmConfig config) { guests_.emplace_back(std::move(config)); }

Guests::Guest& Guests::at(std::size_t i) { return *std::next(guests_.begin(), static_cast<std::ptrdiff_t>(i)); }

const guest::VmConfig& Guests::config(std::size_t i) const {
  return std::next(guests_.begin(), static_cast<std::ptrdiff_t>(i))->vm.config();
}

void Guests::boot(const std::atomic<bool>& stop) {
  for (Guest& guest : guests_) guest.vm.start();
  for (Guest& guest : guests_) {
    try {
      guest.vm.wait_ready(kBootLimit, [&stop] { return stop.load(); });
    } catch (const guest::GuestError&) {
      if (stop) return;
      throw;
    }
    for (const std::string& note : guest.vm.notes()) log_.line(note);
    log_.line(fmt::format("{} has booted", name_of(guest.vm)));
    guest.booting = false;
  }
}

Guests::Look Guests::look(std::size_t i) {
  Guest& guest = at(i);
  if (guest.booting) return {State::kBooting, {}, false};
  if (guest.vm.running()) return {State::kUp, {}, guest.vm.accelerator() == guest::Accelerator::kTcg};
  if (guest.why.empty()) {
    const guest::GuestFiles files{guest.vm.config().directory};
    guest.why = fmt::format("its QEMU has exited; see {}", files.console().string());
    log_.line(fmt::format("{} is down: {}", name_of(guest.vm), guest.why));
  }
  return {State::kDown, guest.why, false};
}

bool Guests::restart(std::size_t i) {
  Guest& guest = at(i);
  if (guest.booting) return false;
  if (guest.booter.joinable()) guest.booter.join();  // it has nothing left to do
  guest.booting = true;
  try {
    guest.booter = std::thread([this, &guest] { boot_anew(guest); });
  } catch (...) {
    guest.booting = false;
    throw;
  }
  return true;
}

// By a thread of its own.
void Guests::boot_anew(Guest& guest) {
  try {
    log_.line(fmt::format("{} is rebooting", name_of(guest.vm)));
    const guest::GiveUp give_up = [this] { return ending_.load(); };
    guest.vm.stop(kPowerOffGrace, give_up);
    guest.vm.start();
    guest.vm.wait_ready(kBootLimit, give_up);
    guest.why.clear();
    log_.line(fmt::format("{} has booted", name_of(guest.vm)));
  } catch (const std::exception& error) {
    guest.why = error.what();
    log_.line(guest.why);
  }
  guest.booting = false;
}

}  // namespace railyard::daemon
