// What fi_* calls hand out: libfabric's objects, and behind each what this provider knows of it. libfabric's part comes
// first, so that a pointer to one is a pointer to the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "dataplane/base/file_descriptor.h"
#include "transports/libfabric/address.h"
#include "transports/libfabric/nic.h"

namespace railyard::libfabric {

inline constexpr std::size_t kInject = 512;      // octets
inline constexpr std::size_t kPieces = 4;        // of a message (iovec)
inline constexpr std::size_t kMostSends = 4096;  // that are posted and not complete, of an endpoint
inline constexpr std::size_t kMostReceives = 65536;
inline constexpr std::uint16_t kPidsPerProcess = 32;  // PIDonFEPs that the daemon gives out (UetNumbers)
inline constexpr std::uint64_t kMostKey = (std::uint64_t{1} << 48) - 1;  // UE-Spec 1.0 table 2-13: RKEY

struct Fabric {
  fid_fabric fid{};
  std::size_t users = 0;  // domains, event queues
};

// What a wait object is made of: readable while there is something.
class Signal {
 public:
  explicit Signal(bool wanted);  // throws std::system_error: there is no descriptor left
  int fd() const noexcept { return fd_.get(); }
  void raise() noexcept;
  void lower() noexcept;
  // For who waits where nothing has come.
  void wake() noexcept;

 private:
  FileDescriptor fd_;
  bool raised_ = false;
};

struct Domain;

struct Entry {
  void* context = nullptr;
  std::uint64_t flags = 0;
  std::size_t octets = 0;
  void* buffer = nullptr;
  std::uint64_t data = 0;
  std::uint64_t tag = 0;
  fi_addr_t source = FI_ADDR_NOTAVAIL;
  int error = 0;            // FI_E...; then:
  int return_code = 0;      // of SES
  std::size_t missing = 0;  // octets that had no room
};

struct Cq {
  fid_cq fid{};
  Domain* domain = nullptr;
  fi_cq_format format = FI_CQ_FORMAT_CONTEXT;
  std::deque<Entry> entries{};
  Signal signal;
  bool waits = false;  // has a wait object
  std::size_t users = 0;
  std::uint32_t empty = 0;  // reads in a row that found nothing
  std::uint32_t reads = 0;

  explicit Cq(bool wants_descriptor) : signal(wants_descriptor) {}
  void push(const Entry& entry);
};

struct Counter {
  fid_cntr fid{};
  Domain* domain = nullptr;
  std::uint64_t successes = 0;
  std::uint64_t errors = 0;
  Signal signal;
  std::size_t users = 0;

  explicit Counter(bool wants_descriptor) : signal(wants_descriptor) {}
};

struct Av {
  fid_av fid{};
  Domain* domain = nullptr;
  struct Eq* eq = nullptr;
  bool asynchronous = false;
  std::size_t users = 0;

  // By fi_addr_t: a table, and a map in which the number is the index, too.
  struct Peer {
    Address address;
    uet::PeerId id{};
    bool used = false;
  };
  std::deque<Peer> peers{};
  std::unordered_map<std::uint64_t, fi_addr_t> by_name{};  // of who sends

  static std::uint64_t name(uet::PeerId peer, std::uint32_t initiator) noexcept {
    return std::uint64_t{peer.value} << 32 | initiator;
  }
  const Peer* find(fi_addr_t address) const noexcept {
    return address < peers.size() && peers[address].used ? &peers[address] : nullptr;
  }
};

struct Mr {
  fid_mr fid{};
  Domain* domain = nullptr;
  MemoryRegions::Key key = 0;  // 0: an empty region, of which the engine knows nothing
};

struct Endpoint;

// What was posted and is not complete.
struct Operation {
  Endpoint* endpoint = nullptr;
  void* context = nullptr;
  std::uint64_t flags = 0;  // of its entry
  void* buffer = nullptr;
  std::size_t octets = 0;
  std::uint64_t tag = 0;
  bool reported = true;  // by an entry even when all is well
  bool receives = false;
  bool unseen = false;  // nobody waits for it: a message that is discarded
  Counter* counter = nullptr;
  // A buffer for several messages: octets of those that are complete, and once it takes no more, of all.
  std::size_t filled = 0;
  std::optional<std::size_t> to_fill{};
  // What is in several pieces lies here in between; what was read or received goes to them in the end.
  std::unique_ptr<std::byte[]> whole{};
  std::array<iovec, kPieces> pieces{};
  std::size_t piece_count = 0;  // 0: no need
  Operation* before = nullptr;  // of the endpoint's
  Operation* after = nullptr;
  std::array<std::byte, kInject> copy;  // what was injected
};

struct Endpoint {
  fid_ep fid{};
  Domain* domain = nullptr;
  Av* av = nullptr;
  Cq* send_cq = nullptr;
  Cq* receive_cq = nullptr;
  bool send_selective = false;  // entries only of what asks for one
  bool receive_selective = false;
  Counter *sends = nullptr, *receives = nullptr, *reads = nullptr, *writes = nullptr;
  std::uint64_t caps = 0;
  std::uint64_t send_flags = 0, receive_flags = 0;  // defaults of operations
  bool datagrams = false;
  uet::DeliveryMode send_mode = uet::DeliveryMode::kRud;  // of messages; of RMA and atomics:
  uet::DeliveryMode rma_mode = uet::DeliveryMode::kRud;
  std::size_t least_left = 64;  // FI_OPT_MIN_MULTI_RECV
  Address address{};
  std::optional<uet::ContextId> context{};  // once it is enabled
  std::size_t sends_open = 0, receives_open = 0;
  Operation* open = nullptr;  // all of them
  std::unordered_map<void*, uet::EarlyMessage> claimed{};
};

// (A domain itself begins with its table of virtual functions.)
struct OpenDomain {
  fid_domain fid{};
  struct Domain* domain = nullptr;
};

struct Domain final : NicEvents {
  OpenDomain open;
  Fabric* fabric = nullptr;
  std::unique_ptr<Nic> nic;
  MemoryMode memory{};
  wire::IpAddress address{};           // of the NIC: IPv4's if it has both
  std::size_t users = 0;               // everything below
  std::vector<Endpoint*> endpoints{};  // by ContextId
  std::uint32_t next_name = 1;         // of PIDonFEP and resource index
  std::size_t sends_open = 0, receives_open = 0;
  std::deque<Operation> operations{};
  std::vector<Operation*> free{};

