/* Loading of this library by the JVM: twice, once for Tako's own natives and once for DiSNI's. */
#define _GNU_SOURCE
#include "disni.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void disni_throw(JNIEnv *env, const char *what, int error)
{
	char text[256];
	char reason[128];
	jclass exception = (*env)->FindClass(env, "java/io/IOException");
	if (exception == NULL)
		return;
	snprintf(text, sizeof(text), "%s: %s (errno %d)", what,
		 strerror_r(error, reason, sizeof(reason)), error);
	(*env)->ThrowNew(env, exception, text);
}

int disni_check(JNIEnv *env, const char *what, int result)
{
	if (result < 0)
		disni_throw(env, what, -result);
	return result;
}

/*
 * DiSNI reads the addresses of buffers from a class of java.base that is exported to nobody. Its
 * module exports it here, so that no user has to start the JVM with a flag for it.
 */
static int export_buffer_addresses(JNIEnv *env)
{
	jclass object = (*env)->FindClass(env, "java/lang/Object");
	jclass class = (*env)->FindClass(env, "java/lang/Class");
	jclass module = (*env)->FindClass(env, "java/lang/Module");
	if (object == NULL || class == NULL || module == NULL)
		return -1;
	jmethodID get_module = (*env)->GetMethodID(env, class, "getModule", "()Ljava/lang/Module;");
	jmethodID add_exports =
	    (*env)->GetMethodID(env, module, "implAddExportsToAllUnnamed", "(Ljava/lang/String;)V");
	jstring package = (*env)->NewStringUTF(env, "sun.nio.ch");
	if (get_module == NULL || add_exports == NULL || package == NULL)
		return -1;
	jobject base = (*env)->CallObjectMethod(env, object, get_module);
	if ((*env)->ExceptionCheck(env))
		return -1;
	(*env)->CallVoidMethod(env, base, add_exports, package);
	return (*env)->ExceptionCheck(env) ? -1 : 0;
}

/*
 * DiSNI calls System.loadLibrary("disni"). The JVM looks among the symbols of the process for
 * JNI_OnLoad_disni first, as for a library linked into its executable, and finds the one below once
 * our symbols are visible to all: so no file of that name is needed, nor a library path.
 */
static int offer_disni(void)
{
	Dl_info self;
	if (dladdr((void *)(uintptr_t)&offer_disni, &self) == 0)
		return -1;
	return dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL) == NULL ? -1 : 0;
}

__attribute__((visibility("default"))) jint JNI_OnLoad(JavaVM *vm, UNUSED void *reserved)
{
	JNIEnv *env = NULL;
	if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_8) != JNI_OK)
		return JNI_ERR;
	if (tako_register_control(env) != 0 || export_buffer_addresses(env) != 0 ||
	    offer_disni() != 0)
		return JNI_ERR;
	return JNI_VERSION_1_8;
}

/* Runs inside the static initializer of DiSNI's class. */
__attribute__((visibility("default"))) jint JNI_OnLoad_disni(JavaVM *vm, void *reserved);

jint JNI_OnLoad_disni(JavaVM *vm, UNUSED void *reserved)
{
	JNIEnv *env = NULL;
	if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_8) != JNI_OK)
		return JNI_ERR;
	jclass dispatcher = (*env)->FindClass(env, "com/ibm/disni/verbs/impl/NativeDispatcher");
	if (dispatcher == NULL)
		return JNI_ERR;
	if ((*env)->RegisterNatives(env, dispatcher, disni_connection_methods,
				    disni_connection_method_count) != 0 ||
	    (*env)->RegisterNatives(env, dispatcher, disni_resource_methods,
				    disni_resource_method_count) != 0)
		return JNI_ERR;
	return JNI_VERSION_1_8;
}
