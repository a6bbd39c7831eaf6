/* Preloaded into a program, this shifts its wall clock and fails its syncs, as a control file in shared memory orders. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Keep in step with shim.py. */
struct control {
    int64_t clock_offset;  /* seconds that are added to the wall clock */
    int64_t fail_each;     /* each so many-th sync fails with EIO; 0: none fails */
    int64_t syncs;         /* syncs so far */
    int64_t failed;        /* syncs that failed by order */
};

static struct control nothing;
static struct control *control = &nothing;

__attribute__((constructor)) static void attach(void) {
    const char *path = getenv("A2A_PROOF_CONTROL");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *found = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (found != MAP_FAILED)
        control = found;
    close(file);
}

static int64_t offset(void) {
    return __atomic_load_n(&control->clock_offset, __ATOMIC_RELAXED);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int code = (int)syscall(SYS_clock_gettime, clock, now);
    if (code == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += offset();
    return code;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int code = (int)syscall(SYS_gettimeofday, now, zone);
    if (code == 0 && now)
        now->tv_sec += offset();
    return code;
}

time_t time(time_t *stored) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (stored)
        *stored = now.tv_sec;
    return now.tv_sec;
}

/* The kernel's clock is not shifted, so a deadline by the shifted clock is shifted back. */
int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict deadline) {
    static int (*next)(sem_t *, const struct timespec *);
    if (!next)
        next = (int (*)(sem_t *, const struct timespec *))dlsym(RTLD_NEXT, "sem_timedwait");
    struct timespec real = {.tv_sec = deadline->tv_sec - offset(), .tv_nsec = deadline->tv_nsec};
    return next(semaphore, &real);
}

static int fails(void) {
    int64_t each = __atomic_load_n(&control->fail_each, __ATOMIC_RELAXED);
    int64_t count = __atomic_add_fetch(&control->syncs, 1, __ATOMIC_RELAXED);
    if (each == 0 || count % each != 0)
        return 0;
    __atomic_add_fetch(&control->failed, 1, __ATOMIC_RELAXED);
    errno = EIO;
    return 1;
}

int fsync(int file) {
    return fails() ? -1 : (int)syscall(SYS_fsync, file);
}

int fdatasync(int file) {
    return fails() ? -1 : (int)syscall(SYS_fdatasync, file);
}
