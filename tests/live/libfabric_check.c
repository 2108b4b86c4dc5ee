/* A program of libfabric that sends messages to another one, again and again, until its peer does not answer any more:
 * fi_pingpong would wait for ever for what its peer does not send.
 *
 * usage: libfabric_check receive FILE | send FILE       (the receiver's address goes through FILE)
 * The sender prints the error, and succeeds, when a message fails.
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

#define CHECK(call)                                                                                        \
  do {                                                                                                     \
    const long result = (long)(call);                                                                      \
    if (result < 0) {                                                                                      \
      fprintf(stderr, "libfabric_check: line %d: %s: %s\n", __LINE__, #call, fi_strerror((int)-result));   \
      exit(1);                                                                                             \
    }                                                                                                      \
  } while (0)

static struct fid_ep* ep;
static struct fid_cq* cq;
static struct fid_av* av;

static void open_endpoint(void) {
  struct fi_info *hints = fi_allocinfo(), *info;
  struct fid_fabric* fabric;
  struct fid_domain* domain;
  struct fi_av_attr addresses = {.type = FI_AV_MAP};
  struct fi_cq_attr queue = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_UNSPEC};
  hints->caps = FI_TAGGED;
  hints->ep_attr->type = FI_EP_RDM;
  hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
  hints->fabric_attr->prov_name = strdup("railyard");
  CHECK(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
  CHECK(fi_fabric(info->fabric_attr, &fabric, NULL));
  CHECK(fi_domain(fabric, info, &domain, NULL));
  CHECK(fi_av_open(domain, &addresses, &av, NULL));
  CHECK(fi_cq_open(domain, &queue, &cq, NULL));
  CHECK(fi_endpoint(domain, info, &ep, NULL));
  CHECK(fi_ep_bind(ep, &av->fid, 0));
  CHECK(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
  CHECK(fi_enable(ep));
}

/* 0, or the error of the operation that was to complete. */
static int complete(void) {
  struct fi_cq_tagged_entry entry;
  struct fi_cq_err_entry error = {0};
  ssize_t n;
  do n = fi_cq_sread(cq, &entry, 1, NULL, 1000);
  while (n == -FI_EAGAIN);
  if (n == 1) return 0;
  CHECK(fi_cq_readerr(cq, &error, 0));
  return error.err;
}

int main(int argc, char** argv) {
  uint8_t name[64], octets[4096] = {0};
  size_t length = sizeof name;
  FILE* file;
  if (argc != 3) return 2;
  open_endpoint();
  if (strcmp(argv[1], "receive") == 0) {
    char temporary[4096];
    CHECK(fi_getname(&ep->fid, name, &length));
    snprintf(temporary, sizeof temporary, "%s.new", argv[2]);
    if ((file = fopen(temporary, "w")) == NULL || fwrite(name, 1, length, file) != length || fclose(file) != 0 ||
        rename(temporary, argv[2]) != 0)
      return 1;
    for (;;) {
      CHECK(fi_trecv(ep, octets, sizeof octets, NULL, FI_ADDR_UNSPEC, 1, 0, NULL));
      if (complete() != 0) return 1;
    }
  }
  fi_addr_t peer;
  if ((file = fopen(argv[2], "r")) == NULL) return 1;
  length = fread(name, 1, sizeof name, file);
  if (fi_av_insert(av, name, 1, &peer, 0, NULL) != 1) return 1;
  for (unsigned long sent = 0;; ++sent) {
    CHECK(fi_tsend(ep, octets, sizeof octets, NULL, peer, 1, NULL));
    const int error = complete();
    if (error == 0) continue;
    printf("%lu messages, then: %s\n", sent, fi_strerror(error));
    return sent > 0 ? 0 : 1;
  }
}
