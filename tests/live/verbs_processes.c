/* Processes and threads that share one NIC, and its limits: what verbs promises of fork, exec, threads and errno. QPs of one
 * process are connected to each other here; their packets cross the NIC and its switch.
 *
 * usage: verbs_processes fork|exec|threads|limits          prints what it did
 *        verbs_processes many N                            N processes at once
 *        verbs_processes leave-child                       prints the PID of a child that lives on, and ends
 *        verbs_processes after-exec                        (what `exec` becomes)
 */
#include <dirent.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                                                            \
  do {                                                                                                              \
    if (!(condition)) {                                                                                             \
      fprintf(stderr, "verbs_processes: line %d: %s does not hold (%s)\n", __LINE__, #condition, strerror(errno));  \
      _exit(1);                                                                                                     \
    }                                                                                                               \
  } while (0)
/* A call that must fail, with this errno. */
#define REFUSES(call, error) CHECK((errno = 0, (call) == NULL) && errno == (error))

enum { OCTETS = 1 << 16 };

static struct ibv_context* context;
static struct ibv_pd* pd;
static union ibv_gid gid;
static struct ibv_comp_channel* channel; /* for those that sleep */

static void open_device(void) {
  struct ibv_device** list = ibv_get_device_list(NULL);
  CHECK(list != NULL && list[0] != NULL);
  CHECK((context = ibv_open_device(list[0])) != NULL);
  ibv_free_device_list(list);
  CHECK((pd = ibv_alloc_pd(context)) != NULL);
  CHECK(ibv_query_gid(context, 1, 0, &gid) == 0);
}

static struct ibv_qp_init_attr attributes(struct ibv_cq* cq) {
  return (struct ibv_qp_init_attr){.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
                                   .cap = {.max_send_wr = 64, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
}

static void connect_qp(struct ibv_qp* qp, uint32_t to) {
  struct ibv_qp_attr i = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
  CHECK(ibv_modify_qp(qp, &i, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
  struct ibv_qp_attr r = {.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_4096, .dest_qp_num = to, .max_dest_rd_atomic = 4, .min_rnr_timer = 12,
                          .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = gid, .hop_limit = 64}}};
  CHECK(ibv_modify_qp(qp, &r, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
  /* 2 s, eight times: with 100 processes on two processors each waits for long. */
  struct ibv_qp_attr s = {.qp_state = IBV_QPS_RTS, .timeout = 19, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 4};
  CHECK(ibv_modify_qp(qp, &s, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                  IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

/* Two QPs that are connected to each other, and memory: what the first writes is in the second half. */
struct pair {
  struct ibv_cq* cq;
  struct ibv_qp *qp, *peer;
  struct ibv_mr* mr;
  unsigned char* memory;
};

static struct pair make_pair(void) {
  struct pair p = {.memory = aligned_alloc(4096, 2 * OCTETS)};
  CHECK(p.memory != NULL);
  memset(p.memory, 0, 2 * OCTETS);
  CHECK((p.cq = ibv_create_cq(context, 128, NULL, channel, 0)) != NULL);
  CHECK((p.mr = ibv_reg_mr(pd, p.memory, 2 * OCTETS, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)) != NULL);
  struct ibv_qp_init_attr a = attributes(p.cq);
  CHECK((p.qp = ibv_create_qp(pd, &a)) != NULL && (p.peer = ibv_create_qp(pd, &a)) != NULL);
  connect_qp(p.qp, p.peer->qp_num);
  connect_qp(p.peer, p.qp->qp_num);
  return p;
}

static int post_write(const struct pair* p, uint32_t at, uint32_t octets) {
  struct ibv_sge piece = {(uintptr_t)p->memory + at, octets, p->mr->lkey};
  struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .sg_list = &piece, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
                           .wr.rdma = {(uintptr_t)p->memory + OCTETS + at, p->mr->rkey}}, *bad;
  return ibv_post_send(p->qp, &wr, &bad);
}

static void take_one(struct ibv_cq* cq) {
  struct ibv_wc wc;
  struct ibv_cq* which;
  void* its;
  int n = ibv_poll_cq(cq, 1, &wc);
  while (n == 0) {
    if (channel != NULL) CHECK(ibv_req_notify_cq(cq, 0) == 0);
    if ((n = ibv_poll_cq(cq, 1, &wc)) != 0 || channel == NULL) continue;
    CHECK(ibv_get_cq_event(channel, &which, &its) == 0 && which == cq);
    ibv_ack_cq_events(which, 1);
  }
  CHECK(n == 1);
  if (wc.status != IBV_WC_SUCCESS) fprintf(stderr, "verbs_processes: a write ended with %s\n", ibv_wc_status_str(wc.status));
  CHECK(wc.status == IBV_WC_SUCCESS);
}

/* Every octet, again and again, each time others. */
static void use(const struct pair* p, int times) {
  for (int i = 0; i < times; ++i) {
    for (size_t k = 0; k < OCTETS; ++k) p->memory[k] = (unsigned char)(k * 31 + k / 253 + (size_t)i * 7 + (size_t)getpid());
    CHECK(post_write(p, 0, OCTETS) == 0);
    take_one(p->cq);
    CHECK(memcmp(p->memory, p->memory + OCTETS, OCTETS) == 0);
  }
}

static void discard(struct pair* p) {
  CHECK(ibv_destroy_qp(p->qp) == 0 && ibv_destroy_qp(p->peer) == 0 && ibv_destroy_cq(p->cq) == 0 && ibv_dereg_mr(p->mr) == 0);
  free(p->memory);
}

static void ends_well(pid_t child) {
  int status;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  if (WIFSIGNALED(status)) fprintf(stderr, "verbs_processes: the child ended with signal %d\n", WTERMSIG(status));
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- fork, exec ---------------------------------------------------------------------------------------------------- */

/* Everything of the parent's: it works no more here, and nothing ends the program. */
static void child_of_open(struct pair* p) {
  struct ibv_wc wc;
  struct ibv_port_attr port;
  int copies = 0; /* of the write that was under way, if it was complete before the fork */
  for (int i = 0; i < 1000; ++i) {
    const int n = ibv_poll_cq(p->cq, 1, &wc);
    CHECK(n >= 0);
    copies += n;
  }
  CHECK(copies <= 1);
  CHECK(ibv_query_port(context, 1, &port) == 0 && port.state == IBV_PORT_DOWN);
  CHECK(ibv_req_notify_cq(p->cq, 0) == 0);
  post_write(p, 0, 64);
  CHECK(ibv_close_device(context) == 0);
  open_device(); /* its own */
  struct pair own = make_pair();
  use(&own, 20);
  discard(&own);
  exit(0); /* with what programs run then */
}

static void test_fork(void) {
  CHECK(ibv_fork_init() == 0);
  pid_t before[2];
  for (int i = 0; i < 2; ++i)
    if ((before[i] = fork()) == 0) {
      open_device();
      struct pair own = make_pair();
      use(&own, 20);
      _exit(0);
    }
  open_device();
  struct pair p = make_pair();
  use(&p, 20);
  for (int i = 0; i < 2; ++i) ends_well(before[i]);
  for (int i = 0; i < 4; ++i) {
    CHECK(post_write(&p, 0, OCTETS) == 0); /* under way while there are two */
    const pid_t child = fork();
    if (child == 0) {
      if (i < 2) _exit(0);
      child_of_open(&p);
    }
    take_one(p.cq);
    use(&p, 20);
    ends_well(child);
    use(&p, 20);
  }
  discard(&p);
  CHECK(ibv_dealloc_pd(pd) == 0 && ibv_close_device(context) == 0);
  printf("children before and after the device was opened: all octets right, in parent and children\n");
}

/* Nothing of the lab's is inherited. */
static void test_after_exec(void) {
  DIR* all = opendir("/proc/self/fd");
  for (struct dirent* e; (e = readdir(all)) != NULL;) {
    char path[300], to[300] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%s", e->d_name);
    if (e->d_name[0] == '.' || readlink(path, to, sizeof to - 1) < 0 || atoi(e->d_name) == dirfd(all)) continue;
    if (strstr(to, "railyard-rings") != NULL || strstr(to, "eventfd") != NULL || strncmp(to, "socket:", 7) == 0)
      fprintf(stderr, "verbs_processes: %s is inherited\n", to), _exit(1);
  }
  open_device();
  struct pair p = make_pair();
  use(&p, 20);
}

static void test_exec(char** argv) {
  char* const next[] = {argv[0], "after-exec", NULL};
  open_device();
  struct pair p = make_pair();
  use(&p, 20);
  const pid_t child = fork();
  if (child == 0) execv(argv[0], next);
  use(&p, 20);
  ends_well(child);
  use(&p, 20);
  printf("a child that becomes another program, and this one, too\n");
  fflush(stdout);
  execv(argv[0], next); /* what this program had is given back, and opened again */
  CHECK(!"execv");
}

static void test_leave_child(void) {
  open_device();
  struct pair p = make_pair();
  use(&p, 2);
  const pid_t child = fork();
  if (child == 0) {
    fclose(stdout);
    for (;;) pause();
  }
  printf("%d\n", (int)child);
  fflush(stdout);
  kill(getpid(), SIGKILL);
}

/* ---- Threads --------------------------------------------------------------------------------------------------------- */

enum { THREADS = 8, ROUNDS = 200, WRITES = 2000 };

/* A thread with objects of its own, of one context. */
static void* with_own(void* argument) {
  (void)argument;
  for (int i = 0; i < 4; ++i) {
    struct pair p = make_pair();
    use(&p, ROUNDS / 8);
    discard(&p);
  }
  return NULL;
}

/* Threads that post to one QP, while others poll its CQ. */
static struct pair shared;
static int taken, wrong;
static void* posts(void* argument) {
  const uint32_t at = (uint32_t)(uintptr_t)argument * 4096;
  for (int i = 0; i < WRITES; ++i) {
    int error;
    while ((error = post_write(&shared, at, 4096)) == ENOMEM) sched_yield(); /* the queue is full */
    CHECK(error == 0);
  }
  return NULL;
}
static void* polls(void* argument) {
  struct ibv_wc wc[4];
  (void)argument;
  while (__atomic_load_n(&taken, __ATOMIC_RELAXED) < WRITES * THREADS / 2) {
    const int n = ibv_poll_cq(shared.cq, 4, wc);
    CHECK(n >= 0);
    for (int i = 0; i < n; ++i)
      if (wc[i].status != IBV_WC_SUCCESS) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&taken, n, __ATOMIC_RELAXED);
  }
  return NULL;
}

static void test_threads(void) {
  pthread_t threads[THREADS];
  open_device();
  for (int i = 0; i < THREADS; ++i) CHECK(pthread_create(&threads[i], NULL, with_own, NULL) == 0);
  for (int i = 0; i < THREADS; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  shared = make_pair();
  for (int i = 0; i < OCTETS; ++i) shared.memory[i] = (unsigned char)(i * 13 + i / 255);
  for (int i = 0; i < THREADS; ++i)
    CHECK(pthread_create(&threads[i], NULL, i % 2 ? polls : posts, (void*)(uintptr_t)(i / 2)) == 0);
  for (int i = 0; i < THREADS; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(taken == WRITES * THREADS / 2 && wrong == 0);
  CHECK(memcmp(shared.memory, shared.memory + OCTETS, 4096 * THREADS / 2) == 0);
  discard(&shared);
  CHECK(ibv_dealloc_pd(pd) == 0 && ibv_close_device(context) == 0);
  printf("%d threads with QPs of their own; %d that post to one, %d that poll: all octets right\n", THREADS, THREADS / 2, THREADS / 2);
}

/* ---- Processes --------------------------------------------------------------------------------------------------------- */

static int by_number(const void* a, const void* b) { return *(const uint32_t*)a < *(const uint32_t*)b ? -1 : 1; }

static void test_many(int n) {
  int numbers[2], go[2];
  uint32_t* all = calloc((size_t)n, sizeof *all);
  pid_t* children = calloc((size_t)n, sizeof *children);
  char c;
  CHECK(all != NULL && children != NULL && pipe(numbers) == 0 && pipe(go) == 0);
  for (int i = 0; i < n; ++i)
    if ((children[i] = fork()) == 0) {
      close(go[1]);
      open_device();
      if (i % 10 != 0) CHECK((channel = ibv_create_comp_channel(context)) != NULL); /* one in ten polls */
      struct pair p = make_pair();
      CHECK(write(numbers[1], &p.qp->qp_num, sizeof(uint32_t)) == sizeof(uint32_t));
      CHECK(read(go[0], &c, 1) == 0); /* until all have opened it */
      use(&p, 10);
      _exit(0);
    }
  close(numbers[1]);
  for (int i = 0; i < n; ++i) CHECK(read(numbers[0], &all[i], sizeof *all) == sizeof *all);
  close(go[1]);
  for (int i = 0; i < n; ++i) ends_well(children[i]);
  qsort(all, (size_t)n, sizeof *all, by_number);
  for (int i = 1; i < n; ++i) CHECK(all[i] != all[i - 1]);
  printf("%d processes at once, QP numbers %#x..%#x: all octets right\n", n, all[0], all[n - 1]);
}

/* ---- Limits ------------------------------------------------------------------------------------------------------------ */

static void queue_limits(const struct ibv_device_attr* most) {
  REFUSES(ibv_create_cq(context, 0, NULL, NULL, 0), EINVAL);
  REFUSES(ibv_create_cq(context, most->max_cqe + 1, NULL, NULL, 0), EINVAL);
  REFUSES(ibv_create_cq(context, 1, NULL, NULL, context->num_comp_vectors), EINVAL);
  struct ibv_cq* cq = ibv_create_cq(context, 16, NULL, NULL, 0);
  CHECK(cq != NULL && ibv_resize_cq(cq, most->max_cqe + 1) == EINVAL);
  struct ibv_qp_init_attr a = attributes(cq);
  const struct ibv_qp_cap usual = a.cap;
#define BEYOND(member, value) (a = attributes(cq), a.cap = usual, a.cap.member = (uint32_t)(value) + 1)
  BEYOND(max_send_wr, most->max_qp_wr);
  REFUSES(ibv_create_qp(pd, &a), EINVAL);
  BEYOND(max_recv_wr, most->max_qp_wr);
  REFUSES(ibv_create_qp(pd, &a), EINVAL);
  BEYOND(max_send_sge, most->max_sge);
  REFUSES(ibv_create_qp(pd, &a), EINVAL);
  BEYOND(max_recv_sge, most->max_sge);
  REFUSES(ibv_create_qp(pd, &a), EINVAL);
  BEYOND(max_inline_data, 512);
  REFUSES(ibv_create_qp(pd, &a), EINVAL);
#undef BEYOND
  a = attributes(cq);
  a.qp_type = IBV_QPT_XRC_SEND;
  REFUSES(ibv_create_qp(pd, &a), EOPNOTSUPP);
  a.qp_type = IBV_QPT_DRIVER; // DC
  REFUSES(ibv_create_qp(pd, &a), EOPNOTSUPP);
  struct ibv_srq_init_attr s = {.attr = {.max_wr = (uint32_t)most->max_srq_wr + 1, .max_sge = 1}};
  REFUSES(ibv_create_srq(pd, &s), EINVAL);
  s = (struct ibv_srq_init_attr){.attr = {.max_wr = 1, .max_sge = (uint32_t)most->max_srq_sge + 1}};
  REFUSES(ibv_create_srq(pd, &s), EINVAL);
  CHECK(ibv_destroy_cq(cq) == 0);
}

static void post_limits(void) {
  struct pair p = make_pair();
  struct ibv_sge pieces[2] = {{(uintptr_t)p.memory, 8, p.mr->lkey}, {(uintptr_t)p.memory, 8, p.mr->lkey}};
  struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .sg_list = pieces, .num_sge = 2, .wr.rdma = {(uintptr_t)p.memory, p.mr->rkey}}, *bad;
  struct ibv_recv_wr rr = {.sg_list = pieces, .num_sge = 2}, *bad_rr;
  CHECK(ibv_post_send(p.qp, &wr, &bad) == EINVAL && bad == &wr);     /* more pieces than the QP has */
  CHECK(ibv_post_recv(p.qp, &rr, &bad_rr) == EINVAL && bad_rr == &rr);
  rr.num_sge = 1;
  CHECK(ibv_post_recv(p.qp, &rr, &bad_rr) == 0);
  CHECK(ibv_post_recv(p.qp, &rr, &bad_rr) == ENOMEM && bad_rr == &rr); /* more than it has places for */
  int posted = 0, error;
  while ((error = post_write(&p, 0, OCTETS)) == 0 && posted < 10000) ++posted;
  CHECK(error == ENOMEM && posted >= 64); /* nobody polls: each request has its place until then */
  while (posted-- > 0) take_one(p.cq);
  CHECK(post_write(&p, 0, 8) == 0);
  take_one(p.cq);
  discard(&p);
}

static void memory_limits(const struct ibv_device_attr* most) {
  static char octets[64];
  REFUSES(ibv_reg_mr(pd, octets, 0, 0), EINVAL);
  REFUSES(ibv_reg_mr(pd, octets, sizeof octets, IBV_ACCESS_REMOTE_WRITE), EINVAL); /* without local writes */
  REFUSES(ibv_reg_mr(pd, octets, sizeof octets, IBV_ACCESS_ON_DEMAND), EOPNOTSUPP);
  struct ibv_mr** all = calloc((size_t)most->max_mr, sizeof *all);
  CHECK(all != NULL);
  for (int i = 0; i < most->max_mr; ++i) CHECK((all[i] = ibv_reg_mr(pd, octets, sizeof octets, 0)) != NULL);
  REFUSES(ibv_reg_mr(pd, octets, sizeof octets, 0), ENOMEM);
  CHECK(ibv_dealloc_pd(pd) == EBUSY);
  for (int i = 0; i < most->max_mr; ++i) CHECK(ibv_dereg_mr(all[i]) == 0);
  CHECK((all[0] = ibv_reg_mr(pd, octets, sizeof octets, 0)) != NULL && ibv_dereg_mr(all[0]) == 0);
  free(all);
}

static void qp_limits(const struct ibv_device_attr* most) {
  struct ibv_cq* cq = ibv_create_cq(context, 16, NULL, NULL, 0);
  struct ibv_qp_init_attr a = attributes(cq);
  struct ibv_qp** all = calloc((size_t)most->max_qp, sizeof *all);
  a.cap.max_send_wr = 1;
  CHECK(cq != NULL && all != NULL);
  for (int i = 0; i < most->max_qp; ++i) CHECK((all[i] = ibv_create_qp(pd, &a)) != NULL);
  REFUSES(ibv_create_qp(pd, &a), ENOMEM);
  CHECK(ibv_destroy_cq(cq) == EBUSY);
  for (int i = 0; i < most->max_qp; ++i) CHECK(ibv_destroy_qp(all[i]) == 0);
  CHECK((all[0] = ibv_create_qp(pd, &a)) != NULL && ibv_destroy_qp(all[0]) == 0);
  CHECK(ibv_destroy_cq(cq) == 0);
  free(all);
}

static void object_limits(const struct ibv_device_attr* most) {
  struct ibv_cq** cqs = calloc((size_t)most->max_cq, sizeof *cqs);
  struct ibv_pd** pds = calloc((size_t)most->max_pd, sizeof *pds);
  CHECK(cqs != NULL && pds != NULL);
  for (int i = 0; i < most->max_cq; ++i) CHECK((cqs[i] = ibv_create_cq(context, 1, NULL, NULL, 0)) != NULL);
  REFUSES(ibv_create_cq(context, 1, NULL, NULL, 0), ENOMEM);
  for (int i = most->max_cq - 1; i >= 0; --i) CHECK(ibv_destroy_cq(cqs[i]) == 0);
  for (int i = 1; i < most->max_pd; ++i) CHECK((pds[i] = ibv_alloc_pd(context)) != NULL); /* one is there */
  REFUSES(ibv_alloc_pd(context), ENOMEM);
  for (int i = 1; i < most->max_pd; ++i) CHECK(ibv_dealloc_pd(pds[i]) == 0);
  free(cqs);
  free(pds);
}

static void test_limits(void) {
  struct ibv_device_attr most;
  open_device();
  CHECK(ibv_query_device(context, &most) == 0);
  queue_limits(&most);
  post_limits();
  memory_limits(&most);
  qp_limits(&most);
  object_limits(&most);
  struct pair p = make_pair();
  use(&p, 20); /* it works as before */
  discard(&p);
  CHECK(ibv_dealloc_pd(pd) == 0 && ibv_close_device(context) == 0);
  printf("%d QPs, %d MRs, %d CQs, %d PDs; one more of each is ENOMEM\n", most.max_qp, most.max_mr, most.max_cq, most.max_pd);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "fork") == 0) return test_fork(), 0;
  if (strcmp(what, "exec") == 0) return test_exec(argv), 0;
  if (strcmp(what, "after-exec") == 0) return test_after_exec(), 0;
  if (strcmp(what, "leave-child") == 0) return test_leave_child(), 0;
  if (strcmp(what, "threads") == 0) return test_threads(), 0;
  if (strcmp(what, "limits") == 0) return test_limits(), 0;
  if (strcmp(what, "many") == 0 && argc == 3) return test_many(atoi(argv[2])), 0;
  fprintf(stderr, "usage: verbs_processes fork|exec|threads|limits|leave-child | many N\n");
  return 2;
}
