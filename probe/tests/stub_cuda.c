/* A stand-in for libcuda.so.1 and libnvrtc.so, for tests without a GPU: a GPU of 108 SMs that runs the logged kernels in a
 * trivial way. Each launch writes its log at once: block b runs on SM b % 108, blocks of an SM one after the other.
 *
 * GPUSCHED_STUB_CAPABILITY=90 makes it of compute capability 9.0, with clusters. GPUSCHED_STUB_FAIL=n lets the n-th call
 * fail. GPUSCHED_STUB_REPORT=file: as the context is released, a line says which objects are still there.
 * GPUSCHED_STUB_STUCK=1: events never complete. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef uint64_t u64;
enum { SMS = 108, ILLEGAL_ADDRESS = 700, TOO_LARGE = 720, INVALID = 1 };
enum { MEMORY, PINNED, STREAMS, EVENTS, MODULES, GRAPHS, RUNNABLE, GREEN, CONTEXTS, KINDS };
static const char *names[KINDS] = {"memory", "pinned", "streams", "events", "modules", "graphs", "runnable", "green", "contexts"};
static long count[KINDS], calls;
static u64 free_at[SMS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct Module { int registers; };
struct Function { int kind; struct Module *module; };
struct Row { u64 start, end; unsigned sm, done; };
struct Node { struct Function *function; unsigned grid[3], block[3]; u64 parameters[6]; };
struct Graph { int count; struct Node nodes[64]; };

static u64 now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1700000000000000000ull + time.tv_sec * 1000000000ull + time.tv_nsec;
}

static int number(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

static int enter(void) {
    return __sync_add_and_fetch(&calls, 1) == number("GPUSCHED_STUB_FAIL", 0) ? ILLEGAL_ADDRESS : 0;
}

static void add(int kind, long by) { __sync_add_and_fetch(&count[kind], by); }

#define CALL(name, ...) int name(__VA_ARGS__) { int failed = enter(); if (failed) return failed;
#define DONE return 0; }

int cuGetErrorName(int status, const char **text) {
    *text = status == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : status == TOO_LARGE ? "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE" : "CUDA_ERROR_INVALID_VALUE";
    return 0;
}
int cuGetErrorString(int status, const char **text) { *text = status == ILLEGAL_ADDRESS ? "a made-up failure" : "of the stub"; return 0; }

CALL(cuInit, unsigned flags) DONE
CALL(cuDriverGetVersion, int *version) *version = 12040; DONE
CALL(cuDeviceGetCount, int *devices) *devices = number("GPUSCHED_STUB_DEVICES", 1); DONE
CALL(cuDeviceGet, int *device, int which) *device = which; DONE
CALL(cuDeviceGetName, char *name, int size, int device) snprintf(name, size, "Stub of an A100"); DONE
CALL(cuDeviceTotalMem_v2, size_t *bytes, int device) *bytes = 40ull << 30; DONE
CALL(cuDeviceGetAttribute, int *value, int which, int device)
    int capability = number("GPUSCHED_STUB_CAPABILITY", 80);
    switch (which) {
        case 1: *value = 1024; break;
        case 12: case 82: *value = 65536; break;
        case 13: *value = 1410000; break;
        case 16: *value = SMS; break;
        case 20: *value = number("GPUSCHED_STUB_MODE", 0); break;
        case 39: *value = 2048; break;
        case 40: *value = 3; break;
        case 75: *value = capability / 10; break;
        case 76: *value = capability % 10; break;
        case 81: *value = 167936; break;
        case 95: *value = 1; break;
        case 97: *value = 166912; break;
        case 106: *value = 32; break;
        case 120: *value = capability >= 90; break;
        default: return INVALID;
    }
DONE
CALL(cuDevicePrimaryCtxRetain, void **context, int device) *context = &count; add(CONTEXTS, 1); DONE
CALL(cuDevicePrimaryCtxRelease_v2, int device)
    add(CONTEXTS, -1);
    const char *path = getenv("GPUSCHED_STUB_REPORT");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (file) {
        for (int kind = 0; kind < KINDS; kind++) fprintf(file, "%s=%ld%c", names[kind], count[kind], kind + 1 < KINDS ? ' ' : '\n');
        fclose(file);
    }
DONE
CALL(cuCtxSetCurrent, void *context) DONE
CALL(cuCtxGetStreamPriorityRange, int *least, int *greatest) *least = 0; *greatest = -5; DONE

/* The one kernel that talks to the host runs in a thread of its own. */
static volatile unsigned *asked;
static volatile u64 *answered;
static unsigned rounds;
static pthread_t answering;
static int answers;
static void *answer(void *nothing) {
    for (unsigned round = 1; round <= rounds; round++) {
        while (*asked < round) usleep(1);
        answered[0] = now();
        __sync_synchronize();
        answered[1] = round;
    }
    return nothing;
}
static void finish(void) {
    if (answers) pthread_join(answering, NULL);
    answers = 0;
}
CALL(cuCtxSynchronize, void) finish(); DONE
CALL(cuStreamSynchronize, void *stream) finish(); DONE

