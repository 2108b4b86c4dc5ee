// What QEMU's monitor says, by a stand-in of ours: it greets, takes commands one a line, and keeps them.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "dataplane/base/file_descriptor.h"

namespace railyard::guest {

// One client at a time, as in QEMU.
class MonitorProcess {
 public:
  // Listens at monitor.sock of `directory`. `answer`: what it says to each command but the greeting's.
  explicit MonitorProcess(const std::filesystem::path& directory, std::string answer = R"({"return": {}})");
  MonitorProcess(const MonitorProcess&) = delete;
  MonitorProcess& operator=(const MonitorProcess&) = delete;
  // Hangs up.
  ~MonitorProcess();

  // Waits until it has had `count` commands; those, without the greeting's.
  std::vector<std::string> commands(std::size_t count);

 private:
  void serve();

  std::filesystem::path path_;
  std::string answer_;
  FileDescriptor listener_;
  std::atomic<bool> ends_{false};
  std::mutex mutex_;
  std::condition_variable more_;
  std::vector<std::string> commands_;
  std::thread thread_;
};

}  // namespace railyard::guest
