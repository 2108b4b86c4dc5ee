// The links of a live lab, as its virtual machines see them: a NIC loses its carrier with the emulated link, and has it
// again when that comes back.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "control/daemon/log.h"
#include "control/guest/monitor.h"

namespace railyard::daemon {

// Looks at the links 50 times a second by a thread of its own, and tells QEMU what has changed: a link that was away for
// less may go unseen. A guest that is booted anew is told soon after its QEMU has started.
class GuestLinks {
 public:
  static constexpr std::chrono::milliseconds kEvery{20};

  struct Guest {
    std::string name;
    std::filesystem::path directory;           // of its sockets
    std::vector<std::function<bool()>> is_up;  // by NIC: whether its link is; by any thread
  };

  // `log` outlives it.
  GuestLinks(std::vector<Guest> guests, Log& log);
  ~GuestLinks();
  GuestLinks(const GuestLinks&) = delete;
  GuestLinks& operator=(const GuestLinks&) = delete;

 private:
  struct Told {
    std::optional<guest::Monitor> monitor;  // of the QEMU that runs
    std::vector<bool> up;                   // what it was told; it begins with all up
    std::chrono::steady_clock::time_point next_try{};
    bool has_failed = false;
  };
  void run();
  void look(const Guest& guest, Told& told);

  std::vector<Guest> guests_;
  Log& log_;
  std::vector<Told> told_;
  std::mutex sleep_;
  std::condition_variable wake_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace railyard::daemon
