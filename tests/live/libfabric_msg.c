/* Connected endpoints of libfabric (FI_EP_MSG) over its own `verbs` provider, which finds a lab's device as any program of
 * libibverbs and librdmacm does: messages there and back, every octet compared.
 *
 * usage: libfabric_msg server ADDRESS PORT | client ADDRESS PORT     (ADDRESS: of the server's emulated host)
 */
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                                    \
  do {                                                                                                 \
    const long result = (long)(call);                                                                  \
    if (result < 0) {                                                                                  \
      fprintf(stderr, "libfabric_msg: line %d: %s: %s\n", __LINE__, #call, fi_strerror((int)-result)); \
      exit(1);                                                                                         \
    }                                                                                                  \
  } while (0)

enum { kMost = 65536, kRounds = 20 };

static struct fid_fabric* fabric;
static struct fid_domain* domain;
static struct fid_eq* eq;
static struct fid_cq* cq;
static struct fid_ep* ep;
static struct fid_mr* mr;
static uint8_t* memory; /* what is sent, then what comes */

static struct fi_info* info_for(const char* node, const char* service, uint64_t flags) {
  struct fi_info *hints = fi_allocinfo(), *info;
  hints->caps = FI_MSG;
  hints->ep_attr->type = FI_EP_MSG;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
  hints->fabric_attr->prov_name = strdup("verbs");
  CHECK(fi_getinfo(FI_VERSION(1, 17), node, service, flags, hints, &info));
  return info;
}

static void make(struct fi_info* info) {
  struct fi_cq_attr queue = {.format = FI_CQ_FORMAT_CONTEXT, .wait_obj = FI_WAIT_UNSPEC, .size = 64};
  CHECK(fi_domain(fabric, info, &domain, NULL));
  CHECK(fi_cq_open(domain, &queue, &cq, NULL));
  CHECK(fi_endpoint(domain, info, &ep, NULL));
  CHECK(fi_ep_bind(ep, &eq->fid, 0));
  CHECK(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
  CHECK(fi_enable(ep));
  memory = aligned_alloc(4096, 2 * kMost);
  CHECK(fi_mr_reg(domain, memory, 2 * kMost, FI_SEND | FI_RECV, 0, 1, 0, &mr, NULL));
  CHECK(fi_recv(ep, memory + kMost, kMost, fi_mr_desc(mr), 0, NULL));
}

static struct fi_eq_cm_entry* event(uint32_t wanted) {
  static struct fi_eq_cm_entry entry;
  uint32_t type;
  CHECK(fi_eq_sread(eq, &type, &entry, sizeof entry, 20000, 0));
  if (type != wanted) fprintf(stderr, "libfabric_msg: event %u, expected %u\n", type, wanted), exit(1);
  return &entry;
}

static void complete(int count) {
  struct fi_cq_entry entry;
  while (count > 0) {
    const ssize_t n = fi_cq_sread(cq, &entry, 1, NULL, 20000);
    if (n == -FI_EAGAIN) fprintf(stderr, "libfabric_msg: nothing came for 20 s\n"), exit(1);
    CHECK(n);
    count -= (int)n;
  }
}

static uint8_t octet(size_t i, int round) { return (uint8_t)(i * 131 + i / 251 + (size_t)round * 17); }

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int is_server = strcmp(argv[1], "server") == 0;
  struct fi_info* info = info_for(argv[2], argv[3], is_server ? FI_SOURCE : 0);
  struct fi_eq_attr events = {.wait_obj = FI_WAIT_UNSPEC};
  CHECK(fi_fabric(info->fabric_attr, &fabric, NULL));
  CHECK(fi_eq_open(fabric, &events, &eq, NULL));
  if (is_server) {
    struct fid_pep* listener;
    CHECK(fi_passive_ep(fabric, info, &listener, NULL));
    CHECK(fi_pep_bind(listener, &eq->fid, 0));
    CHECK(fi_listen(listener));
    make(event(FI_CONNREQ)->info);
    CHECK(fi_accept(ep, NULL, 0));
  } else {
    make(info);
    CHECK(fi_connect(ep, info->dest_addr, NULL, 0));
  }
  event(FI_CONNECTED);
  for (int round = 0; round < kRounds; ++round) {
    if (is_server) {
      complete(1); /* it has come */
      memcpy(memory, memory + kMost, kMost);
      CHECK(fi_recv(ep, memory + kMost, kMost, fi_mr_desc(mr), 0, NULL));
      CHECK(fi_send(ep, memory, kMost, fi_mr_desc(mr), 0, NULL));
      complete(1);
      continue;
    }
    for (size_t i = 0; i < kMost; ++i) memory[i] = octet(i, round);
    CHECK(fi_send(ep, memory, kMost, fi_mr_desc(mr), 0, NULL));
    complete(2); /* it is sent, and has come back */
    for (size_t i = 0; i < kMost; ++i)
      if (memory[kMost + i] != octet(i, round)) fprintf(stderr, "libfabric_msg: octet %zu is wrong\n", i), exit(1);
    if (round + 1 < kRounds) CHECK(fi_recv(ep, memory + kMost, kMost, fi_mr_desc(mr), 0, NULL));
  }
  if (!is_server) {
    printf("%d messages of %d octets there and back over %s, all right\n", kRounds, kMost, info->domain_attr->name);
    CHECK(fi_shutdown(ep, 0));
  } else {
    event(FI_SHUTDOWN);
  }
  return 0;
}
