// Completion queues.
#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>

#include <arpa/inet.h>

#include "transports/application/give_way.h"
#include "transports/verbs/objects.h"

namespace railyard::verbs {
namespace {

// Polls in a row that find nothing before the processor is given to others: with as many spinning programs as
// processors, a round trip takes milliseconds otherwise.
constexpr std::uint32_t kEmptyPolls = 64;
// Of polls that find something: every so many the engine is driven, too. Of those that find nothing: every so many the
// clock is read and timers run; in between it is driven if a frame has come.
constexpr std::uint32_t kPollsPerPump = 8;

bool is_receive(roce::WcOpcode opcode) noexcept {
  return opcode == roce::WcOpcode::kRecv || opcode == roce::WcOpcode::kRecvWriteImm;
}

unsigned flags_of(const roce::Completion& c) noexcept {
  return (c.with_grh ? unsigned{IBV_WC_GRH} : 0) | (c.with_immediate ? unsigned{IBV_WC_WITH_IMM} : 0) |
         (c.with_invalidate ? unsigned{IBV_WC_WITH_INV} : 0);
}

// The IP version of a datagram, which its completion is to tell (IBTA Annex A17.4.5.1), has no place in verbs. ConnectX puts it
// here, where RoCE has nothing else to say, and UCX 1.13 reads it here: 2 is IPv4, 1 IPv6.
std::uint8_t sl_of(const roce::Completion& c) noexcept {
  return !c.with_grh ? std::uint8_t{0} : c.ipv6 ? std::uint8_t{1} : std::uint8_t{2};
}

void fill(const roce::Completion& c, ibv_wc& wc) noexcept {
  wc = {};
  wc.wr_id = c.wr_id;
  wc.status = static_cast<ibv_wc_status>(c.status);
  wc.opcode = static_cast<ibv_wc_opcode>(c.opcode);
  wc.byte_len = c.octets;
  if (c.with_invalidate)
    wc.invalidated_rkey = c.immediate;
  else
    wc.imm_data = ::htonl(c.immediate);
  wc.qp_num = c.qp.value;
  wc.src_qp = c.source_qp.value;
  wc.wc_flags = flags_of(c);
  wc.sl = sl_of(c);
}

// Counts a completion of a send request. Whether it is one.
bool note_taken(State& state, const roce::Completion& c) noexcept {
  if (is_receive(c.opcode)) return false;
  if (state.outstanding > 0) --state.outstanding;
  return true;
}

// Takes what there is, driving the engine if there is nothing. `gaps`: not 0 if way is to be given, and how often in a row.
std::size_t take(State& state, CqObject& cq, std::span<roce::Completion> out, std::uint32_t& gaps) noexcept {
  Nic& nic = *state.nic;
  std::size_t n = nic.engine().poll(cq.id, out);
  // An application that has asked for an event and finds nothing is about to sleep: it does not drive the engine.
  if (++cq.polls % kPollsPerPump == 0 || (n == 0 && nic.has_frames())) {
    const Instant now = Nic::now();
    if (!cq.armed) nic.enter(now);
    if (nic.pump(now) && n == 0) n = nic.engine().poll(cq.id, out);
  }
  bool sent = false;
  for (std::size_t i = 0; i < n; ++i) sent |= note_taken(state, out[i]);
  if (n > 0) {
    cq.empty = cq.gaps = 0;
    // Nothing is under way any more: what comes next comes unasked for, and the application may wait for it elsewhere,
    // as who looks at memory that a peer writes to.
    if (sent && state.outstanding == 0) nic.leave();
  } else if (++cq.empty >= kEmptyPolls) {
    cq.empty = 0;
    gaps = ++cq.gaps;
  }
  return n;
}

CqObject* make_cq(ibv_context* context, int cqe, ibv_comp_channel* channel, int comp_vector) {
  State& state = state_of(context);
  if (cqe < 1 || cqe > kMostCqes || comp_vector < 0 || comp_vector >= std::max(context->num_comp_vectors, 1)) {
    errno = EINVAL;
    return nullptr;
  }
  auto* const cq = new CqObject{};
  const std::lock_guard lock(state.nic->mutex());
  if (state.open.cqs >= kMostCqs) {
    delete cq;
    errno = ENOMEM;
    return nullptr;
  }
  ++state.open.cqs;
  const auto capacity = static_cast<std::size_t>(cqe);
  const auto free = std::ranges::find(state.cqs, nullptr);
  if (free != state.cqs.end()) {
    cq->id = roce::CqId{static_cast<std::uint32_t>(free - state.cqs.begin())};
    state.nic->engine().cq(cq->id) = roce::CompletionQueue(capacity);
    *free = cq;
  } else {
    cq->id = state.nic->engine().create_cq(capacity);
    state.cqs.push_back(cq);
  }
  cq->cq.cqe = cqe;
  if (channel != nullptr) state.with_channel.push_back(cq);
  return cq;
}

// ---- ibv_cq_ex: one completion at a time ---------------------------------------------------------------------------

CqObject& of(ibv_cq_ex* ex) noexcept { return object_of<CqObject>(ex); }

int next_poll(ibv_cq_ex* ex) {
  CqObject& cq = of(ex);
  State& state = state_of(ex->context);
  std::uint32_t gaps = 0;
  std::size_t n = 0;
  {
    const std::lock_guard lock(state.nic->mutex());
    n = take(state, cq, {&cq.current, 1}, gaps);
  }
  if (gaps > 0) application::give_way(gaps);
  if (n == 0) return ENOENT;
  ex->wr_id = cq.current.wr_id;
  ex->status = static_cast<ibv_wc_status>(cq.current.status);
  return 0;
}

void set_readers(ibv_cq_ex& ex) noexcept {
  ex.start_poll = [](ibv_cq_ex* c, ibv_poll_cq_attr* attr) {
    return attr != nullptr && attr->comp_mask != 0 ? EINVAL : next_poll(c);
  };
  ex.next_poll = next_poll;
  ex.end_poll = [](ibv_cq_ex*) {};
  ex.read_opcode = [](ibv_cq_ex* c) { return static_cast<ibv_wc_opcode>(of(c).current.opcode); };
  ex.read_vendor_err = [](ibv_cq_ex*) { return std::uint32_t{0}; };
  ex.read_byte_len = [](ibv_cq_ex* c) { return of(c).current.octets; };
  ex.read_imm_data = [](ibv_cq_ex* c) {
    const roce::Completion& w = of(c).current;
    return w.with_invalidate ? __be32{w.immediate} : __be32{::htonl(w.immediate)};
  };
  ex.read_qp_num = [](ibv_cq_ex* c) { return of(c).current.qp.value; };
  ex.read_src_qp = [](ibv_cq_ex* c) { return of(c).current.source_qp.value; };
  ex.read_wc_flags = [](ibv_cq_ex* c) { return flags_of(of(c).current); };
  ex.read_slid = [](ibv_cq_ex*) { return std::uint32_t{0}; };
  ex.read_sl = [](ibv_cq_ex* c) { return sl_of(of(c).current); };
  ex.read_dlid_path_bits = [](ibv_cq_ex*) { return std::uint8_t{0}; };
}

}  // namespace

ibv_cq* create_cq(ibv_context* context, int cqe, ibv_comp_channel* channel, int comp_vector) {
  CqObject* const cq = make_cq(context, cqe, channel, comp_vector);
  return cq == nullptr ? nullptr : &cq->cq;
}

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attr) {
  // What completions of this engine carry; neither time stamps nor tags.
  constexpr std::uint64_t kKnown = IBV_WC_STANDARD_FLAGS;
  constexpr std::uint32_t kIgnorable = IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
  const bool has_flags = (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0;
  if ((attr->wc_flags & ~kKnown) != 0 || (attr->comp_mask & ~std::uint32_t{IBV_CQ_INIT_ATTR_MASK_FLAGS}) != 0 ||
      (has_flags && (attr->flags & ~kIgnorable) != 0)) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  CqObject* const cq = make_cq(context, static_cast<int>(std::min<std::uint32_t>(attr->cqe, kMostCqes + 1)),
                               attr->channel, static_cast<int>(attr->comp_vector));
  if (cq == nullptr) return nullptr;
  set_readers(cq->ex);
  return &cq->ex;
}

int resize_cq(ibv_cq* handle, int cqe) {
  State& state = state_of(handle->context);
  if (cqe < 1 || cqe > kMostCqes) return EINVAL;
  const std::lock_guard lock(state.nic->mutex());
  if (!state.nic->engine().cq(object_of<CqObject>(handle).id).resize(static_cast<std::size_t>(cqe))) return EINVAL;
  handle->cqe = cqe;
  return 0;
}

int destroy_cq(ibv_cq* handle) {
  auto& cq = object_of<CqObject>(handle);
  State& state = state_of(handle->context);
  {
    const std::lock_guard lock(state.nic->mutex());
    if (cq.users > 0) return EBUSY;
    std::erase(state.with_channel, &cq);
    state.cqs[cq.id.index()] = nullptr;
    --state.open.cqs;
  }
  wait_for_acknowledgements(cq);
  delete &cq;
  return 0;
}

int poll_cq(ibv_cq* handle, int entries, ibv_wc* wc) {
  auto& cq = object_of<CqObject>(handle);
  State& state = state_of(handle->context);
  std::array<roce::Completion, 16> completions;
  std::uint32_t gaps = 0;
  int done = 0;
  {
    const std::lock_guard lock(state.nic->mutex());
    while (done < entries) {
      const std::size_t most = std::min(completions.size(), static_cast<std::size_t>(entries - done));
      const std::size_t n = done == 0 ? take(state, cq, std::span(completions).first(most), gaps)
                                      : state.nic->engine().poll(cq.id, std::span(completions).first(most));
      for (std::size_t i = 0; i < n; ++i) {
        if (done > 0) note_taken(state, completions[i]);
        fill(completions[i], wc[done + static_cast<int>(i)]);
      }
      done += static_cast<int>(n);
      if (n < most) break;
    }
  }
  if (gaps > 0) application::give_way(gaps);
  return done;
}

int req_notify_cq(ibv_cq* handle, int solicited_only) {
  auto& cq = object_of<CqObject>(handle);
  State& state = state_of(handle->context);
  const std::lock_guard lock(state.nic->mutex());
  state.nic->engine().cq(cq.id).arm(solicited_only != 0 ? roce::Arm::kSolicited : roce::Arm::kAny);
  cq.armed = true;
  state.nic->hand_over();
  return 0;
}

void cq_event(ibv_cq* handle) {
  auto& cq = object_of<CqObject>(handle);
  const std::lock_guard lock(state_of(handle->context).nic->mutex());
  ++cq.events_read;
}

void write_event(CqObject& cq) noexcept {
  cq.armed = false;
  const std::uint64_t record = reinterpret_cast<std::uintptr_t>(&cq.cq);
  write_record(cq.cq.channel->fd, &record, sizeof record);
}

}  // namespace railyard::verbs
