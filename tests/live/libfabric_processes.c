/* Processes and threads that share one NIC over Ultra Ethernet, and its limits: what libfabric promises of FI_THREAD_SAFE and
 * of errors, and that a fork does no harm. Two endpoints of one process send to each other here; their packets cross the NIC
 * and its switch.
 *
 * usage: libfabric_processes fork|threads|limits          prints what it did
 *        libfabric_processes many N [ROUNDS]              N processes at once, each of which sends 10 messages, or so many
 */
#include <errno.h>
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                                                              \
  do {                                                                                                                \
    if (!(condition)) {                                                                                               \
      fprintf(stderr, "libfabric_processes: line %d: %s does not hold (%s)\n", __LINE__, #condition, strerror(errno)); \
      _exit(1);                                                                                                       \
    }                                                                                                                 \
  } while (0)
/* A call of libfabric: not negative. */
#define DO(call)                                                                                                      \
  do {                                                                                                                \
    const long result_ = (long)(call);                                                                                \
    if (result_ < 0) {                                                                                                \
      fprintf(stderr, "libfabric_processes: line %d: %s: %s\n", __LINE__, #call, fi_strerror((int)-result_));         \
      _exit(1);                                                                                                       \
    }                                                                                                                 \
  } while (0)

enum { OCTETS = 1 << 15 };

static struct fi_info* info;
static struct fid_fabric* fabric;
static struct fid_domain* domain;
static struct fid_av* av;

static void open_domain(void) {
  struct fi_info* hints = fi_allocinfo();
  struct fi_av_attr addresses = {.type = FI_AV_MAP};
  hints->caps = FI_TAGGED;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->threading = FI_THREAD_SAFE;
  hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
  hints->fabric_attr->prov_name = strdup("railyard");
  DO(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
  fi_freeinfo(hints);
  DO(fi_fabric(info->fabric_attr, &fabric, NULL));
  DO(fi_domain(fabric, info, &domain, NULL));
  DO(fi_av_open(domain, &addresses, &av, NULL));
}

static void close_domain(void) {
  DO(fi_close(&av->fid));
  DO(fi_close(&domain->fid));
  DO(fi_close(&fabric->fid));
  fi_freeinfo(info);
}

static struct fid_ep* open_endpoint(struct fid_cq* cq) {
  struct fid_ep* ep;
  DO(fi_endpoint(domain, info, &ep, NULL));
  DO(fi_ep_bind(ep, &av->fid, 0));
  DO(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
  DO(fi_enable(ep));
  return ep;
}

static fi_addr_t address_of(struct fid_ep* ep) {
  uint8_t name[64];
  size_t length = sizeof name;
  fi_addr_t address;
  DO(fi_getname(&ep->fid, name, &length));
  CHECK(fi_av_insert(av, name, 1, &address, 0, NULL) == 1);
  return address;
}

/* `from` sends to `to`. */
struct pair {
  struct fid_cq* cq;
  struct fid_ep *from, *to;
  fi_addr_t address;
  uint8_t *out, *in;
};

static struct pair make_pair(int sleeps) {
  struct pair p = {.out = malloc(OCTETS), .in = malloc(OCTETS)};
  struct fi_cq_attr queue = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = sleeps ? FI_WAIT_UNSPEC : FI_WAIT_NONE};
  CHECK(p.out != NULL && p.in != NULL);
  DO(fi_cq_open(domain, &queue, &p.cq, NULL));
  p.from = open_endpoint(p.cq);
  p.to = open_endpoint(p.cq);
  p.address = address_of(p.to);
  return p;
}

static void discard(struct pair* p) {
  DO(fi_close(&p->from->fid));
  DO(fi_close(&p->to->fid));
  DO(fi_close(&p->cq->fid));
  free(p->out);
  free(p->in);
}

/* Every octet, again and again, each time others. */
static void use(const struct pair* p, int times, int sleeps) {
  for (int i = 0; i < times; ++i) {
    for (size_t k = 0; k < OCTETS; ++k) p->out[k] = (uint8_t)(k * 31 + k / 253 + (size_t)i * 7 + (size_t)getpid());
    DO(fi_trecv(p->to, p->in, OCTETS, NULL, FI_ADDR_UNSPEC, 1, 0, NULL));
    DO(fi_tsend(p->from, p->out, OCTETS, NULL, p->address, 1, NULL));
    for (int done = 0; done < 2;) {
      struct fi_cq_tagged_entry entry;
      const ssize_t n = sleeps ? fi_cq_sread(p->cq, &entry, 1, NULL, 1000) : fi_cq_read(p->cq, &entry, 1);
      if (n == -FI_EAGAIN) continue;
      if (n == -FI_EAVAIL) {
        struct fi_cq_err_entry error = {0};
        DO(fi_cq_readerr(p->cq, &error, 0));
        fprintf(stderr, "libfabric_processes: a message ended with %s\n", fi_strerror(error.err));
      }
      DO(n);
      ++done;
    }
    CHECK(memcmp(p->out, p->in, OCTETS) == 0);
  }
}

static void ends_well(pid_t child) {
  int status;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  if (WIFSIGNALED(status)) fprintf(stderr, "libfabric_processes: the child ended with signal %d\n", WTERMSIG(status));
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void child_with_own(void) {
  open_domain();
  struct pair own = make_pair(0);
  use(&own, 20, 0);
  discard(&own);
  close_domain();
}

static void test_fork(void) {
  const pid_t before = fork();
  if (before == 0) child_with_own(), _exit(0);
  open_domain();
  struct pair p = make_pair(0);
  use(&p, 20, 0);
  ends_well(before);
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      struct fi_cq_tagged_entry entry;
      if (i < 2) _exit(0);
      for (int k = 0; k < 1000; ++k) CHECK(fi_cq_read(p.cq, &entry, 1) != 1); /* the parent's: it works no more here */
      discard(&p);
      close_domain();
      child_with_own();
      exit(0);
    }
    use(&p, 20, 0);
    ends_well(child);
    use(&p, 20, 0);
  }
  discard(&p);
  close_domain();
  printf("children before and after the domain was opened: all octets right, in parent and children\n");
}

enum { THREADS = 8, ROUNDS = 50 };
static struct pair shared;
static void* with_own(void* argument) {
  (void)argument;
  struct pair p = make_pair(0);
  use(&p, ROUNDS, 0);
  discard(&p);
  return NULL;
}
/* Half of them post to one endpoint, half read its queue. */
static int taken, wrong;
static void* posts(void* argument) {
  (void)argument;
  for (int i = 0; i < ROUNDS * 10; ++i) {
    ssize_t n;
    while ((n = fi_tinject(shared.from, shared.out, 64, shared.address, 2)) == -FI_EAGAIN) sched_yield();
    CHECK(n == 0);
  }
  return NULL;
}
static void* reads(void* argument) {
  (void)argument;
  while (__atomic_load_n(&taken, __ATOMIC_RELAXED) < ROUNDS * 10 * THREADS / 2) {
    struct fi_cq_tagged_entry entry;
    const ssize_t n = fi_cq_read(shared.cq, &entry, 1);
    if (n == -FI_EAGAIN) continue;
    CHECK(n == 1);
    if (entry.len != 64 || entry.tag != 2) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

static void test_threads(void) {
  pthread_t threads[THREADS];
  open_domain();
  for (int i = 0; i < THREADS; ++i) CHECK(pthread_create(&threads[i], NULL, with_own, NULL) == 0);
  for (int i = 0; i < THREADS; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  shared = make_pair(0);
  for (int i = 0; i < ROUNDS * 10 * THREADS / 2; ++i) /* an inject makes no entry: only receives do */
    DO(fi_trecv(shared.to, shared.in, OCTETS, NULL, FI_ADDR_UNSPEC, 2, 0, NULL));
  for (int i = 0; i < THREADS; ++i) CHECK(pthread_create(&threads[i], NULL, i % 2 ? reads : posts, NULL) == 0);
  for (int i = 0; i < THREADS; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(wrong == 0);
  discard(&shared);
  close_domain();
  printf("%d threads with endpoints of their own; %d that post to one, %d that read: all octets right\n", THREADS, THREADS / 2, THREADS / 2);
}

static void test_many(int n, int rounds) {
  int ready[2], go[2];
  pid_t* children = calloc((size_t)n, sizeof *children);
  char c = 'r';
  CHECK(children != NULL && pipe(ready) == 0 && pipe(go) == 0);
  for (int i = 0; i < n; ++i)
    if ((children[i] = fork()) == 0) {
      const int sleeps = i % 10 != 0; /* one in ten polls */
      close(go[1]);
      open_domain();
      struct pair p = make_pair(sleeps);
      CHECK(write(ready[1], &c, 1) == 1 && read(go[0], &c, 1) == 0); /* until all have opened it */
      use(&p, rounds, sleeps);
      _exit(0);
    }
  for (int i = 0; i < n; ++i) CHECK(read(ready[0], &c, 1) == 1);
  close(go[1]);
  for (int i = 0; i < n; ++i) ends_well(children[i]);
  printf("%d processes at once: all octets right\n", n);
}

static void test_limits(void) {
  open_domain();
  struct pair p = make_pair(0);
  struct iovec pieces[8];
  struct fi_msg_tagged message = {.msg_iov = pieces, .iov_count = info->tx_attr->iov_limit + 1, .addr = p.address, .tag = 3};
  for (int i = 0; i < 8; ++i) pieces[i] = (struct iovec){p.out, 1};
  CHECK(info->tx_attr->iov_limit < 8);
  CHECK(fi_tsendmsg(p.from, &message, 0) == -FI_EINVAL);                                     /* more pieces than iov_limit */
  CHECK(fi_tinject(p.from, p.out, info->tx_attr->inject_size + 1, p.address, 3) == -FI_EMSGSIZE);
  CHECK(fi_tsend(p.from, p.out, info->ep_attr->max_msg_size + 1, NULL, p.address, 3, NULL) == -FI_EMSGSIZE);
  CHECK(fi_tsend(p.from, p.out, 1, NULL, p.address + 1, 3, NULL) == -FI_EINVAL);              /* nobody's address */
  CHECK(fi_close(&domain->fid) == -FI_EBUSY && fi_close(&av->fid) == -FI_EBUSY && fi_close(&p.cq->fid) == -FI_EBUSY);
  struct fid_mr *mr, *second;
  DO(fi_mr_reg(domain, p.out, OCTETS, FI_REMOTE_WRITE, 0, 77, 0, &mr, NULL));
  CHECK(fi_mr_reg(domain, p.in, OCTETS, FI_REMOTE_WRITE, 0, 77, 0, &second, NULL) == -FI_ENOKEY); /* the key is taken */
  CHECK(fi_mr_reg(domain, p.in, OCTETS, FI_REMOTE_WRITE, 0, UINT64_MAX, 0, &second, NULL) == -FI_EKEYREJECTED);
  DO(fi_close(&mr->fid));
  /* Receives, until there are no places. */
  ssize_t n;
  int posted = 0;
  while ((n = fi_trecv(p.to, p.in, 1, NULL, FI_ADDR_UNSPEC, 9, 0, NULL)) == 0) ++posted;
  CHECK(n == -FI_EAGAIN && posted >= (int)info->rx_attr->size);
  struct fid_ep* all[1 << 12];
  int endpoints = 0, error = 0;
  while (endpoints < 1 << 12 && (error = fi_endpoint(domain, info, &all[endpoints], NULL)) == 0) ++endpoints;
  CHECK(endpoints == 1 << 12 || error == -FI_EMFILE);
  for (int i = 0; i < endpoints; ++i) DO(fi_close(&all[i]->fid));
  discard(&p);
  p = make_pair(0);
  use(&p, 20, 0); /* it works as before */
  discard(&p);
  close_domain();
  printf("%d receives, then -FI_EAGAIN; %d more endpoints%s\n", posted, endpoints, error != 0 ? ", then -FI_EMFILE" : "");
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "fork") == 0) return test_fork(), 0;
  if (strcmp(what, "threads") == 0) return test_threads(), 0;
  if (strcmp(what, "limits") == 0) return test_limits(), 0;
  if (strcmp(what, "many") == 0 && (argc == 3 || argc == 4)) return test_many(atoi(argv[2]), argc == 4 ? atoi(argv[3]) : 10), 0;
  fprintf(stderr, "usage: libfabric_processes fork|threads|limits | many N [ROUNDS]\n");
  return 2;
}
