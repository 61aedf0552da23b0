/* The natives of io.takofs.jni.VerbsCore, for JNI_OnLoad. */
#ifndef TAKO_VERBS_JNI_H
#define TAKO_VERBS_JNI_H

#include <jni.h>

/* Returns 0, or JNI_ERR with an exception pending. */
jint tako_register_verbs(JNIEnv *env);

#endif
