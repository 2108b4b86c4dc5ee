#include "control/hosts/journal.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/base/json_text.h"
#include "control/hosts/hosts_error.h"

namespace railyard::hosts {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using namespace std::chrono_literals;

[[noreturn]] void fail(const fs::path& path, const char* what) {
  throw HostsError(fmt::format("journal {}: {}: {}", path.string(), what, std::strerror(errno)));
}

// {"record":"namespace",...}
ordered_json to_json(const char* action, const Thing& thing) {
  struct {
    const char* action;
    ordered_json operator()(const Namespace& n) const { return {{action, "namespace"}, {"name", n.name}}; }
    ordered_json operator()(const Interface& i) const {
      return {{action, "interface"}, {"netns", i.netns}, {"name", i.name}};
    }
    ordered_json operator()(const File& f) const { return {{action, "file"}, {"path", f.path}}; }
    ordered_json operator()(const Directory& d) const { return {{action, "directory"}, {"path", d.path}}; }
    ordered_json operator()(const Process& p) const {
      return {{action, "process"}, {"pid", p.pid}, {"start", p.start}, {"boot", p.boot}};
    }
  } const visitor{action};
  return std::visit(visitor, thing);
}

// Throws nlohmann's exceptions or HostsError if it is none.
Thing to_thing(const std::string& kind, const ordered_json& json) {
  if (kind == "namespace") return Namespace{json.at("name")};
  if (kind == "interface") return Interface{json.at("netns"), json.at("name")};
  if (kind == "file") return File{json.at("path")};
  if (kind == "directory") return Directory{json.at("path")};
  if (kind == "process") return Process{json.at("pid"), json.at("start"), json.at("boot")};
  throw HostsError("unknown kind " + kind);
}

bool is_at(const FileDescriptor& file, const fs::path& path) {
  struct stat ours {};
  struct stat there {};
  return ::fstat(file.get(), &ours) == 0 && ::lstat(path.c_str(), &there) == 0 && ours.st_ino == there.st_ino &&
         ours.st_dev == there.st_dev;
}

// Waits until nobody has the file locked. False: that took longer than `patience`.
bool lock(const FileDescriptor& file, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

void sync_folder(const fs::path& path) {
  const fs::path parent = path.parent_path();
  const FileDescriptor folder(::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::fsync(folder.get()) != 0) fail(path, "fsync of its directory");
}

}  // namespace

Journal::Journal(const fs::path& path) : path_(fs::absolute(path)) {
  for (;;) {
    file_ = FileDescriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file_ && errno == EEXIST)
      throw HostsError(fmt::format("journal {} exists: its lab is running, or was killed", path_.string()));
    if (!file_) fail(path_, "cannot create it");
    if (!lock(file_, 10s)) fail(path_, "cannot lock it");
    if (is_at(file_, path_)) break;  // else somebody took the empty file for one that was left behind
  }
  sync_folder(path_);
}

Journal::~Journal() {
  if (file_ && entries_.empty() && !keep_ && is_at(file_, path_)) ::unlink(path_.c_str());
}

void Journal::append(const std::string& lines) {
  const off_t before = ::lseek(file_.get(), 0, SEEK_END);
  for (std::size_t done = 0; done < lines.size();) {
    const ssize_t n = ::write(file_.get(), lines.data() + done, lines.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int error = errno;
      // A line without its end would spoil the next one.
      if (::ftruncate(file_.get(), before) != 0) keep_ = true;
      errno = error;
      fail(path_, "cannot write");
    }
    done += static_cast<std::size_t>(n);
  }
}

void Journal::record(std::span<const Thing> things) {
  std::vector<Entry> entries;
  std::string lines;
  for (const Thing& thing : things) {
    entries.push_back({thing, canonical(thing)});
    try {
      lines += json_text(to_json("record", entries.back().canonical)) + "\n";
    } catch (const ordered_json::exception&) {
      throw HostsError(fmt::format("journal {}: the name of {} is not UTF-8", path_.string(), to_string(thing)));
    }
  }
  entries_.reserve(entries_.size() + entries.size());
  const off_t before = ::lseek(file_.get(), 0, SEEK_END);
  append(lines);
  if (::fdatasync(file_.get()) != 0) {
    const int error = errno;
    if (::ftruncate(file_.get(), before) != 0) keep_ = true;
    errno = error;
    fail(path_, "fdatasync");
  }
  std::ranges::move(entries, std::back_inserter(entries_));
}