  void on_completion(const uet::Completion& completion) noexcept override;
  void on_lost() noexcept override;

  // nullptr: as many are under way as can be.
  Operation* take(Endpoint& endpoint, bool receives);
  void give_back(Operation& operation) noexcept;
  // Its endpoint is closed: it goes on, and nobody is told.
  void abandon(Operation& operation) noexcept;
  Endpoint nobody{};
};

template <class Object, class Public>
Object& object_of(Public* handle) noexcept {
  return *reinterpret_cast<Object*>(handle);
}

template <class Public>
Domain* domain_of(Public* handle) noexcept {
  return object_of<OpenDomain>(handle).domain;
}
inline Endpoint& of(fid_ep* handle) noexcept { return object_of<Endpoint>(handle); }
inline Av& of(fid_av* handle) noexcept { return object_of<Av>(handle); }
inline Cq& of(fid_cq* handle) noexcept { return object_of<Cq>(handle); }
inline Counter& of(fid_cntr* handle) noexcept { return object_of<Counter>(handle); }
inline Eq& of(fid_eq* handle) noexcept { return object_of<Eq>(handle); }

// ---- The operations, by file ----------------------------------------------------------------------------------------

// devices.cc: the NICs that the environment names
struct Device {
  std::string name;
  std::string socket;  // where the daemon gives out its rings
  std::string host;
  std::uint32_t nic = 1;
};
std::vector<Device> devices();

// info.cc
int get_info(std::uint32_t version, const char* node, const char* service, std::uint64_t flags, const fi_info* hints,
             fi_info** out);

// fabric.cc
int open_fabric(fi_fabric_attr*, fid_fabric**, void* context);
// domain.cc
int open_domain(fid_fabric*, fi_info*, fid_domain**, void* context);
// event_queue.cc
int open_eq(fid_fabric*, fi_eq_attr*, fid_eq**, void* context);
struct Eq {
  fid_eq fid{};
  Fabric* fabric = nullptr;
  std::mutex mutex{};
  struct Event {
    std::uint32_t type = 0;
    std::vector<std::byte> octets{};
  };
  std::deque<Event> events{};
  std::deque<fi_eq_err_entry> errors{};
  Signal signal;
  bool waits = false;

  explicit Eq(bool wants_descriptor) : signal(wants_descriptor) {}
  void push(std::uint32_t type, const void* octets, std::size_t n);
};
// address_vector.cc
int open_av(fid_domain*, fi_av_attr*, fid_av**, void* context);
// completion_queue.cc
int open_cq(fid_domain*, fi_cq_attr*, fid_cq**, void* context);
// counter.cc
int open_counter(fid_domain*, fi_cntr_attr*, fid_cntr**, void* context);
// memory.cc
extern fi_ops_mr memory_operations;
// endpoint.cc
int open_endpoint(fid_domain*, fi_info*, fid_ep**, void* context);

// message.cc, rma.cc, atomic.cc
extern fi_ops_msg message_operations;
extern fi_ops_tagged tagged_operations;
extern fi_ops_rma rma_operations;
extern fi_ops_atomic atomic_operations;
int query_atomic(fid_domain*, fi_datatype, fi_op, fi_atomic_attr*, std::uint64_t flags);

// Drives the NIC when nothing has come. With the lock held.
void progress(Domain& domain, bool sleeps_next) noexcept;
// The wait objects that are there: none, or a descriptor.
bool is_wait_object(fi_wait_obj wanted) noexcept;
inline bool has_descriptor(fi_wait_obj wanted) noexcept { return wanted != FI_WAIT_NONE && wanted != FI_WAIT_YIELD; }

}  // namespace railyard::libfabric
