// What exists outside this process because of a lab, written down before it is made: whoever comes after a kill -9 or a
// power loss can remove it.
//
// One JSON object per line: {"record":"namespace","name":"ry-x-h1"}, and {"done":...} with the same rest once it is
// gone. A line that lacks its end was cut off while it was written, so what it names was never made.
//
// The file is locked (flock) while its lab lives: by the process that has the Journal, and by the programs that it runs
// to make things, which may outlive it for a moment.
#pragma once

#include <chrono>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "dataplane/base/file_descriptor.h"
#include "control/hosts/thing.h"

namespace railyard::hosts {

// For one thread at a time.
class Journal {
 public:
  // Creates the file `path`, for this user only. Throws HostsError if it exists: then a lab was left behind, which
  // remove_all(path) removes, or one is running.
  explicit Journal(const std::filesystem::path& path);
  // Removes the file if everything that was recorded is done; else it stays for remove_all(path).
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // To be called before the things are made, which is then to be done at once: first make sure that nobody else has
  // made them, because what is recorded will be removed. They are on the disk when it returns. A process has no number
  // before it exists: let it wait until it is recorded. Throws HostsError, and nothing is recorded then.
  void record(std::span<const Thing> things);
  void record(const Thing& thing) { record(std::span(&thing, 1)); }

  // To be called when it is gone, or was never made. Nothing happens if it is not recorded. Throws HostsError.
  void done(const Thing& thing);

  bool holds(const Thing& thing) const;
  // What is recorded and not done, in order.
  std::vector<Thing> things() const;

  // Removes what is recorded of `things`, the last recorded first. What is gone already is done, too. Returns one
  // message per thing that could not be removed; those stay recorded.
  std::vector<std::string> remove(std::span<const Thing> things) noexcept;
  std::vector<std::string> remove_all() noexcept { return remove(things()); }

  // The same with what the journal `path` of another process, which has ended, still holds; then removes the file. No
  // file: nothing to do. If somebody has it open for longer than `patience`, or a line in it makes no sense, this is a
  // message too, and the file stays.
  static std::vector<std::string> remove_all(const std::filesystem::path& path,
                                             std::chrono::milliseconds patience = std::chrono::seconds(10)) noexcept;

  // For CommandOptions::keep_open of programs that make recorded things.
  int descriptor() const noexcept { return file_.get(); }

 private:
  struct Entry {
    Thing said;       // as it was recorded
    Thing canonical;  // as it will be removed
  };
  Journal(std::filesystem::path path, FileDescriptor file) : path_(std::move(path)), file_(std::move(file)) {}
  std::vector<Entry>::iterator find(const Thing& thing);
  // Takes over what the file holds; returns a message per line that makes no sense.
  std::vector<std::string> read();
  void append(const std::string& lines);

  std::filesystem::path path_;
  FileDescriptor file_;
  std::vector<Entry> entries_;
  bool keep_ = false;  // the file, for somebody to look at
};

}  // namespace railyard::hosts
