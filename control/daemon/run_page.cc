#include "control/daemon/run_page.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "control/api/query.h"
#include "control/daemon/lab_dir.h"
#include "control/daemon/routes.h"
#include "dataplane/base/file_descriptor.h"

namespace railyard::daemon {

using api::ApiError;
using api::Request;
using api::Response;

namespace {

// A log that is read on the page only: its file is gone as soon as it is open, and nothing is written to it.
class Unwritten {
 public:
  Unwritten() : path_((std::filesystem::temp_directory_path() / "railyard-run.XXXXXX").string()) {
    const FileDescriptor fd(::mkstemp(path_.data()));
    if (!fd) throw std::runtime_error(fmt::format("cannot make a file in {}", std::filesystem::temp_directory_path().string()));
  }
  ~Unwritten() { ::unlink(path_.c_str()); }
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

// As live labs are called, where the lab's own name may be one.
std::string name_of(const spec::Lab& lab) {
  try {
    return LabDir(lab.name).name();
  } catch (const std::invalid_argument&) {
    return "run";
  }
}

}  // namespace

RunPage::RunPage(lab::Session& session, std::span<const PageFile> page)
    : session_(session),
      log_(Unwritten().path(), "off"),
      lab_(name_of(session.lab().spec()), session, live_, log_),
      token_(api::drawn_secret()),
      watch_(std::make_unique<Watch>(session, live_, log_)) {
  lab_.watched_by(*watch_);
  lab_.is_read_only(true);
  const auto unless_busy = [this](auto look) -> Watch::Look {
    return [this, look]() -> std::optional<nlohmann::json> {
      const std::unique_lock lock(one_at_a_time_, std::try_to_lock);
      if (!lock.owns_lock()) return std::nullopt;
      return look();
    };
  };
  watch_->start(unless_busy([this] { return lab_.state(); }), unless_busy([this] { return lab_.pauses(); }));
  wire::UdpEndpoint any = *wire::UdpEndpoint::parse("127.0.0.1:1");
  any.port = 0;
  constexpr std::size_t kMostClients = 64;
  web_ = std::make_unique<WebServer>(
      WebServerConfig{.listen = any, .page = page, .token = token_, .most_clients = kMostClients},
      [this](const Request& request) { return answer(request); });
  session_.engine().after_windows(this, [this] { between_windows(); });
}

RunPage::~RunPage() {
  session_.engine().after_windows(this, nullptr);
  watch_->stop();
}

void RunPage::end() {
  session_.engine().after_windows(this, nullptr);
  std::atomic<bool> gone{false};
  std::thread leave([&] {
    watch_->farewell("The run has ended.");
    web_.reset();
    gone = true;
  });
  // The engine rests: who waits for it need not wait in vain.
  while (!gone) {
    live_.requests.serve(session_.engine(), session_.engine().reached());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  leave.join();
}

Response RunPage::answer(const Request& request) {
  const std::string path = api::parse_target(request.target).path;
  const bool reads = request.method == "GET" || path == "/path";
  const bool of_hosts = path.starts_with("/agents/") || path.starts_with("/hosts/");
  if (!reads || of_hosts)
    throw ApiError(409, fmt::format("{} {}: this is a run of `railyard run`, which is only watched; live labs (`railyard up`) "
                                    "can be changed",
                                    request.method, path));
  const std::scoped_lock lock(one_at_a_time_);
  return route(lab_, [] {}, request);
}

// By the engine's thread.
void RunPage::between_windows() {
  Engine& engine = session_.engine();
  live_.reached_ps.set(static_cast<std::uint64_t>((engine.reached() - Instant{}).ps));
  if (!live_.requests.any()) [[likely]]
    return;
  const auto now = std::chrono::steady_clock::now();
  if (now - served_ < kLeastBetween) return;
  served_ = now;
  engine.settle(engine.reached());
  live_.requests.serve(engine, engine.reached());
}

}  // namespace railyard::daemon
