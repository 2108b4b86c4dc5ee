/* A program of libibverbs that says what happens to it while the fabric is disturbed: it writes 4 KiB into its peer's
 * memory over RC, reads it back and compares every octet, round after round, until it is told to end (SIGTERM).
 *
 * usage: effects_check server PORT | client PORT [TIMEOUT]     (QP numbers are exchanged over TCP at 127.0.0.1)
 *   TIMEOUT   of the QP, as in ibv_modify_qp (default 17: 0.5 s)
 * The client prints lines: its QP, its peer's and the PSNs that it begins with, asynchronous events as they come, the
 * number of rounds five times a second, and at last "ended after N rounds, all right", or the status of the work
 * request that failed; it then ends with 3.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define OCTETS 4096u
#define CHECK(condition)                                                                                       \
  do {                                                                                                         \
    if (!(condition)) {                                                                                        \
      fprintf(stderr, "effects_check: line %d: %s does not hold (%s)\n", __LINE__, #condition, strerror(errno)); \
      exit(1);                                                                                                 \
    }                                                                                                          \
  } while (0)

struct end {
  uint32_t qpn, psn, key;
  uint64_t address;
  union ibv_gid gid;
};

static volatile sig_atomic_t told;
static struct ibv_context* context;
static struct ibv_cq* cq;
static struct ibv_qp* qp;
static struct ibv_mr* mr;
static unsigned char* memory; /* what is written, what is read back */
static struct end here, there;

static void on_signal(int number) { told = number; }

static int connected(int is_server, int port) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
  if (!is_server) {
    CHECK(connect(fd, (struct sockaddr*)&a, sizeof a) == 0);
    return fd;
  }
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  CHECK(bind(fd, (struct sockaddr*)&a, sizeof a) == 0 && listen(fd, 1) == 0);
  return accept(fd, NULL, NULL);
}

static void make(int tcp, int timeout) {
  struct ibv_device** list = ibv_get_device_list(NULL);
  CHECK(list != NULL && list[0] != NULL && (context = ibv_open_device(list[0])) != NULL);
  struct ibv_pd* pd = ibv_alloc_pd(context);
  const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  CHECK(pd != NULL && (cq = ibv_create_cq(context, 16, NULL, NULL, 0)) != NULL);
  CHECK((memory = aligned_alloc(OCTETS, 2 * OCTETS)) != NULL);
  CHECK((mr = ibv_reg_mr(pd, memory, 2 * OCTETS, access)) != NULL);
  struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .cap = {16, 1, 1, 1, 0}};
  CHECK((qp = ibv_create_qp(pd, &init)) != NULL);
  here = (struct end){.qpn = qp->qp_num, .psn = 0x1000, .key = mr->rkey, .address = (uintptr_t)memory};
  CHECK(ibv_query_gid(context, 1, 0, &here.gid) == 0);
  CHECK(write(tcp, &here, sizeof here) == sizeof here && recv(tcp, &there, sizeof there, MSG_WAITALL) == sizeof there);
  struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = access};
  CHECK(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
  struct ibv_qp_attr r = {.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = there.qpn, .rq_psn = there.psn,
                          .max_dest_rd_atomic = 1, .min_rnr_timer = 12,
                          .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = there.gid, .hop_limit = 64}}};
  CHECK(ibv_modify_qp(qp, &r, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
  struct ibv_qp_attr s = {.qp_state = IBV_QPS_RTS, .sq_psn = here.psn, .timeout = (uint8_t)timeout, .retry_cnt = 7,
                          .rnr_retry = 7, .max_rd_atomic = 1};
  CHECK(ibv_modify_qp(qp, &s, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                  IBV_QP_MAX_QP_RD_ATOMIC) == 0);
  char ready = 'r'; /* neither sends before both can receive */
  CHECK(write(tcp, &ready, 1) == 1 && recv(tcp, &ready, 1, MSG_WAITALL) == 1);
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void print_events(void) {
  struct ibv_async_event event;
  while (ibv_get_async_event(context, &event) == 0) {
    printf("event: %s\n", ibv_event_type_str(event.event_type));
    ibv_ack_async_event(&event);
  }
}

static void complete(void) {
  struct ibv_wc wc;
  int n;
  static double printed;
  static unsigned long polls;
  while ((n = ibv_poll_cq(cq, 1, &wc)) == 0)
    if (++polls % 256 == 0 && seconds() - printed > 0.05) printed = seconds(), print_events();
  CHECK(n == 1);
  if (wc.status == IBV_WC_SUCCESS) return;
  print_events();
  printf("failed: %s\n", ibv_wc_status_str(wc.status));
  exit(3);
}

static void move(enum ibv_wr_opcode opcode, unsigned char* local) {
  struct ibv_sge piece = {(uintptr_t)local, OCTETS, mr->lkey};
  struct ibv_send_wr wr = {.opcode = opcode, .sg_list = &piece, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
                           .wr.rdma = {.remote_addr = there.address, .rkey = there.key}}, *bad;
  CHECK(ibv_post_send(qp, &wr, &bad) == 0);
  complete();
}

static int run(void) {
  unsigned long round = 0;
  double printed = seconds();
  for (; told == 0; ++round) {
    for (unsigned i = 0; i < OCTETS; ++i) memory[i] = (unsigned char)(i * 31 + round * 7);
    memset(memory + OCTETS, 0, OCTETS);
    move(IBV_WR_RDMA_WRITE, memory);
    move(IBV_WR_RDMA_READ, memory + OCTETS);
    if (memcmp(memory, memory + OCTETS, OCTETS) != 0) {
      printf("wrong data in round %lu\n", round);
      return 1;
    }
    if (seconds() - printed < 0.2) continue;
    printed = seconds();
    print_events();
    printf("rounds: %lu\n", round);
  }
  printf("ended after %lu rounds, all right\n", round);
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  signal(SIGTERM, on_signal);
  const int is_server = strcmp(argv[1], "server") == 0;
  const int tcp = connected(is_server, atoi(argv[2]));
  make(tcp, argc > 3 ? atoi(argv[3]) : 17);
  char c;
  if (is_server) return read(tcp, &c, 1) == 0 ? 0 : 1; /* until the client ends */
  CHECK(fcntl(context->async_fd, F_SETFL, O_NONBLOCK) == 0);
  printf("QP %#x to %#x, PSN %#x\n", here.qpn, there.qpn, here.psn);
  const int status = run();
  ibv_destroy_qp(qp);
  ibv_close_device(context);
  return status;
}
