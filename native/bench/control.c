#include "control.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void control_pair(int sockets[2])
{
	require(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0, "making sockets");
}

static struct sockaddr_in parse(const char *text)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	char host[INET_ADDRSTRLEN] = {0};
	const char *colon = strchr(text, ':');
	require(colon != NULL && (size_t)(colon - text) < sizeof(host), "reading HOST:PORT");
	memcpy(host, text, (size_t)(colon - text));
	address.sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
	require(inet_pton(AF_INET, host, &address.sin_addr) == 1, "reading HOST:PORT");
	return address;
}

static int stream_socket(void)
{
	int descriptor = socket(AF_INET, SOCK_STREAM, 0);
	require(descriptor >= 0, "making a socket");
	return descriptor;
}

int control_listen(const char *text)
{
	struct sockaddr_in address = parse(text);
	int listener = stream_socket();
	const int on = 1;
	(void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	require(bind(listener, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
		    listen(listener, 1) == 0,
		"listening");
	return listener;
}

static int without_delay(int descriptor)
{
	const int on = 1;
	(void)setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return descriptor;
}

int control_accept(int listener)
{
	int descriptor = accept(listener, NULL, NULL);
	require(descriptor >= 0, "accepting");
	return without_delay(descriptor);
}

int control_connect(const char *text)
{
	struct sockaddr_in address = parse(text);
	int descriptor = stream_socket();
	require(connect(descriptor, (const struct sockaddr *)&address, sizeof(address)) == 0,
		"connecting to the server");
	return without_delay(descriptor);
}

static void put(int control, const void *bytes, size_t size)
{
	require(send(control, bytes, size, MSG_NOSIGNAL) == (ssize_t)size,
		"sending to the other side");
}

static bool get(int control, void *bytes, size_t size)
{
	return recv(control, bytes, size, MSG_WAITALL) == (ssize_t)size;
}

void swap(int control, const void *mine, void *theirs, size_t size)
{
	put(control, mine, size);
	require(get(control, theirs, size), "hearing from the other side");
}

void control_tell(int control, const char *text)
{
	char message[CONTROL_TEXT_MAX] = {0};
	require(strlen(text) < sizeof(message), "a short text");
	memcpy(message, text, strlen(text));
	put(control, message, sizeof(message));
}

void control_hear(int control, char *text)
{
	require(get(control, text, CONTROL_TEXT_MAX) && text[CONTROL_TEXT_MAX - 1] == 0,
		"hearing from the client");
}

struct service {
	struct bench *bench;
	int control;
};

static void *answer_client(void *argument)
{
	const struct service *service = argument;
	struct bench *bench = service->bench;
	uint8_t question;
	while (get(service->control, &question, sizeof(question))) {
		int64_t cpu = cpu_ns(bench, SERVER);
		put(service->control, &cpu, sizeof(cpu));
	}
	__atomic_store_n(&bench->stopped, 1, __ATOMIC_RELEASE);
	wake(bench, SERVER);
	return NULL;
}

void control_serve(struct bench *bench, int control)
{
	static struct service service; /* one a process */
	pthread_t thread;
	service = (struct service){.bench = bench, .control = control};
	require(pthread_create(&thread, NULL, answer_client, &service) == 0, "starting a thread");
	require(pthread_detach(thread) == 0, "starting a thread");
}

int64_t control_server_cpu_ns(int control)
{
	const uint8_t question = 0;
	int64_t cpu;
	put(control, &question, sizeof(question));
	require(get(control, &cpu, sizeof(cpu)), "asking the server for its time");
	return cpu;
}
