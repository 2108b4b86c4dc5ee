// Captures of a run: what can be written is said before it starts, and taps are there from its first frame.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "control/build/uet_carriers.h"
#include "control/lab/session.h"
#include "control/spec/suggest.h"
#include "control/spec/value.h"

namespace railyard::lab {
namespace {

// An empty one of this process alone.
std::string temporary_file() {
  std::string name = std::filesystem::temp_directory_path() / "railyard-capture-XXXXXX";
  const int fd = mkstemp(name.data());
  if (fd < 0) throw std::runtime_error(fmt::format("cannot write {}: {}", name, std::strerror(errno)));
  close(fd);
  return name;
}

}  // namespace

void Session::check_captures() const {
  std::set<spec::PortName> ports;
  std::set<std::string> files;
  for (const CaptureRequest& c : options_.captures) {
    const std::string port = spec::format(c.port);
    try {
      static_cast<void>(lab_->port(c.port));
    } catch (const std::out_of_range& unknown) {
      std::vector<std::string> names;
      for (const spec::NodeSpec& n : lab_->spec().nodes) names.push_back(n.name);
      const bool known = lab_->spec().find(c.port.node) != nullptr;
      throw CaptureError(
          fmt::format("{}: {}{}", port, unknown.what(), known ? "" : spec::did_you_mean(c.port.node, names)));
    }
    if (!ports.insert(c.port).second)
      throw CaptureError(fmt::format("{} is captured twice; expected one file per port", port));
    if (!files.insert(std::filesystem::absolute(c.file).lexically_normal()).second)
      throw CaptureError(
          fmt::format("{}: {} is already the file of another capture; expected one file per port", port, c.file));
  }
}

// Where this process writes a capture of `port` that is to be in `file`; nothing: nowhere.
std::optional<std::string> Session::place_of_capture(PortRef port, const std::string& file) {
  const bool is_here = parts_.is_here(port.device);
  if (parts_ && parts_.part_of[port.device.index()] != 0) {
    FarCapture& far = far_captures_.emplace_back(FarCapture{file, {}, parts_.part_of[port.device.index()]});
    if (is_here) return far.temporary = temporary_file();
  }
  // The first process finds out now whether it can be written.
  if (!is_here && parts_.peers->self() != 0) return std::nullopt;
  return file;
}

// What hosts made of capture files write.
void Session::open_outputs() {
  lab_->open_outputs(
      [this](const spec::PortName& nic, const std::string& file) { return place_of_capture(lab_->port(nic), file); });
}

void Session::attach_captures() {
  const std::string comment = uet::carriers_text(build::uet_carriers(lab_->spec()));
  for (const CaptureRequest& c : options_.captures) {
    const PortRef port = lab_->port(c.port);
    const std::string name = spec::format(c.port);
    try {
      const auto file = place_of_capture(port, c.file);
      if (!file) continue;
      taps_.push_back(std::make_unique<CaptureTap>(*file, name, fmt::format("{} to {}", name, lab_->peer_name(port)),
                                                   lab_->rate(port), c.direction, comment));
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(fmt::format("--capture: {}: {}", name, error.what()));
    }
    if (parts_.is_here(port.device)) lab_->fabric()[port.device].tap(port.port, taps_.back().get());
  }
}

}  // namespace railyard::lab
