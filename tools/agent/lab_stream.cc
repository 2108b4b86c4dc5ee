#include "tools/agent/lab_stream.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

namespace railyard::agent {
namespace {

[[noreturn]] void fail(const std::string& where, const std::string& why) {
  throw std::runtime_error(fmt::format("cannot connect to the lab at {}: {}", where, why));
}

int open_tcp(const std::string& where, std::size_t colon) {
  std::string host = where.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* all = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), where.c_str() + colon + 1, &hints, &all); error != 0)
    fail(where, ::gai_strerror(error));
  int last = ECONNREFUSED;
  int fd = -1;
  for (const addrinfo* a = all; a != nullptr && fd < 0; a = a->ai_next) {
    fd = ::socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    if (fd >= 0 && ::connect(fd, a->ai_addr, a->ai_addrlen) == 0) break;
    last = errno;
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
  ::freeaddrinfo(all);
  if (fd < 0) fail(where, std::strerror(last));
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

int open_unix(const std::string& where, const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    fail(where, fmt::format("the socket's path is too long; expected at most {} bytes", sizeof address.sun_path - 1));
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) fail(where, std::strerror(errno));
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    ::close(fd);
    fail(where, std::strerror(error));
  }
  return fd;
}

// A terminal passes on every octet as it is.
int open_serial(const std::string& where, const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) fail(where, std::strerror(errno));
  termios line{};
  if (::tcgetattr(fd, &line) == 0) {
    ::cfmakeraw(&line);
    ::tcsetattr(fd, TCSANOW, &line);
  }
  return fd;
}

void unblock(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
    throw std::runtime_error(fmt::format("cannot poll a stream: {}", std::strerror(errno)));
}

}  // namespace

LabStream::LabStream(int in, int out) : in_(in), out_(out) {
  unblock(in_);
  if (out_ != in_) unblock(out_);
}

LabStream LabStream::open(const std::string& where) {
  if (where == "stdio") return {STDIN_FILENO, STDOUT_FILENO};
  if (where.starts_with("unix:")) {
    const int fd = open_unix(where, where.substr(5));
    return {fd, fd};
  }
  if (where.starts_with("serial:")) {
    const int fd = open_serial(where, where.substr(7));
    return {fd, fd};
  }
  const std::size_t colon = where.rfind(':');
  if (colon == where.npos || colon == 0 || colon + 1 == where.size())
    throw std::invalid_argument(fmt::format("'{}'; expected HOST:PORT, unix:PATH, serial:PATH or stdio", where));
  const int fd = open_tcp(where, colon);
  return {fd, fd};
}

LabStream::~LabStream() {
  if (in_ > STDERR_FILENO) ::close(in_);
  if (out_ > STDERR_FILENO && out_ != in_) ::close(out_);
}

}  // namespace railyard::agent
