#define _GNU_SOURCE
#include "tako/verbs_control.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <infiniband/verbs.h>

enum {
	GIDS_MAX = 256,	 /* entries of a port's GID table that are looked at */
	PROBE_WORK = 16, /* work requests of the queue pair that is made to learn about it */
	INLINE_CANDIDATES_MAX = 1024 /* bytes inline that are asked for first */
};

static const uint8_t IPV4_MAPPED[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static bool is_zero(const union ibv_gid *gid)
{
	static const union ibv_gid none;
	return memcmp(gid, &none, sizeof(none)) == 0;
}

/* Prefers an IPv4 address, and among them RoCE v2 to v1, which is what IPs are routed over. */
static void query_gid(struct ibv_context *context, int table, struct tako_verbs_device *out)
{
	uint32_t best = 0;
	out->gid_index = -1;
	for (int i = 0; i < table && i < GIDS_MAX; i++) {
		struct ibv_gid_entry entry;
		if (ibv_query_gid_ex(context, out->port, (uint32_t)i, &entry, 0) != 0 ||
		    is_zero(&entry.gid))
			continue;
		bool ipv4 = memcmp(entry.gid.raw, IPV4_MAPPED, sizeof(IPV4_MAPPED)) == 0;
		uint32_t rank =
		    1 + (ipv4 ? 2U : 0U) + (entry.gid_type == IBV_GID_TYPE_ROCE_V2 ? 1U : 0U);
		if (rank <= best)
			continue;
		best = rank;
		out->gid_index = i;
		out->gid_type = entry.gid_type;
		memset(out->ipv4, 0, sizeof(out->ipv4));
		if (ipv4)
			memcpy(out->ipv4, entry.gid.raw + sizeof(IPV4_MAPPED), sizeof(out->ipv4));
	}
}

static struct ibv_qp *probe_pair(struct ibv_pd *pd, struct ibv_cq *cq, uint32_t inline_bytes)
{
	struct ibv_qp_init_attr attributes = {
	    .send_cq = cq,
	    .recv_cq = cq,
	    .qp_type = IBV_QPT_RC,
	    .cap = {.max_send_wr = PROBE_WORK,
		    .max_recv_wr = PROBE_WORK,
		    .max_send_sge = 1,
		    .max_recv_sge = 1,
		    .max_inline_data = inline_bytes},
	};
	return ibv_create_qp(pd, &attributes);
}

/*
 * Asks whether what a peer writes through the pair lands in order, once the pair belongs to a port.
 * Looked up and not linked: a libibverbs without this call is as good for everything else.
 */
static void query_data_order(struct ibv_qp *qp, struct tako_verbs_device *out)
{
	int (*in_order)(struct ibv_qp *, enum ibv_wr_opcode, uint32_t) = NULL;
	*(void **)&in_order = dlsym(RTLD_DEFAULT, "ibv_query_qp_data_in_order");
	struct ibv_qp_attr attributes = {
	    .qp_state = IBV_QPS_INIT,
	    .port_num = (uint8_t)out->port,
	    .qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	const int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	if (in_order == NULL || ibv_modify_qp(qp, &attributes, mask) != 0)
		return;
	out->flags |= TAKO_VERBS_DATA_ORDER_KNOWN;
	if (in_order(qp, IBV_WR_RDMA_WRITE, 0) == 1)
		out->flags |= TAKO_VERBS_DATA_IN_ORDER;
}

/* Properties that only a queue pair reveals: its inline limit, and whether data lands in order. */
static void query_pair(struct ibv_context *context, struct tako_verbs_device *out)
{
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, PROBE_WORK, NULL, NULL, 0);
	if (pd != NULL && cq != NULL) {
		struct ibv_qp *qp = NULL;
		uint32_t bytes = INLINE_CANDIDATES_MAX;
		while ((qp = probe_pair(pd, cq, bytes)) == NULL && bytes > 0)
			bytes = bytes <= 16 ? 0 : bytes / 2;
		if (qp != NULL) {
			out->max_inline = bytes;
			query_data_order(qp, out);
			ibv_destroy_qp(qp);
		}
	}
	if (cq != NULL)
		ibv_destroy_cq(cq);
	if (pd != NULL)
		ibv_dealloc_pd(pd);
}

static void query_device(const struct ibv_device_attr *device, struct tako_verbs_device *out)
{
	out->max_queue_pairs = (uint32_t)device->max_qp;
	out->max_regions = (uint32_t)device->max_mr;
	out->max_queue_pair_work = (uint32_t)device->max_qp_wr;
	out->max_scatter_gather = (uint32_t)device->max_sge;
	out->max_completions = (uint32_t)device->max_cqe;
	out->max_reads = (uint32_t)device->max_qp_rd_atom;
	out->max_region_bytes = device->max_mr_size;
	if (device->atomic_cap != IBV_ATOMIC_NONE)
		out->flags |= TAKO_VERBS_ATOMICS;
	if ((device->device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B) != 0)
		out->flags |= TAKO_VERBS_WINDOWS_2B;
}

int tako_verbs_query(struct ibv_context *context, uint8_t port, struct tako_verbs_device *out)
{
	struct ibv_device_attr device;
	struct ibv_port_attr attributes;
	memset(out, 0, sizeof(*out));
	if (ibv_query_device(context, &device) != 0 ||
	    ibv_query_port(context, port, &attributes) != 0)
		return -errno;
	snprintf((char *)out->name, sizeof(out->name), "%s", ibv_get_device_name(context->device));
	out->port = port;
	out->port_state = (uint32_t)attributes.state;
	out->link_layer = attributes.link_layer == IBV_LINK_LAYER_ETHERNET
			      ? IBV_LINK_LAYER_ETHERNET
			      : IBV_LINK_LAYER_INFINIBAND;
	out->active_mtu = 128U << attributes.active_mtu; /* IBV_MTU_256 is 1 */
	query_device(&device, out);
	query_gid(context, attributes.gid_tbl_len, out);
	query_pair(context, out);
	return 0;
}

/* Adds the ports of one device from `found` on; returns how many there are now. */
static int query_ports(struct ibv_device *device, struct tako_verbs_device *out, int found, int max)
{
	struct ibv_device_attr attributes;
	struct ibv_context *context = ibv_open_device(device);
	if (context == NULL)
		return -errno;
	if (ibv_query_device(context, &attributes) == 0) {
		for (int port = 1; port <= attributes.phys_port_cnt; port++, found++) {
			if (found < max)
				tako_verbs_query(context, (uint8_t)port, &out[found]);
		}
	}
	ibv_close_device(context);
	return found;
}

int tako_verbs_devices(struct tako_verbs_device *out, int max)
{
	int count = 0;
	struct ibv_device **devices = ibv_get_device_list(&count);
	if (devices == NULL)
		/* ENOSYS: the kernel has no verbs at all, so there is no device. */
		return errno == ENOSYS ? 0 : -errno;
	int found = 0;
	for (int i = 0; i < count && found >= 0; i++)
		found = query_ports(devices[i], out, found, max);
	ibv_free_device_list(devices);
	return found;
}

/* 0 or the errno of what failed. */
static int register_page(struct ibv_context *context, void *page, size_t length)
{
	struct ibv_pd *pd = ibv_alloc_pd(context);
	if (pd == NULL)
		return errno;
	struct ibv_mr *mr = ibv_reg_mr(pd, page, length, IBV_ACCESS_LOCAL_WRITE);
	int error = mr == NULL ? errno : 0;
	if (mr != NULL)
		ibv_dereg_mr(mr);
	ibv_dealloc_pd(pd);
	return error;
}

int tako_verbs_register_huge_page(struct ibv_context *context, uint64_t length)
{
	void *page = mmap(NULL, length, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (page == MAP_FAILED)
		return -errno;
	int error = register_page(context, page, length);
	munmap(page, length);
	return -error;
}
