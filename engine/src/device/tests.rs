use super::*;

fn tx2() -> Device {
    Device::builtin("tx2").expect("the file is sound").expect("it is built in")
}

fn shape(threads: u32, registers_per_thread: u32, shared_memory_bytes: u32) -> BlockShape {
    BlockShape { threads, registers_per_thread, shared_memory_bytes }
}

fn per_sm(shape: &BlockShape) -> u32 {
    BlockDemand::new(shape, &tx2()).expect("the block fits").blocks_per_sm(&tx2())
}

#[test]
fn every_built_in_device_reads_and_accounts_for_each_number() {
    const KEYS: [&str; 19] = [
        "compute_capability",
        "sms",
        "sms_per_tpc",
        "warp_size",
        "per_sm",
        "per_block",
        "register_allocation",
        "shared_memory_allocation",
        "priority_levels",
        "sm_order",
        "copy_engines",
        "copy",
        "time_slice_ns",
        "switch_cost_ns",
        "copy_time_slice_ns",
        "runlists",
        "preemption",
        "ns_per_spin_iteration",
        "per_sm",
    ];
    for name in BUILTIN_NAMES {
        let device = Device::builtin(name).expect("sound").expect("built in");
        assert_eq!(device.name, name);
        for key in KEYS {
            let belongs = |noted: &String| noted == key || noted.starts_with(&format!("{key}."));
            let accounted = device.sources.keys().chain(device.assumptions.keys()).any(belongs);
            assert!(accounted, "{name}: {key} has neither a source nor a note that it is assumed");
        }
    }
    assert_eq!(Device::builtin("gtx9999"), Ok(None));
}

#[test]
fn a_block_of_140_threads_takes_160_thread_slots_as_in_thesis_figure_2_4() {
    assert_eq!(BlockDemand::new(&shape(140, 0, 0), &tx2()).map(|demand| demand.warps * 32), Ok(160));
}

#[test]
fn registers_come_out_of_sub_partitions_so_24_blocks_fit_and_not_25() {
    assert_eq!(per_sm(&shape(64, 40, 0)), 24);
}

#[test]
fn occupancy_of_the_tx2_by_each_resource() {
    assert_eq!(per_sm(&shape(512, 0, 0)), 4);
    assert_eq!(per_sm(&shape(768, 0, 0)), 2);
    assert_eq!(per_sm(&shape(32, 0, 0)), 32, "block slots");
    assert_eq!(per_sm(&shape(256, 0, 32_768)), 2, "shared memory");
    assert_eq!(per_sm(&shape(32, 0, 1)), 32);
    assert_eq!(per_sm(&shape(32, 0, 2_049)), 28, "2304 bytes each after rounding");
}

#[test]
fn small_sub_partitions_hold_whole_warps_only() {
    let device = tx2().with(|spec| {
        (spec.per_sm.registers, spec.register_allocation.unit_per_warp, spec.warp_size) = (143, 1, 1);
    });
    let device = device.expect("a device");
    // A sub-partition of 35 registers holds 11 warps of 3, and the SM so 44, where 143 registers were enough for 47.
    let demand = BlockDemand::new(&shape(1, 3, 0), &device.with(|spec| spec.per_sm.blocks = 64).expect("a device"));
    assert_eq!(demand.map(|demand| demand.tightest(&device)), Ok((Resource::BlockSlots, 32)));
    let many = device.with(|spec| spec.per_sm.blocks = 64).expect("a device");
    assert_eq!(demand.map(|demand| demand.tightest(&many)), Ok((Resource::Registers, 44)));
}

