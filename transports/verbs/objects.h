// What ibv_* calls hand out: libibverbs' objects, and behind each what this provider knows of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "transports/verbs/abi.h"
#include "transports/verbs/management.h"
#include "transports/verbs/nic.h"

namespace railyard::verbs {

struct Context;

struct PdObject {
  ibv_pd pd;
  ProtectionDomain domain;
  std::uint32_t users = 0;  // QPs, SRQs, MRs, windows, AHs
};

struct MrObject {
  abi::Mr mr;
};

struct MwObject {
  ibv_mw mw;
};

struct CqObject {
  union {
    ibv_cq cq;
    ibv_cq_ex ex;
  };
  roce::CqId id;
  std::uint32_t users = 0;  // QPs
  std::uint32_t empty = 0;  // polls in a row that found nothing, since way was given last
  std::uint32_t gaps = 0;   // how often in a row way was given, and nothing had come
  std::uint32_t polls = 0;
  bool armed = false;                   // an event was asked for and has not come
  std::uint32_t events_read = 0;        // that the application has taken from its channel,
  std::uint32_t async_events_read = 0;  // ... and of others
  roce::Completion current{};           // of ibv_start_poll() and ibv_next_poll()
};

struct SrqObject {
  abi::Srq srq;
  roce::SrqId id;
  std::uint32_t max_wr = 0;
  std::uint32_t max_sge = 0;
  std::uint32_t limit = 0;
  std::uint32_t users = 0;
  std::uint32_t events_read = 0;
};

struct AhObject {
  ibv_ah ah;
  roce::AhId id;
};

// Data that is sent inline, copied when it is posted: as many places as work requests may wait, and one that is never
// waited for.
struct InlineData {
  std::vector<std::byte> memory{};
  std::uint32_t key = 0;
  std::size_t next = 0;
};

struct QpObject {
  abi::Qp qp;
  roce::QpNumber number;
  ibv_qp_init_attr init;  // as it was made; cap is what it has
  ibv_qp_attr attr;       // as it was modified
  InlineData inline_data{};
  std::uint32_t events_read = 0;
  // Of ibv_wr_*: what was begun. One thread at a time builds.
  std::mutex building{};
  struct Built {
    roce::SendWr wr{};
    std::size_t inline_at = 0, inline_octets = 0;  // of batch_data, if it is sent inline
    bool is_inline = false;
  };
  std::vector<Built> batch{};
  std::vector<std::byte> batch_data{};
  int batch_error = 0;  // errno
};

// One ibv_open_device(). libibverbs allocates it, zeroed, with its own part at the end.
struct State;
struct Context {
  State* state;
  verbs_context verbs;
};

// The rest of it.
struct State final : NicEvents {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  ibv_context* ibv = nullptr;
  std::unique_ptr<Management> management;  // of connections, if the program has librailyard-rdmacm.so; outlives the NIC
  std::unique_ptr<Nic> nic;
  std::vector<wire::IpAddress> gids;
  std::uint32_t next_domain = 1;
  std::unordered_map<std::uint32_t, QpObject*> qps;
  std::vector<CqObject*> cqs;    // by CqId; nullptr: free
  std::vector<SrqObject*> srqs;  // by SrqId
  std::vector<roce::AhId> free_ahs;
  struct {
    int pds = 0, mrs = 0, mws = 0, cqs = 0, srqs = 0, ahs = 0;
  } open{};  // how many there are
  std::vector<CqObject*> with_channel;
  std::uint32_t outstanding = 0;  // send requests that will complete

