#include "tests/control/guest/monitor_process.h"

#include <array>
#include <cstring>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "control/guest/guest_files.h"

namespace railyard::guest {

MonitorProcess::MonitorProcess(const std::filesystem::path& directory, std::string answer)
    : path_(GuestFiles{directory}.monitor_socket()), answer_(std::move(answer)) {
  std::filesystem::create_directories(directory);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
  listener_ = FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::listen(listener_.get(), 4);
  thread_ = std::thread([this] { serve(); });
}

MonitorProcess::~MonitorProcess() {
  ends_ = true;
  thread_.join();
  std::filesystem::remove(path_);
}

std::vector<std::string> MonitorProcess::commands(std::size_t count) {
  std::unique_lock lock(mutex_);
  more_.wait_for(lock, std::chrono::seconds(20), [&] { return commands_.size() >= count; });
  return commands_;
}

void MonitorProcess::serve() {
  const auto say = [](int to, const std::string& text) {
    static_cast<void>(::send(to, (text + "\r\n").data(), text.size() + 2, MSG_NOSIGNAL));
  };
  const auto readable = [this](int fd) {
    while (!ends_) {
      pollfd wait{fd, POLLIN, 0};
      if (::poll(&wait, 1, 10) > 0) return true;
    }
    return false;
  };
  while (readable(listener_.get())) {
    const FileDescriptor client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    say(client.get(), R"({"QMP": {"version": {"qemu": {"micro": 0, "minor": 2, "major": 7}}, "capabilities": []}})");
    std::string come;
    while (readable(client.get())) {
      std::array<char, 1024> piece;
      const ssize_t n = ::recv(client.get(), piece.data(), piece.size(), 0);
      if (n <= 0) break;
      come.append(piece.data(), static_cast<std::size_t>(n));
      for (std::size_t end = 0; (end = come.find('\n')) != come.npos; come.erase(0, end + 1)) {
        const std::string line = come.substr(0, end);
        if (line.contains("qmp_capabilities")) {
          say(client.get(), R"({"return": {}})");
          continue;
        }
        // What QEMU tells unasked comes between.
        say(client.get(), R"({"event": "NIC_RX_FILTER_CHANGED", "data": {"name": "net0"}})");
        say(client.get(), answer_);
        const std::scoped_lock lock(mutex_);
        commands_.push_back(line);
        more_.notify_all();
      }
    }
  }
}

}  // namespace railyard::guest
