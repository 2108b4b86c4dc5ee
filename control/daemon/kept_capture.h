// A capture that the daemon itself takes and keeps, for those who fetch it when it has ended: the page, for one.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

#include "dataplane/base/file_descriptor.h"

namespace railyard::daemon {

// The client of a CaptureStream. It reads by a thread of its own until the capture has ended. Any thread may ask it.
class KeptCapture {
 public:
  // From here on it wants no more; what the capture's buffer holds still comes, at most kBuffer.
  static constexpr std::size_t kMostOctets = 16u << 20;
  static constexpr std::size_t kBuffer = 4u << 20;

  // Connects to the socket of a capture. Throws std::runtime_error.
  explicit KeptCapture(const std::string& socket);
  // Waits for the end of the capture.
  ~KeptCapture();
  KeptCapture(const KeptCapture&) = delete;
  KeptCapture& operator=(const KeptCapture&) = delete;

  bool has_ended() const noexcept { return ended_.load(std::memory_order_acquire); }
  bool is_full() const noexcept { return full_.load(std::memory_order_relaxed); }
  std::size_t octets() const;
  // The file so far; whole once has_ended().
  std::string file() const;

 private:
  void run();

  FileDescriptor socket_;
  mutable std::mutex mutex_;  // of file_
  std::string file_;
  std::atomic<bool> full_{false};
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace railyard::daemon
