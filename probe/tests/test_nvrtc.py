"""The kernels of the probe compile for every GPU that it is to run on, and have the registers that were asked for."""

import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from gpusched_probe import kernels, nvrtc  # noqa: E402
from gpusched_probe.errors import ProbeError  # noqa: E402

# Compute capabilities of Volta to Blackwell, without their dots.
CAPABILITIES = (70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 110, 120, 121)


def registers_of_cubin(code, name="probe"):
    """Registers per thread of a kernel, as the section .nv.info of a CUBIN says (attribute REGCOUNT, 0x2f)."""

    def number(at, size):
        return int.from_bytes(code[at : at + size], "little")

    def text(begin):
        return code[begin : code.index(b"\0", begin)].decode()

    table, size, count, names = number(40, 8), number(58, 2), number(60, 2), number(62, 2)
    headers = [table + index * size for index in range(count)]
    strings = number(headers[names] + 24, 8)
    sections = {text(strings + number(header, 4)): header for header in headers}
    symbols, symbol_names = (number(sections[section] + 24, 8) for section in (".symtab", ".strtab"))
    info = sections[".nv.info"]
    at, end = number(info + 24, 8), number(info + 24, 8) + number(info + 32, 8)
    while at < end:
        form, attribute, length = code[at], code[at + 1], number(at + 2, 2)
        if form == 4 and attribute == 0x2F:
            symbol = symbols + 24 * number(at + 4, 4)
            if text(symbol_names + number(symbol, 4)) == name:
                return number(at + 8, 4)
        at += 4 + (length if form == 4 else 0)
    return None


class Compiling(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if nvrtc.find() is None:
            raise unittest.SkipTest("no NVRTC was found: " + nvrtc.INSTALL)
        cls.nvrtc = nvrtc.Nvrtc()

    def capabilities(self):
        return [capability for capability in CAPABILITIES if capability >= self.nvrtc.architectures[0]]

    def test_compiles_without_a_warning_for_all_gpus(self):
        for capability in self.capabilities():
            for variant in (kernels.PLAIN, (100, 128)):
                with self.subTest(capability=capability, variant=variant):
                    code, log = self.nvrtc.compile(kernels.SOURCE, capability, kernels.options_of(variant))
                    said = [line for line in log.splitlines() if "Architectures prior to" not in line]
                    self.assertEqual(said, [])
                    if capability in self.nvrtc.architectures:
                        self.assertGreater(registers_of_cubin(code), 15)
                    else:
                        self.assertIn(b".entry probe", code)

    def test_gives_the_registers_that_are_wanted(self):
        for capability in (75, 80, 90, 100, 120):

            def registers(variant, capability=capability):
                code, _ = self.nvrtc.compile(kernels.SOURCE, capability, kernels.options_of(variant))
                return registers_of_cubin(code)

            for wanted in (32, 64, 80, 128, 200, 255):
                with self.subTest(capability=capability, wanted=wanted):
                    _, real = kernels.variant_for(wanted, registers)
                    self.assertLessEqual(real, wanted)
                    self.assertEqual(-(-real // 8), -(-wanted // 8))

    def test_no_kernel_takes_shared_memory_of_its_own_or_many_spilled_bytes(self):
        for capability in (self.nvrtc.architectures[0], 90):
            options = kernels.options_of((176, 200)) + ["--ptxas-options=-v"]
            _, log = self.nvrtc.compile(kernels.SOURCE, capability, options)
            self.assertNotIn("smem", log)
            spilled = [int(number) for number in re.findall(r"(\d+) bytes spill", log)]
            self.assertTrue(spilled)
            self.assertLessEqual(max(spilled), 64)

    def test_takes_ptx_for_a_gpu_that_is_too_new(self):
        self.assertEqual(self.nvrtc.target(999), ("ptx", "compute_%d" % self.nvrtc.architectures[-1]))
        code, _ = self.nvrtc.compile(kernels.SOURCE, 999)
        self.assertIn(b".version", code)

    def test_says_what_to_do_about_a_gpu_that_is_too_old(self):
        with self.assertRaisesRegex(ProbeError, "no longer knows GPUs of compute capability 1.3.*install an older one"):
            self.nvrtc.target(13)

    def test_tells_the_errors_of_the_compiler(self):
        with self.assertRaisesRegex(ProbeError, "(?s)cannot compile the probe for sm_90.*NVRTC_ERROR_COMPILATION.*identifier"):
            self.nvrtc.compile("__global__ void f() { nothing(); }", 90)


class Keeping(unittest.TestCase):
    def test_compiles_each_variant_once(self):
        compiled = []

        class Compiler:
            def compile(self, source, capability, options):
                compiled.append(tuple(options))
                return b"code", ""

        with tempfile.TemporaryDirectory() as folder:
            for _ in range(2):
                kept = kernels.Compiled(Compiler, 80, folder)
                self.assertEqual(kept.code((10, 40)), b"code")
                self.assertEqual(kept.code((10, 40)), b"code")
        self.assertEqual(compiled, [("-DPRESSURE=10", "--maxrregcount=40")])

    def test_takes_the_nearest_where_a_number_cannot_be_had(self):
        variant, real = kernels.variant_for(100, lambda variant: 50 + variant[0] // 4)
        self.assertEqual((variant, real), ((84, 100), 71))
        with self.assertRaisesRegex(ProbeError, "0 to 255 can be"):
            kernels.variant_for(256, lambda variant: 0)

    def test_says_what_to_install_if_there_is_no_library(self):
        os.environ["GPUSCHED_PROBE_NVRTC"] = "/nowhere/libnvrtc.so"
        try:
            with self.assertRaisesRegex(ProbeError, "/nowhere/libnvrtc.so cannot be used.*pip install"):
                nvrtc.Nvrtc()
        finally:
            del os.environ["GPUSCHED_PROBE_NVRTC"]


if __name__ == "__main__":
    unittest.main()