std::vector<Journal::Entry>::iterator Journal::find(const Thing& thing) {
  const auto last = std::ranges::find_if(entries_.rbegin(), entries_.rend(),
                                         [&](const Entry& e) { return e.said == thing || e.canonical == thing; });
  return last == entries_.rend() ? entries_.end() : last.base() - 1;
}

// Not synced: that something is gone is found out anyway.
void Journal::done(const Thing& thing) {
  const auto entry = find(thing);
  if (entry == entries_.end()) return;
  append(json_text(to_json("done", entry->canonical)) + "\n");
  entries_.erase(entry);
}

bool Journal::holds(const Thing& thing) const {
  return std::ranges::any_of(entries_, [&](const Entry& e) { return e.said == thing || e.canonical == thing; });
}

std::vector<Thing> Journal::things() const {
  std::vector<Thing> out;
  for (const Entry& entry : entries_) out.push_back(entry.said);
  return out;
}

std::vector<std::string> Journal::remove(std::span<const Thing> things) noexcept {
  std::vector<std::string> failures;
  const std::vector<Entry> all = entries_;
  for (auto entry = all.rbegin(); entry != all.rend(); ++entry) {
    if (std::ranges::find(things, entry->said) == things.end() &&
        std::ranges::find(things, entry->canonical) == things.end())
      continue;
    try {
      hosts::remove(entry->canonical, descriptor());
      done(entry->canonical);
    } catch (const std::exception& error) {
      failures.emplace_back(error.what());
    }
  }
  return failures;
}

std::vector<std::string> Journal::read() {
  std::string text;
  std::string block(64 * 1024, '\0');
  for (ssize_t n = 0; (n = ::pread(file_.get(), block.data(), block.size(), static_cast<off_t>(text.size()))) != 0;) {
    if (n < 0 && errno != EINTR) fail(path_, "cannot read");
    if (n > 0) text.append(block, 0, static_cast<std::size_t>(n));
  }
  const std::size_t whole = text.rfind('\n') == text.npos ? 0 : text.rfind('\n') + 1;
  if (whole < text.size() && ::ftruncate(file_.get(), static_cast<off_t>(whole)) != 0) fail(path_, "cannot shorten");

  std::vector<std::string> failures;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < whole;) {
    const std::size_t end = text.find('\n', begin);
    ++number;
    try {
      const ordered_json line = ordered_json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                                    text.begin() + static_cast<std::ptrdiff_t>(end));
      if (line.contains("record")) {
        const Thing thing = to_thing(line.at("record"), line);
        entries_.push_back({thing, thing});
      } else if (const auto entry = find(to_thing(line.at("done"), line)); entry != entries_.end()) {
        entries_.erase(entry);
      }
    } catch (const std::exception&) {
      keep_ = true;
      failures.push_back(
          fmt::format("journal {}: line {} is invalid and was skipped; everything else was removed: check the line, "
                      "then remove the file",
                      path_.string(), number));
    }
    begin = end + 1;
  }
  return failures;
}

std::vector<std::string> Journal::remove_all(const fs::path& path, std::chrono::milliseconds patience) noexcept {
  try {
    for (;;) {
      FileDescriptor file(::open(path.c_str(), O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC));
      if (!file && errno == ENOENT) return {};
      if (!file) fail(path, "cannot open it");
      if (!lock(file, patience))
        return {fmt::format("journal {} is open in another process: the lab is running", path.string())};
      if (!is_at(file, path)) continue;  // somebody else was faster
      Journal left_behind(fs::absolute(path), std::move(file));
      std::vector<std::string> failures = left_behind.read();
      std::ranges::move(left_behind.remove_all(), std::back_inserter(failures));
      return failures;
    }
  } catch (const std::exception& error) {
    return {error.what()};
  }
}

}  // namespace railyard::hosts
