// The agent's program on this machine, in the place of a guest: its sockets are those of a guest's directory.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include <sys/types.h>

#include "control/guest/run_command.h"

namespace railyard::guest {

// A folder of its own, short enough for sockets; removed at the end with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }
  // A file in it.
  std::filesystem::path file(const std::string& name, const std::string& text, unsigned mode = 0644) const;

 private:
  std::filesystem::path path_;
};

std::string text_of(const std::filesystem::path& file);
// What is wrong when `action` throws a GuestError; "(no error)" if it does not.
std::string error_of(const std::function<void()>& action);
std::filesystem::path agent_program();

class AgentProcess {
 public:
  explicit AgentProcess(int ports = 3);  // returns when it listens
  AgentProcess(const AgentProcess&) = delete;
  AgentProcess& operator=(const AgentProcess&) = delete;
  ~AgentProcess();

  GuestAddress address() const { return {folder_.path(), "g1"}; }
  const std::filesystem::path& directory() const { return folder_.path(); }
  // As if QEMU had crashed; those who have a session notice.
  void kill();
  // Ends it and waits until nobody listens; its sockets stay.
  void stop();

 private:
  void end(int signal);

  TemporaryFolder folder_;
  pid_t pid_ = -1;
};

}  // namespace railyard::guest
