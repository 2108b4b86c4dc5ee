/* Two processes, each on a host of a lab, exchange messages over RC QPs and compare every octet: what perftest does not.
 *
 * usage: verbs_check server PORT | client PORT       (the exchange of QP numbers is over TCP at 127.0.0.1)
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define OCTETS (1u << 20)
#define CHECK(condition)                                                                                   \
  do {                                                                                                     \
    if (!(condition)) {                                                                                    \
      fprintf(stderr, "verbs_check: line %d: %s does not hold (%s)\n", __LINE__, #condition, strerror(errno)); \
      exit(1);                                                                                             \
    }                                                                                                      \
  } while (0)

struct peer {
  uint32_t qpn, psn, key;
  uint64_t address;
  union ibv_gid gid;
};

static int tcp;
static struct ibv_context* context;
static struct ibv_pd* pd;
static struct ibv_comp_channel* channel;
static struct ibv_cq* cq;
static struct ibv_qp* qp;
static struct ibv_mr* mr;
static unsigned char* memory; /* what is sent, then what comes */
static struct peer here, there;

static void connect_tcp(int is_server, int port) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
  if (is_server) {
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    CHECK(bind(fd, (struct sockaddr*)&a, sizeof a) == 0 && listen(fd, 1) == 0);
    tcp = accept(fd, NULL, NULL);
  } else {
    for (int i = 0; i < 200 && connect(fd, (struct sockaddr*)&a, sizeof a) != 0; ++i) {
      close(fd);
      usleep(50000);
      fd = socket(AF_INET, SOCK_STREAM, 0);
    }
    tcp = fd;
  }
}

/* Both come here before either goes on. */
static void meet(void) {
  char c = 'm';
  CHECK(write(tcp, &c, 1) == 1 && read(tcp, &c, 1) == 1);
}

