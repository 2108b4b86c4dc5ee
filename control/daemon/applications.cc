#include "control/daemon/applications.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/daemon/application_gsi.h"
#include "control/spec/value.h"
#include "dataplane/base/file_descriptor.h"
#include "dataplane/port/application_port.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/udp.h"
#include "transports/application/requests.h"

namespace railyard::daemon {

using application::Hello;
using application::PortAnswer;
using application::PortRequest;
using application::Welcome;

namespace {

// Room for the longest RoCEv2 packet (path MTU 4096) behind its headers, in a multiple of cache lines that is no power
// of two, so that slots do not fall on each other in the caches.
constexpr FrameRingGeometry kRing{.slots = 512, .slot_octets = 4096 + 320};
static_assert(kRing.valid());

FileDescriptor listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw std::runtime_error(
        fmt::format("the path {} is too long for a socket (most: {} characters); choose a shorter "
                    "name for the lab",
                    path, sizeof address.sun_path - 1));
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ::unlink(path.c_str());
  FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0)
    throw std::runtime_error(fmt::format("cannot listen at {}: {}", path, std::strerror(errno)));
  return socket;
}

pid_t peer_of(int socket) {
  ucred who{};
  socklen_t octets = sizeof who;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &octets) == 0 ? who.pid : 0;
}

bool send_welcome(int socket, const Welcome& welcome, const std::vector<int>& descriptors) {
  iovec data{const_cast<Welcome*>(&welcome), sizeof welcome};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(3 * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    cmsghdr* const c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(c), descriptors.data(), descriptors.size() * sizeof(int));
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof welcome);
}

}  // namespace

