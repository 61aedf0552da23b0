/* The one table between Java and the native core; the only file that knows Java. */
#include <jni.h>

#include <errno.h>
#include <stdint.h>

#include "layout_hash.h"
#include "tako/core.h"
#ifdef TAKO_WITH_VERBS
#include "verbs_jni.h"
#endif

enum { GRANULES_MAX = 16 }; /* of one call, as NativeCore says */

#define UNUSED __attribute__((unused))
#define ARGS UNUSED JNIEnv *env, UNUSED jclass self

static void *pointer(jlong address)
{
	return (void *)(uintptr_t)address;
}

static jlong layout_hash(ARGS)
{
	return (jlong)TAKO_LAYOUT_HASH;
}

/* A buffer over memory that Java keeps mapped for as long as the buffer lives. */
static jobject view(JNIEnv *env, UNUSED jclass self, jlong address, jint length)
{
	return (*env)->NewDirectByteBuffer(env, pointer(address), length);
}

static jint open_file(ARGS, jlong path, jint flags)
{
	return tako_open(pointer(path), (unsigned)flags);
}

static jint close_file(ARGS, jint fd)
{
	return tako_close(fd);
}

static jint allocate(ARGS, jint fd, jlong length)
{
	return tako_allocate(fd, (uint64_t)length);
}

static jint lock(ARGS, jint fd, jint operation, jlong offset, jlong length)
{
	return tako_lock(fd, (enum tako_lock_operation)operation, (uint64_t)offset,
			 (uint64_t)length);
}

static jlong map(ARGS, jint fd, jlong offset, jlong length, jint flags)
{
	return tako_map(fd, (uint64_t)offset, (uint64_t)length, (unsigned)flags);
}

static jint unmap(ARGS, jlong address, jlong length, jint keep_range)
{
	return keep_range != 0 ? tako_discard((uint64_t)address, (uint64_t)length)
			       : tako_unmap((uint64_t)address, (uint64_t)length);
}

/*
 * Buffers here are direct. An array is never pinned, by what is called a critical section: the
 * collector could not run meanwhile, and other threads of a JVM with little memory would be told
 * that there is none left. Its bytes are copied instead, a granule at a time, so that the copy
 * stays in the first-level cache.
 */
static uint8_t *direct(JNIEnv *env, jobject buffer, jint at)
{
	uint8_t *address = buffer == NULL ? NULL : (*env)->GetDirectBufferAddress(env, buffer);
	return address + at;
}

static jint populate(JNIEnv *env, UNUSED jclass self, jobject memory, jint at, jint length)
{
	return tako_populate((uint64_t)(uintptr_t)direct(env, memory, at), (uint64_t)length);
}

static jint persist(ARGS, jlong address, jlong length, jint synchronous)
{
	return tako_persist((uint64_t)address, (uint64_t)length, synchronous);
}

static void store(JNIEnv *env, UNUSED jclass self, jobject to, jint at, jobject from, jint offset,
		  jint length)
{
	tako_store(direct(env, to, at), direct(env, from, offset), (size_t)length);
}

static jint checksums(JNIEnv *env, UNUSED jclass self, jobject buffer, jint offset, jint count,
		      jintArray crcs)
{
	uint32_t out[GRANULES_MAX];
	jint result = tako_checksums(direct(env, buffer, offset), (size_t)count, out);
	(*env)->SetIntArrayRegion(env, crcs, 0, count, (jint *)out);
	return result;
}

static jint copy_checksums(JNIEnv *env, UNUSED jclass self, jobject to, jint at, jobject from,
			   jint offset, jint count, jintArray crcs)
{
	uint32_t out[GRANULES_MAX];
	jint result =
	    tako_copy_checksums(direct(env, to, at), direct(env, from, offset), (size_t)count, out);
	(*env)->SetIntArrayRegion(env, crcs, 0, count, (jint *)out);
	return result;
}

static jint store_checksums(JNIEnv *env, UNUSED jclass self, jobject to, jint at, jobject from,
			    jint offset, jint count, jintArray crcs)
{
	uint32_t out[GRANULES_MAX];
	jint result = tako_store_checksums(direct(env, to, at), direct(env, from, offset),
					   (size_t)count, out);
	(*env)->SetIntArrayRegion(env, crcs, 0, count, (jint *)out);
	return result;
}

