// Two programs that have opened a NIC of a lab which only carries frames, and a QP and memory of each. The operations are
// called as libibverbs does.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "tests/transports/verbs/fake_lab.h"
#include "transports/verbs/objects.h"

namespace railyard::verbs {

// What libibverbs makes of ibv_open_device(), and of objects once the provider has made them.
class Opened {
 public:
  explicit Opened(const FakeLab& lab) : context_(static_cast<Context*>(std::calloc(1, sizeof(Context)))) {
    auto connection = application::Connection::open(lab.socket(), "h1", 1);
    EXPECT_TRUE(connection) << connection.error().why;
    auto* const state = new State;
    state->gids.push_back((*connection)->nic().address_v4);
    state->nic = std::make_unique<Nic>(std::move(*connection), *state);
    state->ibv = &context_->verbs.context;
    context_->state = state;
    context_->verbs.context.async_fd = make_event_pipe();
    context_->verbs.context.num_comp_vectors = 1;
    pd = alloc_pd(ibv());
    pd->context = ibv();
  }
  ~Opened() {
    delete context_->state;
    ::close(context_->verbs.context.async_fd);
    std::free(context_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  ibv_context* ibv() const { return &context_->verbs.context; }
  State& state() const { return *context_->state; }

  ibv_mr* reg(void* at, std::size_t octets, int access = IBV_ACCESS_LOCAL_WRITE) const {
    ibv_mr* const mr = reg_mr(pd, at, octets, reinterpret_cast<std::uintptr_t>(at), access);
    if (mr != nullptr) mr->context = ibv(), mr->pd = pd;
    return mr;
  }
  ibv_cq* cq(int cqe = 64, ibv_comp_channel* channel = nullptr) const {
    ibv_cq* const made = create_cq(ibv(), cqe, channel, 0);
    if (made == nullptr) return nullptr;
    made->context = ibv();
    made->channel = channel;
    pthread_mutex_init(&made->mutex, nullptr);
    pthread_cond_init(&made->cond, nullptr);
    return made;
  }
  static ibv_qp_init_attr init(ibv_cq* cq, ibv_qp_type type = IBV_QPT_RC) {
    ibv_qp_init_attr a{};
    a.send_cq = a.recv_cq = cq;
    a.qp_type = type;
    a.cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 32};
    return a;
  }
  ibv_qp* qp(ibv_cq* cq, ibv_qp_type type = IBV_QPT_RC) const {
    ibv_qp_init_attr a = init(cq, type);
    return create_qp(pd, &a);
  }

  ibv_pd* pd = nullptr;

 private:
  Context* context_;
};

inline int to_init(ibv_qp* qp) {
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_INIT;
  a.port_num = 1;
  a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  return modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

inline void set_way(ibv_ah_attr& a, const Opened& to) {
  a.is_global = 1;
  a.port_num = 1;
  std::memcpy(a.grh.dgid.raw, to.state().gids[0].octets.data(), 16);
}

inline int to_rts(ibv_qp* qp, const ibv_qp* peer, const Opened& there, std::uint8_t timeout = 14, std::uint8_t retries = 7,
                  std::uint8_t traffic_class = 0) {
  ibv_qp_attr r{};
  r.qp_state = IBV_QPS_RTR;
  r.path_mtu = IBV_MTU_1024;
  r.dest_qp_num = peer->qp_num;
  r.rq_psn = 100;
  r.max_dest_rd_atomic = 4;
  r.min_rnr_timer = 12;
  set_way(r.ah_attr, there);
  r.ah_attr.grh.traffic_class = traffic_class;
  if (const int error = modify_qp(qp, &r,
                                  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
      error != 0)
    return error;
  ibv_qp_attr s{};
  s.qp_state = IBV_QPS_RTS;
  s.sq_psn = 100;
  s.timeout = timeout;
  s.retry_cnt = retries;
  s.rnr_retry = 7;
  s.max_rd_atomic = 4;
  return modify_qp(
      qp, &s,
      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

inline ibv_wc wait_for_one(ibv_cq* cq) {
  ibv_wc wc{};
  for (int i = 0; i < 50'000'000; ++i)
    if (poll_cq(cq, 1, &wc) == 1) return wc;
  ADD_FAILURE() << "no completion comes";
  return wc;
}

inline bool readable(int fd, int milliseconds) {
  pollfd p{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&p, 1, milliseconds) == 1;
}

class Verbs : public ::testing::Test {
 protected:
  void SetUp() override {
    std::iota(out.begin(), out.end(), std::uint8_t{1});
    a_cq = a.cq();
    b_cq = b.cq();
    a_qp = a.qp(a_cq);
    b_qp = b.qp(b_cq);
    a_mr = a.reg(out.data(), out.size());
    b_mr = b.reg(in.data(), in.size(),
                 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
  }
  void connect(std::uint8_t timeout = 14, std::uint8_t retries = 7) {
    ASSERT_EQ(to_init(a_qp), 0);
    ASSERT_EQ(to_init(b_qp), 0);
    ASSERT_EQ(to_rts(a_qp, b_qp, b, timeout, retries), 0);
    ASSERT_EQ(to_rts(b_qp, a_qp, a, timeout, retries), 0);
  }
  int post(ibv_wr_opcode opcode, std::uint32_t octets, unsigned flags = IBV_SEND_SIGNALED, ibv_qp* qp = nullptr) {
    ibv_sge piece{reinterpret_cast<std::uintptr_t>(out.data()), octets, a_mr->lkey};
    ibv_send_wr wr{}, *bad = nullptr;
    wr.wr_id = 42;
    wr.sg_list = &piece;
    wr.num_sge = 1;
    wr.opcode = opcode;
    wr.send_flags = flags;
    wr.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(in.data());
    wr.wr.rdma.rkey = b_mr->rkey;
    return post_send(qp != nullptr ? qp : a_qp, &wr, &bad);
  }
  int receive() {
    ibv_sge piece{reinterpret_cast<std::uintptr_t>(in.data()), static_cast<std::uint32_t>(in.size()), b_mr->lkey};
    ibv_recv_wr wr{}, *bad = nullptr;
    wr.wr_id = 7;
    wr.sg_list = &piece;
    wr.num_sge = 1;
    return post_recv(b_qp, &wr, &bad);
  }

  std::vector<std::uint8_t> out = std::vector<std::uint8_t>(100'000);
  std::vector<std::uint8_t> in = std::vector<std::uint8_t>(100'000);
  FakeLab lab;
  Opened a{lab}, b{lab};
  ibv_cq *a_cq = nullptr, *b_cq = nullptr;
  ibv_qp *a_qp = nullptr, *b_qp = nullptr;
  ibv_mr *a_mr = nullptr, *b_mr = nullptr;
};

}  // namespace railyard::verbs
