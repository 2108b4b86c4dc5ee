/* Two processes that connect by rdma_cm and send to each other for ever. When one is killed, the other one is told
 * (RDMA_CM_EVENT_DISCONNECTED), or its sends end with RETRY_EXC_ERR. All listen at one port: it must be free again each time.
 *
 * usage: kills_rdmacm listens|connects SOCKET ADDRESS PORT       (ADDRESS: of the one that listens)
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>

#include "meet.h"

enum { OCTETS = 4096, UNDER_WAY = 8 };

static struct rdma_event_channel* events;
static struct rdma_cm_id* id;
static struct ibv_mr* mr;
static unsigned char memory[2 * OCTETS];
static int peer;

/* The next event, or PEER_NEVER_MET: the peer has gone without one. */
static struct rdma_cm_event* next_event(void) {
  struct pollfd on[2] = {{.fd = events->fd, .events = POLLIN}, {.fd = peer, .events = POLLIN}};
  struct rdma_cm_event* event;
  CHECK(poll(on, 2, -1) > 0);
  /* The lab may be slower to say so than the socket. */
  if (on[0].revents == 0 && poll(on, 1, 5000) == 0) never_met("no event");
  CHECK(rdma_get_cm_event(events, &event) == 0);
  return event;
}

static struct rdma_cm_id* expect(enum rdma_cm_event_type type) {
  struct rdma_cm_event* event = next_event();
  struct rdma_cm_id* of = event->id;
  if (event->event != type) never_met(rdma_event_str(event->event));
  rdma_ack_cm_event(event);
  return of;
}

static void post(int sends) {
  struct ibv_sge piece = {(uintptr_t)memory + (sends ? 0 : OCTETS), OCTETS, mr->lkey};
  if (sends) {
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = &piece, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED}, *bad;
    CHECK(ibv_post_send(id->qp, &wr, &bad) == 0);
  } else {
    struct ibv_recv_wr wr = {.sg_list = &piece, .num_sge = 1}, *bad;
    CHECK(ibv_post_recv(id->qp, &wr, &bad) == 0);
  }
}

static struct ibv_cq* make_qp(void) {
  struct ibv_pd* pd = ibv_alloc_pd(id->verbs);
  struct ibv_cq* cq = ibv_create_cq(id->verbs, 4 * UNDER_WAY, NULL, NULL, 0);
  struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
                                  .cap = {.max_send_wr = UNDER_WAY, .max_recv_wr = 2 * UNDER_WAY, .max_send_sge = 1, .max_recv_sge = 1}};
  CHECK(pd != NULL && cq != NULL && rdma_create_qp(id, pd, &init) == 0);
  CHECK((mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE)) != NULL);
  for (int i = 0; i < 2 * UNDER_WAY; ++i) post(0);
  return cq;
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const int listens = strcmp(argv[1], "listens") == 0;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[4]))};
  struct rdma_conn_param how = {.initiator_depth = 1, .responder_resources = 1, .retry_count = 5, .rnr_retry_count = 7};
  struct ibv_cq* cq;
  char c = 'm';
  CHECK(inet_pton(AF_INET, argv[3], &address.sin_addr) == 1);
  CHECK((events = rdma_create_event_channel()) != NULL && rdma_create_id(events, &id, NULL, RDMA_PS_TCP) == 0);
  if (listens) {
    CHECK(rdma_bind_addr(id, (struct sockaddr*)&address) == 0 && rdma_listen(id, 1) == 0);
    peer = peer_at(argv[2], 1);
    exchange(peer, &c, &c, 1);
    id = expect(RDMA_CM_EVENT_CONNECT_REQUEST);
    cq = make_qp();
    CHECK(rdma_accept(id, &how) == 0);
  } else {
    peer = peer_at(argv[2], 0);
    exchange(peer, &c, &c, 1);
    CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr*)&address, 2000) == 0);
    expect(RDMA_CM_EVENT_ADDR_RESOLVED);
    CHECK(rdma_resolve_route(id, 2000) == 0);
    expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
    cq = make_qp();
    CHECK(rdma_connect(id, &how) == 0);
  }
  expect(RDMA_CM_EVENT_ESTABLISHED);
  CHECK(fcntl(events->fd, F_SETFL, O_NONBLOCK) == 0);
  unsigned sent = 0;
  for (; sent < UNDER_WAY; ++sent) post(1);
  for (;;) {
    struct ibv_wc wc;
    struct rdma_cm_event* event;
    const int n = ibv_poll_cq(cq, 1, &wc);
    CHECK(n >= 0);
    if (rdma_get_cm_event(events, &event) == 0) {
      printf("after %u messages: %s\n", sent, rdma_event_str(event->event));
      return event->event == RDMA_CM_EVENT_DISCONNECTED ? PEER_MISSED : 1;
    }
    if (n == 0) continue;
    if (wc.status != IBV_WC_SUCCESS && wc.status != IBV_WC_WR_FLUSH_ERR) {
      printf("after %u messages: %s\n", sent, ibv_wc_status_str(wc.status));
      return wc.status == IBV_WC_RETRY_EXC_ERR ? PEER_MISSED : 1;
    }
    if (wc.status != IBV_WC_SUCCESS) continue; /* the event says why */
    is_connected(argv[2]);
    if (wc.opcode == IBV_WC_RECV) {
      post(0);
    } else {
      post(1);
      ++sent;
    }
  }
}
