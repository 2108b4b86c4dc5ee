// The way to a lab: octets both ways, over TCP, a UNIX socket, a serial line or the standard streams.
#pragma once

#include <string>
#include <utility>

namespace railyard::agent {

class LabStream {
 public:
  // HOST:PORT, unix:PATH, serial:PATH or stdio. Throws std::runtime_error that says what could not be done, and
  // std::invalid_argument if `where` is none of these.
  static LabStream open(const std::string& where);
  ~LabStream();
  LabStream(LabStream&& other) noexcept
      : in_(std::exchange(other.in_, -1)), out_(std::exchange(other.out_, -1)) {}
  LabStream& operator=(LabStream&&) = delete;

  // Neither blocks.
  int in() const noexcept { return in_; }
  int out() const noexcept { return out_; }

 private:
  LabStream(int in, int out);

  int in_;
  int out_;
};

}  // namespace railyard::agent
