#include "transports/application/connection.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace railyard::application {
namespace {

constexpr long kPatienceSeconds = 10;

std::unexpected<OpenError> failed(int error, std::string why) {
  return std::unexpected(OpenError{error, std::move(why)});
}

std::expected<FileDescriptor, OpenError> connected(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return failed(ENAMETOOLONG, "the path " + path + " is too long for a socket");
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    // Without a lab there is no such device.
    const int said = error == ENOENT || error == ECONNREFUSED ? ENODEV : error;
    return failed(said, "no lab answers at " + path + " (" + std::strerror(error) +
                             "); `railyard up` starts one, `railyard exec` knows where it is");
  }
  const timeval patience{.tv_sec = kPatienceSeconds, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return socket;
}

struct Answer {
  Welcome welcome{};
  std::array<FileDescriptor, 3> descriptors{};
  std::size_t count = 0;
};

std::expected<Answer, OpenError> receive(int socket) {
  Answer answer;
  iovec data{&answer.welcome, sizeof answer.welcome};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(3 * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (got < 0) return failed(errno, std::string("the lab does not answer: ") + std::strerror(errno));
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t n = std::min((c->cmsg_len - CMSG_LEN(0)) / sizeof(int), answer.descriptors.size());
    std::array<int, 3> raw{};
    std::memcpy(raw.data(), CMSG_DATA(c), n * sizeof(int));
    for (std::size_t i = 0; i < n; ++i) answer.descriptors[i] = FileDescriptor(raw[i]);
    answer.count = n;
  }
  const Welcome& w = answer.welcome;
  if (got != static_cast<ssize_t>(sizeof w) || w.magic != kMagic || w.version != kVersion)
    return failed(EPROTO, "the lab is of another version of Railyard than this library; use the library of the lab");
  if (w.error != 0) return failed(w.error, std::string(w.why.data(), ::strnlen(w.why.data(), w.why.size())));
  if (answer.count != answer.descriptors.size() || !w.rings.valid() || w.settings_octets > w.settings.size())
    return failed(EPROTO, "the lab's answer cannot be understood");
  return answer;
}

// The DSCP of data, where a program does not choose one.
constexpr std::size_t kUsualDscp = 26;

// Has memory that is mapped there; 0, or an errno. Linux before 5.14 cannot, and the first access does it.
int populate(std::byte* at, std::size_t octets) noexcept {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(at) / page * page;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(at) + octets;
  if (::madvise(reinterpret_cast<void*>(first), end - first, MADV_POPULATE_WRITE) == 0) return 0;
  return errno == EINVAL ? 0 : errno;
}

}  // namespace

std::expected<std::unique_ptr<Connection>, OpenError> Connection::open(const std::string& socket,
                                                                       const std::string& host, std::uint32_t nic,
                                                                       Transport transport, std::uint32_t job_id) {
  Hello hello;
  hello.job_id = job_id;
  hello.transport = transport;
  hello.nic = nic;
  if (host.size() >= hello.host.size()) return failed(EINVAL, "'" + host + "' is no name of a host");
  host.copy(hello.host.data(), hello.host.size() - 1);
  auto connection = connected(socket);
  if (!connection) return std::unexpected(connection.error());
  if (::send(connection->get(), &hello, sizeof hello, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof hello))
    return failed(errno, std::string("the lab does not listen: ") + std::strerror(errno));
  auto answer = receive(connection->get());
  if (!answer) return std::unexpected(answer.error());
  std::unique_ptr<Connection> made(new Connection);
  made->socket_ = std::move(*connection);
  made->fabric_doorbell_ = std::move(answer->descriptors[1]);
  made->own_doorbell_ = std::move(answer->descriptors[2]);
  if (auto error = made->map(answer->welcome, std::move(answer->descriptors[0]))) return std::unexpected(*error);
  return made;
}

std::optional<OpenError> Connection::map(const Welcome& welcome, FileDescriptor memory) {
  nic_ = welcome.nic;
  settings_.assign(welcome.settings.begin(), welcome.settings.begin() + welcome.settings_octets);
  const FrameRingPairGeometry rings = welcome.rings;
  struct stat s {};
  if (::fstat(memory.get(), &s) != 0 || static_cast<std::size_t>(s.st_size) < rings.octets())
    return OpenError{EPROTO, "the lab's shared memory is too small"};
  const auto no_memory = [](int error) {
    return OpenError{error, std::string("cannot map the lab's memory: ") + std::strerror(error)};
  };
  void* const mapped = ::mmap(nullptr, rings.octets(), PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (mapped == MAP_FAILED) return no_memory(errno);
  // The daemon would not see a child that used it (leave_to_parent() is for those that fork(2) made).
  ::madvise(mapped, rings.octets(), MADV_DONTFORK);
  memory_ = static_cast<std::byte*>(mapped);
  memory_octets_ = rings.octets();
  // What most programs use is there from the beginning; rings of other classes cost nothing until then.
  const std::size_t usual = nic_.dscp_to_class[kUsualDscp] % kPriorities * rings.to_fabric.octets();
  for (const auto& [at, octets] : {std::pair{memory_, FrameRingPairGeometry::kStateOctets + rings.to_host.octets()},
                                   std::pair{rings.rings_to_fabric(memory_) + usual, rings.to_fabric.octets()}})
    if (const int error = populate(at, octets); error != 0) return no_memory(error);
  to_fabric_.emplace(rings.rings_to_fabric(memory_), rings.to_fabric);
  from_fabric_.emplace(rings.ring_to_host(memory_), rings.to_host);
  return std::nullopt;
}

Connection::~Connection() {
  if (memory_ != nullptr) ::munmap(memory_, memory_octets_);
}

// (What is mapped instead is nothing until it is touched.)
void Connection::leave_to_parent() noexcept {
  socket_.close();
  fabric_doorbell_.close();
  own_doorbell_.close();
  if (memory_ == nullptr) return;
  constexpr int kEmpty = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
  if (::mmap(memory_, memory_octets_, PROT_READ | PROT_WRITE, kEmpty, -1, 0) == MAP_FAILED) ::abort();
}

PortAnswer Connection::ask(const PortRequest& request) {
  const std::lock_guard lock(asks_);
  PortAnswer answer;
  if (::send(socket_.get(), &request, sizeof request, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof request)) {
    answer.error = errno;
    return answer;
  }
  ssize_t got = 0;
  do got = ::recv(socket_.get(), &answer, sizeof answer, 0);
  while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof answer) || answer.magic != kMagic) answer.error = got < 0 ? errno : EPROTO;
  return answer;
}

std::expected<std::uint16_t, int> Connection::claim_port(std::uint8_t space, std::uint16_t port) {
  const PortAnswer answer = ask({.space = space, .port = port});
  if (answer.error != 0) return std::unexpected(answer.error);
  return answer.port;
}

void Connection::release_port(std::uint8_t space, std::uint16_t port) {
  ask({.release = 1, .space = space, .port = port});
}

void Connection::calm() noexcept {
  std::uint64_t rung;
  static_cast<void>(::read(own_doorbell_.get(), &rung, sizeof rung));
}

void Connection::ring_self() noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(::write(own_doorbell_.get(), &one, sizeof one));
}

void Connection::ring_fabric() noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(::write(fabric_doorbell_.get(), &one, sizeof one));
}

}  // namespace railyard::application
