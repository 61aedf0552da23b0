/* Natives of DiSNI: shared declarations. */
#ifndef TAKO_DISNI_H
#define TAKO_DISNI_H

#include <jni.h>

#include <stdint.h>

#define UNUSED __attribute__((unused))
#define ARGS JNIEnv *env UNUSED, jobject self UNUSED

#define NATIVE(name, signature, function)                                                          \
	{                                                                                          \
		(char *)(name), (char *)(signature), (void *)(function)                            \
	}

static inline void *pointer(jlong address)
{
	return (void *)(uintptr_t)address;
}

static inline jlong address_of(const void *object)
{
	return (jlong)(uintptr_t)object;
}

/* Throws an IOException with the failed operation and the errno's meaning. */
void disni_throw(JNIEnv *env, const char *what, int error);

/* Throws unless `result`, 0 or a negated errno, is 0; returns it. */
int disni_check(JNIEnv *env, const char *what, int result);

/* Natives of com.ibm.disni.verbs.impl.NativeDispatcher, by subject. */
extern const JNINativeMethod disni_connection_methods[];
extern const int disni_connection_method_count;
extern const JNINativeMethod disni_resource_methods[];
extern const int disni_resource_method_count;

/* Natives of io.takofs.jni.NativeControl. */
int tako_register_control(JNIEnv *env);

#endif
