// Calls of rdma_* beside connections: datagram services, listeners, addresses, channels, endpoints in one call.
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

TEST_F(RdmaCm, DatagramServicesAreFound) {
  rdma_cm_id* const listener = listening(2, 7004, RDMA_PS_UDP);
  rdma_cm_id* const id = resolved(7004, RDMA_PS_UDP);
  give_qp(id);
  EXPECT_EQ(state_of(id), IBV_QPS_RTS);
  rdma_conn_param p = saying("hello");
  ASSERT_EQ(connect(id, &p), 0);
  rdma_cm_id* passive = nullptr;
  {
    const auto request = next(server, RDMA_CM_EVENT_CONNECT_REQUEST);
    EXPECT_STREQ(static_cast<const char*>(request->param.ud.private_data), "hello");
    passive = request->id;
  }
  give_qp(passive);
  p = saying("world");
  ASSERT_EQ(accept(passive, &p), 0);
  const auto found = next(client, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(found->param.ud.qp_num, passive->qp->qp_num);
  EXPECT_EQ(found->param.ud.qkey, std::uint32_t{RDMA_UDP_QKEY});
  EXPECT_STREQ(static_cast<const char*>(found->param.ud.private_data), "world");
  std::array<char, 104> in{};
  ibv_mr* const mr = (::ibv_reg_mr)(passive->pd, in.data(), in.size(), IBV_ACCESS_LOCAL_WRITE);
  post_receive(passive, mr);
  ibv_ah_attr attr = found->param.ud.ah_attr;
  ibv_ah* const ah = ::ibv_create_ah(id->pd, &attr);
  ASSERT_NE(ah, nullptr);
  char out[] = "a datagram";
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(out), sizeof out, 0};
  ibv_send_wr wr{}, *bad = nullptr;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_SEND;
  wr.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
  wr.wr.ud = {ah, found->param.ud.qp_num, found->param.ud.qkey};
  ASSERT_EQ(::ibv_post_send(id->qp, &wr, &bad), 0);
  EXPECT_EQ(completion(passive->recv_cq).byte_len, 40 + sizeof out);
  EXPECT_STREQ(in.data() + 40, out);
  ::ibv_destroy_ah(ah);
  ::ibv_dereg_mr(mr);
  const_cast<EventPointer&>(found).reset();
  destroy(id);
  destroy(passive);
  destroy(listener);
  rdma_cm_id* const late = resolved(7004, RDMA_PS_UDP);
  ASSERT_EQ(connect(late, &p), 0);
  next(client, RDMA_CM_EVENT_UNREACHABLE, 1);  // unsupported service ID
  destroy(late);
}

TEST_F(RdmaCm, APortHasOneListener) {
  rdma_cm_id* const listener = listening(2, 7005);
  rdma_cm_id* const second = make(server);
  EXPECT_EQ(bind_addr(second, Address(2, 7005).get()), -1);
  EXPECT_EQ(errno, EADDRINUSE);
  EXPECT_EQ(bind_addr(second, Address(0, 7005).get()), -1) << "for all NICs, of which one has it";
  EXPECT_EQ(errno, EADDRINUSE);
  EXPECT_EQ(bind_addr(second, Address(1, 7005).get()), 0) << "on another NIC";
  destroy(second);
  destroy(listener);
  destroy(listening(0, 7005));
}

TEST_F(RdmaCm, AddressesThatCannotBeAreRefused) {
  rdma_cm_id* id = make(client);
  EXPECT_EQ(bind_addr(id, Address(77).get()), -1);
  EXPECT_EQ(errno, ENODEV) << "nobody's here";
  sockaddr other{};
  other.sa_family = AF_UNIX;
  EXPECT_EQ(bind_addr(id, &other), -1);
  EXPECT_EQ(errno, EAFNOSUPPORT);
  EXPECT_EQ(resolve_route(id, 1), -1);
  EXPECT_EQ(errno, EINVAL) << "there is no address yet";
  EXPECT_EQ(connect(id, nullptr), -1);
  sockaddr_in loopback{};
  loopback.sin_family = AF_INET;
  loopback.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  ASSERT_EQ(resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&loopback), 1), 0);
  next(client, RDMA_CM_EVENT_ADDR_ERROR, -EHOSTUNREACH);
  destroy(id);
  EXPECT_EQ(create_id(client, &id, nullptr, RDMA_PS_IPOIB), -1);
  EXPECT_EQ(errno, EPROTONOSUPPORT);
}

TEST_F(RdmaCm, WithoutALinkThereIsNoWay) {
  lab().set_link(false);
  rdma_cm_id* const id = make(client);
  for (int i = 0; i < 1000 && device_with(wire::IpAddress(0x0A000001u))->management->link_up(); ++i) ::usleep(1000);
  ASSERT_EQ(resolve_addr(id, nullptr, Address(2, 7000).get(), 1), 0);
  next(client, RDMA_CM_EVENT_ADDR_ERROR, -ENETUNREACH);
  destroy(id);
}

