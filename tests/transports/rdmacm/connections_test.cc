// Connections of rdma_* as programs make them, between two NICs of a lab that only carries frames: over libibverbs, this
// provider and real management datagrams. tests/live/rdmacm.sh runs real programs over a real lab.
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <poll.h>
#include <unistd.h>

#include "tests/transports/rdmacm/rdmacm_fixture.h"

namespace railyard::rdmacm {
namespace {

TEST_F(RdmaCm, ConnectsTwoQpsThatCarryData) {
  rdma_cm_id* const listener = listening(2, 7000);
  const Connection c = connected(7000);
  ASSERT_NE(c.passive, nullptr);
  EXPECT_EQ(state_of(c.active), IBV_QPS_RTS);
  EXPECT_EQ(state_of(c.passive), IBV_QPS_RTS);
  std::array<char, 64> in{};
  ibv_mr* const mr = (::ibv_reg_mr)(c.passive->pd, in.data(), in.size(), IBV_ACCESS_LOCAL_WRITE);
  post_receive(c.passive, mr);
  char out[] = "across the fabric";
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(out), sizeof out, 0};
  ibv_send_wr wr{}, *bad = nullptr;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_SEND;
  wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
  ASSERT_EQ(::ibv_post_send(c.active->qp, &wr, &bad), 0);
  EXPECT_EQ(completion(c.passive->recv_cq).status, IBV_WC_SUCCESS);
  EXPECT_STREQ(in.data(), out);
  EXPECT_EQ(disconnect(c.active), 0);
  next(server, RDMA_CM_EVENT_DISCONNECTED);
  next(client, RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(state_of(c.active), IBV_QPS_ERR);
  EXPECT_EQ(disconnect(c.passive), 0) << "as programs do when they hear of it";
  EXPECT_EQ(state_of(c.passive), IBV_QPS_ERR);
  ::ibv_dereg_mr(mr);
  destroy(c.active);
  destroy(c.passive);
  destroy(listener);
}

// Nothing comes any more and nothing goes: a timer alone completes the request.
TEST_F(RdmaCm, WhoSleepsHearsThatThePeerIsSilent) {
  rdma_cm_id* const listener = listening(2, 7009);
  rdma_cm_id* const id = resolved(7009);
  const std::uint8_t timeout = 8;  // 1 ms
  ASSERT_EQ(set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof timeout), 0);
  give_qp(id);
  rdma_conn_param p = saying("hello");
  ASSERT_EQ(connect(id, &p), 0);
  rdma_cm_id* const passive = next(server, RDMA_CM_EVENT_CONNECT_REQUEST)->id;
  give_qp(passive);
  ASSERT_EQ(accept(passive, &p), 0);
  next(client, RDMA_CM_EVENT_ESTABLISHED);
  next(server, RDMA_CM_EVENT_ESTABLISHED);
  ASSERT_EQ(::ibv_req_notify_cq(id->send_cq, 0), 0);
  lab().lose_one_in(1);
  char out[] = "into the void";
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(out), sizeof out, 0};
  ibv_send_wr wr{}, *bad = nullptr;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_SEND;
  wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
  ASSERT_EQ(::ibv_post_send(id->qp, &wr, &bad), 0);
  pollfd told{.fd = id->send_cq_channel->fd, .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&told, 1, 30'000), 1);
  EXPECT_EQ(completion(id->send_cq).status, IBV_WC_RETRY_EXC_ERR);
  lab().lose_one_in(0);
  destroy(id);
  next(server, RDMA_CM_EVENT_DISCONNECTED);
  destroy(passive);
  destroy(listener);
}

TEST_F(RdmaCm, EndsKnowTheirAddresses) {
  rdma_cm_id* const listener = listening(0, 7001);
  EXPECT_EQ(listener->verbs, nullptr) << "it is for all devices";
  const Connection c = connected(7001);
  ASSERT_NE(c.passive, nullptr);
  const auto address = [](const sockaddr& a) { return read(&a).value(); };
  const auto own = address(c.active->route.addr.src_addr), peer = address(c.active->route.addr.dst_addr);
  EXPECT_EQ(own.address, wire::IpAddress(0x0A000001u));
  EXPECT_EQ(peer.address, wire::IpAddress(0x0A000002u));
  EXPECT_EQ(peer.port, 7001);
  EXPECT_GE(own.port, 32768);
  EXPECT_EQ(address(c.passive->route.addr.src_addr).address, peer.address);
  EXPECT_EQ(address(c.passive->route.addr.src_addr).port, 7001);
  EXPECT_EQ(address(c.passive->route.addr.dst_addr).address, own.address);
  EXPECT_EQ(address(c.passive->route.addr.dst_addr).port, own.port);
  EXPECT_EQ(c.passive->port_num, 1);
  EXPECT_EQ(c.active->route.num_paths, 1);
  EXPECT_EQ(c.active->route.path_rec->mtu, IBV_MTU_4096);
  EXPECT_EQ(std::memcmp(c.active->route.addr.addr.ibaddr.dgid.raw, peer.address.octets.data(), 16), 0);
  destroy(c.active);
  next(server, RDMA_CM_EVENT_DISCONNECTED);
  destroy(c.passive);
  destroy(listener);
}

TEST_F(RdmaCm, WhereNobodyListensARequestIsRefused) {
  rdma_cm_id* const id = resolved(7999);
  give_qp(id);
  rdma_conn_param p = saying("hello");
  EXPECT_EQ(connect(id, &p), 0);
  next(client, RDMA_CM_EVENT_REJECTED, 8);
  EXPECT_EQ(state_of(id), IBV_QPS_ERR);
  destroy(id);
}

// perftest's two ends agree to listen and to connect at one moment.
TEST_F(RdmaCm, WhoIsAMomentEarlyIsNotRefused) {
  for (const rdma_port_space space : {RDMA_PS_TCP, RDMA_PS_UDP}) {
    rdma_cm_id* const id = resolved(7998, space);
    give_qp(id);
    rdma_conn_param p = saying("hello");
    ASSERT_EQ(connect(id, &p), 0);
    EXPECT_FALSE(waits(client, 30));
    rdma_cm_id* const listener = listening(2, 7998, space);
    rdma_cm_id* const request = next(server, RDMA_CM_EVENT_CONNECT_REQUEST)->id;
    give_qp(request);
    ASSERT_EQ(accept(request, &p), 0);
    next(client, RDMA_CM_EVENT_ESTABLISHED);
    if (space == RDMA_PS_TCP) next(server, RDMA_CM_EVENT_ESTABLISHED);
    destroy(id);
    if (space == RDMA_PS_TCP) next(server, RDMA_CM_EVENT_DISCONNECTED);
    destroy(request);
    destroy(listener);
  }
}

TEST_F(RdmaCm, WhoGoesBeforeItIsRefusedHearsNothing) {
  rdma_cm_id* const id = resolved(7997);
  give_qp(id);
  rdma_conn_param p = saying("hello");
  ASSERT_EQ(connect(id, &p), 0);
  EXPECT_FALSE(waits(client, 30));
  destroy(id);
  EXPECT_FALSE(waits(client, 100));
}

TEST_F(RdmaCm, ASynchronousCallSaysWhatCameOfIt) {
  rdma_cm_id* const id = make(nullptr);
  ASSERT_EQ(resolve_addr(id, nullptr, Address(2, 7999).get(), 100), 0);
  ASSERT_EQ(resolve_route(id, 100), 0);
  give_qp(id);
  EXPECT_EQ(connect(id, nullptr), -1);
  EXPECT_EQ(errno, ECONNREFUSED);
  destroy(id);
}

TEST_F(RdmaCm, ARejectionCarriesDataOfTheApplication) {
  rdma_cm_id* const listener = listening(2, 7002);
  rdma_cm_id* const id = resolved(7002);
  give_qp(id);
  rdma_conn_param p = saying("hello");
  ASSERT_EQ(connect(id, &p), 0);
  rdma_cm_id* const request = next(server, RDMA_CM_EVENT_CONNECT_REQUEST)->id;
  ASSERT_EQ(reject(request, "no", 3, roce::cm::RejReason::kConsumer), 0);
  EXPECT_STREQ(static_cast<const char*>(next(client, RDMA_CM_EVENT_REJECTED, 28)->param.conn.private_data), "no");
  EXPECT_EQ(accept(request, &p), -1) << "it is over";
  destroy(id);
  destroy(request);
  destroy(listener);
}

TEST_F(RdmaCm, AnApplicationMayTakeItsQpsThroughTheirStatesItself) {
  rdma_cm_id* const listener = listening(2, 7003);
  rdma_cm_id* const id = resolved(7003);
  rdma_conn_param p = saying("hello");
  p.qp_num = 0x1234;
  ASSERT_EQ(connect(id, &p), 0);
  const auto request = next(server, RDMA_CM_EVENT_CONNECT_REQUEST);
  EXPECT_EQ(request->param.conn.qp_num, 0x1234u);
  p.qp_num = 0x4321;
  ASSERT_EQ(accept(request->id, &p), 0);
  const auto response = next(client, RDMA_CM_EVENT_CONNECT_RESPONSE);
  EXPECT_EQ(response->param.conn.qp_num, 0x4321u);
  EXPECT_FALSE(waits(server, 100)) << "the peer waits for the RTU";
  ibv_qp_attr attr{};
  int mask = 0;
  attr.qp_state = IBV_QPS_RTR;
  ASSERT_EQ(init_qp_attr(id, &attr, &mask), 0);
  EXPECT_EQ(mask, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  EXPECT_EQ(attr.dest_qp_num, 0x4321u);
  EXPECT_EQ(attr.max_dest_rd_atomic, 4);
  EXPECT_EQ(attr.path_mtu, IBV_MTU_4096);
  EXPECT_EQ(attr.ah_attr.grh.traffic_class, 106) << "what the NIC has for RoCE, at both ends";
  ibv_qp_attr other{};
  other.qp_state = IBV_QPS_RTS;
  ASSERT_EQ(init_qp_attr(request->id, &other, &mask), 0);
  EXPECT_EQ(mask, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                      IBV_QP_MAX_QP_RD_ATOMIC);
  EXPECT_EQ(other.sq_psn, attr.rq_psn);
  EXPECT_EQ(other.timeout, 17);
  ASSERT_EQ(establish(id), 0);
  next(server, RDMA_CM_EVENT_ESTABLISHED);
  rdma_cm_id* const passive = request->id;
  const_cast<EventPointer&>(request).reset();
  const_cast<EventPointer&>(response).reset();
  destroy(id);
  next(server, RDMA_CM_EVENT_DISCONNECTED);
  destroy(passive);
  destroy(listener);
}

}  // namespace
}  // namespace railyard::rdmacm
