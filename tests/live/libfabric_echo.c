/* A program of libfabric that sends tagged messages and messages without a tag to the echo server of a built-in host, and
 * compares every octet of what comes back.
 *
 * usage: libfabric_echo ADDRESS      (of the built-in host; the server has PIDonFEP 0, resource index 1: service "0.1")
 * Ends with 3 when the server refuses the messages.
 */
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

#define CHECK(call)                                                                                     \
  do {                                                                                                  \
    const long result = (long)(call);                                                                   \
    if (result < 0) {                                                                                   \
      fprintf(stderr, "libfabric_echo: line %d: %s: %s\n", __LINE__, #call, fi_strerror((int)-result)); \
      exit(1);                                                                                          \
    }                                                                                                   \
  } while (0)

enum { kMost = 65536 };

static struct fid_ep* ep;
static struct fid_cq* cq;
static fi_addr_t server;
static uint8_t out[kMost], in[kMost];

static void open_endpoint(const char* node) {
  struct fi_info *hints = fi_allocinfo(), *info;
  struct fid_fabric* fabric;
  struct fid_domain* domain;
  struct fid_av* av;
  struct fi_av_attr addresses = {.type = FI_AV_MAP};
  struct fi_cq_attr queue = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_UNSPEC};
  hints->caps = FI_TAGGED | FI_MSG;
  hints->ep_attr->type = FI_EP_RDM;
  hints->fabric_attr->prov_name = strdup("railyard");
  CHECK(fi_getinfo(FI_VERSION(1, 17), node, "0.1", 0, hints, &info));
  CHECK(fi_fabric(info->fabric_attr, &fabric, NULL));
  CHECK(fi_domain(fabric, info, &domain, NULL));
  CHECK(fi_av_open(domain, &addresses, &av, NULL));
  CHECK(fi_cq_open(domain, &queue, &cq, NULL));
  CHECK(fi_endpoint(domain, info, &ep, NULL));
  CHECK(fi_ep_bind(ep, &av->fid, 0));
  CHECK(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
  CHECK(fi_enable(ep));
  if (fi_av_insert(av, info->dest_addr, 1, &server, 0, NULL) != 1) exit(1);
}

static void complete(int count) {
  struct fi_cq_tagged_entry entry;
  struct fi_cq_err_entry error = {0};
  while (count > 0) {
    const ssize_t n = fi_cq_sread(cq, &entry, 1, NULL, 20000);
    if (n == -FI_EAVAIL) {
      CHECK(fi_cq_readerr(cq, &error, 0));
      printf("refused: %s (return code %d)\n", fi_strerror(error.err), error.prov_errno);
      exit(3);
    }
    CHECK(n);
    --count;
  }
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {1, 8, 1000, 4096, 20000, kMost};
  unsigned long octets = 0;
  unsigned rounds = 0;
  if (argc != 2) return 2;
  open_endpoint(argv[1]);
  for (unsigned repeat = 0; repeat < 20; ++repeat)
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s)
      for (unsigned tagged = 0; tagged < 2; ++tagged, ++rounds) {
        const size_t n = sizes[s];
        for (size_t i = 0; i < n; ++i) out[i] = (uint8_t)(i * 131 + i / 251 + rounds * 17);
        memset(in, 0, n);
        if (tagged) {
          CHECK(fi_trecv(ep, in, n, NULL, FI_ADDR_UNSPEC, rounds, 0, NULL));
          CHECK(fi_tsend(ep, out, n, NULL, server, rounds, NULL));
        } else {
          CHECK(fi_recv(ep, in, n, NULL, FI_ADDR_UNSPEC, NULL));
          CHECK(fi_send(ep, out, n, NULL, server, NULL));
        }
        complete(2);
        if (memcmp(out, in, n) != 0) {
          printf("%zu octets came back as others\n", n);
          return 1;
        }
        octets += n;
      }
  printf("%u messages there and back, %lu octets, all right\n", rounds, octets);
  return 0;
}