static jint copy_to_array(JNIEnv *env, UNUSED jclass self, jbyteArray to, jint at, jobject from,
			  jint offset, jint count, jintArray crcs)
{
	_Alignas(64) uint8_t granule[TAKO_GRANULE_SIZE];
	const uint8_t *bytes = direct(env, from, offset);
	uint32_t out[GRANULES_MAX];
	int result = 0;
	for (jint i = 0; i < count && result == 0; i++) {
		result =
		    tako_copy_checksums(granule, bytes + (size_t)i * TAKO_GRANULE_SIZE, 1, &out[i]);
		(*env)->SetByteArrayRegion(env, to, at + i * TAKO_GRANULE_SIZE, TAKO_GRANULE_SIZE,
					   (jbyte *)granule);
	}
	(*env)->SetIntArrayRegion(env, crcs, 0, count, (jint *)out);
	return result;
}

static jint cq_attach(ARGS, jlong cq, jint slot, jlong qp)
{
	return tako_cq_attach(pointer(cq), (uint32_t)slot, pointer(qp));
}

static jint cq_poll(ARGS, jlong cq, jlong out, jint max)
{
	return tako_cq_poll(pointer(cq), pointer(out), max);
}

static jint cq_await(ARGS, jlong cq, jlong timeout_ns)
{
	return tako_cq_await(pointer(cq), timeout_ns);
}

static jint cq_wake(ARGS, jlong cq)
{
	return tako_cq_wake(pointer(cq));
}

static jint qp_post(ARGS, jlong qp, jlong work, jint bytes)
{
	return tako_qp_post(pointer(qp), pointer(work), (uint32_t)bytes);
}

static jint qp_post_receive(ARGS, jlong qp, jlong id)
{
	return tako_qp_post_receive(pointer(qp), (uint64_t)id);
}

static jint qp_fail(ARGS, jlong qp, jint state)
{
	return tako_qp_fail(pointer(qp), (uint32_t)state);
}

#define NATIVE(name, signature, function)                                                          \
	{                                                                                          \
		(char *)(name), (char *)(signature), (void *)(function)                            \
	}

__attribute__((visibility("default"))) jint JNI_OnLoad(JavaVM *vm, void *reserved)
{
	(void)reserved;
	const JNINativeMethod methods[] = {
	    NATIVE("layoutHash", "()J", layout_hash),
	    NATIVE("view", "(JI)Ljava/nio/ByteBuffer;", view),
	    NATIVE("open", "(JI)I", open_file),
	    NATIVE("close", "(I)I", close_file),
	    NATIVE("allocate", "(IJ)I", allocate),
	    NATIVE("lock", "(IIJJ)I", lock),
	    NATIVE("map", "(IJJI)J", map),
	    NATIVE("unmap", "(JJI)I", unmap),
	    NATIVE("populate", "(Ljava/nio/ByteBuffer;II)I", populate),
	    NATIVE("persist", "(JJI)I", persist),
	    NATIVE("store", "(Ljava/nio/ByteBuffer;ILjava/nio/ByteBuffer;II)V", store),
	    NATIVE("checksums", "(Ljava/nio/ByteBuffer;II[I)I", checksums),
	    NATIVE("copyChecksums", "(Ljava/nio/ByteBuffer;ILjava/nio/ByteBuffer;II[I)I",
		   copy_checksums),
	    NATIVE("copyToArray", "([BILjava/nio/ByteBuffer;II[I)I", copy_to_array),
	    NATIVE("storeChecksums", "(Ljava/nio/ByteBuffer;ILjava/nio/ByteBuffer;II[I)I",
		   store_checksums),
	    NATIVE("attach", "(JIJ)I", cq_attach),
	    NATIVE("poll", "(JJI)I", cq_poll),
	    NATIVE("await", "(JJ)I", cq_await),
	    NATIVE("wake", "(J)I", cq_wake),
	    NATIVE("post", "(JJI)I", qp_post),
	    NATIVE("postReceive", "(JJ)I", qp_post_receive),
	    NATIVE("fail", "(JI)I", qp_fail),
	};
	JNIEnv *env = NULL;
	if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_8) != JNI_OK)
		return JNI_ERR;
	jclass core = (*env)->FindClass(env, "io/takofs/jni/NativeCore");
	if (core == NULL)
		return JNI_ERR;
	jint count = (jint)(sizeof(methods) / sizeof(methods[0]));
	if ((*env)->RegisterNatives(env, core, methods, count) != 0)
		return JNI_ERR;
#ifdef TAKO_WITH_VERBS
	if (tako_register_verbs(env) != 0)
		return JNI_ERR;
#endif
	return JNI_VERSION_1_8;
}
