#include "tests/transports/verbs/fake_lab.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "dataplane/base/assert.h"
#include "dataplane/base/hash.h"
#include "dataplane/wire/parse.h"
#include "transports/libfabric/nic_settings.h"
#include "transports/verbs/nic_settings.h"

namespace railyard::verbs {
namespace {

constexpr FrameRingGeometry kRing{.slots = 64, .slot_octets = 4416};
constexpr FrameRingPairGeometry kRings{kRing, kRing};
constexpr std::uint32_t kQpns = 16;

}  // namespace

FakeLab::FakeLab() {
  char folder[] = "/tmp/railyard-fake-XXXXXX";
  folder_ = ::mkdtemp(folder);
  path_ = folder_ + "/socket";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path_.copy(address.sun_path, sizeof address.sun_path - 1);
  listening_ = FileDescriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  RAILYARD_ASSERT(::bind(listening_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                      ::listen(listening_.get(), 8) == 0,
                  "the folder is new");
  thread_ = std::thread([this] { run(); });
}

FakeLab::~FakeLab() {
  end();
  for (Member& m : members_) ::munmap(m.memory, kRings.octets());
  std::filesystem::remove_all(folder_);
}

void FakeLab::end() {
  if (!thread_.joinable()) return;
  stop_ = true;
  thread_.join();
  for (Member& m : members_) m.socket.close();
}

void FakeLab::set_link(bool up) {
  const std::lock_guard lock(mutex_);
  for (Member& m : members_) {
    FrameRingPairGeometry::state(m.memory).link_up = up ? 1 : 0;
    const std::uint64_t one = 1;
    static_cast<void>(::write(m.doorbell.get(), &one, sizeof one));
  }
}

void FakeLab::refuse_next(int error, std::string why) {
  const std::lock_guard lock(mutex_);
  refuse_ = error;
  why_ = std::move(why);
}

void FakeLab::run() {
  while (!stop_) {
    bool any = false;
    {
      const std::lock_guard lock(mutex_);
      admit();
      for (Member& m : members_) any |= carry(m);
      if (!any)
        for (Member& m : members_) serve(m);
    }
    if (!any) std::this_thread::yield();
  }
}

void FakeLab::admit() {
  FileDescriptor socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket) return;
  application::Hello hello;
  if (::recv(socket.get(), &hello, sizeof hello, 0) != static_cast<ssize_t>(sizeof hello)) return;
  application::Welcome welcome;
  welcome.error = std::exchange(refuse_, 0);
  why_.copy(welcome.why.data(), welcome.why.size() - 1);
  Member m;
  const auto number = static_cast<std::uint32_t>(members_.size() + 1);
  m.first_qpn = number * kQpns;
  welcome.rings = kRings;
  welcome.nic.first_qpn = m.first_qpn;
  welcome.nic.most_qps = kQpns;
  welcome.nic.mtu = 9216;
  welcome.nic.rate = {100'000'000'000};
  welcome.nic.mac = {{2, 0, 0, 0, 0, static_cast<std::uint8_t>(number)}};
  welcome.nic.next_hop = {{2, 0, 0, 0, 1, 0}};
  welcome.nic.address_v4 = wire::IpAddress{0x0A000000u + number};
  welcome.nic.dscp_to_class[26] = 3;
  m.number = number;
  m.gsi = std::make_unique<roce::cm::SharedGsi>();
  m.gsi->join(number);
  welcome.nic.first_comm_id = roce::cm::SharedGsi::first_comm_id(number);
  welcome.nic.comm_ids = roce::cm::SharedGsi::kCommIds;
  m.address = welcome.nic.address_v4;
  m.transport = hello.transport;
  const auto set = [&](const auto& settings) {
    welcome.settings_octets = sizeof settings;
    std::memcpy(welcome.settings.data(), &settings, sizeof settings);
  };
  if (hello.transport == application::Transport::kUet) {
    welcome.nic.uet = {.job_id = 7,
                       .first_pdcid = static_cast<std::uint16_t>(number * 512),
                       .most_pdcids = 512,
                       .first_pid_on_fep = static_cast<std::uint16_t>(number * 32),
                       .most_pids = 32};
    set(libfabric::NicSettings{});
  } else {
    set(NicSettings{});
  }
  const FileDescriptor memory(::memfd_create("fake", MFD_CLOEXEC));
  RAILYARD_ASSERT(::ftruncate(memory.get(), static_cast<off_t>(kRings.octets())) == 0, "there is memory");
  m.memory =
      static_cast<std::byte*>(::mmap(nullptr, kRings.octets(), PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0));
  FrameRingPairGeometry::state(m.memory).link_up = 1;
  m.from = std::make_unique<ClassRingsConsumer>(kRings.rings_to_fabric(m.memory), kRing);
  m.to = std::make_unique<FrameRingProducer>(kRings.ring_to_host(m.memory), kRing);
  m.doorbell = FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  m.own_doorbell = FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const std::array<int, 3> descriptors{memory.get(), m.own_doorbell.get(), m.doorbell.get()};
  iovec data{&welcome, sizeof welcome};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof descriptors)> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (welcome.error == 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof descriptors);
    std::memcpy(CMSG_DATA(c), descriptors.data(), sizeof descriptors);
  }
  ::sendmsg(socket.get(), &message, MSG_NOSIGNAL);
  m.socket = std::move(socket);
  members_.push_back(std::move(m));
}

