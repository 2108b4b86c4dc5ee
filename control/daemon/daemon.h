// railyardd: one process, one lab that stays up.
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "control/daemon/web_access.h"

namespace railyard::daemon {

struct DaemonConfig {
  std::string spec_file;
  std::vector<std::string> overrides;  // --set
  std::string name;                    // empty: the spec's
  std::string site{};                  // which part of the lab runs here; empty: all of it
  std::string log_level = "info";      // log.h
  bool log_to_stderr = false;
  // "127.0.0.1:8421": the page and the API, for those who have the token; port 0: any that is free; empty: nowhere.
  std::string listen{};
  std::span<const PageFile> page{};  // its files
  // Files in PEM; with them `listen` and `metrics` may be other addresses than loopback ones, and are answered over TLS there.
  std::string tls_certificate{};
  std::string tls_key{};
  std::string metrics{};  // "127.0.0.1:9420": GET /metrics is answered there; empty: nowhere
};

// Brings the lab up, calls `ready` with its name, and holds it until `stop`, which `down` sets too. What was made
// outside the process is gone when this returns, however it returns; what a killed daemon of that name has left is
// removed first. Built-in traffic without an end of its own goes on until then: run.duration of the file is left out,
// one of `overrides` is not.
// Throws spec::SpecError, std::invalid_argument or std::runtime_error, in each case with one clear
// message.
void run_daemon(const DaemonConfig& config, std::atomic<bool>& stop,
                const std::function<void(const std::string& name)>& ready);

}  // namespace railyard::daemon
