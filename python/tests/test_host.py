"""Schedulers written in Python."""

import time

import pytest

import gpusched


class ShortestFirst:
    """One kernel at a time, of those that have come the one with the shortest blocks: examples/own_host.rs."""

    def __init__(self, jobs):
        self.jobs = jobs
        self.waiting = []
        self.is_busy = False

    def start(self, gpu):
        self.kernels = []
        for token, (name, arrival_ms, blocks, block_ms) in enumerate(self.jobs):
            self.kernels.append(gpu.add_kernel(name, blocks=blocks, threads=512, duration=f"{block_ms} ms"))
            gpu.wake_at(f"{arrival_ms} ms", token)

    def on_wake(self, token):
        self.waiting.append(token)

    def on_completed(self, operation, gpu):
        assert gpu.is_complete(operation)
        self.is_busy = False

    def act(self, gpu):
        if self.waiting and not self.is_busy:
            job = min(self.waiting, key=lambda job: self.jobs[job][3])
            self.waiting.remove(job)
            gpu.launch(self.kernels[job], job=job)
            self.is_busy = True


def test_shortest_job_first_is_what_the_example_in_rust_does():
    run = gpusched.run_host(ShortestFirst([("first", 0, 8, 10), ("long", 1, 8, 30), ("short", 2, 8, 5)]))
    finishes = [(kernel.name, kernel.finish_ns) for kernel in run.kernels]
    assert finishes == [("first", 10_000_000), ("short", 15_000_000), ("long", 45_000_000)]
    assert gpusched.audit(run).violations == []
    assert "short" in run._repr_svg_()


class Everything:
    """Streams, copies, events, memsets; told of every event."""

    def __init__(self):
        self.told = []

    def start(self, gpu):
        high = gpu.add_stream("high", priority=-1)
        event = gpu.add_event("copied")
        copy = gpu.add_copy("host-to-device", duration="1 ms")
        kernel = gpu.add_kernel("K", blocks=2, threads=1024, duration="1 ms")
        assert gpu.copy(copy) == 0
        assert gpu.record(event) == 1
        assert gpu.wait(event, high) == 2
        assert gpu.launch(kernel, high) == 3
        assert gpu.memset(high) == 4
        assert gpu.submitted == 5 and not gpu.is_complete(3)

    def on_completed(self, operation, gpu):
        self.told.append((operation, gpu.now_ns))

    def on_fully_dispatched(self, operation, gpu):
        self.told.append(("dispatched", operation, gpu.now_ns))


def test_a_scheduler_has_streams_copies_and_events():
    host = Everything()
    gpusched.run_host(host, device="tx2")
    assert ("dispatched", 3, 1_000_000) in host.told
    assert (3, 2_000_000) in host.told and (0, 1_000_000) in host.told
    assert [operation for operation, *_ in host.told if operation != "dispatched"] == [0, 1, 2, 3, 4]


def test_what_the_gpu_refuses_is_raised_in_the_scheduler():
    class Wrong:
        def start(self, gpu):
            with pytest.raises(gpusched.InputError):
                gpu.add_kernel("K", blocks=1, threads=4096, duration="1 ms")
            with pytest.raises(IndexError):
                gpu.launch(0)
            with pytest.raises(gpusched.InputError):
                gpu.add_stream("s", priority=-100)
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        gpusched.run_host(Wrong())
    with pytest.raises(TypeError, match="start"):
        gpusched.run_host(object())
    with pytest.raises(ValueError, match="no built-in device"):
        gpusched.run_host(Everything(), device="tx3")


def test_an_exception_ends_the_run_also_where_the_engine_only_tells():
    class Fails:
        def start(self, gpu):
            gpu.launch(gpu.add_kernel("K", blocks=1, threads=32, duration="1 ms"))

        def on_completed(self, operation, gpu):
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        gpusched.run_host(Fails())


def test_a_gpu_whose_run_is_over_takes_nothing_more():
    class Keeps:
        def start(self, gpu):
            self.gpu = gpu
            gpu.launch(gpu.add_kernel("K", blocks=1, threads=32, duration="1 ms"))

    class Fails(Keeps):
        def act(self, gpu):
            raise KeyError("mine")

    kept, fails = Keeps(), Fails()
    run = gpusched.run_host(kept)
    with pytest.raises(KeyError):
        gpusched.run_host(fails)
    for gpu in (kept.gpu, fails.gpu):
        for call in [
            lambda gpu: gpu.launch(0),
            lambda gpu: gpu.memset(),
            lambda gpu: gpu.wake_at(0),
            lambda gpu: gpu.add_kernel("K", blocks=1, threads=32, duration=1),
            lambda gpu: gpu.add_stream("s"),
            lambda gpu: gpu.add_copy("host-to-device", duration=1),
            lambda gpu: gpu.add_event("e"),
        ]:
            with pytest.raises(RuntimeError, match="the run of this GPU is over"):
                call(gpu)
    assert (kept.gpu.now_ns, kept.gpu.submitted, len(run.kernels)) == (1_000_000, 1, 1)


def test_a_scheduler_that_asks_for_the_same_instant_for_ever_is_refused():
    class Stands:
        def act(self, gpu):
            gpu.wake_at(2**63)

    began = time.process_time()
    with pytest.raises(gpusched.SimulationError, match="acts more than 100000 times at .*: time does not go on"):
        gpusched.run_host(Stands())
    assert time.process_time() - began < 5
