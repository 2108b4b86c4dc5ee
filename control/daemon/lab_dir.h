// Where a lab that is up keeps what others need to find it, and what is needed to clean up after it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace railyard::daemon {

// A directory of its own for each lab, by its name. Whoever holds the lock is the lab's daemon; the lock goes with the
// process, however that ends.
class LabDir {
 public:
  // Throws std::invalid_argument if `name` cannot be one of a lab: letters, digits, '-', '_' and '.', beginning with a
  // letter or digit, at most 32.
  explicit LabDir(const std::string& name);

  // $RAILYARD_STATE_DIR, else /run/railyard for root, $XDG_RUNTIME_DIR/railyard, or /tmp/railyard-UID.
  static std::filesystem::path root();
  // All labs that have one, running or not, by name.
  static std::vector<std::string> names();

  const std::string& name() const noexcept { return name_; }
  const std::filesystem::path& path() const noexcept { return path_; }
  std::string socket() const { return path_ / "api.sock"; }
  std::string agents_socket() const { return path_ / "agents.sock"; }
  std::string log() const { return path_ / "log"; }
  std::string journal() const { return path_ / "journal"; }
  std::string token() const { return path_ / "token"; }  // of those who ask over TCP
  std::filesystem::path probes() const { return path_ / "probes.jsonl"; }  // rounds of probes
  std::string report() const { return path_ / "report.json"; }

  bool exists() const;
  // Whether a daemon holds the lock.
  bool running() const;
  // Of the daemon that holds the lock, or was the last to hold it; 0: not known.
  pid_t pid() const;
  // Removes the directory and all in it. Only by who holds the lock, or when nobody does.
  void remove() const;

 private:
  std::filesystem::path lock_file() const { return path_ / "lock"; }

  std::string name_;
  std::filesystem::path path_;
  friend class LabLock;
};

// The daemon's hold on its lab. Makes the directory, for its owner alone.
class LabLock {
 public:
  // Throws std::runtime_error: another daemon has it, or the directory cannot be made, with what to do.
  explicit LabLock(const LabDir& dir);
  ~LabLock();
  LabLock(const LabLock&) = delete;
  LabLock& operator=(const LabLock&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace railyard::daemon
