/* The table between Java and the data path of the verbs transport; knows nothing else. */
#include "verbs_jni.h"

#include <errno.h>
#include <stdint.h>

#include "tako/verbs.h"

#define UNUSED __attribute__((unused))
#define ARGS UNUSED JNIEnv *env, UNUSED jclass self

static void *pointer(jlong address)
{
	return (void *)(uintptr_t)address;
}

static jint load(ARGS)
{
	return tako_device_ibverbs() != NULL ? 0 : -ENOSYS;
}

static jlong cq_size(ARGS)
{
	return tako_verbs_cq_size();
}

static jint cq_init(ARGS, jlong cq, jlong device_cq, jlong channel, jlong ring, jint ring_entries,
		    jint spin_ns)
{
	return tako_verbs_cq_init(pointer(cq), tako_device_ibverbs(), pointer(device_cq),
				  pointer(channel), pointer(ring), (uint32_t)ring_entries,
				  (uint32_t)spin_ns);
}

static jint cq_close(ARGS, jlong cq)
{
	return tako_verbs_cq_close(pointer(cq));
}

static jint cq_resize(ARGS, jlong cq, jint entries)
{
	return tako_verbs_cq_resize(pointer(cq), (uint32_t)entries);
}

static jint cq_poll(ARGS, jlong cq)
{
	return tako_verbs_cq_poll(pointer(cq));
}

static jint cq_await(ARGS, jlong cq, jlong timeout_ns)
{
	return tako_verbs_cq_await(pointer(cq), timeout_ns);
}

static jint cq_wake(ARGS, jlong cq)
{
	return tako_verbs_cq_wake(pointer(cq));
}

static jlong qp_size(ARGS, jint max_sends, jint max_receives)
{
	return tako_verbs_qp_size((uint32_t)max_sends, (uint32_t)max_receives);
}

static jint qp_init(ARGS, jlong qp, jlong device_qp, jlong send_queue, jint send_slot,
		    jlong receive_queue, jint receive_slot, jint generation, jint max_sends,
		    jint max_receives, jint inline_max)
{
	const struct tako_verbs_qp_config config = {.ops = tako_device_ibverbs(),
						    .device_qp = pointer(device_qp),
						    .send_queue = pointer(send_queue),
						    .receive_queue = pointer(receive_queue),
						    .send_slot = (uint32_t)send_slot,
						    .receive_slot = (uint32_t)receive_slot,
						    .generation = (uint32_t)generation,
						    .max_sends = (uint32_t)max_sends,
						    .max_receives = (uint32_t)max_receives,
						    .inline_max = (uint32_t)inline_max};
	return tako_verbs_qp_init(pointer(qp), &config);
}

static jint qp_post(ARGS, jlong qp, jlong work, jint count)
{
	return tako_verbs_qp_post(pointer(qp), pointer(work), (uint32_t)count);
}

static jint qp_post_receive(ARGS, jlong qp, jlong id)
{
	const uint64_t ids[1] = {(uint64_t)id};
	return tako_verbs_qp_post_receives(pointer(qp), ids, 1);
}

static jint qp_fail(ARGS, jlong qp, jint state)
{
	return tako_verbs_qp_fail(pointer(qp), (uint32_t)state);
}

static jint qp_end(ARGS, jlong qp)
{
	return tako_verbs_qp_end(pointer(qp));
}

static jlong window_allocate(ARGS, jlong pd)
{
	return tako_verbs_window_allocate(tako_device_ibverbs(), pointer(pd));
}

static jint window_rkey(ARGS, jlong mw)
{
	return (jint)((struct ibv_mw *)pointer(mw))->rkey;
}

static jint window_free(ARGS, jlong mw)
{
	return tako_verbs_window_free(tako_device_ibverbs(), pointer(mw));
}

#define NATIVE(name, signature, function)                                                          \
	{                                                                                          \
		(char *)(name), (char *)(signature), (void *)(function)                            \
	}

jint tako_register_verbs(JNIEnv *env)
{
	const JNINativeMethod methods[] = {
	    NATIVE("load", "()I", load),
	    NATIVE("queueSize", "()J", cq_size),
	    NATIVE("initQueue", "(JJJJII)I", cq_init),
	    NATIVE("closeQueue", "(J)I", cq_close),
	    NATIVE("resizeQueue", "(JI)I", cq_resize),
	    NATIVE("poll", "(J)I", cq_poll),
	    NATIVE("await", "(JJ)I", cq_await),
	    NATIVE("wake", "(J)I", cq_wake),
	    NATIVE("pairSize", "(II)J", qp_size),
	    NATIVE("initPair", "(JJJIJIIIII)I", qp_init),
	    NATIVE("post", "(JJI)I", qp_post),
	    NATIVE("postReceive", "(JJ)I", qp_post_receive),
	    NATIVE("fail", "(JI)I", qp_fail),
	    NATIVE("end", "(J)I", qp_end),
	    NATIVE("allocateWindow", "(J)J", window_allocate),
	    NATIVE("windowKey", "(J)I", window_rkey),
	    NATIVE("freeWindow", "(J)I", window_free),
	};
	jclass core = (*env)->FindClass(env, "io/takofs/jni/VerbsCore");
	if (core == NULL)
		return JNI_ERR;
	jint count = (jint)(sizeof(methods) / sizeof(methods[0]));
	return (*env)->RegisterNatives(env, core, methods, count) == 0 ? 0 : JNI_ERR;
}
