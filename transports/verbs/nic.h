// A NIC that an application has opened: the RoCE engine in the application's process, the rings to the fabric, and who
// lets time pass.
//
// Whoever calls into the library (ibv_poll_cq, ibv_post_send) drives the engine. A thread of the library's own does it
// while nobody calls: a peer may read or write the application's memory at any time, and timers run. It begins with the
// first QP. While the application polls, the thread only looks now and then whether it still does.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "dataplane/base/time.h"
#include "transports/application/connection.h"
#include "transports/roce/roce_endpoint.h"
#include "transports/verbs/nic_settings.h"

namespace railyard::verbs {

// Told what the engine says besides completions. Called with the NIC's lock held.
class NicEvents {
 public:
  virtual ~NicEvents() = default;
  virtual void on_async(const roce::AsyncEvent& event) = 0;
  // Completions may have come to queues that somebody waits for.
  virtual void on_progress() = 0;
  virtual void on_link(bool up) = 0;
  // The lab is gone; nothing comes or goes any more.
  virtual void on_lost() = 0;
};

// Who uses the engine beside the application: connection management. Called with the NIC's lock held.
class NicCompanion {
 public:
  virtual ~NicCompanion() = default;
  // Packets may have come, and timers may be due. Whether there was anything.
  virtual bool run(Instant now) noexcept = 0;
  // When it wants to be called; never(): not at all.
  virtual Instant deadline() const noexcept = 0;
  // The lab is gone.
  virtual void on_lost() noexcept = 0;
};

class Nic {
 public:
  // `events` outlives it.
  Nic(std::unique_ptr<application::Connection> connection, NicEvents& events);
  ~Nic();
  Nic(const Nic&) = delete;
  Nic& operator=(const Nic&) = delete;

  const application::NicGrant& grant() const noexcept { return connection_->nic(); }
  const NicSettings& settings() const noexcept { return settings_; }
  bool link_up() const noexcept { return connection_->link_up(); }

  // Everything below: with the lock held.
  std::mutex& mutex() noexcept { return mutex_; }
  roce::Engine& engine() noexcept { return endpoint_.engine(); }
  // Wall time since the machine began. With a lab that is slower than that (`scale`), timers are those of wall time.
  static Instant now() noexcept;

  // A call of the application begins: it drives the engine from here on.
  void enter(Instant now) noexcept;
  // A call ends and the application may do something else than to call again soon: the fabric is to wake the thread.
  void leave() noexcept;
  // The application is about to sleep until something happens: the thread takes over at once.
  void hand_over() noexcept;

  // Whether something has come and was not taken.
  bool has_frames() noexcept { return connection_->from_fabric().any(); }
  // Takes what has come, sends what can be sent. Returns whether there was anything.
  bool pump(Instant now) noexcept;
  // Sends what can be sent.
  bool send(Instant now) noexcept;

  // nullptr: none any more.
  void accompany(NicCompanion* companion) noexcept { companion_ = companion; }
  // A port of rdma_cm: application::Connection. Without the lock.
  std::expected<std::uint16_t, int> claim_port(std::uint8_t space, std::uint16_t port) {
    return connection_->claim_port(space, port);
  }
  void release_port(std::uint8_t space, std::uint16_t port) { connection_->release_port(space, port); }

  // Starts the thread, if it does not run. Throws std::system_error: there can be no more threads.
  void start_thread();
  // In a child of fork(2): nothing here works any more.
  void abandon() noexcept { lost_ = forked_ = true; }

 private:
  bool receive(Instant now) noexcept;
  bool send_class(Instant now, Priority priority) noexcept;
  void look_at_link() noexcept;
  void run() noexcept;
  void lose() noexcept;

  std::unique_ptr<application::Connection> connection_;
  NicEvents& events_;
  NicCompanion* companion_ = nullptr;
  NicSettings settings_;
  roce::RoceEndpoint endpoint_;
  std::mutex mutex_;
  Instant deadline_ = Instant::never();  // of the engine
  bool ring_full_ = false;               // there is more to send than fits
  bool link_up_ = true;
  bool armed_ = false;   // the fabric is to ring
  bool asleep_ = false;  // the thread sleeps until somebody rings
  bool lost_ = false;
  bool forked_ = false;
  bool stop_ = false;
  std::atomic<std::int64_t> called_ps_ = 0;  // when the application last drove the engine
  std::thread thread_;
};

}  // namespace railyard::verbs
