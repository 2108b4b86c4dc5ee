// Two NICs of a lab that only carries frames, and what tests of rdma_* do with them all the time.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

#include <gtest/gtest.h>
#include <poll.h>

#include "tests/transports/verbs/fake_lab.h"
#include "transports/rdmacm/addresses.h"
#include "transports/rdmacm/devices.h"
#include "transports/rdmacm/objects.h"

namespace railyard::rdmacm {

// One for all tests: devices are open until a program ends.
verbs::FakeLab& lab();

struct Address {
  explicit Address(std::uint8_t host, std::uint16_t port = 0) {
    write({host == 0 ? wire::IpAddress{0u} : wire::IpAddress{0x0A000000u + host}, port}, get());
  }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  sockaddr_storage storage{};
};

struct Ack {
  void operator()(rdma_cm_event* e) const { ack_cm_event(e); }
};
using EventPointer = std::unique_ptr<rdma_cm_event, Ack>;

class RdmaCm : public ::testing::Test {
 protected:
  void SetUp() override {
    lab();
    server = create_event_channel();
    client = create_event_channel();
    ASSERT_TRUE(server != nullptr && client != nullptr);
  }
  void TearDown() override {
    lab().set_link(true);
    destroy_event_channel(server);
    destroy_event_channel(client);
  }

  static bool waits(const rdma_event_channel* channel, int milliseconds = 0) {
    pollfd p{.fd = channel->fd, .events = POLLIN, .revents = 0};
    return ::poll(&p, 1, milliseconds) == 1;
  }
  static EventPointer next(rdma_event_channel* channel, rdma_cm_event_type type, int status = 0) {
    rdma_cm_event* e = nullptr;
    if (!waits(channel, 10'000) || get_cm_event(channel, &e) != 0) {
      ADD_FAILURE() << "no " << event_str(type);
      return nullptr;
    }
    EXPECT_STREQ(event_str(e->event), event_str(type));
    EXPECT_EQ(e->status, status) << event_str(type);
    return EventPointer(e);
  }
  static rdma_cm_id* make(rdma_event_channel* channel, rdma_port_space ps = RDMA_PS_TCP) {
    rdma_cm_id* id = nullptr;
    EXPECT_EQ(create_id(channel, &id, nullptr, ps), 0);
    return id;
  }
  rdma_cm_id* listening(std::uint8_t host, std::uint16_t port, rdma_port_space ps = RDMA_PS_TCP) {
    rdma_cm_id* const id = make(server, ps);
    EXPECT_EQ(bind_addr(id, Address(host, port).get()), 0) << std::strerror(errno);
    EXPECT_EQ(listen(id, 8), 0);
    return id;
  }
  rdma_cm_id* resolved(std::uint16_t port, rdma_port_space ps = RDMA_PS_TCP) {
    rdma_cm_id* const id = make(client, ps);
    EXPECT_EQ(resolve_addr(id, Address(1).get(), Address(2, port).get(), 100), 0);
    next(client, RDMA_CM_EVENT_ADDR_RESOLVED);
    EXPECT_EQ(resolve_route(id, 100), 0);
    next(client, RDMA_CM_EVENT_ROUTE_RESOLVED);
    return id;
  }
  static void give_qp(rdma_cm_id* id) {
    ibv_qp_init_attr attr{};
    attr.qp_type = id->ps == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
    attr.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 64};
    EXPECT_EQ(create_qp(id, nullptr, &attr), 0) << std::strerror(errno);
  }
  static ibv_qp_state state_of(rdma_cm_id* id) {
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    EXPECT_EQ(::ibv_query_qp(id->qp, &attr, IBV_QP_STATE, &init), 0);
    return attr.qp_state;
  }
  static void destroy(rdma_cm_id* id) {
    destroy_qp(id);
    EXPECT_EQ(destroy_id(id), 0);
  }
  static rdma_conn_param saying(const char* text) {
    rdma_conn_param p{};
    p.private_data = text;
    p.private_data_len = static_cast<std::uint8_t>(std::strlen(text) + 1);
    p.responder_resources = p.initiator_depth = 4;
    p.retry_count = p.rnr_retry_count = 7;
    return p;
  }
  struct Connection {
    rdma_cm_id* active = nullptr;
    rdma_cm_id* passive = nullptr;
  };
  Connection connected(std::uint16_t port) {
    Connection c{.active = resolved(port)};
    give_qp(c.active);
    rdma_conn_param p = saying("hello");
    EXPECT_EQ(connect(c.active, &p), 0);
    {
      const auto request = next(server, RDMA_CM_EVENT_CONNECT_REQUEST);
      if (request == nullptr) return c;
      c.passive = request->id;
      EXPECT_STREQ(static_cast<const char*>(request->param.conn.private_data), "hello");
      EXPECT_EQ(request->param.conn.responder_resources, 4);
      EXPECT_EQ(request->param.conn.initiator_depth, 4);
    }
    give_qp(c.passive);
    p = saying("world");
    EXPECT_EQ(accept(c.passive, &p), 0) << std::strerror(errno);
    const auto done = next(client, RDMA_CM_EVENT_ESTABLISHED);
    EXPECT_STREQ(static_cast<const char*>(done->param.conn.private_data), "world");
    next(server, RDMA_CM_EVENT_ESTABLISHED);
    return c;
  }
  static void post_receive(rdma_cm_id* id, ibv_mr* mr) {
    ibv_sge sge{reinterpret_cast<std::uintptr_t>(mr->addr), static_cast<std::uint32_t>(mr->length), mr->lkey};
    ibv_recv_wr wr{};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    EXPECT_EQ(::ibv_post_recv(id->qp, &wr, &bad), 0);
  }
  static ibv_wc completion(ibv_cq* cq) {
    ibv_wc wc{};
    for (int i = 0; i < 50'000'000; ++i)
      if (::ibv_poll_cq(cq, 1, &wc) == 1) return wc;
    ADD_FAILURE() << "no completion comes";
    return wc;
  }

  rdma_event_channel* server = nullptr;
  rdma_event_channel* client = nullptr;
};

}  // namespace railyard::rdmacm
