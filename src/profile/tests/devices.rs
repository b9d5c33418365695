//! On which device a profile was recorded, and on which it is simulated.

use super::*;
use crate::device::Device;

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

#[test]
fn a_board_with_the_limits_of_another_keeps_its_name_and_says_what_is_assumed() {
    let h800 = trace(&kernel("10", "100", 7, 1))
        .replace("NVIDIA A100", "NVIDIA H800")
        .replace(r#""computeMajor": 8"#, r#""computeMajor": 9"#)
        .replace(r#""numSms": 108"#, r#""numSms": 132"#);
    let device = read(&h800).device(0).expect("it says enough");
    assert_eq!(device.title, "NVIDIA H800");
    let told = "NVIDIA H800 is no built-in device: what the file does not say of it is as of the built-in device h100";
    assert!(notes(&h800, None).iter().any(|note| note == told), "{:?}", notes(&h800, None));
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