  // The NIC calls this object, which asks the NIC, until its thread has ended and its last report is made.
  ~State() {
    if (nic != nullptr) nic->stop_thread();
    nic.reset();
  }
  void on_async(const roce::AsyncEvent& event) override;
  void on_progress() override;
  void on_link(bool up) override;
  void on_lost() override;
  void on_report(application::ConnectionList& list) const override;
};

inline State& state_of(ibv_context* context) noexcept {
  auto* const verbs =
      reinterpret_cast<verbs_context*>(reinterpret_cast<std::byte*>(context) - offsetof(verbs_context, context));
  return *reinterpret_cast<Context*>(reinterpret_cast<std::byte*>(verbs) - offsetof(Context, verbs))->state;
}
template <class Object, class Public>
Object& object_of(Public* handle) noexcept {
  return *reinterpret_cast<Object*>(handle);
}

// ---- The operations, by file ----------------------------------------------------------------------------------------

// device.cc
int query_device_ex(ibv_context*, const ibv_query_device_ex_input*, ibv_device_attr_ex*, std::size_t octets);
int query_port(ibv_context*, std::uint8_t port, ibv_port_attr*);
ibv_mtu active_mtu(const application::NicGrant& grant) noexcept;
void async_event(ibv_context*, ibv_async_event*);
// Until the application has acknowledged all events of an object that it has taken.
void wait_for_acknowledgements(QpObject& qp);
void wait_for_acknowledgements(SrqObject& srq);
void wait_for_acknowledgements(CqObject& cq);

// management.cc
Management& management_of(State& state);

// memory.cc
ibv_pd* alloc_pd(ibv_context*);
int dealloc_pd(ibv_pd*);
ibv_mr* reg_mr(ibv_pd*, void* address, std::size_t octets, std::uint64_t hca_va, int access);
int rereg_mr(abi::Mr*, int flags, ibv_pd*, void* address, std::size_t octets, int access);
int dereg_mr(abi::Mr*);

// memory_window.cc
ibv_mw* alloc_mw(ibv_pd*, ibv_mw_type);
int bind_mw(ibv_qp*, ibv_mw*, ibv_mw_bind*);
int dealloc_mw(ibv_mw*);
// The work request that binds a window so. 0, or an errno.
int to_bind(const ibv_mw& window, std::uint32_t key, const ibv_mw_bind_info& info, roce::SendWr& to) noexcept;

// completion.cc
ibv_cq* create_cq(ibv_context*, int cqe, ibv_comp_channel*, int comp_vector);
ibv_cq_ex* create_cq_ex(ibv_context*, ibv_cq_init_attr_ex*);
int destroy_cq(ibv_cq*);
int poll_cq(ibv_cq*, int entries, ibv_wc*);
int resize_cq(ibv_cq*, int cqe);
int req_notify_cq(ibv_cq*, int solicited_only);
void cq_event(ibv_cq*);
// Of the channel: an event for this queue.
void write_event(CqObject& cq) noexcept;

// channel.cc
ibv_comp_channel* create_comp_channel(ibv_context*);
// A pipe both of whose ends are one descriptor; -1: errno says why.
int make_event_pipe() noexcept;
// Into such a pipe; never waits.
void write_record(int fd, const void* record, std::size_t octets) noexcept;
// Has libibverbs make completion channels by create_comp_channel(). False: the system does not let code be changed.
bool take_over_channels() noexcept;

// address.cc
ibv_ah* create_ah(ibv_pd*, ibv_ah_attr*);
int destroy_ah(ibv_ah*);
// False: there is no such way (no GRH, no such GID index).
bool address_vector(const State& state, const ibv_ah_attr& attr, roce::AddressVector& out) noexcept;

// shared_receive.cc
ibv_srq* create_srq(ibv_pd*, ibv_srq_init_attr*);
int modify_srq(ibv_srq*, ibv_srq_attr*, int mask);
int query_srq(ibv_srq*, ibv_srq_attr*);
int destroy_srq(ibv_srq*);

// queue_pair.cc
ibv_qp* create_qp(ibv_pd*, ibv_qp_init_attr*);
ibv_qp* create_qp_ex(ibv_context*, ibv_qp_init_attr_ex*);
int modify_qp(ibv_qp*, ibv_qp_attr*, int mask);
int query_qp(ibv_qp*, ibv_qp_attr*, int mask, ibv_qp_init_attr*);
int destroy_qp(ibv_qp*);

// post.cc
int post_send(ibv_qp*, ibv_send_wr*, ibv_send_wr** bad);
int post_recv(ibv_qp*, ibv_recv_wr*, ibv_recv_wr** bad);
int post_srq_recv(ibv_srq*, ibv_recv_wr*, ibv_recv_wr** bad);
// Copies what is sent inline. False: it is too much.
bool copy_inline(QpObject& qp, const ibv_sge* pieces, int n, roce::SendWr& wr) noexcept;
// A request of the engine's, as if it had been posted. 0, or an errno.
int post_one(QpObject& qp, const roce::SendWr& wr) noexcept;
// The errno of a refusal.
int errno_of(roce::PostError error) noexcept;

// build_work.cc
// Has the QP take ibv_wr_*.
void set_builders(QpObject& qp) noexcept;

// ---- Limits --------------------------------------------------------------------------------------------------------

inline constexpr std::uint32_t kMostWrs = 1u << 14;  // of a queue
inline constexpr std::uint32_t kMostInline = 512;    // octets
inline constexpr int kMostCqes = 1 << 20;
// Of objects that the application may have open: one more is ENOMEM. (QPs: NicGrant::most_qps)
inline constexpr int kMostPds = 1 << 16, kMostCqs = 1 << 14, kMostSrqs = 1 << 14;
inline constexpr int kMostMrs = 1 << 20, kMostMws = 1 << 20, kMostAhs = 1 << 20;
inline constexpr std::uint32_t kMostWindowOctets = 1u << 31;
inline constexpr std::uint8_t kMostReads = 16;  // outstanding READs and atomics of a QP, either way

}  // namespace railyard::verbs
