// rdma_* as programs call them, between two NICs of a lab that only carries frames: over libibverbs, this provider and
// real management datagrams. tests/live/rdmacm.sh runs real programs over a real lab.
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <poll.h>
#include <unistd.h>

#include "tests/transports/verbs/fake_lab.h"
#include "transports/rdmacm/addresses.h"
#include "transports/rdmacm/devices.h"
#include "transports/rdmacm/objects.h"
#include "transports/verbs/abi.h"
#include "transports/verbs/management.h"

extern "C" railyard::verbs::Management* railyard_management_of(ibv_context* context, std::uint32_t version);

namespace railyard::verbs::abi {
namespace {
const DeviceOps* provider = nullptr;
}
// In libibverbs' place: the provider says here what it can do.
void verbs_register_driver_34(const DeviceOps* ops) { provider = ops; }
}  // namespace railyard::verbs::abi

namespace railyard::rdmacm {
namespace {

// As libibverbs has a device whose folder it has found.
ibv_context* open_nic(const std::string& folder, const std::string& socket) {
  std::filesystem::create_directories(folder + "/railyard");
  std::ofstream(folder + "/railyard/socket") << socket;
  std::ofstream(folder + "/railyard/host") << "h1";
  std::ofstream(folder + "/railyard/nic") << "1";
  verbs::abi::Device* const device = verbs::abi::provider->alloc_device(nullptr);
  device->ops = verbs::abi::provider;
  std::strcpy(device->device.name, "railyard0");
  std::strncpy(device->device.ibdev_path, folder.c_str(), sizeof device->device.ibdev_path - 1);
  return ::ibv_open_device(&device->device);
}

// One for all tests: devices are open until a program ends.
verbs::FakeLab& lab() {
  static auto* const made = [] {
    auto* const fake = new verbs::FakeLab;
    char folder[] = "/tmp/railyard-rdmacm-XXXXXX";
    const std::string root = ::mkdtemp(folder);
    for (int nic = 0; nic < 2; ++nic) {
      ibv_context* const context = open_nic(root + "/" + std::to_string(nic), fake->socket());
      if (context == nullptr) std::abort();
      add_device(context, *railyard_management_of(context, verbs::kManagementVersion));
    }
    std::filesystem::remove_all(root);
    return fake;
  }();
  return *made;
}

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