static void make(void) {
  struct ibv_device** list = ibv_get_device_list(NULL);
  CHECK(list != NULL && list[0] != NULL);
  CHECK((context = ibv_open_device(list[0])) != NULL);
  CHECK((pd = ibv_alloc_pd(context)) != NULL);
  CHECK((channel = ibv_create_comp_channel(context)) != NULL);
  CHECK((cq = ibv_create_cq(context, 256, NULL, channel, 0)) != NULL);
  CHECK((memory = aligned_alloc(4096, 2 * OCTETS)) != NULL);
  int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  CHECK((mr = ibv_reg_mr(pd, memory, 2 * OCTETS, access)) != NULL);
  struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
                                  .cap = {.max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 4, .max_recv_sge = 4, .max_inline_data = 64}};
  CHECK((qp = ibv_create_qp(pd, &init)) != NULL);
  here.qpn = qp->qp_num;
  here.psn = 0xFFFFF0 + (uint32_t)getpid() % 15; /* wraps soon */
  here.key = mr->rkey;
  here.address = (uintptr_t)memory;
  CHECK(ibv_query_gid(context, 1, 0, &here.gid) == 0);
  CHECK(write(tcp, &here, sizeof here) == sizeof here);
  CHECK(recv(tcp, &there, sizeof there, MSG_WAITALL) == sizeof there);
  struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1,
                          .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC};
  CHECK(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
  struct ibv_qp_attr r = {.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_4096, .dest_qp_num = there.qpn, .rq_psn = there.psn,
                          .max_dest_rd_atomic = 4, .min_rnr_timer = 12,
                          .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = there.gid, .hop_limit = 64}}};
  CHECK(ibv_modify_qp(qp, &r, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
  struct ibv_qp_attr s = {.qp_state = IBV_QPS_RTS, .sq_psn = here.psn, .timeout = 17, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 4};
  CHECK(ibv_modify_qp(qp, &s, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                  IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

/* Sleeps until there is a completion. */
static struct ibv_wc wait_wc(void) {
  struct ibv_wc wc;
  for (;;) {
    int n = ibv_poll_cq(cq, 1, &wc);
    CHECK(n >= 0);
    if (n == 1) break;
    CHECK(ibv_req_notify_cq(cq, 0) == 0);
    n = ibv_poll_cq(cq, 1, &wc);
    if (n == 1) break;
    struct ibv_cq* which;
    void* its;
    CHECK(ibv_get_cq_event(channel, &which, &its) == 0 && which == cq);
    ibv_ack_cq_events(cq, 1);
  }
  if (wc.status != IBV_WC_SUCCESS) {
    fprintf(stderr, "verbs_check: a work request ended with %s\n", ibv_wc_status_str(wc.status));
    exit(1);
  }
  return wc;
}

static void fill(unsigned char* at, size_t octets, unsigned seed) {
  for (size_t i = 0; i < octets; ++i) at[i] = (unsigned char)(i * 131 + i / 251 + seed * 17);
}
static int holds(const unsigned char* at, size_t octets, unsigned seed) {
  for (size_t i = 0; i < octets; ++i)
    if (at[i] != (unsigned char)(i * 131 + i / 251 + seed * 17)) return 0;
  return 1;
}

static void post_recv(unsigned char* at, uint32_t octets) {
  struct ibv_sge to = {(uintptr_t)at, octets, mr->lkey};
  struct ibv_recv_wr wr = {.sg_list = &to, .num_sge = 1}, *bad;
  CHECK(ibv_post_recv(qp, &wr, &bad) == 0);
}

static struct ibv_wc post(enum ibv_wr_opcode opcode, struct ibv_sge* pieces, int n, unsigned flags, uint64_t a, uint64_t b) {
  struct ibv_send_wr wr = {.opcode = opcode, .sg_list = pieces, .num_sge = n, .send_flags = IBV_SEND_SIGNALED | flags,
                           .imm_data = htonl(0x12345678)}, *bad;
  if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
    wr.wr.atomic.remote_addr = there.address + OCTETS;
    wr.wr.atomic.rkey = there.key;
    wr.wr.atomic.compare_add = a;
    wr.wr.atomic.swap = b;
  } else {
    wr.wr.rdma.remote_addr = there.address + OCTETS;
    wr.wr.rdma.rkey = there.key;
  }
  CHECK(ibv_post_send(qp, &wr, &bad) == 0);
  return wait_wc();
}

static const uint32_t sizes[] = {0, 1, 3, 64, 4095, 4096, 4097, 65536, OCTETS};
#define SIZES (sizeof sizes / sizeof *sizes)

int main(int argc, char** argv) {
  CHECK(argc == 3);
  const int is_server = strcmp(argv[1], "server") == 0;
  connect_tcp(is_server, atoi(argv[2]));
  make();
  unsigned char* const out = memory;
  unsigned char* const in = memory + OCTETS;
  struct ibv_sge whole = {(uintptr_t)out, 0, mr->lkey};

  for (size_t i = 0; i < SIZES; ++i) { /* SEND with immediate, one way, in three pieces */
    memset(in, 0, OCTETS);
    if (is_server) post_recv(in, OCTETS);
    meet();
    if (is_server) {
      const struct ibv_wc wc = wait_wc();
      CHECK(wc.opcode == IBV_WC_RECV && wc.byte_len == sizes[i] && (wc.wc_flags & IBV_WC_WITH_IMM) && ntohl(wc.imm_data) == 0x12345678);
      CHECK(holds(in, sizes[i], (unsigned)i));
    } else {
      fill(out, sizes[i], (unsigned)i);
      const uint32_t third = sizes[i] / 3;
      struct ibv_sge pieces[3] = {{(uintptr_t)out, third, mr->lkey}, {(uintptr_t)out + third, third, mr->lkey},
                                  {(uintptr_t)out + 2 * third, sizes[i] - 2 * third, mr->lkey}};
      CHECK(post(IBV_WR_SEND_WITH_IMM, pieces, 3, 0, 0, 0).opcode == IBV_WC_SEND);
    }
  }
  for (size_t i = 0; i < SIZES; ++i) { /* WRITE, READ: the other side does nothing */
    memset(in, 0, OCTETS);
    fill(out, OCTETS, 40 + (unsigned)i + (unsigned)is_server);
    meet();
    whole.addr = (uintptr_t)out;
    whole.length = sizes[i];
    if (!is_server) CHECK(post(IBV_WR_RDMA_WRITE, &whole, 1, 0, 0, 0).opcode == IBV_WC_RDMA_WRITE);
    meet();
    if (is_server) CHECK(holds(in, sizes[i], 40 + (unsigned)i));
    whole.addr = (uintptr_t)out;
    if (!is_server) {
      memset(out, 0, OCTETS);
      CHECK(post(IBV_WR_RDMA_READ, &whole, 1, 0, 0, 0).opcode == IBV_WC_RDMA_READ);
      CHECK(holds(out, sizes[i], 40 + (unsigned)i));
    }
    meet();
  }
  if (is_server) post_recv(in, OCTETS); /* WRITE with immediate, inline */
  meet();
  if (is_server) {
    const struct ibv_wc wc = wait_wc();
    CHECK(wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.byte_len == 64 && holds(in, 64, 99));
  } else {
    unsigned char small[64];
    fill(small, sizeof small, 99);
    struct ibv_sge piece = {(uintptr_t)small, sizeof small, 0};
    post(IBV_WR_RDMA_WRITE_WITH_IMM, &piece, 1, IBV_SEND_INLINE, 0, 0);
  }
  memset(in, 0, 8); /* atomics */
  meet();
  if (!is_server) {
    uint64_t* const before = (uint64_t*)out;
    whole.addr = (uintptr_t)out;
    whole.length = 8;
    for (uint64_t i = 0; i < 100; ++i) {
      post(IBV_WR_ATOMIC_FETCH_AND_ADD, &whole, 1, 0, 3, 0);
      CHECK(*before == 3 * i);
    }
    post(IBV_WR_ATOMIC_CMP_AND_SWP, &whole, 1, 0, 300, 7);
    CHECK(*before == 300);
    post(IBV_WR_ATOMIC_CMP_AND_SWP, &whole, 1, 0, 300, 8);
    CHECK(*before == 7);
  }
  meet();
  if (is_server) CHECK(*(uint64_t*)in == 7);
  meet();
  CHECK(ibv_destroy_qp(qp) == 0 && ibv_dereg_mr(mr) == 0 && ibv_destroy_cq(cq) == 0 && ibv_destroy_comp_channel(channel) == 0 &&
        ibv_dealloc_pd(pd) == 0 && ibv_close_device(context) == 0);
  printf("send, write, read, immediate, inline, atomics: every octet right\n");
  return 0;
}
