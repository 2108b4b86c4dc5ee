#include "tools/railyard/stop_lab.h"

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/daemon/cleanup.h"
#include "control/front/front.h"
#include "control/front/site_record.h"
#include "tools/railyard/live.h"

namespace railyard::tools {
namespace {

using daemon::LabDir;

// Waits until nobody holds the lab any more.
bool gone(const LabDir& dir, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kTurn{50};
  for (; patience > kTurn; patience -= kTurn) {
    if (!dir.running()) return true;
    std::this_thread::sleep_for(kTurn);
  }
  return !dir.running();
}

// Whether it will go down. A daemon that was killed holds its lab until the kernel has closed all it had open.
bool told_to_go_down(const LabDir& dir) {
  if (!dir.running()) return false;
  try {
    ask(dir, "POST", "/down");
    return true;
  } catch (const std::runtime_error&) {
    if (!gone(dir, std::chrono::seconds(5))) throw;
    return false;
  }
}

}  // namespace

bool stop_lab(const LabDir& dir) {
  const auto record = front::read_record(dir);
  const bool was_running = told_to_go_down(dir);
  if (was_running && !gone(dir, std::chrono::seconds(record ? 90 : 30)))
    throw std::runtime_error(fmt::format("lab '{}' is still stopping; its log: {}", dir.name(), dir.log()));
  // What is still recorded then is at a site that did not answer.
  if (was_running && !front::read_record(dir)) return true;
  const std::vector<std::string> left = record ? front::clean_up_sites(dir) : daemon::clean_up(dir);
  if (!left.empty()) throw std::runtime_error(fmt::format("{}", fmt::join(left, "; ")));
  return was_running;
}

}  // namespace railyard::tools