TEST_F(RdmaCm, AChannelIsADescriptorLikeOthers) {
  ASSERT_EQ(::fcntl(client->fd, F_SETFL, O_NONBLOCK), 0);
  rdma_cm_event* none = nullptr;
  EXPECT_EQ(get_cm_event(client, &none), -1);
  EXPECT_EQ(errno, EAGAIN);
  rdma_cm_id* const a = make(client);
  rdma_cm_id* const b = make(client);
  ASSERT_EQ(resolve_addr(a, nullptr, Address(2, 1).get(), 1), 0);
  ASSERT_EQ(resolve_addr(b, nullptr, Address(2, 1).get(), 1), 0);
  EXPECT_TRUE(waits(client));
  destroy(a);  // and what was told of it
  EXPECT_EQ(next(client, RDMA_CM_EVENT_ADDR_RESOLVED)->id, b);
  EXPECT_FALSE(waits(client));
  destroy(b);
}

TEST_F(RdmaCm, AnIdTakesItsEventsAlongToAnotherChannel) {
  rdma_cm_id* const id = make(client);
  ASSERT_EQ(resolve_addr(id, nullptr, Address(2, 1).get(), 1), 0);
  ASSERT_EQ(migrate_id(id, server), 0);
  EXPECT_FALSE(waits(client));
  EXPECT_EQ(next(server, RDMA_CM_EVENT_ADDR_RESOLVED)->id, id);
  ASSERT_EQ(migrate_id(id, nullptr), 0);
  EXPECT_EQ(resolve_route(id, 1), 0) << "it is synchronous now";
  EXPECT_FALSE(waits(server));
  destroy(id);
}

TEST_F(RdmaCm, AListenerThatGoesRefusesWhoWaits) {
  rdma_cm_id* const listener = listening(2, 7006);
  rdma_cm_id* const id = resolved(7006);
  give_qp(id);
  rdma_conn_param p = saying("hello");
  ASSERT_EQ(connect(id, &p), 0);
  ASSERT_TRUE(waits(server, 10'000));
  destroy(listener);
  next(client, RDMA_CM_EVENT_REJECTED, 28);
  EXPECT_FALSE(waits(server));
  destroy(id);
}

TEST_F(RdmaCm, MoreThanTheBacklogAreRefused) {
  rdma_cm_id* const listener = make(server);
  ASSERT_EQ(bind_addr(listener, Address(2, 7007).get()), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  rdma_conn_param p = saying("hello");
  std::array<rdma_cm_id*, 2> ids{};
  for (rdma_cm_id*& id : ids) {
    id = resolved(7007);
    p.qp_num = static_cast<std::uint32_t>(0x100 + (&id - ids.data()));
    ASSERT_EQ(connect(id, &p), 0);
  }
  EXPECT_EQ(next(client, RDMA_CM_EVENT_REJECTED, 3)->id, ids[1]);
  for (rdma_cm_id* const id : ids) destroy(id);
  destroy(listener);
}

TEST_F(RdmaCm, EndpointsAreMadeAndFoundInOneCall) {
  rdma_addrinfo hints{}, *there = nullptr, *here = nullptr;
  hints.ai_port_space = RDMA_PS_TCP;
  ASSERT_EQ(getaddrinfo("10.0.0.2", "7008", &hints, &there), 0);
  hints.ai_flags = RAI_PASSIVE;
  ASSERT_EQ(getaddrinfo(nullptr, "7008", &hints, &here), 0);
  EXPECT_EQ(here->ai_qp_type, int{IBV_QPT_RC});
  rdma_addrinfo* none = nullptr;
  EXPECT_EQ(getaddrinfo("nobody", "7008", &hints, &none), EAI_NONAME);
  EXPECT_EQ(getaddrinfo("10.0.0.2", "no such service", &hints, &none), EAI_SERVICE);
  ibv_qp_init_attr attr{};
  attr.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  rdma_cm_id *listener = nullptr, *active = nullptr, *passive = nullptr;
  ASSERT_EQ(create_ep(&listener, here, nullptr, &attr), 0);
  ASSERT_EQ(listen(listener, 0), 0);
  ASSERT_EQ(create_ep(&active, there, nullptr, &attr), 0);
  EXPECT_NE(active->qp, nullptr);
  std::thread connects([&] { EXPECT_EQ(connect(active, nullptr), 0) << std::strerror(errno); });
  ASSERT_EQ(get_request(listener, &passive), 0);
  ASSERT_NE(passive->qp, nullptr);
  EXPECT_EQ(accept(passive, nullptr), 0);
  connects.join();
  EXPECT_EQ(state_of(active), IBV_QPS_RTS);
  EXPECT_EQ(disconnect(active), 0);
  EXPECT_EQ(disconnect(passive), 0);
  destroy_ep(active);
  destroy_ep(passive);
  destroy_ep(listener);
  freeaddrinfo(there);
  freeaddrinfo(here);
}

}  // namespace
}  // namespace railyard::rdmacm
