// One capture of a lab that is live: from the engine's tap to whoever has connected to its socket.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "control/daemon/log.h"
#include "dataplane/base/file_descriptor.h"
#include "dataplane/base/counter.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "dataplane/capture/live_tap.h"

namespace railyard::daemon {

// A tap and whether the engine may still call it.
struct EngineTap {
  explicit EngineTap(const LiveTapConfig& config) : tap(config) {}
  bool in_use() const noexcept { return let_go_ps.load(std::memory_order_acquire) < 0; }
  // By the engine's thread, or when it has ended: it will not be called any more.
  void let_go(Instant at) noexcept { let_go_ps.store(at.ps, std::memory_order_release); }

  LiveTap tap;
  Instant since;                            // frames are seen from here on; set by the engine's thread
  std::atomic<std::int64_t> let_go_ps{-1};  // when it was; < 0: not yet
};

struct CaptureStreamConfig {
  std::string id;           // for the log
  std::string port;         // its name: "leaf1:1"
  std::string description;  // "leaf1:1 to h1:1"
  std::string comment{};    // of the capture; empty: none
  BitRate rate;
  LiveTapConfig tap;
  std::string socket;                              // path, made with mode 0600; at most 107 octets
  std::chrono::milliseconds patience{5'000};       // until a client has connected
  std::chrono::milliseconds last_patience{2'000};  // at the end, with a client that takes nothing
};

// A thread waits for one client, writes pcapng to it as frames come, and ends when the client has closed its end, or
// its sending half, when the limit is reached, or when told to. A client that has not closed all gets what was seen
// until then, and the statistics of the interface as last block. A slow client delays its own capture only.
class CaptureStream {
 public:
  // Has the engine let go of a tap, soon; false: it cannot be asked now.
  using Release = std::function<bool(const std::shared_ptr<EngineTap>&)>;

  // Listens at the socket. `log` outlives it. Throws std::runtime_error with the path and what to do.
  CaptureStream(CaptureStreamConfig config, Log& log, Release release);
  // Waits until it has ended: finish() must have been called, or done() be true.
  ~CaptureStream();
  CaptureStream(const CaptureStream&) = delete;
  CaptureStream& operator=(const CaptureStream&) = delete;

  // For the engine.
  const std::shared_ptr<EngineTap>& tap() const noexcept { return tap_; }
  // The engine has been given it, or never will be: not before is it asked to let go.
  void begin() noexcept;

  // Ends it, in its own time.
  void end() noexcept { ending_ = true; }
  // The engine has ended, at `at`: the client has `last_patience` for all that is left.
  void finish(Instant at) noexcept;
  // It has ended, and the engine has let go.
  bool done() const noexcept { return done_; }

  const CaptureStreamConfig& config() const noexcept { return config_; }
  const char* state() const noexcept;  // "waiting" for a client, "running", "ending"
  std::uint64_t captured() const noexcept { return tap_->tap.captured(); }
  std::uint64_t lost() const noexcept { return tap_->tap.lost(); }
  std::uint64_t delivered() const noexcept { return delivered_.read(); }

 private:
  void listen();
  void close_listener() noexcept;
  void run();
  bool accept_client();
  void stream();
  void release();
  void drain();
  std::uint64_t fill();
  void look_at_client(int timeout_ms);
  void send();
  bool over() const noexcept { return ending_ || half_closed_ || gone_ || tap_->tap.limit_reached(); }

  CaptureStreamConfig config_;
  Log& log_;
  Release release_;
  std::shared_ptr<EngineTap> tap_;
  PcapngBlocks blocks_;
  PcapngBlocks::InterfaceId interface_;
  FileDescriptor listener_;
  FileDescriptor client_;
  std::atomic<bool> ending_{false};
  std::atomic<bool> begun_{false};
  std::atomic<std::chrono::steady_clock::time_point> deadline_{std::chrono::steady_clock::time_point::max()};
  std::atomic<bool> connected_{false};
  std::atomic<bool> done_{false};
  bool half_closed_ = false;  // the client wants no more than what was seen until now
  bool gone_ = false;
  Counter delivered_;
  std::thread thread_;
};

}  // namespace railyard::daemon
