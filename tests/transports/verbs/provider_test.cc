// The provider's operations, called as libibverbs does, between two processes' worth of it and a lab that only carries
// frames. tests/live/verbs.sh runs real programs over a real lab.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "tests/transports/verbs/fake_lab.h"
#include "transports/verbs/objects.h"

namespace railyard::verbs {
namespace {

using testing::HasSubstr;

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

int to_init(ibv_qp* qp) {
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_INIT;
  a.port_num = 1;
  a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  return modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

void set_way(ibv_ah_attr& a, const Opened& to) {
  a.is_global = 1;
  a.port_num = 1;
  std::memcpy(a.grh.dgid.raw, to.state().gids[0].octets.data(), 16);
}

int to_rts(ibv_qp* qp, const ibv_qp* peer, const Opened& there, std::uint8_t timeout = 14, std::uint8_t retries = 7) {
  ibv_qp_attr r{};
  r.qp_state = IBV_QPS_RTR;
  r.path_mtu = IBV_MTU_1024;
  r.dest_qp_num = peer->qp_num;
  r.rq_psn = 100;
  r.max_dest_rd_atomic = 4;
  r.min_rnr_timer = 12;
  set_way(r.ah_attr, there);
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

ibv_wc wait_for_one(ibv_cq* cq) {
  ibv_wc wc{};
  for (int i = 0; i < 50'000'000; ++i)
    if (poll_cq(cq, 1, &wc) == 1) return wc;
  ADD_FAILURE() << "no completion comes";
  return wc;
}

bool readable(int fd, int milliseconds) {
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
  int post(ibv_wr_opcode opcode, std::uint32_t octets, unsigned flags = IBV_SEND_SIGNALED) {
    ibv_sge piece{reinterpret_cast<std::uintptr_t>(out.data()), octets, a_mr->lkey};
    ibv_send_wr wr{}, *bad = nullptr;
    wr.wr_id = 42;
    wr.sg_list = &piece;
    wr.num_sge = 1;
    wr.opcode = opcode;
    wr.send_flags = flags;
    wr.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(in.data());
    wr.wr.rdma.rkey = b_mr->rkey;
    return post_send(a_qp, &wr, &bad);
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

TEST_F(Verbs, ASendFillsAReceive) {
  connect();
  ASSERT_EQ(receive(), 0);
  ASSERT_EQ(post(IBV_WR_SEND, 100'000), 0);
  const ibv_wc sent = wait_for_one(a_cq);
  EXPECT_EQ(sent.status, IBV_WC_SUCCESS);
  EXPECT_EQ(sent.wr_id, 42u);
  const ibv_wc received = wait_for_one(b_cq);
  EXPECT_EQ(received.opcode, IBV_WC_RECV);
  EXPECT_EQ(received.byte_len, 100'000u);
  EXPECT_EQ(received.qp_num, b_qp->qp_num);
  EXPECT_EQ(in, out);
}

TEST_F(Verbs, AWriteNeedsNobodyAtTheOtherEnd) {
  connect();
  ASSERT_EQ(post(IBV_WR_RDMA_WRITE, 100'000), 0);
  EXPECT_EQ(wait_for_one(a_cq).status, IBV_WC_SUCCESS);
  EXPECT_EQ(in, out);
}

TEST_F(Verbs, WhatIsLostIsSentAgain) {
  connect();
  lab.lose_one_in(17);
  for (int i = 0; i < 20; ++i) {
    std::ranges::fill(in, std::uint8_t{0});
    ASSERT_EQ(post(IBV_WR_RDMA_WRITE, 100'000), 0);
    ASSERT_EQ(wait_for_one(a_cq).status, IBV_WC_SUCCESS);
    ASSERT_EQ(in, out);
  }
}

TEST_F(Verbs, ASilentPeerIsGivenUp) {
  connect(8, 1);  // 1 ms
  lab.lose_one_in(1);
  ASSERT_EQ(post(IBV_WR_RDMA_WRITE, 64), 0);
  EXPECT_EQ(wait_for_one(a_cq).status, IBV_WC_RETRY_EXC_ERR);
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  ASSERT_EQ(query_qp(a_qp, &attr, IBV_QP_STATE, &init), 0);
  EXPECT_EQ(attr.qp_state, IBV_QPS_ERR);
}

TEST_F(Verbs, AWrongKeyIsRefusedByThePeer) {
  connect();
  ++b_mr->rkey;
  ASSERT_EQ(post(IBV_WR_RDMA_WRITE, 64), 0);
  EXPECT_EQ(wait_for_one(a_cq).status, IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Verbs, InlineDataIsCopiedWhenItIsPosted) {
  connect();
  ASSERT_EQ(receive(), 0);
  ASSERT_EQ(post(IBV_WR_SEND, 32, IBV_SEND_SIGNALED | IBV_SEND_INLINE), 0);
  out[0] = 200;
  wait_for_one(b_cq);
  EXPECT_EQ(in[0], 1);
  EXPECT_EQ(post(IBV_WR_SEND, 33, IBV_SEND_INLINE), EINVAL) << "more than max_inline_data";
}

TEST_F(Verbs, AChannelTellsOfACompletion) {
  ibv_comp_channel* const channel = create_comp_channel(b.ibv());
  ASSERT_NE(channel, nullptr);
  ibv_cq* const cq = b.cq(16, channel);
  b_qp = b.qp(cq);
  connect();
  ASSERT_EQ(receive(), 0);
  ASSERT_EQ(req_notify_cq(cq, 0), 0);
  EXPECT_FALSE(readable(channel->fd, 0));
  ASSERT_EQ(post(IBV_WR_SEND, 64), 0);
  ASSERT_TRUE(readable(channel->fd, 5000));
  std::uint64_t which = 0;
  ASSERT_EQ(::read(channel->fd, &which, sizeof which), 8);
  EXPECT_EQ(which, reinterpret_cast<std::uintptr_t>(cq));
  EXPECT_EQ(wait_for_one(cq).status, IBV_WC_SUCCESS);
  ::close(channel->fd);
  std::free(channel);
}

TEST_F(Verbs, StatesAndLimitsAreChecked) {
  EXPECT_EQ(post(IBV_WR_SEND, 64), EINVAL) << "in RESET";
  EXPECT_NE(to_rts(a_qp, b_qp, b), 0) << "from RESET";
  connect();
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  ASSERT_EQ(query_qp(a_qp, &attr, 0, &init), 0);
  EXPECT_EQ(attr.qp_state, IBV_QPS_RTS);
  EXPECT_EQ(attr.sq_psn, 100u);
  EXPECT_EQ(attr.dest_qp_num, b_qp->qp_num);
  EXPECT_EQ(init.cap.max_inline_data, 32u);
  attr.alt_port_num = 1;
  EXPECT_EQ(modify_qp(a_qp, &attr, IBV_QP_ALT_PATH), EOPNOTSUPP);
  ibv_port_attr port{};
  EXPECT_EQ(query_port(a.ibv(), 1, &port), 0);
  EXPECT_EQ(port.state, IBV_PORT_ACTIVE);
  EXPECT_EQ(port.active_mtu, IBV_MTU_4096);
  EXPECT_EQ(query_port(a.ibv(), 2, &port), EINVAL);
  EXPECT_EQ(destroy_cq(a_cq), EBUSY);
  EXPECT_EQ(dealloc_pd(a.pd), EBUSY);
}

TEST_F(Verbs, WhatIsNotThereSaysSo) {
  const auto refused = [&](const ibv_qp_init_attr& wanted) {
    ibv_qp_init_attr init = wanted;
    errno = 0;
    EXPECT_EQ(create_qp(a.pd, &init), nullptr);
    return errno;
  };
  EXPECT_EQ(refused(Opened::init(a_cq, IBV_QPT_XRC_SEND)), EOPNOTSUPP);
  ibv_qp_init_attr big = Opened::init(a_cq);
  big.cap.max_send_wr = kMostWrs + 1;
  EXPECT_EQ(refused(big), EINVAL);
  big = Opened::init(a_cq);
  big.cap.max_inline_data = kMostInline + 1;
  EXPECT_EQ(refused(big), EINVAL);
  EXPECT_EQ(a.reg(out.data(), 100, IBV_ACCESS_ON_DEMAND), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(a.reg(out.data(), 100, IBV_ACCESS_REMOTE_WRITE), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(a.cq(0), nullptr);
  ibv_ah_attr without_grh{};
  without_grh.port_num = 1;
  EXPECT_EQ(create_ah(a.pd, &without_grh), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(Verbs, DatagramsComeWithAHeader) {
  ibv_qp* const from = a.qp(a_cq, IBV_QPT_UD);
  ibv_qp* const to = b.qp(b_cq, IBV_QPT_UD);
  for (ibv_qp* qp : {from, to}) {
    ibv_qp_attr attr{};
    attr.port_num = 1;
    attr.qkey = 0x1111;
    attr.qp_state = IBV_QPS_INIT;
    ASSERT_EQ(modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY), 0);
    attr.qp_state = IBV_QPS_RTR;
    ASSERT_EQ(modify_qp(qp, &attr, IBV_QP_STATE), 0);
    attr.qp_state = IBV_QPS_RTS;
    ASSERT_EQ(modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
  }
  ibv_ah_attr way{};
  set_way(way, b);
  ibv_ah* const ah = create_ah(a.pd, &way);
  ASSERT_NE(ah, nullptr);
  b_qp = to;
  ASSERT_EQ(receive(), 0);
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(out.data()), 100, a_mr->lkey};
  ibv_send_wr wr{}, *bad = nullptr;
  wr.sg_list = &piece;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_SEND;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.wr.ud = {ah, to->qp_num, 0x1111};
  ASSERT_EQ(post_send(from, &wr, &bad), 0);
  const ibv_wc received = wait_for_one(b_cq);
  EXPECT_EQ(received.byte_len, 140u);
  EXPECT_EQ(received.wc_flags & IBV_WC_GRH, unsigned{IBV_WC_GRH});
  EXPECT_EQ(received.src_qp, from->qp_num);
  EXPECT_EQ(std::memcmp(in.data() + 40, out.data(), 100), 0);
}

TEST_F(Verbs, ALinkThatGoesDownIsAnEvent) {
  lab.set_link(false);
  ASSERT_TRUE(readable(a.ibv()->async_fd, 5000));
  struct {
    std::uint64_t element;
    std::uint32_t type;
    std::uint32_t reserved;
  } event{};
  ASSERT_EQ(::read(a.ibv()->async_fd, &event, sizeof event), 16);
  EXPECT_EQ(event.type, std::uint32_t{IBV_EVENT_PORT_ERR});
  EXPECT_EQ(event.element, 1u);
  ibv_port_attr port{};
  ASSERT_EQ(query_port(a.ibv(), 1, &port), 0);
  EXPECT_EQ(port.state, IBV_PORT_DOWN);
}

TEST_F(Verbs, ALabThatIsGoneIsAnEvent) {
  lab.end();
  ASSERT_TRUE(readable(a.ibv()->async_fd, 5000));
}

TEST(VerbsConnection, ErrorsSayWhatToDo) {
  const auto nobody = application::Connection::open("/tmp/no-lab-here", "h1", 1);
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().error, ENOENT);
  EXPECT_THAT(nobody.error().why, HasSubstr("`railyard up` starts one"));
  FakeLab lab;
  lab.refuse_next(ENODEV, "the lab has no NIC h9:1 with `attach: application`");
  const auto refused = application::Connection::open(lab.socket(), "h9", 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error, ENODEV);
  EXPECT_THAT(refused.error().why, HasSubstr("no NIC h9:1"));
}

}  // namespace
}  // namespace railyard::verbs
