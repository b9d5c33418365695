//! On which device a profile was recorded, and on which it is simulated.

use super::*;
use crate::device::{BlockShape, Device};

fn notes(text: &str, device: Option<&str>) -> Vec<String> {
    let device = device.map(|name| Device::builtin(name).expect("it can be read").expect("it is built in"));
    let options = ReadOptions { device, ..ReadOptions::default() };
    read(text).import(&ImportOptions::default(), &options).expect("sound").scenario.notes
}

#[test]
fn a_profile_on_another_device_says_that_times_are_not_rescaled() {
    let text = trace(&kernel("10", "100", 7, 1));
    let is_told = |note: &String| note.contains("not rescaled for");
    assert!(!notes(&text, None).iter().any(is_told));
    assert!(!notes(&text, Some("a100-40gb")).iter().any(is_told));
    assert!(notes(&text, Some("h100")).iter().any(is_told));
}

/// A trace whose file says of the GPU what stands in place of the limits of an A100.
fn recorded_on(properties: &str) -> String {
    let text = trace(&kernel("10", "100", 7, 1));
    let (from, to) = (text.find("\"name\"").expect("a GPU"), text.find("}], \"traceEvents\"").expect("a GPU"));
    text.replace(&text[from..to], properties)
}

#[test]
fn a_board_with_the_limits_of_another_keeps_its_name_and_says_what_is_assumed() {
    let other = recorded_on(r#""name": "NVIDIA GH200 480GB", "computeMajor": 9, "computeMinor": 0, "numSms": 132"#);
    let device = read(&other).device(0).expect("it says enough");
    assert_eq!(device.title, "NVIDIA GH200 480GB");
    assert_eq!((device.boost_clock_mhz, device.memory_bytes_per_s), (None, None), "those of an H100 are not its");
    let told =
        "NVIDIA GH200 480GB is no built-in device: what the file does not say of it is as of the built-in device h100";
    assert!(notes(&other, None).iter().any(|note| note == told), "{:?}", notes(&other, None));
}

#[test]
fn boards_are_recognized_by_name_and_none_is_taken_for_another() {
    let named = |name: &str| read(&recorded_on(&format!("\"name\": {name:?}"))).device(0);
    for (name, device) in [
        ("NVIDIA H800", "h800"),
        ("NVIDIA H20", "h20"),
        ("NVIDIA L20", "l20"),
        ("NVIDIA L40", "l40"),
        ("NVIDIA L40S", "l40s"),
        ("NVIDIA A800-SXM4-80GB", "a800"),
        ("NVIDIA A800 80GB PCIe", "a800"),
        ("NVIDIA A100-SXM4-40GB", "a100-40gb"),
        ("NVIDIA A100-SXM4-80GB", "a100-80gb"),
        ("NVIDIA A100 80GB PCIe", "a100-80gb-pcie"),
        ("NVIDIA A100-PCIE-40GB", "a100-40gb"),
        ("NVIDIA A100-PG509-200", "a100-40gb"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA H100 PCIe", "h100-pcie"),
        ("NVIDIA RTX A6000", "rtx-a6000"),
        ("GeForce RTX 3080", "rtx3080"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtx-pro-6000"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000"),
        ("NVIDIA B300 SXM6 AC", "b300"),
        ("NVIDIA GB10", "gb10"),
        ("NVIDIA Thor", "thor"),
    ] {
        assert_eq!(named(name).map(|known| known.name.clone()), Ok(device.to_owned()), "{name}");
    }
    for name in [
        "NVIDIA GeForce RTX 3080 Ti",
        "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA GeForce RTX 4090 D",
        "NVIDIA A100-SXM4-40GB MIG 1g.5gb",
        "NVIDIA H100 NVL",
    ] {
        assert!(named(name).is_err(), "{name} has other SMs, and the file does not say how many");
    }
}

#[test]
fn a_profile_is_rescaled_for_another_device_by_what_limits_its_kernels() {
    // 432 blocks, two on an SM at once: two waves on the 108 SMs of an A100 and on the 132 of an H100, and four blocks
    // on an SM in all.
    let text = trace(&kernel("10", "100", 7, 1));
    let block_ns = |text: &str, device: &str, rescale| {
        let device = Device::builtin(device).expect("it can be read");
        let options = ReadOptions { device, ..ReadOptions::default() };
        let chosen = ImportOptions { rescale, ..ImportOptions::default() };
        let import = read(text).import(&chosen, &options);
        import.map(|import| import.scenario.kernels()[0].duration.worst.as_ns()).map_err(|error| error.to_string())
    };
    assert_eq!(block_ns(&text, "h100", Rescale::None), Ok(50_000));
    // 2 us stay; 98 us * 1555 / 3350 GB/s are 45,490 ns.
    assert_eq!(block_ns(&text, "h100", Rescale::Memory), Ok(23_745));
    // 98 us * (1410 MHz * 64) / (1980 MHz * 128) are 34,894 ns.
    assert_eq!(block_ns(&text, "h100", Rescale::Compute), Ok(18_447));
    // An H20 has 78 SMs, of which one gets six blocks in three waves: 52,341 ns and 2 us.
    assert_eq!(block_ns(&text, "h20", Rescale::Compute), Ok(18_114));
    let shortest = text.replace(r#""dur": 100"#, r#""dur": 2"#);
    assert_eq!(block_ns(&shortest, "h100", Rescale::Memory), Ok(1_000), "a launch and no more takes as long");
    assert_eq!(block_ns(&text, "a100-40gb", Rescale::Memory), Ok(50_000), "the recorded one");
    // A collective takes 100 us in however many waves: three on an H20.
    let collective = text.replace("void f<float>", "ncclKernel_AllReduce");
    for rescale in Rescale::ALL {
        assert_eq!(block_ns(&collective, "h20", rescale), Ok(33_333));
    }
    // By name: of what stands for an unknown limit, blocks take as long as recorded.
    let named = |name: &str| text.replace("void f<float>(int)", name);
    assert_eq!(block_ns(&text, "h100", Rescale::ByName), Ok(50_000));
    let elementwise = named("void at::native::vectorized_elementwise_kernel<4, gemm>(int)");
    assert_eq!(block_ns(&elementwise, "h100", Rescale::ByName), Ok(23_745));
    assert_eq!(block_ns(&named("ampere_sgemm_128x64_nn"), "h100", Rescale::ByName), Ok(18_447));
    let tensor_cores = named("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_32x6_tn_align4>(int)");
    assert_eq!(block_ns(&tensor_cores, "h100", Rescale::ByName), Ok(50_000));
    // One block less than an H100 has SMs: one wave on both.
    let small = elementwise.replace("[216, 2, 1]", "[131, 1, 1]");
    assert_eq!(block_ns(&small, "h100", Rescale::ByName), Ok(100_000));
    let unknown = block_ns(&text, "tx2", Rescale::Compute).expect_err("6.2 is in no table");
    assert!(unknown.contains("NVIDIA Jetson TX2 (GP10B) states none"), "{unknown}");
}

#[test]
fn a_note_says_which_kernels_no_name_rescales() {
    let unknown = kernel("10", "100", 7, 1);
    let softmax = unknown.replace("void f<float>(int)", "cunn_SoftMaxForward").replace("\"ts\": 10", "\"ts\": 200");
    let events = trace(&format!("{unknown}, {softmax}"));
    let options = ReadOptions { device: Device::builtin("h100").expect("it can be read"), ..ReadOptions::default() };
    let chosen = ImportOptions { rescale: Rescale::ByName, ..ImportOptions::default() };
    let notes = read(&events).import(&chosen, &options).expect("sound").scenario.notes;
    let told = "rescaled: 1 kernel by memory bandwidth, 0 by what SMs compute; not rescaled: 1 kernel of 100 us in all, where \
                no name says what limits it, or of fewer blocks than one of the GPUs has SMs: 1 of f";
    assert!(notes.iter().any(|note| note == told), "{notes:?}");
}

#[test]
fn priorities_and_channels_are_read_where_kernels_state_them() {
    // Channels 8 and 9, priorities -5, then -5 and 0, and none.
    let stated = |text: String, more: &str| text.replace("\"registers per", &format!("{more}, \"registers per"));
    let events = [
        stated(kernel("0", "10", 7, 1), r#""priority": -5, "channel": 8"#),
        stated(kernel("20", "10", 8, 2), r#""priority": 0, "channel": 9"#),
        stated(kernel("40", "10", 8, 3), r#""priority": -5, "channel": 9"#),
        kernel("60", "10", 9, 4),
    ];
    let import = import(&events, Launches::Recorded, &ReadOptions::default());
    let priorities: Vec<i32> = import.streams.iter().map(|stream| stream.priority).collect();
    assert_eq!(priorities, [-5, -5, 0]);
    let said = |what: &str| import.scenario.notes.iter().any(|note| note.contains(what));
    assert!(said("2 hardware channels") && !said("states no stream priorities"), "{:?}", import.scenario.notes);
}

#[test]
fn a_kernel_of_which_no_block_fits_another_gpu_takes_as_much_there_as_a_block_may() {
    // 96 registers of each of 544 threads, in 20 warps, are 61,440; a TX2 gives a block 32,768 and 48 KiB.
    let text = trace(&kernel("10", "100", 7, 1)).replace("[32, 32, 1]", "[544, 1, 1]").replace(
        r#""registers per thread": 32, "shared memory": 0"#,
        r#""registers per thread": 96, "shared memory": 98304"#,
    );
    let on = |device: &str| {
        let device = Device::builtin(device).expect("it can be read");
        let import = read(&text).import(&ImportOptions::default(), &ReadOptions { device, ..ReadOptions::default() });
        import.expect("it is taken").scenario
    };
    let (recorded, elsewhere) = (on("a100-40gb"), on("tx2"));
    let shape = |scenario: &Scenario| {
        let BlockShape { threads, registers_per_thread, shared_memory_bytes } = scenario.kernels()[0].shape;
        (threads, registers_per_thread, shared_memory_bytes)
    };
    assert_eq!((shape(&recorded), shape(&elsewhere)), ((544, 96, 98_304), (544, 48, 49_152)));
    let told =
        |scenario: &Scenario| scenario.notes.iter().any(|note| note.starts_with("no block of these kernels fits"));
    assert!(!told(&recorded) && told(&elsewhere), "{:?}", elsewhere.notes);
}
