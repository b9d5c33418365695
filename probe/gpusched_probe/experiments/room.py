"""How many blocks an SM holds at once: block slots, threads, shared memory, registers, and the carve-out."""

from .parts import Answer, Experiment, Question, launch, scenario, sleep, stream, with_kernel

# As NVIDIA's cuda_occupancy.h has them of every GPU from compute capability 7.0 on.
REGISTERS_OF_SUB_PARTITION = 16384
SUB_PARTITIONS = 4
UNIT_OF_WARP = 256

# Registers per thread, best first, with which a block of one warp tells four sub-partitions from one.
LARGE = (200, 168, 232, 104, 184)
# Of 256 threads and of 32 threads, best first: those beside which the two ways of dealing differ most.
UNLIKE = ((200, 48), (200, 40), (208, 40), (208, 48), (216, 48), (200, 56), (200, 32), (168, 40), (184, 48))


def alone(target, stem, title, kernel, question, answers):
    """An experiment of one kernel that more than fills the GPU."""
    run = scenario(title, {"filling": kernel}, [stream("A")], [launch("filling", "A")])
    return Experiment(stem, run, [Question(stem, question, "resident", answers)], repetitions=3)


def block_slots(target):
    stated = target.slots_of_sm
    answers = [Answer("%d" % stated)]
    for slots in (16, 24, 32):
        if slots != stated:
            answers.append(Answer("%d" % slots, "per_sm.blocks of the device file", {"per_sm": {"blocks": slots}}))
    kernel = target.kernel(34 * target.sms, 2, threads=32)
    return alone(target, "block-slots", "Blocks of one warp", kernel, "How many blocks does an SM hold?", answers)


def threads(target):
    stated = target.threads_of_sm
    answers = [Answer("%d" % stated)]
    for number in (1024, 1536, 2048):
        if number != stated:
            patch = {"per_sm": {"threads": number, "warps": number // 32}}
            answers.append(Answer("%d" % number, "per_sm.threads of the device file", patch))
    kernel = target.kernel(9 * target.sms, 2, threads=256)
    experiment = alone(target, "threads", "Blocks of 256 threads", kernel, "How many threads does an SM hold?", answers)
    if of_warp(target.few_registers) * stated // 32 > REGISTERS_OF_SUB_PARTITION * SUB_PARTITIONS:
        experiment.impossible = "registers of the probe's kernels leave no room for %d threads" % stated
    return experiment


def shared_memory(target):
    other = 1024 - target.reserved_bytes
    patch = {"shared_memory_allocation": {"reserved_per_block_bytes": other}}
    answers = [
        Answer("%d bytes" % target.reserved_bytes),
        Answer("%d bytes" % other, "shared_memory_allocation.reserved_per_block_bytes of the device file", patch),
    ]
    kernel = target.kernel(9 * target.sms, 2, target.shared_of_sm // 8 // 256 * 256)
    return alone(
        target,
        "shared-memory",
        "Blocks of an eighth of all shared memory",
        kernel,
        "How much shared memory of each block does the system reserve?",
        answers,
    )


def of_warp(registers):
    """What a warp whose threads have so many registers takes of its sub-partition."""
    return -(-registers * 32 // UNIT_OF_WARP) * UNIT_OF_WARP


def equal_registers(target):
    question = "Do all registers of a warp come out of one of four sub-partitions of an SM?"
    for wanted in LARGE:
        registers = target.registers_of(wanted)
        warp = of_warp(registers)
        apart = REGISTERS_OF_SUB_PARTITION // warp * SUB_PARTITIONS
        together = REGISTERS_OF_SUB_PARTITION * SUB_PARTITIONS // warp
        if apart < together and together < target.slots_of_sm:
            break
    else:
        answers = [Answer("yes"), Answer("no")]
        impossible = "no kernel of the probe has a number of registers with which the answers differ"
        asked = [Question("registers", question, "resident", answers)]
        return Experiment("registers", None, asked, impossible=impossible)
    answers = [
        Answer("yes: %d blocks of %d registers" % (apart, registers)),
        Answer(
            "no: %d blocks" % together,
            "register_allocation.sub_partitions of the device file",
            {"register_allocation": {"sub_partitions": 1}},
        ),
    ]
    kernel = target.kernel((together + 1) * target.sms, 2, threads=32, registers=registers)
    return alone(target, "registers", "Blocks of one warp of many registers", kernel, question, answers)


def small_beside_large(large, small):
    """How many blocks of one warp with so many registers have room beside 8 warps of `large`: (dealt best, worst)."""
    free_warp, taken_warp = of_warp(small), of_warp(large)

    def pieces(size):
        return SUB_PARTITIONS * (REGISTERS_OF_SUB_PARTITION // size)

    best = min(
        (pieces(size) - 8 * (taken_warp // size)) // (free_warp // size)
        for size in (UNIT_OF_WARP, free_warp, taken_warp)
        if free_warp >= size
    )
    worst = max(0, pieces(free_warp) - 8 * -(-taken_warp // free_warp))
    return best, worst


def unlike_registers(target):
    question = "How many blocks of 32 threads have room beside one of 256 threads with many registers?"
    for large, small in UNLIKE:
        large, small = target.registers_of(large), target.registers_of(small)
        best, worst = small_beside_large(large, small)
        if worst + 2 <= best <= 9 and (worst == 0 or best + 2 <= 3 * worst):
            break
    else:
        answers = [Answer("as many as counting lets in"), Answer("as many as fit however warps were dealt")]
        impossible = "no kernels of the probe have numbers of registers with which the answers differ"
        asked = [Question("registers-unlike", question, "resident", answers)]
        return Experiment("registers-unlike", None, asked, impossible=impossible)
    run = scenario(
        "Blocks of few registers beside blocks of many",
        {
            "large": target.kernel(target.sms, 8, threads=256, registers=large),
            "small": target.kernel((best + 2) * target.sms, 2, threads=32, registers=small),
        },
        [stream("A"), stream("B")],
        [launch("large", "A"), sleep(1), launch("small", "B")],
    )
    answers = [
        Answer("%d: as many as counting lets in" % best),
        Answer(
            "%d: as many as fit however warps were dealt" % worst,
            "--register-dealing worst",
            {"register_allocation": {"dealing": "worst"}},
        ),
    ]
    asked = [Question("registers-unlike", question, "resident", answers)]
    return Experiment("registers-unlike", run, asked, repetitions=5)


def carve_out(target):
    # As much as leaves what the system reserves of a second block.
    much = min(target.whole, (target.shared_of_sm - 2 * target.reserved_bytes) // 256 * 256)
    run = scenario(
        "A kernel of much shared memory beside one of none",
        {
            "light": target.kernel(target.sms // 2, 12, threads=32),
            "heavy": target.kernel(target.sms, 2, much),
        },
        [stream("A"), stream("B")],
        [launch("light", "A"), sleep(1), launch("heavy", "B")],
        # Other experiments have the memory of all SMs split alike, so that no split changes on the way.
        comment_carve_out="driver",
    )
    answers = [
        Answer("yes"),
        Answer(
            "only on SMs that run nothing else",
            "docs only: the carve-out is not modelled",
            scenario=with_kernel(run, "light", shared_memory_bytes=target.whole),
        ),
    ]
    question = Question(
        "carve-out",
        "Does a block of much shared memory find room on an SM that runs a kernel of none?",
        "resident",
        answers,
    )
    return Experiment("carve-out", run, [question], repetitions=10)
