// Regions that change, windows, and queues that change their size.
#include <cerrno>

#include <gtest/gtest.h>

#include "tests/transports/verbs/two_programs.h"

namespace railyard::verbs {
namespace {

class Memory : public Verbs {
 protected:
  // b's, over what a writes to.
  void SetUp() override {
    Verbs::SetUp();
    region = b.reg(in.data(), in.size(), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
  }
  ibv_wc_status write_with(std::uint32_t key) {
    b_mr->rkey = key;
    EXPECT_EQ(post(IBV_WR_RDMA_WRITE, 64), 0);
    return wait_for_one(a_cq).status;
  }
  ibv_mw_bind_info all(unsigned access = IBV_ACCESS_REMOTE_WRITE) const {
    return {region, reinterpret_cast<std::uintptr_t>(in.data()), in.size(), access};
  }
  ibv_wc_status bind_2(ibv_mw* window, std::uint32_t key, const ibv_mw_bind_info& info) {
    ibv_send_wr wr{}, *bad = nullptr;
    wr.opcode = IBV_WR_BIND_MW;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.bind_mw = {window, key, info};
    EXPECT_EQ(post_send(b_qp, &wr, &bad), 0);
    const ibv_wc wc = wait_for_one(b_cq);
    EXPECT_TRUE(wc.status != IBV_WC_SUCCESS || wc.opcode == IBV_WC_BIND_MW);
    return wc.status;
  }
  ibv_mr* region = nullptr;
};

TEST_F(Memory, AWindowOfTypeOneOpensAPieceOfARegion) {
  connect();
  ibv_mw* const window = alloc_mw(b.pd, IBV_MW_TYPE_1);
  ASSERT_NE(window, nullptr);
  const std::uint32_t before = window->rkey;
  ibv_mw_bind bind{.wr_id = 5, .send_flags = IBV_SEND_SIGNALED, .bind_info = all()};
  ASSERT_EQ(bind_mw(b_qp, window, &bind), 0);
  const ibv_wc wc = wait_for_one(b_cq);
  EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
  EXPECT_EQ(wc.opcode, IBV_WC_BIND_MW);
  EXPECT_EQ(wc.wr_id, 5u);
  EXPECT_NE(window->rkey, before);
  EXPECT_EQ(write_with(window->rkey), IBV_WC_SUCCESS);
  EXPECT_EQ(in[63], out[63]);
  EXPECT_EQ(dereg_mr(reinterpret_cast<abi::Mr*>(region)), EBUSY) << "a window is bound to it";
  bind.bind_info = {};
  ASSERT_EQ(bind_mw(b_qp, window, &bind), 0);
  EXPECT_EQ(wait_for_one(b_cq).status, IBV_WC_SUCCESS);
  EXPECT_EQ(write_with(window->rkey), IBV_WC_REM_ACCESS_ERR) << "bound to nothing";
  EXPECT_EQ(dealloc_mw(window), 0);
  EXPECT_EQ(dereg_mr(reinterpret_cast<abi::Mr*>(region)), 0);
}

TEST_F(Memory, AWindowOfTypeTwoIsForOneQueuePair) {
  connect();
  ibv_mw* const window = alloc_mw(b.pd, IBV_MW_TYPE_2);
  const std::uint32_t key = ibv_inc_rkey(window->rkey);
  ASSERT_EQ(bind_2(window, key, all()), IBV_WC_SUCCESS);
  EXPECT_EQ(write_with(key), IBV_WC_SUCCESS);
  a_qp = a.qp(a_cq);
  b_qp = b.qp(b_cq);
  connect();
  EXPECT_EQ(write_with(key), IBV_WC_REM_ACCESS_ERR) << "through another QP";
}

TEST_F(Memory, AWindowIsInvalidatedHereOrByThePeer) {
  connect();
  ibv_mw* const window = alloc_mw(b.pd, IBV_MW_TYPE_2);
  std::uint32_t key = ibv_inc_rkey(window->rkey);
  ASSERT_EQ(bind_2(window, key, all()), IBV_WC_SUCCESS);
  ibv_send_wr wr{}, *bad = nullptr;
  wr.opcode = IBV_WR_LOCAL_INV;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.invalidate_rkey = key;
  ASSERT_EQ(post_send(b_qp, &wr, &bad), 0);
  EXPECT_EQ(wait_for_one(b_cq).opcode, IBV_WC_LOCAL_INV);
  key = ibv_inc_rkey(key);
  ASSERT_EQ(bind_2(window, key, all()), IBV_WC_SUCCESS) << "again, with another key";
  EXPECT_EQ(write_with(key), IBV_WC_SUCCESS);
  b_mr->rkey = key;
  ASSERT_EQ(receive(), 0);
  ibv_send_wr send{};
  send.opcode = IBV_WR_SEND_WITH_INV;
  send.send_flags = IBV_SEND_SIGNALED;
  send.invalidate_rkey = key;
  ASSERT_EQ(post_send(a_qp, &send, &bad), 0);
  EXPECT_EQ(wait_for_one(a_cq).status, IBV_WC_SUCCESS);
  EXPECT_EQ(wait_for_one(b_cq).invalidated_rkey, key);
  EXPECT_EQ(write_with(key), IBV_WC_REM_ACCESS_ERR);
}

// IBTA Vol 1 §10.6.7.2.6: a region stays while windows are bound to it.
TEST_F(Memory, ARegionUnderAWindowIsNotInvalidated) {
  connect();
  region = b.reg(in.data(), in.size(), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND);
  ibv_mw* const window = alloc_mw(b.pd, IBV_MW_TYPE_2);
  const std::uint32_t key = ibv_inc_rkey(window->rkey);
  ASSERT_EQ(bind_2(window, key, all()), IBV_WC_SUCCESS);
  EXPECT_EQ(dereg_mr(reinterpret_cast<abi::Mr*>(region)), EBUSY);
  ASSERT_EQ(receive(), 0);
  ibv_send_wr send{}, *bad = nullptr;
  send.opcode = IBV_WR_SEND_WITH_INV;
  send.send_flags = IBV_SEND_SIGNALED;
  send.invalidate_rkey = region->rkey;
  ASSERT_EQ(post_send(a_qp, &send, &bad), 0);
  EXPECT_EQ(wait_for_one(a_cq).status, IBV_WC_REM_ACCESS_ERR) << "by the peer";
  EXPECT_EQ(wait_for_one(b_cq).status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_NE(b.state().nic->engine().memory().region(region->rkey), nullptr);
}

TEST_F(Memory, OnlyABindUnbindsAWindowOfTypeOne) {
  connect();
  ibv_mw* const window = alloc_mw(b.pd, IBV_MW_TYPE_1);
  ibv_mw_bind bind{.wr_id = 5, .send_flags = IBV_SEND_SIGNALED, .bind_info = all()};
  ASSERT_EQ(bind_mw(b_qp, window, &bind), 0);
  ASSERT_EQ(wait_for_one(b_cq).status, IBV_WC_SUCCESS);
  EXPECT_EQ(write_with(window->rkey), IBV_WC_SUCCESS);
  ibv_send_wr wr{}, *bad = nullptr;
  wr.opcode = IBV_WR_LOCAL_INV;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.invalidate_rkey = window->rkey;
  ASSERT_EQ(post_send(b_qp, &wr, &bad), 0);
  EXPECT_EQ(wait_for_one(b_cq).status, IBV_WC_LOC_QP_OP_ERR);
  EXPECT_EQ(dereg_mr(reinterpret_cast<abi::Mr*>(region)), EBUSY) << "it is still bound";
}

TEST_F(Memory, ABindThatMayNotBeFails) {
  connect();
  region = b.reg(in.data(), in.size());  // without IBV_ACCESS_MW_BIND
  ibv_mw* const window = alloc_mw(b.pd, IBV_MW_TYPE_2);
  EXPECT_EQ(bind_2(window, ibv_inc_rkey(window->rkey), all()), IBV_WC_MW_BIND_ERR);
  ibv_send_wr wr{}, *bad = nullptr;
  wr.opcode = IBV_WR_BIND_MW;
  wr.bind_mw = {window, window->rkey + 0x100, all()};
  EXPECT_EQ(post_send(b_qp, &wr, &bad), EINVAL) << "a key of another window";
}

TEST_F(Memory, ARegionChangesUnderItsKey) {
  connect();
  auto* const mr = reinterpret_cast<abi::Mr*>(b_mr);
  EXPECT_EQ(rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_REMOTE_WRITE), EINVAL)
      << "remote writes without local ones";
  EXPECT_EQ(rereg_mr(mr, 0, nullptr, nullptr, 0, 0), EINVAL);
  std::vector<std::uint8_t> other(64);
  ASSERT_EQ(rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, other.data(), other.size(), 0), 0);
  std::swap(in, other);
  EXPECT_EQ(write_with(b_mr->rkey), IBV_WC_SUCCESS);
  EXPECT_EQ(in[63], out[63]);
  ibv_pd* const pd = alloc_pd(b.ibv());
  pd->context = b.ibv();
  ASSERT_EQ(rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, pd, nullptr, 0, 0), 0);
  b_mr->pd = pd;
  EXPECT_EQ(dealloc_pd(pd), EBUSY);
  EXPECT_EQ(write_with(b_mr->rkey), IBV_WC_REM_ACCESS_ERR) << "not the QP's domain any more";
}

TEST_F(Memory, QueuesChangeTheirSizeWithWhatIsInThem) {
  connect();
  for (int i = 0; i < 3; ++i) ASSERT_EQ(post(IBV_WR_RDMA_WRITE, 64), 0);
  ibv_wc wc{};
  while (a.state().nic->engine().cq(roce::CqId{0}).size() < 3) static_cast<void>(poll_cq(b_cq, 1, &wc)), ::usleep(100);
  EXPECT_EQ(resize_cq(a_cq, 2), EINVAL) << "three completions are in it";
  ASSERT_EQ(resize_cq(a_cq, 3), 0);
  EXPECT_EQ(a_cq->cqe, 3);
  ASSERT_EQ(resize_cq(a_cq, 1000), 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(wait_for_one(a_cq).status, IBV_WC_SUCCESS);
}

}  // namespace
}  // namespace railyard::verbs
