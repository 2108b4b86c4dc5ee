// The virtual machines of a lab that is up: booted together, looked at, booted anew one by one.
#pragma once

#include <atomic>
#include <cstddef>
#include <list>
#include <string>
#include <thread>

#include "control/daemon/log.h"
#include "control/guest/vm.h"

namespace railyard::daemon {

// Called by one thread at a time; a guest that is booted anew is by a thread of its own.
class Guests {
 public:
  enum class State { kUp, kBooting, kDown };
  struct Look {
    State state = State::kDown;
    std::string why;        // it is down: what is known of it
    bool emulated = false;  // it is up, without KVM: QEMU's software emulation (TCG) bounds what it sends
  };

  // `log` outlives it.
  explicit Guests(Log& log) : log_(log) {}
  // Kills them.
  ~Guests();
  Guests(const Guests&) = delete;
  Guests& operator=(const Guests&) = delete;

  // Nothing is started. Throws guest::GuestError.
  void add(guest::VmConfig config);
  std::size_t size() const noexcept { return guests_.size(); }
  const guest::VmConfig& config(std::size_t i) const;

  // Boots all and returns when they can run commands, or soon after `stop` is set. Throws guest::GuestError.
  void boot(const std::atomic<bool>& stop);

  Look look(std::size_t i);
  // Has one booted anew, and does not wait for that; one that runs is powered off first. False: it is booting already.
  bool restart(std::size_t i);

 private:
  struct Guest {
    explicit Guest(guest::VmConfig config) : vm(std::move(config)) {}
    guest::Vm vm;                     // and `why`: of who boots it, as long as that goes on
    std::atomic<bool> booting{true};  // until it is up for the first time
    std::string why{};
    std::thread booter{};
  };
  Guest& at(std::size_t i);
  void boot_anew(Guest& guest);

  Log& log_;
  std::list<Guest> guests_;
  std::atomic<bool> ending_{false};
};

const char* text(Guests::State state) noexcept;

}  // namespace railyard::daemon