CALL(cuModuleLoadData, void **module, const char *code)
    int pressure = 0, limit = 0;
    if (sscanf(code, "stub %d %d", &pressure, &limit) != 2) return INVALID;
    struct Module *made = malloc(sizeof *made);
    made->registers = 30;
    if (pressure) made->registers = pressure + 24 < limit ? pressure + 24 : limit;
    *module = made;
    add(MODULES, 1);
DONE
CALL(cuModuleUnload, void *module) free(module); add(MODULES, -1); DONE
CALL(cuModuleGetFunction, void **function, void *module, const char *name)
    struct Function *made = malloc(sizeof *made);
    made->kind = name[0];
    made->module = module;
    *function = made;
DONE
CALL(cuFuncGetAttribute, int *value, int which, struct Function *function)
    if (which != 4) return INVALID;
    *value = function->module->registers;
DONE
CALL(cuFuncSetAttribute, struct Function *function, int which, int value) DONE

static int execute(struct Function *function, const unsigned *grid, const u64 *parameters) {
    if (function->kind == 's') {
        *(u64 *)parameters[0] = 32;
    } else if (function->kind == 'a') {
        asked = (volatile unsigned *)parameters[0];
        answered = (volatile u64 *)parameters[1];
        rounds = (unsigned)parameters[2];
        answers = !pthread_create(&answering, NULL, answer, NULL);
    } else {
        struct Row *log = (struct Row *)parameters[0];
        const u64 *times = (const u64 *)parameters[1];
        pthread_mutex_lock(&lock);
        for (unsigned block = 0; block < grid[0] * grid[1] * grid[2]; block++) {
            unsigned sm = block % SMS;
            u64 begin = now();
            if (free_at[sm] > begin) begin = free_at[sm];
            free_at[sm] = begin + times[block];
            log[block] = (struct Row){begin, begin + times[block], sm, 1};
        }
        pthread_mutex_unlock(&lock);
    }
    return 0;
}
static void read_parameters(struct Function *function, void **given, u64 *parameters) {
    static const int probe[6] = {8, 8, 8, 4, 8, 8}, answer_of[6] = {8, 8, 4}, step[6] = {8, 4};
    const int *sizes = function->kind == 'p' ? probe : function->kind == 'a' ? answer_of : step;
    for (int i = 0; i < 6 && sizes[i]; i++) parameters[i] = sizes[i] == 8 ? *(u64 *)given[i] : *(unsigned *)given[i];
}
CALL(cuLaunchKernel, struct Function *function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz,
     unsigned shared, void *stream, void **given, void **extra)
    u64 parameters[6] = {0};
    if (bx * by * bz > 1024 || bx * by * bz * function->module->registers > 65536) return INVALID;
    read_parameters(function, given, parameters);
    return execute(function, (unsigned[]){x, y, z}, parameters);
}
struct Config { unsigned grid[3], block[3], shared; void *stream; struct { int id, pad; unsigned value[16]; } *attributes; unsigned count; };
CALL(cuLaunchKernelEx, const struct Config *config, struct Function *function, void **given, void **extra)
    u64 parameters[6] = {0};
    for (unsigned i = 0; i < config->count; i++) {
        if (config->attributes[i].id == 2 && config->grid[0] > SMS * (2048 / config->block[0])) return TOO_LARGE;
        if (config->attributes[i].id == 4 && config->grid[0] % config->attributes[i].value[0]) return INVALID;
    }
    read_parameters(function, given, parameters);
    return execute(function, config->grid, parameters);
}

