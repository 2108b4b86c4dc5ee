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

#include "tests/transports/verbs/two_programs.h"

namespace railyard::verbs {
namespace {

using testing::HasSubstr;

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

// As when the fabric pauses class 3.
TEST_F(Verbs, AClassThatIsHeldBackHoldsBackNoOther) {
  constexpr std::uint8_t kClass0 = 32;  // DSCP 8
  ibv_cq* const other_cq = a.cq();
  ibv_qp* const other = a.qp(other_cq);
  ibv_qp* const other_peer = b.qp(b_cq);
  connect(18);  // 1 s
  ASSERT_EQ(to_init(other), 0);
  ASSERT_EQ(to_init(other_peer), 0);
  ASSERT_EQ(to_rts(other, other_peer, b, 14, 7, kClass0), 0);
  ASSERT_EQ(to_rts(other_peer, other, a, 14, 7, kClass0), 0);
  lab.hold(Priority{3});
  // More than a ring has room for.
  ASSERT_EQ(post(IBV_WR_RDMA_WRITE, 100'000), 0);
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(post(IBV_WR_RDMA_WRITE, 50'000, IBV_SEND_SIGNALED, other), 0);
    EXPECT_EQ(wait_for_one(other_cq).status, IBV_WC_SUCCESS);
  }
  ibv_wc wc{};
  EXPECT_EQ(poll_cq(a_cq, 1, &wc), 0);
  EXPECT_TRUE(std::equal(in.begin(), in.begin() + 50'000, out.begin()));
  EXPECT_NE(in[99'999], out[99'999]) << "class 3 waits";
  lab.release();
  EXPECT_EQ(wait_for_one(a_cq).status, IBV_WC_SUCCESS);
  EXPECT_EQ(in, out);
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
  EXPECT_EQ(refused(Opened::init(a_cq, IBV_QPT_DRIVER)), EOPNOTSUPP) << "DC, as vendors' own QPs are asked for";
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
  EXPECT_EQ(received.sl, 2) << "IPv4, as UCX wants to know";
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
  EXPECT_EQ(nobody.error().error, ENODEV);
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