// One thread that waits for processes to come and go.
class Applications::Server {
 public:
  Server(std::vector<ApplicationNic> nics, const std::string& socket, lab::Session& session, WallClockLive& live,
         Log& log, std::shared_ptr<ApplicationTraffic> traffic)
      : live_(live), log_(log), traffic_(std::move(traffic)), listening_(listen_at(socket)), wake_(::eventfd(0, EFD_CLOEXEC)) {
    for (const lab::Session::Attached& a : session.attached())
      if (auto* const port = dynamic_cast<ApplicationPort*>(a.device); port != nullptr) {
        const spec::PortName name{a.host->name(), a.port.value + 1};
        const auto nic = std::ranges::find(nics, name, &ApplicationNic::name);
        if (nic == nics.end()) continue;
        nics_[name] = {*nic, port, std::make_shared<ApplicationGsi>(), {}, 1};
        port->share_qp(nics_[name].gsi);
      }
    thread_ = std::thread([this] { run(); });
  }
  ~Server() {
    stop_ = true;
    const std::uint64_t one = 1;
    static_cast<void>(::write(wake_.get(), &one, sizeof one));
    thread_.join();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

 private:
  struct Nic {
    ApplicationNic about;
    ApplicationPort* port = nullptr;
    std::shared_ptr<ApplicationGsi> gsi{};     // used by the engine's thread alone
    std::deque<std::uint32_t> returned{};      // blocks of QP numbers, the one that is longest free first
    std::uint32_t next_block = 1;              // never given out; block 0 has QP 0 and QP 1
    std::deque<std::uint32_t> uet_returned{};  // the same of numbers of UET
    std::uint32_t next_uet_block = 0;
  };
  // A connection; without a process until it has said what it wants.
  struct Client {
    FileDescriptor socket;
    pid_t pid = 0;
    Nic* nic = nullptr;
    std::shared_ptr<ApplicationProcess> process{};
    bool opened = false;  // the log says that it has opened the NIC
    bool gone = false;
    std::optional<std::chrono::steady_clock::time_point> gone_at{};  // while its last frames are sent
  };
  // How long the last frames of a process that has ended may wait for room, and how often they are looked after. Longer
  // than pauses last; a link that is down may stay so for ever.
  static constexpr std::chrono::milliseconds kLastFrames{1000}, kLookEvery{2};
  static constexpr std::uint32_t kBlocks = (1u << 24) / ApplicationProcess::kQpnsPerProcess;
  static constexpr std::size_t kMostClients = 1024;
  // How often the files of hw_counters follow, while there are programs.
  static constexpr int kCountersEveryMs = 250;

  void run() {
    while (!stop_) {
      std::vector<pollfd> all{{.fd = wake_.get(), .events = POLLIN, .revents = 0},
                              {.fd = listening_.get(), .events = POLLIN, .revents = 0}};
      for (const auto& [name, nic] : nics_)
        all.push_back({.fd = nic.port->attention(), .events = POLLIN, .revents = 0});
      const std::size_t first = all.size();
      for (const Client& c : clients_) all.push_back({.fd = c.socket.get(), .events = POLLIN, .revents = 0});
      const bool one_ends = std::ranges::any_of(clients_, &Client::gone);
      const int patience = one_ends ? static_cast<int>(kLookEvery.count()) : clients_.empty() ? -1 : kCountersEveryMs;
      const int ready = ::poll(all.data(), all.size(), patience);
      if (stop_) continue;
      if (ready == 0 && !one_ends) traffic_->write_hw_counters();
      if (ready < 0 || (ready == 0 && !one_ends)) continue;
      for (std::size_t i = 2; i < first; ++i) {
        std::uint64_t told = 0;
        if (all[i].revents != 0) static_cast<void>(::read(all[i].fd, &told, sizeof told));
      }
      auto client = clients_.begin();
      for (std::size_t i = first; i < all.size(); ++i, ++client)
        if (all[i].revents != 0) hear(*client);
      for (Client& c : clients_)
        if (c.process != nullptr && !c.gone && c.process->broken()) {
          log_.warning(fmt::format("{}: process {} has written impossible numbers into its ring; it is cut off",
                                   spec::format(c.nic->about.name), c.pid));
          c.gone = true;
        }
      if (std::erase_if(clients_, [this](Client& c) { return c.gone && take_back(c); }) > 0) traffic_->write_hw_counters();
      if (all[1].revents != 0) accept();
    }
    clients_.clear();
  }

  void accept() {
    FileDescriptor socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      // It stays in the backlog until descriptors are free again; meanwhile this is not to spin.
      if (errno == EMFILE || errno == ENFILE) ::poll(nullptr, 0, 10);
      return;
    }
    const pid_t pid = peer_of(socket.get());
    if (clients_.size() >= kMostClients) {
      refuse(socket.get(), EMFILE, fmt::format("the lab has {} applications, as many as can be", clients_.size()));
      return;
    }
    clients_.push_back({.socket = std::move(socket), .pid = pid});
  }

  static void refuse(int socket, int error, const std::string& why) {
    Welcome no;
    no.error = error;
    why.copy(no.why.data(), no.why.size() - 1);
    send_welcome(socket, no, {});
  }

