// What has happened in a live lab: links that failed, faults, lines of the log; the last of it, in order.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace railyard::daemon {

struct Happening {
  std::uint64_t number = 0;    // from 1
  double unix_seconds = 0;     // when it was seen, wall clock
  double modelled_seconds = 0;
  std::string kind;            // "link", "fault", "drain", "pfc-watchdog", "log"; of several sites "site"
  std::string element;         // "leaf1:3", a node, the name of a fault; may be empty
  std::string text;            // one line

  nlohmann::json json() const;
};

// Any thread may add and read.
class Happenings {
 public:
  static constexpr std::size_t kMost = 1000;  // older ones are forgotten

  // `happening` gets its number and wall clock here.
  void add(Happening happening);
  // One that was seen elsewhere, at its `unix_seconds`: it gets its number here.
  void add_seen(Happening happening);
  // Those after number `seen`, oldest first.
  std::vector<Happening> after(std::uint64_t seen) const;

 private:
  mutable std::mutex mutex_;
  std::deque<Happening> all_;
  std::uint64_t last_ = 0;
};

}  // namespace railyard::daemon
