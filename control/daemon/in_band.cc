#include "control/daemon/in_band.h"

#include <memory>
#include <stdexcept>
#include <utility>

#include "control/api/message.h"
#include "control/report/int_text.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"

namespace railyard::daemon {

using api::ApiError;
using nlohmann::json;

namespace {

// What the engine's thread has found; shared with it, as it may come to it when nobody waits any more.
struct Found {
  bool running = false;
  bool was_running = false;
  std::string error;
  telemetry::IntReport report;
  std::shared_ptr<OutputFile> file;
};

json shown(const Found& found) {
  json j{{"running", found.running}};
  if (!found.error.empty()) j["error"] = found.error;
  if (found.report.one_in == 0) return j;  // there never was any
  j["int"] = report::int_json(found.report);
  j["text"] = report::int_text(found.report);
  return j;
}

}  // namespace

json LiveInt::start(const std::string& what, const std::string& file) {
  spec::IntSpec wanted;
  try {
    wanted = spec::parse_int(session_.lab().spec(), what, "int");
  } catch (const spec::SpecError& error) {
    throw ApiError(400, error.what());
  }
  const auto found = std::make_shared<Found>();
  change_("", [found, wanted, &session = session_](Engine&, Instant) {
    found->was_running = session.in_band().running();
    try {
      session.in_band().check(wanted);
    } catch (const std::runtime_error& error) {
      found->error = error.what();
    }
  });
  if (found->was_running)
    throw ApiError(409, "in-band telemetry is already being recorded; end it first (railyard int --end)");
  if (!found->error.empty()) throw ApiError(400, found->error);
  // By this thread: the engine must not wait for a disk.
  try {
    if (!file.empty()) found->file = std::make_shared<OutputFile>(file, OutputFile::Waits::kNever);
  } catch (const std::runtime_error& error) {
    throw ApiError(409, error.what());
  }
  change_("in-band telemetry", [found, wanted, &session = session_](Engine&, Instant) {
    telemetry::IntCollector& collector = session.in_band();
    session.start_int(wanted);
    collector.write_to(found->file);
    found->running = true;
    found->report = collector.report();
  });
  return shown(*found);
}

json LiveInt::show() {
  const auto found = std::make_shared<Found>();
  change_("", [found, &session = session_](Engine&, Instant) {
    telemetry::IntCollector& collector = session.in_band();
    found->running = collector.running();
    if (found->running) collector.look();
    found->report = collector.report();
    found->error = collector.write_error();
  });
  return shown(*found);
}

json LiveInt::end() {
  const auto found = std::make_shared<Found>();
  change_("end of in-band telemetry", [found, &session = session_](Engine&, Instant) {
    telemetry::IntCollector& collector = session.in_band();
    found->was_running = collector.running();
    if (!found->was_running) return;
    session.stop_int();
    found->report = collector.report();
    found->file = collector.file();
  });
  // By this thread: a reader may need a moment.
  try {
    if (found->file != nullptr) found->file->close();
  } catch (const std::runtime_error& error) {
    found->error = error.what();
  }
  if (!found->was_running) throw ApiError(409, "no in-band telemetry is being recorded");
  return shown(*found);
}

}  // namespace railyard::daemon