static int stuck;
CALL(cuStreamCreateWithPriority, void **stream, unsigned flags, int priority) *stream = malloc(1); add(STREAMS, 1); DONE
CALL(cuStreamDestroy_v2, void *stream) free(stream); add(STREAMS, -1); DONE
CALL(cuStreamWaitEvent, void *stream, void *event, unsigned flags) if (!event) return INVALID; DONE
CALL(cuStreamWaitValue32_v2, void *stream, u64 address, unsigned value, unsigned flags) if (flags) return INVALID; DONE
CALL(cuStreamWriteValue32_v2, void *stream, u64 address, unsigned value, unsigned flags) *(volatile unsigned *)address = value; DONE
CALL(cuEventCreate, void **event, unsigned flags) *event = malloc(1); add(EVENTS, 1); DONE
CALL(cuEventDestroy_v2, void *event) free(event); add(EVENTS, -1); DONE
CALL(cuEventRecord, void *event, void *stream) stuck = number("GPUSCHED_STUB_STUCK", 0); DONE
CALL(cuEventSynchronize, void *event) while (stuck) sleep(1); DONE

CALL(cuMemAlloc_v2, u64 *address, size_t size) *address = (u64)calloc(1, size); add(MEMORY, 1); DONE
CALL(cuMemFree_v2, u64 address) free((void *)address); add(MEMORY, -1); DONE
CALL(cuMemHostAlloc, void **address, size_t size, unsigned flags) *address = calloc(1, size); add(PINNED, 1); DONE
CALL(cuMemFreeHost, void *address) free(address); add(PINNED, -1); DONE
CALL(cuMemHostRegister_v2, void *address, size_t size, unsigned flags) add(PINNED, 1); DONE
CALL(cuMemHostUnregister, void *address) add(PINNED, -1); DONE
CALL(cuFuncSetCacheConfig, struct Function *function, int configuration) DONE
CALL(cuMemHostGetDevicePointer_v2, u64 *device, void *host, unsigned flags) *device = (u64)host; DONE
CALL(cuMemcpyHtoD_v2, u64 to, const void *from, size_t size) memcpy((void *)to, from, size); DONE
CALL(cuMemcpyDtoH_v2, void *to, u64 from, size_t size) memcpy(to, (void *)from, size); DONE
CALL(cuMemcpyHtoDAsync_v2, u64 to, const void *from, size_t size, void *stream) memcpy((void *)to, from, size); DONE
CALL(cuMemcpyDtoHAsync_v2, void *to, u64 from, size_t size, void *stream) memcpy(to, (void *)from, size); DONE
CALL(cuMemcpyDtoDAsync_v2, u64 to, u64 from, size_t size, void *stream) memcpy((void *)to, (void *)from, size); DONE
CALL(cuMemsetD8_v2, u64 to, unsigned char value, size_t size) memset((void *)to, value, size); DONE
CALL(cuMemsetD8Async, u64 to, unsigned char value, size_t size, void *stream) memset((void *)to, value, size); DONE

struct NodeParameters { struct Function *function; unsigned grid[3], block[3], shared; void **given; };
CALL(cuGraphCreate, struct Graph **graph, unsigned flags) *graph = calloc(1, sizeof **graph); add(GRAPHS, 1); DONE
CALL(cuGraphDestroy, struct Graph *graph) free(graph); add(GRAPHS, -1); DONE
CALL(cuGraphAddKernelNode_v2, void **made, struct Graph *graph, void **before, size_t edges, const struct NodeParameters *given)
    for (size_t i = 0; i < edges; i++)
        if ((struct Node *)before[i] < graph->nodes || (struct Node *)before[i] >= graph->nodes + graph->count) return INVALID;
    struct Node *node = &graph->nodes[graph->count++];
    node->function = given->function;
    memcpy(node->grid, given->grid, sizeof node->grid);
    read_parameters(node->function, given->given, node->parameters);
    *made = node;
