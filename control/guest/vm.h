// A guest of the lab, from start to stop: a QEMU process with its own session, whose agent runs commands
// (run_command.h, copy_files.h).
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

#include "control/guest/run_command.h"
#include "control/guest/vm_config.h"

namespace railyard::guest {

// To boot many at once: start() all, then wait_ready() for each. Not for several threads at a time.
class Vm {
 public:
  // Nothing is started. Throws GuestError for what can be known to fail: QEMU or the image is missing, a path is too
  // long for a socket, memory, CPUs or an MTU out of range, KVM asked for and not there.
  explicit Vm(VmConfig config);
  Vm(Vm&& other) noexcept;
  Vm& operator=(Vm&&) = delete;
  // Kills the guest if it runs and has not been released.
  ~Vm();

  // Starts QEMU and returns at once. QEMU waits for the fabric's sockets if they are not there yet.
  void start();

  // Returns when the agent answers and the guest has configured its NICs. Throws GuestError, with the end of the
  // console, if that has not happened `limit` after start() or QEMU has ended; the guest is killed then. With
  // Accelerator::kAuto, a guest that does not come up with KVM is started again with TCG, with the whole `limit` again.
  // The same soon after `give_up` says so. A boot takes 3 to 4 s of CPU with TCG.
  void wait_ready(std::chrono::milliseconds limit = std::chrono::seconds(120), const GiveUp& give_up = {});

  // Whether QEMU runs.
  bool running();
  // Powers the guest off through its agent; after `grace`, soon after `give_up` says so, or if the agent does not
  // answer, kills it. Removes the sockets; logs stay. Nothing if it does not run.
  void stop(std::chrono::milliseconds grace = std::chrono::seconds(10), const GiveUp& give_up = {}) noexcept;
  // The guest outlives this object; stop_leftover() ends it.
  void release() noexcept { pid_ = -1; }

  // Stops the guest that somebody has left behind in `directory`, as stop() does; says whether there was one.
  static bool stop_leftover(const std::filesystem::path& directory,
                            std::chrono::milliseconds grace = std::chrono::milliseconds(0));

  const VmConfig& config() const noexcept { return config_; }
  GuestAddress address() const { return {config_.directory, config_.network.hostname}; }
  pid_t pid() const noexcept { return pid_; }  // of QEMU; -1: not running
  // What it runs with: kKvm or kTcg, after start().
  Accelerator accelerator() const noexcept { return accelerator_; }
  // What the user should know though it is no error: "h1: ... continuing with TCG".
  const std::vector<std::string>& notes() const noexcept { return notes_; }

 private:
  void launch(Accelerator accelerator);
  bool answers(std::chrono::milliseconds limit, const GiveUp& give_up);
  void kill_now() noexcept;
  void remove_sockets() noexcept;
  std::string console_end() const;

  VmConfig config_;
  pid_t pid_ = -1;
  Accelerator accelerator_ = Accelerator::kTcg;
  std::vector<std::string> notes_;
};

}  // namespace railyard::guest
