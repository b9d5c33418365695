"""Calls of CUDA that wait for the GPU, or that kernels launched later wait for.

The calls are those of Yang et al., "Avoiding Pitfalls when Using NVIDIA GPUs for Real-Time Tasks in Autonomous
Systems", ECRTS 2018, table 3, and a launch to the NULL stream. One host calls while a kernel runs, and launches `own`;
another host launches `later`.
"""

import copy

from .parts import Answer, Experiment, Question, copied, host, launch, scenario, sleep, stream, with_steps

DEVICE_WIDE = {"synchronize": "device"}
FREE = {"free": "device"}

# What gpusched takes, as indices of `outcomes`.
NOTHING, CALLER, ALL = 0, 1, 2

# By name of the experiment: what is called, its steps, and what gpusched takes.
CALLS = {
    "call-synchronize-device": ("cudaDeviceSynchronize", [DEVICE_WIDE], CALLER),
    "call-synchronize-stream": ("cudaStreamSynchronize", [{"synchronize": "A"}], CALLER),
    "call-free": ("cudaFree", [FREE], ALL),
    "call-free-host": ("cudaFreeHost", [{"free": "host"}], ALL),
    "call-malloc": ("cudaMalloc", [{"malloc": "device"}], NOTHING),
    "call-malloc-host": ("cudaMallocHost", [{"malloc": "host"}], NOTHING),
    "call-memset": ("cudaMemset", [{"memset": 4096, "synchronous": True}], ALL),
    "call-memset-async": ("cudaMemsetAsync", [{"memset": 4096, "stream": "C"}], NOTHING),
    "call-copy-to-device": ("cudaMemcpyAsync to the device", [copied("host-to-device", 4096, "C")], NOTHING),
    "call-copy-to-host": ("cudaMemcpyAsync to the host", [copied("device-to-host", 4096, "C")], NOTHING),
    "call-copy-within-device": ("cudaMemcpyAsync within the device", [copied("device-to-device", 4096, "C")], NOTHING),
    "call-null-stream": ("a launch to the NULL stream", [launch("null", "NULL")], ALL),
    # Scenarios have no step for these: the probe makes the call in place of a step that is as near as there is one.
    "call-copy-synchronous": (
        "cudaMemcpy",
        [{**copied("host-to-device", 1 << 20, "NULL"), "comment_call": "cudaMemcpy"}, {"synchronize": "last"}],
        ALL,
    ),
    "call-register-host": ("cudaHostRegister", [{"sleep": "0 s", "comment_call": "cudaHostRegister"}], NOTHING),
    "call-cache-configuration": (
        "a switch between configurations of L1 and shared memory",
        [{"sleep": "0 s", "comment_call": "cudaFuncSetCacheConfig"}],
        NOTHING,
    ),
}

def question_of(stem, what, answers):
    return Question(
        stem,
        "While a kernel runs: who waits for it because of %s?" % what,
        "order",
        answers,
        pairs=[["running", "own"], ["running", "later"]],
    )


def call(target, stem):
    what, steps, taken = CALLS[stem]
    kernels = {"running": target.small(6), "own": target.small(1), "later": target.small(1)}
    if stem == "call-null-stream":
        kernels["null"] = target.small("100 us")

    def caller(steps):
        return [launch("running", "A"), sleep(1), *steps, launch("own", "C")]

    run = scenario(
        "While a kernel runs: %s" % what,
        kernels,
        [stream("A", blocking=True), stream("B", blocking=True), stream("C", blocking=True)],
        [],
        hosts=[
            host(caller(steps), "calling"),
            host([sleep(2.5), launch("later", "B")], "other"),
        ],
        # Whatever splits an SM's memory is up to the call.
        **({"comment_carve_out": "driver"} if stem == "call-cache-configuration" else {}),
    )
    outcomes = [
        ("nobody", "no call", []),
        ("the thread that calls", "a synchronization of the device", [DEVICE_WIDE]),
        ("all kernels that are launched later", "cudaFree", [FREE]),
    ]
    answers = [Answer(outcomes[taken][0])]
    for index, (answer, switch, instead) in enumerate(outcomes):
        if index != taken:
            other = with_steps(run, caller(instead))
            other["kernels"] = {name: copy.deepcopy(kernel) for name, kernel in kernels.items() if name != "null"}
            answers.append(Answer(answer, "in place of the call: %s" % switch, scenario=other))
    return Experiment(stem, run, [question_of(stem, what, answers)], repetitions=3)


def experiments():
    """One function of the target for each call."""

    def of(make, stem):
        return lambda target: make(target, stem)

    return [of(call, stem) for stem in CALLS]
