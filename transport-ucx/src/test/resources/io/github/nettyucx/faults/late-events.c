// SPDX-License-Identifier: Apache-2.0

// To be preloaded. Holds up UCX's asynchronous thread, now and then, between being told of events and handling them, as
// a busy machine may; and says "@wrong" if a connection that it was told it can write to was closed meanwhile, and its
// number is that of a connection accepted since, or stays free for one. That another thread is just about to take the
// number, or that somebody else has it, is no danger to UCX. Says "@events" and what has been seen when the process ends.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_EVENTS 64
#define HELD_UP_MICROS 6000
#define MOST_DESCRIPTORS 65536
#define CHECKS 40
#define BETWEEN_CHECKS_MICROS 50

static unsigned writable, closed;
static unsigned accepted[MOST_DESCRIPTORS];

static ino_t inode(int descriptor)
{
    struct stat status;
    return fstat(descriptor, &status) == 0 ? status.st_ino : 0;
}

static unsigned times_accepted(int descriptor)
{
    return descriptor < MOST_DESCRIPTORS ? __atomic_load_n(&accepted[descriptor], __ATOMIC_ACQUIRE) : 0;
}

static int count_accepted(int descriptor)
{
    if (descriptor >= 0 && descriptor < MOST_DESCRIPTORS) {
        __atomic_add_fetch(&accepted[descriptor], 1, __ATOMIC_RELEASE);
    }
    return descriptor;
}

int accept(int listener, struct sockaddr *address, socklen_t *length)
{
    static int (*real)(int, struct sockaddr*, socklen_t*);

    if (real == NULL) {
        real = dlsym(RTLD_NEXT, "accept");
    }
    return count_accepted(real(listener, address, length));
}

int accept4(int listener, struct sockaddr *address, socklen_t *length, int flags)
{
    static int (*real)(int, struct sockaddr*, socklen_t*, int);

    if (real == NULL) {
        real = dlsym(RTLD_NEXT, "accept4");
    }
    return count_accepted(real(listener, address, length, flags));
}

static int stays_free(int descriptor)
{
    int i;

    for (i = 0; i < CHECKS; i++) {
        if (inode(descriptor) != 0) {
            return 0;
        }
        usleep(BETWEEN_CHECKS_MICROS);
    }
    return 1;
}

static int is_asynchronous_thread(void)
{
    static __thread int is;
    char name[17] = "";
    if (!is) {
        prctl(PR_GET_NAME, name);
        is = strcmp(name, "async") == 0;
    }
    return is;
}

/* How many events have been for connections that were closed meanwhile. */
unsigned late_events(void)
{
    return __atomic_load_n(&closed, __ATOMIC_RELAXED);
}

__attribute__((destructor)) static void report(void)
{
    printf("@events %u of %u\n", closed, writable);
    fflush(stdout);
}

int epoll_wait(int set, struct epoll_event *events, int most, int timeout)
{
    static int (*real)(int, struct epoll_event*, int, int);
    static __thread unsigned seed = 1;
    ino_t before[MOST_EVENTS];
    unsigned accepted_before[MOST_EVENTS];
    int count, i;

    if (real == NULL) {
        real = dlsym(RTLD_NEXT, "epoll_wait");
    }
    count = real(set, events, most, timeout);
    if (count <= 0 || count > MOST_EVENTS || !is_asynchronous_thread() || rand_r(&seed) % 2 == 0) {
        return count;
    }
    for (i = 0; i < count; i++) {
        before[i] = inode(events[i].data.fd);
        accepted_before[i] = times_accepted(events[i].data.fd);
    }
    usleep(rand_r(&seed) % HELD_UP_MICROS);
    for (i = 0; i < count; i++) {
        int descriptor = events[i].data.fd;
        if (events[i].events != EPOLLOUT || before[i] == 0) {
            continue;
        }
        writable++;
        if (inode(descriptor) != before[i]) {
            __atomic_add_fetch(&closed, 1, __ATOMIC_RELAXED);
            if (stays_free(descriptor) || times_accepted(descriptor) != accepted_before[i]) {
                printf("@wrong: a late event for %d\n", descriptor);
                fflush(stdout);
            }
        }
    }
    return count;
}