  // One message, of which one octet more than is expected is kept, so that it is seen to be too long.
  template <std::size_t kExpected>
  struct Message {
    std::array<std::byte, kExpected + 1> memory{};
    std::size_t count = 0;
    std::span<const std::byte> octets() const noexcept { return std::span(memory).first(count); }
  };
  // nullopt: there is none yet, or the client is gone.
  template <std::size_t kExpected>
  static std::optional<Message<kExpected>> take_message(Client& client) {
    Message<kExpected> message;
    const ssize_t got = ::recv(client.socket.get(), message.memory.data(), message.memory.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
    client.gone = got <= 0;
    if (client.gone) return std::nullopt;
    message.count = static_cast<std::size_t>(got);
    return message;
  }

  // A first message asks for a NIC, later ones for ports of rdma_cm. Whatever else comes, or an end, closes the
  // connection.
  void hear(Client& client) {
    if (client.process != nullptr) return hear_request(client);
    const auto message = take_message<sizeof(Hello)>(client);
    if (!message) return;
    const auto hello = application::read_hello(message->octets());
    if (!hello) {
      refuse(client.socket.get(), hello.error().error, std::string(hello.error().why));
      client.gone = true;
      return;
    }
    try {
      open(client, *hello);
    } catch (const std::runtime_error& error) {
      refuse(client.socket.get(), ENOMEM, error.what());
      client.gone = true;
    }
  }

  void hear_request(Client& client) {
    const auto message = take_message<sizeof(PortRequest)>(client);
    if (!message) return;
    const auto request = application::read_port_request(message->octets());
    client.gone = !request || client.process->uet().has_value();
    if (client.gone) return;
    const auto answer = std::make_shared<PortAnswer>();
    if (!at_port([gsi = client.nic->gsi, first_qpn = client.process->first_qpn(), request = *request, answer] {
          *answer = gsi->serve(first_qpn, request);
        })) {
      client.gone = true;
      return;
    }
    // Servers name theirs; clients take any.
    if (answer->error == 0 && request->release == 0 && request->port != 0)
      log_.line(fmt::format("{}: process {} has {} port {} of rdma_cm", spec::format(client.nic->about.name), client.pid,
                            static_cast<roce::cm::PortSpace>(request->space) == roce::cm::PortSpace::kTcp ? "TCP" : "UDP",
                            request->port));
    client.gone = ::send(client.socket.get(), answer.get(), sizeof *answer, MSG_NOSIGNAL | MSG_DONTWAIT) !=
                  static_cast<ssize_t>(sizeof *answer);
  }

  void open(Client& client, const Hello& hello) {
    const auto no = [&](int error, const std::string& why) {
      refuse(client.socket.get(), error, why);
      client.gone = true;
    };
    const auto found = nics_.find({hello.host.data(), static_cast<int>(hello.nic)});
    if (found == nics_.end())
      return no(ENODEV,
                fmt::format("the lab has no NIC {}:{} with `attach: application`", hello.host.data(), hello.nic));
    Nic& nic = found->second;
    if (hello.transport == application::Transport::kUet) return open_uet(client, nic, hello.job_id);
    const auto block = take_block(nic);
    if (!block) return no(EMFILE, fmt::format("all QP numbers of {} are in use", spec::format(found->first)));
    client.nic = &nic;
    client.process = std::make_shared<ApplicationProcess>(FrameRingPairGeometry{kRing, kRing},
                                                          *block * ApplicationProcess::kQpnsPerProcess);
    Welcome welcome;
    welcome.nic = nic.about.grant;
    welcome.nic.first_qpn = client.process->first_qpn();
    welcome.nic.most_qps = ApplicationProcess::kQpnsPerProcess;
    welcome.nic.first_comm_id = ApplicationGsi::first_comm_id(client.process->first_qpn());
    welcome.nic.comm_ids = ApplicationGsi::kCommIds;
    let_in(client, welcome, nic.about.settings,
           fmt::format("QP numbers from {:#x} on", client.process->first_qpn()));
  }

  void open_uet(Client& client, Nic& nic, std::uint32_t job_id) {
    const auto no = [&](int error, const std::string& why) {
      refuse(client.socket.get(), error, fmt::format("{}: {}", spec::format(nic.about.name), why));
      client.gone = true;
    };
    const uet::EncapsulationConfig& e = nic.about.uet_settings.encapsulation;
    // Others the fabric does not know for what they are.
    if (e.udp ? e.udp_port != wire::kUetPort : e.ip_protocol != wire::ip_protocol::kUetNative)
      return no(EOPNOTSUPP,
                fmt::format("applications speak UET on UDP port {} or IP protocol {} only; the host's profile "
                            "has another (uet: udp-port, ip-protocol)",
                            wire::kUetPort, wire::ip_protocol::kUetNative));
    if (job_id > 0xFF'FFFF) return no(EINVAL, fmt::format("JobID {} has more than 24 bits", job_id));
    const auto block = take_uet_block(nic);
    if (!block)
      return no(EMFILE, fmt::format("{} processes have opened it for UET, as many as can be", UetNumbers::kProcesses));
    const UetNumbers numbers{.block = static_cast<std::uint8_t>(*block), .job_id = job_id != 0 ? job_id : nic.about.grant.uet.job_id};
    client.nic = &nic;
    client.process = std::make_shared<ApplicationProcess>(FrameRingPairGeometry{kRing, kRing}, numbers);
    Welcome welcome;
    welcome.nic = nic.about.grant;
    welcome.nic.uet = {.job_id = numbers.job_id,
                       .first_pdcid = numbers.first_pdcid(),
                       .most_pdcids = numbers.pdcids(),
                       .first_pid_on_fep = numbers.first_pid_on_fep(),
                       .most_pids = UetNumbers::kPids};
    let_in(client, welcome, nic.about.uet_settings,
           fmt::format("UET, JobID {}, PIDonFEP from {} on, PDCIDs from {:#x} on", numbers.job_id,
                       numbers.first_pid_on_fep(), numbers.first_pdcid()));
  }

  // Puts the process behind its NIC, and answers it. `numbers`: what it has of the NIC, for the log.
  template <class Settings>
  void let_in(Client& client, Welcome& welcome, const Settings& settings, const std::string& numbers) {
    // It may send as soon as it knows: first it is put behind the NIC.
    if (!at_port([port = client.nic->port, gsi = client.nic->gsi, process = client.process] {
          if (!process->uet()) gsi->join(process->first_qpn());
          port->join(process);
        })) {
      refuse(client.socket.get(), EBUSY, "the lab's engine did not answer within 5 s");
      client.gone = true;
      return;
    }
    // It may be gone again before it is answered.
    log_.line(fmt::format("{}: process {} has opened it: {}", spec::format(client.nic->about.name), client.pid, numbers));
    client.opened = true;
    welcome.rings = client.process->rings();
    static_assert(sizeof(Settings) <= std::tuple_size_v<decltype(welcome.settings)> &&
                  std::is_trivially_copyable_v<Settings>);
    welcome.settings_octets = sizeof(Settings);
    std::memcpy(welcome.settings.data(), &settings, sizeof(Settings));
    traffic_->joined(client.nic->about.name, client.pid, client.process);
    const ApplicationProcess& p = *client.process;
    client.gone = !send_welcome(client.socket.get(), welcome, {p.memory(), p.fabric_doorbell(), p.host_doorbell()});
  }

  static std::optional<std::uint32_t> take_block(Nic& nic) {
    if (nic.next_block < kBlocks) return nic.next_block++;
    if (nic.returned.empty()) return std::nullopt;
    const std::uint32_t block = nic.returned.front();
    nic.returned.pop_front();
    return block;
  }

  static std::optional<std::uint32_t> take_uet_block(Nic& nic) {
    if (nic.next_uet_block < UetNumbers::kProcesses) return nic.next_uet_block++;
    if (nic.uet_returned.empty()) return std::nullopt;
    const std::uint32_t block = nic.uet_returned.front();
    nic.uet_returned.pop_front();
    return block;
  }

  // False: it still has frames to send, and is to be looked after again.
  bool take_back(Client& client) {
    client.socket.close();  // not polled any more
    if (client.process == nullptr) return true;
    const auto now = std::chrono::steady_clock::now();
    if (!client.gone_at) {
      client.gone_at = now;
      traffic_->left(*client.process);
    }
    const auto ended = std::make_shared<bool>(true);
    const bool answered =
        at_port([port = client.nic->port, process = client.process, ended] { *ended = port->has_ended(*process); });
    if (answered && !*ended && now - *client.gone_at < kLastFrames) return false;
    give_back(client);
    return true;
  }

  void give_back(const Client& client) {
    // The engine gives it to us, so that unmapping its memory does not hold up the fabric.
    const auto gone = std::make_shared<std::shared_ptr<ApplicationProcess>>();
    at_port([port = client.nic->port, gsi = client.nic->gsi, process = client.process, gone] {
      if (!process->uet())
        for (auto& frame : gsi->leave(process->first_qpn())) port->answer(std::move(frame));
      *gone = port->leave(*process);
    });
    if (client.process->uet()) {
      client.nic->uet_returned.push_back(client.process->uet()->block);
    } else {
      client.nic->returned.push_back(client.process->first_qpn() / ApplicationProcess::kQpnsPerProcess);
    }
    if (!client.opened) return;
    const ApplicationCounters& c = client.process->counters();
    log_.line(
        fmt::format("{}: process {} is gone: {} frames sent, {} received; dropped: {} malformed, {} forged, {} with "
                    "its ring full, {} too long, {} left when it ended",
                    spec::format(client.nic->about.name), client.pid, c.received.read(), c.sent.read(),
                    c.malformed.read(), c.forged.read(), c.ring_full.read(), c.too_long.read(), c.left.read()));
  }

  // Has the engine's thread do it between two windows, and waits. False: it did not in time.
  bool at_port(const std::function<void()>& what) {
    constexpr std::chrono::seconds kPatience{5};
    const auto done = std::make_shared<std::promise<void>>();
    std::future<void> result = done->get_future();
    if (!live_.requests.post([what, done](Engine&, Instant) {
          what();
          done->set_value();
        }))
      return false;
    for (auto waited = std::chrono::milliseconds(0); waited < kPatience; waited += std::chrono::milliseconds(20)) {
      if (result.wait_for(std::chrono::milliseconds(20)) == std::future_status::ready) return true;
      if (stop_) return false;
    }
    return false;
  }

  WallClockLive& live_;
  Log& log_;
  std::shared_ptr<ApplicationTraffic> traffic_;
  FileDescriptor listening_;
  FileDescriptor wake_;
  std::map<spec::PortName, Nic> nics_;
  std::deque<Client> clients_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

Applications::Applications(const spec::Lab& lab, const LabDir& dir, Log& log)
    : dir_(dir),
      log_(log),
      nics_(application_nics(lab)),
      host_names_(host_names(lab)),
      traffic_(std::make_shared<ApplicationTraffic>(nics_, dir_.path() / "applications", host_names_)) {}

Applications::~Applications() {
  std::error_code ignored;
  std::filesystem::remove_all(dir_.path() / "applications", ignored);
}

std::filesystem::path Applications::folder(const std::string& host) const {
  return dir_.path() / "applications" / host;
}

std::string Applications::socket() const { return dir_.path() / "applications.sock"; }

lab::Interfaces Applications::interfaces() const {
  lab::Interfaces out;
  for (const ApplicationNic& nic : nics_) out[nic.name] = {.netns = {}, .name = {}, .socket = socket()};
  return out;
}

void Applications::set_up() {
  std::map<std::string, std::vector<VerbsDevice>> hosts;
  std::set<std::string> names;
  for (const ApplicationNic& nic : nics_) {
    hosts[nic.name.node].push_back(nic.device());
    names.insert(nic.device().name);
  }
  for (const auto& [host, devices] : hosts) {
    write_verbs_tree(folder(host), devices, socket());
    write_host_names(folder(host), host_names_);
  }
  traffic_->write_hw_counters();
  try {
    if (names.empty()) return;
    nodes_.emplace(std::vector<std::string>(names.begin(), names.end()));
    if (const auto& made = nodes_->made(); !made.empty())
      log_.line(fmt::format("made {} -> /dev/null, for libibverbs", fmt::join(made, ", ")));
  } catch (const std::runtime_error& error) {
    log_.warning(error.what());  // `exec` says so where it matters
  }
}

void Applications::tell(LiveLab& lab) const {
  for (const ApplicationNic& nic : nics_)
    lab.add_host(nic.name.node, {.kind = "application", .location = folder(nic.name.node)});
  if (!nics_.empty()) lab.applications_are(traffic_);
}

Applications::Running Applications::start(lab::Session& session, WallClockLive& live) const {
  if (nics_.empty()) return {};
  return std::make_shared<Server>(nics_, socket(), session, live, log_, traffic_);
}

}  // namespace railyard::daemon
