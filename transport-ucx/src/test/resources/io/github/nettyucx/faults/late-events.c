// SPDX-License-Identifier: Apache-2.0

// To be preloaded. Holds up UCX's asynchronous thread, now and then, between being told of events and handling them, as
// a busy machine may; and says "@wrong" if a connection that it was told it can write to was closed meanwhile, and its
// number is another connection's or could be. Says "@events" and what has been seen when the process ends.

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

static unsigned writable, closed;

static ino_t inode(int descriptor)
{
    struct stat status;
    return fstat(descriptor, &status) == 0 ? status.st_ino : 0;
}

static int is_held(int descriptor)
{
    int domain = 0;
    socklen_t length = sizeof(domain);
    return getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_UNIX;
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
    }
    usleep(rand_r(&seed) % HELD_UP_MICROS);
    for (i = 0; i < count; i++) {
        int descriptor = events[i].data.fd;
        if (events[i].events != EPOLLOUT || before[i] == 0) {
            continue;
        }
        writable++;
        if (inode(descriptor) != before[i]) {
            closed++;
            if (!is_held(descriptor)) {
                printf("@wrong: a late event for %d\n", descriptor);
                fflush(stdout);
            }
        }
    }
    return count;
}
