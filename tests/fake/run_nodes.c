/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a program as several processes that nodes.c joins, as mpirun starts processes of MPI.
 *
 *   run_nodes -n COUNT [-s SEED] [-d MICROSECONDS] PROGRAM ARGUMENT...
 *
 * -d is the longest time for which a message is held back. Process 0 alone has the standard input.
 * The exit status is the first that is not 0. A process that dies does not end the others, as with
 * srun.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 64 };

static int sockets[MOST][MOST]; /* sockets[a][b]: the end that process a has of the pair (a, b) */
static pid_t pids[MOST];
static int size, seed, delay;

static void die(const char *what)
{
    perror(what);
    exit(2);
}

/* A descriptor that no program's own numbers meet. */
static int move_up(int fd)
{
    int high = fcntl(fd, F_DUPFD, 200);
    if (high < 0)
        die("fcntl");
    close(fd);
    return high;
}

static void connect_all(void)
{
    for (int a = 0; a < size; a++)
        for (int b = 0; b < a; b++) {
            int pair[2];
            if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
                die("socketpair");
            sockets[a][b] = move_up(pair[0]);
            sockets[b][a] = move_up(pair[1]);
        }
    for (int a = 0; a < size; a++)
        sockets[a][a] = -1;
}

/* In process `rank`, before its program: keeps its own sockets alone. */
static void become(int rank, int abort_fd, char **command)
{
    char text[1024], number[16];
    int at = snprintf(text, sizeof(text), "%d:%d:%d:%d:%d:", rank, size, seed, delay, abort_fd);
    for (int k = 0; k < size; k++) {
        at += snprintf(text + at, sizeof(text) - (size_t)at, k ? ",%d" : "%d", sockets[rank][k]);
        for (int a = 0; a < size; a++)
            if (a != rank && a != k)
                close(sockets[a][k]);
    }
    snprintf(number, sizeof(number), "%d", size);
    setenv("KMM_FAKE_NODES", text, 1);
    setenv("PMI_SIZE", number, 1);
    snprintf(number, sizeof(number), "%d", rank);
    setenv("PMI_RANK", number, 1);
    setenv("KMM_TRANSPORT", KMM_TEST_PLUGIN, 0);
    int nothing = open("/dev/null", O_RDONLY);
    if (rank && dup2(nothing, 0) < 0)
        die("dup2");
    close(nothing);
    execvp(command[0], command);
    die(command[0]);
}

static void end_all(void)
{
    for (int k = 0; k < size; k++)
        if (pids[k] > 0)
            kill(pids[k], SIGKILL);
}

/* Takes the statuses of processes that have ended. Returns how many are left. */
static int reap(int *status)
{
    int left = 0, s;
    for (int k = 0; k < size; k++) {
        if (pids[k] > 0 && waitpid(pids[k], &s, WNOHANG) == pids[k]) {
            pids[k] = 0;
            if (!*status && s)
                *status = WIFEXITED(s) ? WEXITSTATUS(s) : 128 + WTERMSIG(s);
        }
        left += pids[k] > 0;
    }
    return left;
}

static int watch(int abort_fd)
{
    struct pollfd fd = {abort_fd, POLLIN, 0};
    int status = 0;
    while (reap(&status)) {
        unsigned char byte;
        if (poll(&fd, 1, 20) <= 0)
            continue;
        if (fd.revents & POLLIN && read(abort_fd, &byte, 1) == 1) {
            status = byte ? byte : 1;
            end_all();
        } else {
            fd.fd = -1;
        }
    }
    return status;
}

int main(int argc, char **argv)
{
    int abort_pipe[2];
    for (int option; (option = getopt(argc, argv, "+n:s:d:")) != -1;)
        switch (option) {
        case 'n': size = atoi(optarg); break;
        case 's': seed = atoi(optarg); break;
        case 'd': delay = atoi(optarg); break;
        default: return 2;
        }
    if (size < 1 || size > MOST || optind == argc)
        return 2;
    if (pipe(abort_pipe))
        die("pipe");
    connect_all();
    int abort_fd = move_up(abort_pipe[1]);
    for (int k = 0; k < size; k++) {
        if ((pids[k] = fork()) < 0)
            die("fork");
        if (pids[k] == 0) {
            close(abort_pipe[0]);
            become(k, abort_fd, argv + optind);
        }
    }
    for (int a = 0; a < size; a++)
        for (int b = 0; b < size; b++)
            if (a != b)
                close(sockets[a][b]);
    close(abort_fd);
    return watch(abort_pipe[0]);
}