DONE
CALL(cuGraphInstantiateWithFlags, struct Graph **runnable, const struct Graph *graph, unsigned long long flags)
    *runnable = malloc(sizeof **runnable);
    **runnable = *graph;
    add(RUNNABLE, 1);
DONE
CALL(cuGraphUpload, struct Graph *runnable, void *stream) DONE
CALL(cuGraphExecDestroy, struct Graph *runnable) free(runnable); add(RUNNABLE, -1); DONE
CALL(cuGraphLaunch, struct Graph *runnable, void *stream)
    for (int i = 0; i < runnable->count; i++)
        execute(runnable->nodes[i].function, runnable->nodes[i].grid, runnable->nodes[i].parameters);
DONE

struct Resource { int type; unsigned char padding[92]; unsigned sms; unsigned char rest[44]; };
CALL(cuDeviceGetDevResource, int device, struct Resource *resource, int type) resource->type = type; resource->sms = SMS; DONE
CALL(cuDevSmResourceSplitByCount, struct Resource *groups, unsigned *wanted, const struct Resource *whole, struct Resource *rest, unsigned flags, unsigned least)
    unsigned each = (least + 1) / 2 * 2, fit = whole->sms / each;
    if (whole->type != 1) return INVALID;
    if (*wanted > fit) *wanted = fit;
    for (unsigned i = 0; i < *wanted; i++) groups[i] = (struct Resource){.type = 1, .sms = each};
    *rest = (struct Resource){.type = 1, .sms = whole->sms - *wanted * each};
DONE
CALL(cuDevResourceGenerateDesc, void **made, const struct Resource *resource, unsigned number_of) *made = (void *)(u64)resource->sms; DONE
CALL(cuGreenCtxCreate, void **made, void *description, int device, unsigned flags) if (!description || flags != 1) return INVALID; *made = malloc(1); add(GREEN, 1); DONE
CALL(cuGreenCtxDestroy, void *green) free(green); add(GREEN, -1); DONE
CALL(cuGreenCtxStreamCreate, void **stream, void *green, unsigned flags, int priority) if (flags != 1) return INVALID; *stream = malloc(1); add(STREAMS, 1); DONE

/* NVRTC: what it compiles says only what it was asked for. */
struct Program { char code[64]; };
const char *nvrtcGetErrorString(int status) { return "NVRTC_ERROR_OF_STUB"; }
int nvrtcVersion(int *major, int *minor) { *major = 12; *minor = 9; return 0; }
int nvrtcGetNumSupportedArchs(int *number_of) { *number_of = 2; return 0; }
int nvrtcGetSupportedArchs(int *known) { known[0] = 80; known[1] = 90; return 0; }
int nvrtcCreateProgram(struct Program **made, const char *source, const char *name, int headers, void *texts, void *files) { *made = calloc(1, sizeof **made); return 0; }
int nvrtcDestroyProgram(struct Program **made) { free(*made); return 0; }
int nvrtcCompileProgram(struct Program *program, int options, const char **given) {
    int pressure = 0, limit = 0;
    for (int i = 0; i < options; i++) {
        sscanf(given[i], "-DPRESSURE=%d", &pressure);
        sscanf(given[i], "--maxrregcount=%d", &limit);
    }
    snprintf(program->code, sizeof program->code, "stub %d %d", pressure, limit);
    return 0;
}
int nvrtcGetProgramLogSize(struct Program *program, size_t *size) { *size = 1; return 0; }
int nvrtcGetProgramLog(struct Program *program, char *text) { *text = 0; return 0; }
int nvrtcGetCUBINSize(struct Program *program, size_t *size) { *size = strlen(program->code) + 1; return 0; }
int nvrtcGetCUBIN(struct Program *program, char *code) { strcpy(code, program->code); return 0; }
int nvrtcGetPTXSize(struct Program *program, size_t *size) { return nvrtcGetCUBINSize(program, size); }
int nvrtcGetPTX(struct Program *program, char *code) { return nvrtcGetCUBIN(program, code); }