/// Registers that are free on an SM of a TX2 beside blocks of these threads and registers of a thread, and how many
/// blocks of the last shape there is room for, dealt at best and at worst.
fn beside(blocks: &[(u32, u32)], next: (u32, u32)) -> [u32; 2] {
    RegisterDealing::ALL.map(|dealing| {
        let device = tx2().with(|spec| {
            spec.register_allocation.dealing = dealing;
            spec.per_block.registers = 65_536;
        });
        let device = device.expect("a device");
        let demand = |(threads, registers)| BlockDemand::new(&shape(threads, registers, 0), &device).expect("it fits");
        let mut resident = ResidentWarps::default();
        for &block in blocks {
            resident.add(demand(block).registers_per_warp(), demand(block).warps);
        }
        RegisterFile::of(&device).room(&resident, &demand(next)).expect("it takes some")
    })
}

#[test]
fn registers_beside_unlike_warps_are_counted_in_units_of_sub_partitions() {
    // 8 warps of 6,400 leave 3,584 of the 16,384 registers of each sub-partition: 2 warps of 1,280 each, by hand. At
    // worst, too: each of the 8 spoils 5 of 48 places.
    assert_eq!(beside(&[(256, 200)], (32, 40)), [8, 8]);
    // None of them leaves 6,400.
    assert_eq!(beside(&[(256, 200)], (32, 200)), [0, 0]);
    // One warp of 1,280 leaves its sub-partition 15,104, so that two of 6,400 fit beside it; counted at worst, it takes
    // the place of one of them.
    assert_eq!(beside(&[(32, 40)], (32, 200)), [8, 7]);
    // Each may, though three in one sub-partition would leave it 12,544: at worst is what is sure without a search.
    assert_eq!(beside(&[(32, 40); 3], (32, 200)), [8, 5]);
    // Equal warps: 48 of 1,280, whatever was dealt how.
    assert_eq!(beside(&[(64, 40); 23], (64, 40)), [1, 1]);
    assert_eq!(beside(&[(64, 40); 24], (32, 40)), [0, 0]);
}

#[test]
fn blocks_that_can_never_run_are_refused_with_both_numbers() {
    let error = |s: BlockShape| BlockDemand::new(&s, &tx2()).expect_err("it cannot run").to_string();
    assert!(error(shape(1025, 0, 0)).contains("1025 threads"), "{}", error(shape(1025, 0, 0)));
    assert!(error(shape(1025, 0, 0)).contains("at most 1024"));
    assert!(error(shape(32, 0, 49_153)).contains("49153 bytes of shared memory"));
    assert!(error(shape(1024, 33, 0)).contains("registers"));
    assert_eq!(BlockDemand::new(&shape(0, 0, 0), &tx2()), Err(DemandError::NoThreads));
    // 17 warps count as 20 towards the per-block limit of 32,768 registers: 20 * 1,792 is too many, 18 * 1,792 is not.
    assert!(BlockDemand::new(&shape(544, 56, 0), &tx2()).is_err());
    assert!(BlockDemand::new(&shape(512, 56, 0), &tx2()).is_ok());
}

#[test]
fn a_mask_bit_disables_its_tpc_and_a_tilde_inverts() {
    let enabled = |text: &str| {
        let mask = SmMask::parse(text).expect("a mask");
        (0..2).map(|sm| mask.enables_sm(sm, &tx2())).collect::<Vec<_>>()
    };
    assert_eq!(enabled("0x1"), [false, true]);
    assert_eq!(enabled("~0x1"), [true, false]);
    assert_eq!(enabled("0xaaaaaaaaaaaaaaa0"), [true, true]);
    assert!(SmMask::parse("0x3").expect("a mask").leaves_none(&tx2()));
    assert!(SmMask::parse("~0x0").expect("a mask").leaves_none(&tx2()));
    for text in ["", "~", "0x", "banana", "-1", "0x123456789012345678901234567890123"] {
        assert!(SmMask::parse(text).is_err(), "{text} was accepted");
    }
}

#[test]
fn sm_orders_name_every_sm_once() {
    assert_eq!(SmOrder::Ascending.ids(3), [0, 1, 2]);
    assert_eq!(SmOrder::Descending.ids(3), [2, 1, 0]);
    assert_eq!(SmOrder::EvenThenOdd.ids(5), [0, 2, 4, 1, 3]);
}

