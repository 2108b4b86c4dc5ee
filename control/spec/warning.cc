#include "control/spec/warning.h"

#include <mutex>
#include <set>
#include <utility>

#include "control/spec/spec_error.h"

namespace railyard::spec {
namespace {

struct Warnings {
  std::mutex mutex;
  std::function<void(const std::string&)> handler;
  std::set<std::string> told;
};

Warnings& warnings() {
  static Warnings all;
  return all;
}

}  // namespace

void on_warning(std::function<void(const std::string& line)> handler) {
  const std::scoped_lock lock(warnings().mutex);
  warnings().handler = std::move(handler);
  warnings().told.clear();
}

void warn(const Place& place, const std::string& message) {
  // Place and escapes are those of an error.
  const std::string line = SpecError(place, "warning: " + message).what();
  const std::scoped_lock lock(warnings().mutex);
  if (warnings().handler && warnings().told.insert(line).second) warnings().handler(line);
}

}  // namespace railyard::spec
