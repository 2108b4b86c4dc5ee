// The captures of a lab that is live.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "control/daemon/capture_stream.h"
#include "control/daemon/kept_capture.h"
#include "control/daemon/log.h"
#include "control/lab/session.h"
#include "dataplane/capture/tap_list.h"
#include "dataplane/run/wall_clock.h"

namespace railyard::daemon {

// Has a change made by the engine's thread between two windows, and waits for that; the instant at which it took
// effect. `what` goes to the log; empty: nothing does. Throws api::ApiError.
using MakeChange = std::function<Instant(std::string what, std::function<void(Engine&, Instant)> change)>;

// Each goes to one client over a socket of its own; there may be several of one port. Called by one thread, which is
// not the engine's. Throws api::ApiError.
class Captures {
 public:
  static constexpr std::size_t kMost = TapList::kMost;

  // All outlive it. Sockets are made in `directory`.
  Captures(std::string directory, lab::Session& session, WallClockLive& live, Log& log, MakeChange change);
  // When the engine has ended: clients get what was seen, if they take it.
  ~Captures();
  Captures(const Captures&) = delete;
  Captures& operator=(const Captures&) = delete;

  // Captures `port`, called `name`, from now on. `options`, all optional: "direction" ("both", "in", "out"), "count"
  // (frames, then it ends), "snaplen" (octets of each), "buffer" (octets that may wait for the client), "keep" (true: the
  // daemon takes it and keeps it for file()). Answers with "id", and "socket" where a client is expected within some
  // seconds.
  nlohmann::json start(PortRef port, const std::string& name, const nlohmann::json& options);
  nlohmann::json list();
  // Ends one: its client gets what was seen until now. One that is kept and has ended is forgotten by end(), and left as
  // it is by stop().
  nlohmann::json end(const std::string& id);
  nlohmann::json stop(const std::string& id);
  // One that was kept, when it has ended.
  struct File {
    std::string name;    // "leaf1-3.pcapng"
    std::string octets;  // pcapng
  };
  File file(const std::string& id) const;

  static constexpr std::size_t kMostKept = 4;  // the oldest that has ended makes room for another

 private:
  struct Kept {
    nlohmann::json as_it_was;  // describe(), at last
    std::unique_ptr<KeptCapture> capture;
  };

  void forget_done();
  void make_room_to_keep();
  nlohmann::json describe_kept(const std::string& id, const Kept& kept) const;
  TapList& taps_of(PortRef port);
  bool release(PortRef port, TapList& taps, const std::shared_ptr<EngineTap>& tap);
  static nlohmann::json describe(const std::string& id, const CaptureStream& stream);

  std::string directory_;
  lab::Session& session_;
  WallClockLive& live_;
  Log& log_;
  MakeChange change_;
  std::map<PortRef, std::unique_ptr<TapList>> taps_;                // stay, once made: the engine may look at them
  std::map<std::uint64_t, Kept> kept_;                              // by id; gone after the captures that feed it
  std::map<std::string, std::unique_ptr<CaptureStream>> captures_;  // by id
  std::uint64_t started_ = 0;
};

}  // namespace railyard::daemon