#[test]
fn a_copy_of_256_mib_takes_26_843_546_ns_on_the_tx2() {
    let copy = tx2().copy;
    let ns = |bytes| copy.duration(CopyDirection::DeviceToHost, bytes).map(crate::time::Duration::as_ns);
    assert_eq!(ns(268_435_456), Some(26_843_546));
    assert_eq!(ns(0), Some(0));
    assert_eq!(ns(1), Some(1));
}

#[test]
fn device_files_with_mistakes_are_refused() {
    let good = Device::builtin_json("tx2").expect("built in");
    for (from, to, word) in [
        ("\"sms\": 2", "\"sms\": 0", "whole number"),
        ("\"sm_order\": \"ascending\"", "\"sm_order\": [0, 0]", "every SM id"),
        ("\"warp_size\": 32", "\"warp_size\": 4096", "whole number"),
        ("\"copy_engines\"", "\"copy_engine\"", "missing"),
    ] {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from} is not in the file");
        let error = Device::from_json("mine.json", &text).expect_err("it has a mistake").to_string();
        assert!(error.contains(word) && error.starts_with("mine.json:"), "{error}");
    }
}

#[test]
fn no_device_is_made_past_the_limits() {
    let refused = |change: fn(&mut DeviceSpec)| tx2().with(change).expect_err("it is past a limit").to_string();
    assert!(refused(|spec| spec.sms = 4_097).contains("sms is 4097, expected a whole number from 1 to 4096"));
    assert!(refused(|spec| spec.sms_per_tpc = 3).contains("sms_per_tpc is 3"));
    assert!(refused(|spec| spec.per_sm.blocks = 0).contains("per_sm.blocks is 0"));
    assert!(refused(|spec| spec.per_sm.threads = 31).contains("not even one warp"));
    assert!(refused(|spec| spec.per_sm.registers = 3).contains("more register sub-partitions"));
    assert!(refused(|spec| spec.sm_order = SmOrder::Explicit(vec![1, 1])).contains("0 to 1 exactly once"));
    let much = refused(|spec| (spec.sms, spec.per_sm.registers) = (16, 1 << 28));
    assert!(much.contains("4294967296 registers, more than 32 bits count"), "{much}");
}

#[test]
fn the_merged_sm_of_the_largest_device_fits_32_bits() {
    let largest = tx2().with(|spec| {
        spec.sms = 4_096;
        spec.per_sm = PerSmLimits {
            threads: 65_535,
            warps: 65_535,
            blocks: 65_535,
            registers: 1 << 19,
            shared_memory_bytes: 1 << 19,
        };
    });
    let largest = largest.expect("it is within the limits");
    let merged = largest.merged(u32::MAX, 7).expect("7 is within the limits");
    assert_eq!((merged.sms, merged.per_sm.threads, merged.per_sm.registers), (1, 268_431_360, 1 << 31));
    assert_eq!(merged.per_sm.blocks, 7);
    assert!(largest.merged(1, 65_536).is_err() && largest.merged(1, 0).is_err());
}

#[test]
fn built_in_devices_have_the_sm_of_their_compute_capability() {
    let mut compared = 0;
    for name in BUILTIN_NAMES {
        let device = Device::builtin(name).expect("sound").expect("built in");
        let same = |known: &ComputeCapability| known.to_string() == device.compute_capability;
        let Some(sm) = ComputeCapability::known().find(same).and_then(ComputeCapability::architecture) else {
            continue;
        };
        compared += 1;
        assert_eq!(device.per_sm, sm.per_sm, "{name}");
        assert_eq!(device.per_block, sm.per_block, "{name}");
        assert_eq!(device.register_allocation, sm.register_allocation, "{name}");
        assert_eq!(device.shared_memory_allocation, sm.shared_memory_allocation, "{name}");
        assert_eq!(device.sms_per_tpc, sm.sms_per_tpc, "{name}");
    }
    assert!(compared > 16, "{compared}");
}
