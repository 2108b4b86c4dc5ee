#include "tests/control/daemon/running_lab_fixture.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "control/daemon/routes.h"

namespace railyard::daemon {

RunningLabFixture::StateFolder::StateFolder() {
  std::string name = testing::TempDir() + "daemon_test.XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for the test");
  path_ = name;
  ::setenv("RAILYARD_STATE_DIR", name.c_str(), 1);
  std::filesystem::create_directory(path_ / "x");
}

RunningLabFixture::StateFolder::~StateFolder() {
  ::unsetenv("RAILYARD_STATE_DIR");
  std::error_code none;
  std::filesystem::remove_all(path_, none);
}

RunningLabFixture::RunningLabFixture(const std::string& fabric)
    : settings_(fabric, "x.yaml", {}),
      session_(settings_.lab(), {}),
      log_(folder_ / "log"),
      lab_(std::make_unique<LiveLab>("x", session_, live_, log_)),
      watch_(std::make_unique<Watch>(session_, live_, log_)),
      engine_([this] { session_.run(stop_, &live_); }) {
  lab_->watched_by(*watch_);
}

RunningLabFixture::~RunningLabFixture() { end(); }

void RunningLabFixture::end() {
  stop_ = true;
  if (engine_.joinable()) engine_.join();
}

RunningLabFixture::json RunningLabFixture::ask(const std::string& method, const std::string& target, const json& body) {
  return route(*lab_, [this] { stop_ = true; }, {method, target, body}).body;
}

std::string RunningLabFixture::error_of(int status, const std::string& method, const std::string& target,
                                        const json& body) {
  try {
    ask(method, target, body);
  } catch (const api::ApiError& error) {
    EXPECT_EQ(error.status(), status);
    return error.what();
  }
  return "(no error)";
}

const RunningLabFixture::json& RunningLabFixture::port(const json& status, const std::string& node, int n) {
  for (const json& p : status["ports"])
    if (p["node"] == node && p["port"] == n) return p;
  throw std::out_of_range(node);
}

std::uint64_t RunningLabFixture::received_by_h2() { return port(ask("GET", "/status"), "h2", 1)["rx"]["packets"]; }

void RunningLabFixture::wait_for_packets() {
  const std::uint64_t before = received_by_h2();
  while (received_by_h2() < before + 3) std::this_thread::yield();
}

std::string RunningLabFixture::log() const {
  std::ostringstream text;
  text << std::ifstream(folder_ / "log").rdbuf();
  return text.str();
}

}  // namespace railyard::daemon
