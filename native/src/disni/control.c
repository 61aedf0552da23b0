/* Control path functions that DiSNI lacks: the natives of io.takofs.jni.NativeControl. */
#include "disni.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "layout_hash.h"
#include "tako/verbs_control.h"

static jlong layout_hash(ARGS)
{
	return (jlong)TAKO_LAYOUT_HASH;
}

static jint devices(ARGS, jlong out, jint max)
{
	return tako_verbs_devices(pointer(out), max);
}

/* The device and port that an identifier was bound or resolved to; ENODEV if it has none yet. */
static jint query(ARGS, jlong id, jlong out)
{
	struct rdma_cm_id *cm_id = pointer(id);
	struct tako_verbs_device *device = pointer(out);
	if (cm_id->verbs == NULL)
		return -ENODEV;
	int error = tako_verbs_query(cm_id->verbs, cm_id->port_num, device);
	device->context = (uint64_t)(uintptr_t)cm_id->verbs;
	return error;
}

static jint register_huge_page(ARGS, jlong context, jlong length)
{
	return tako_verbs_register_huge_page(pointer(context), (uint64_t)length);
}

static jint event(ARGS, jlong id, jlong out)
{
	memcpy(pointer(out), &tako_cm_slot(pointer(id))->event, sizeof(struct tako_verbs_event));
	return 0;
}

static jint stage_pair(ARGS, jlong id, jint max_sge)
{
	return tako_cm_stage_pair(pointer(id), (uint32_t)max_sge);
}

static jint stage_accept(ARGS, jlong id, jlong data, jint length)
{
	return tako_cm_stage_accept(pointer(id), pointer(data), (uint32_t)length);
}

static jint reject(ARGS, jlong id, jlong data, jint length)
{
	if (length < 0 || length > TAKO_VERBS_REJECT_DATA_MAX)
		return -EINVAL;
	return rdma_reject(pointer(id), pointer(data), (uint8_t)length) == 0 ? 0 : -errno;
}

static jint create_wakeup(ARGS)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return fd >= 0 ? fd : -errno;
}

static jint wakeup(ARGS, jint fd)
{
	const uint64_t one = 1;
	return write(fd, &one, sizeof(one)) == (ssize_t)sizeof(one) ? 0 : -errno;
}

static jint close_wakeup(ARGS, jint fd)
{
	return close(fd) == 0 ? 0 : -errno;
}

static jint await_event(ARGS, jlong channel, jint wakeup_fd, jint timeout_ms)
{
	return tako_cm_await(((struct rdma_event_channel *)pointer(channel))->fd, wakeup_fd,
			     timeout_ms);
}

/* The file descriptor of a completion channel, which it makes non-blocking. */
static jint channel_fd(ARGS, jlong channel)
{
	int fd = ((struct ibv_comp_channel *)pointer(channel))->fd;
	int flags = fcntl(fd, F_GETFL);
	return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 ? fd : -errno;
}

int tako_register_control(JNIEnv *env)
{
	const JNINativeMethod methods[] = {
	    NATIVE("layoutHash", "()J", layout_hash),
	    NATIVE("devices", "(JI)I", devices),
	    NATIVE("query", "(JJ)I", query),
	    NATIVE("registerHugePage", "(JJ)I", register_huge_page),
	    NATIVE("event", "(JJ)I", event),
	    NATIVE("stagePair", "(JI)I", stage_pair),
	    NATIVE("stageAccept", "(JJI)I", stage_accept),
	    NATIVE("reject", "(JJI)I", reject),
	    NATIVE("createWakeup", "()I", create_wakeup),
	    NATIVE("wakeup", "(I)I", wakeup),
	    NATIVE("closeWakeup", "(I)I", close_wakeup),
	    NATIVE("awaitEvent", "(JII)I", await_event),
	    NATIVE("channelDescriptor", "(J)I", channel_fd),
	};
	jclass control = (*env)->FindClass(env, "io/takofs/jni/NativeControl");
	if (control == NULL)
		return -1;
	return (*env)->RegisterNatives(env, control, methods,
				       (jint)(sizeof(methods) / sizeof(methods[0])));
}
