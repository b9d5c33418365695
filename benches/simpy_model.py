"""A plain model in SimPy of kernels in streams on a TX2: streams, one EE queue, threads and block slots of each SM.

What the speed of the command is compared with (docs/testing.md). Usage: simpy_model.py SCENARIO.json, a file of the
examiner's whose benchmarks are all multikernel.so; prints when the last kernel ends [ns].
"""
import json
import sys

import simpy

SMS, THREADS, SLOTS = 2, 2048, 32


class Gpu:
    def __init__(self, env):
        self.env, self.queue = env, []
        self.sms = [[THREADS, SLOTS] for _ in range(SMS)]
        self.wake = None

    def enter(self, threads, blocks, ns):
        done = self.env.event()
        self.queue.append([threads, blocks, ns, blocks, done])
        self.poke()
        return done

    def poke(self):
        if self.wake is not None and not self.wake.triggered:
            self.wake.succeed()

    def block(self, sm, kernel):
        yield self.env.timeout(kernel[2])
        sm[0] += kernel[0]
        sm[1] += 1
        kernel[3] -= 1
        if kernel[3] == 0:
            kernel[4].succeed()
        self.poke()

    def scheduler(self):
        env = self.env
        while True:
            self.wake = env.event()
            yield self.wake
            while self.queue:
                kernel = self.queue[0]
                while kernel[1] > 0:
                    # The SM with most room.
                    sm = max(self.sms, key=lambda sm: sm[0])
                    if sm[0] < kernel[0] or sm[1] < 1:
                        break
                    sm[0] -= kernel[0]
                    sm[1] -= 1
                    kernel[1] -= 1
                    env.process(self.block(sm, kernel))
                if kernel[1] > 0:
                    break
                self.queue.pop(0)


def stream(gpu, kernels):
    for kernel in kernels:
        yield gpu.enter(kernel["thread_count"], kernel["block_count"], kernel["duration"])


with open(sys.argv[1]) as file:
    scenario = json.load(file)
env = simpy.Environment()
gpu = Gpu(env)
env.process(gpu.scheduler())
for benchmark in scenario["benchmarks"]:
    env.process(stream(gpu, benchmark["additional_info"]))
env.run()
print(env.now)
