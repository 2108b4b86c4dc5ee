// The protocol between the front of a lab over several sites and the relay at each site: one JSON text per line.
//
// The first line to a relay is { "lab", "site", "file" }: the relay starts the site's part of this fabric file; or, with null for
// `file`, it takes the one that runs. It answers { "up": true } or { "error": ..., "exit_code": ... }. Each further line is a
// request of the API, { "method", "target", "body" }, and is answered by { "status", "body" }; or by { "gone": why } if the daemon
// does not answer any more. With "is_file": true its answer is a file, and `body` that file in Base64. { "down": true } stops the
// lab, or cleans up after one that was killed, and is answered by { "down": true } or { "error" }.
#pragma once

#include <functional>
#include <istream>
#include <ostream>
#include <string>

namespace railyard::front {

// What the relay can do with its site.
struct RelayWork {
  // Starts the part that `site` has of a fabric file; returns when it is up. Throws std::runtime_error.
  std::function<void(const std::string& lab, const std::string& site, const std::string& file)> start;
  // Stops it and waits until it is gone. Throws std::runtime_error.
  std::function<void(const std::string& lab)> stop;
};

// Answers until `in` ends. What runs stays running.
void serve_relay(std::istream& in, std::ostream& out, const RelayWork& work);

}  // namespace railyard::front