// Ports of rdma_cm.
void FakeLab::serve(Member& member) {
  application::PortRequest request;
  if (::recv(member.socket.get(), &request, sizeof request, MSG_DONTWAIT) != static_cast<ssize_t>(sizeof request))
    return;
  application::PortAnswer answer;
  const auto space = static_cast<roce::cm::PortSpace>(request.space);
  if (request.release != 0) {
    member.gsi->release(member.number, space, request.port);
  } else if (const auto port = member.gsi->claim(member.number, space, request.port)) {
    answer.port = *port;
  } else {
    answer.error = EADDRINUSE;
  }
  static_cast<void>(::send(member.socket.get(), &answer, sizeof answer, MSG_NOSIGNAL));
}

// False: its ring is full.
bool FakeLab::put(Member& to, std::span<const std::byte> frame, std::uint32_t flags) {
  std::byte* const room = to.to->next();
  if (room == nullptr) return false;
  std::memcpy(room, frame.data(), frame.size());
  to.to->commit(static_cast<std::uint32_t>(frame.size()), flags);
  const std::uint64_t one = 1;
  if (to.to->publish()) static_cast<void>(::write(to.doorbell.get(), &one, sizeof one));
  return true;
}

bool FakeLab::carry(Member& from) {
  bool any = false;
  for (std::uint8_t c = 0; c < kPriorities; ++c)
    if ((held_ & bit(Priority{c})) == 0) any |= carry(from, from.from->of(Priority{c}));
  return any;
}

bool FakeLab::carry(Member& from, FrameRingConsumer& ring) {
  bool any = false;
  while (const auto frame = ring.front()) {
    const std::size_t whole = frame->octets.size() + ((frame->flags & kFrameIcrcPending) != 0 ? std::size_t{4} : 0);
    const auto view = wire::parse_frame(frame->octets, whole);
    const bool uet = from.transport == application::Transport::kUet;
    RAILYARD_ASSERT(view && (uet ? view->uet_entropy.has_value() : view->has_bth),
                    "a provider sends its transport and nothing else");
    const unsigned lose = lose_;
    if (lose == 0 || mix64(++carried_) % lose != 0) {
      for (Member& to : members_) {
        if (!uet && view->destination_qp == 1) {
          if (view->destination != to.address) continue;
          const bool pending = (frame->flags & kFrameIcrcPending) != 0;
          RAILYARD_ASSERT(from.gsi->may_send(from.number, frame->octets, pending), "a process speaks for itself");
          const auto verdict = to.gsi->for_frame(frame->octets, pending);
          if (verdict.owner && !put(to, frame->octets, frame->flags)) return any;
          if (!verdict.answer.empty()) put(from, verdict.answer, kFrameIcrcPending);
        } else if (uet ? view->destination == to.address : view->destination_qp / kQpns * kQpns == to.first_qpn) {
          if (!put(to, frame->octets, frame->flags)) return any;
        }
      }
    }
    ring.pop();
    any = true;
    if (ring.release()) {
      const std::uint64_t one = 1;
      static_cast<void>(::write(from.doorbell.get(), &one, sizeof one));
    }
  }
  return any;
}

}  // namespace railyard::verbs
