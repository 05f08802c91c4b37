// SPDX-License-Identifier: Apache-2.0

// To be preloaded. Holds up UCX's asynchronous thread, now and then, between being told of events and handling them, as
// a busy machine may, and counts how many of the connections that it was told it can write to were closed meanwhile. Says
// "@events" and what has been seen when the process ends.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_EVENTS 64
#define HELD_UP_MICROS 6000

static unsigned writable, late;

static ino_t inode(int descriptor)
{
    struct stat status;
    return fstat(descriptor, &status) == 0 ? status.st_ino : 0;
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
    printf("@events %u of %u\n", late, writable);
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
        if (events[i].events == EPOLLOUT && before[i] != 0) {
            writable++;
            late += inode(events[i].data.fd) != before[i];
        }
    }
    return count;
}
