//! Where the lines of hatches, letters and edges come to stand, in pixels.

use super::*;

fn pixels(shapes: Vec<Shape>) -> (Vec<u8>, usize) {
    let drawing = Drawing { width: 2_000, height: 1_000, title: String::new(), shapes };
    let file = drawing.to_png(254.0 / 300.0).expect("it is drawn");
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().expect("a PNG");
    let mut bytes = vec![0; reader.output_buffer_size().expect("it fits")];
    let info = reader.next_frame(&mut bytes).expect("a picture");
    // Ten pixels a millimetre.
    assert_eq!((info.width, info.height), (200, 100));
    (bytes, 200)
}

/// How dark a pixel is, from 0 (white) to 255.
fn darkness((bytes, width): &(Vec<u8>, usize), x: usize, y: usize) -> u8 {
    255 - bytes[3 * (y * width + x)]
}

#[test]
fn lines_of_a_hatch_are_in_the_middle_of_each_millimetre_as_in_the_svg() {
    let fill = Fill { background: Colour::WHITE, hatch: Hatch::Horizontal, ink: Colour::BLACK };
    let area = Rect { x: 230, y: 0, width: 1_000, height: 1_000 };
    let picture = pixels(vec![Shape::Box { area, fill: Some(fill), stroke: None }]);
    for millimetre in 0..10 {
        let at = |y: usize| darkness(&picture, 70, 10 * millimetre + y);
        // A stroke of 0.14 mm from 0.43 to 0.57: seven tenths of the pixels on both sides of the middle.
        assert!((150..=200).contains(&at(4)) && at(4).abs_diff(at(5)) < 8, "{} {}", at(4), at(5));
        assert!(at(2) < 8 && at(7) < 8, "{} {}", at(2), at(7));
    }
    assert_eq!((darkness(&picture, 22, 4), darkness(&picture, 124, 4)), (0, 0), "nothing beside the box");
}

#[test]
fn letters_stand_on_their_baseline_between_the_ends_that_their_widths_say() {
    let text = |anchor, upwards| {
        let at = Point { x: 1_000, y: 500 };
        let text = Text { text: "HH".into(), at, anchor, size: 300, colour: Colour::BLACK, bold: false, upwards };
        let picture = pixels(vec![Shape::Text(text)]);
        let dark: Vec<(usize, usize)> = (0..200)
            .flat_map(|x| (0..100).map(move |y| (x, y)))
            .filter(|(x, y)| darkness(&picture, *x, *y) > 100)
            .collect();
        let (x, y) = (|| dark.iter().map(|(x, _)| *x), || dark.iter().map(|(_, y)| *y));
        (x().min(), x().max(), y().min(), y().max())
    };
    // H is 1,540 of 2,048 units wide, its strokes from 201 to 1,339, and 1,493 high: 22.6, 2.9, 19.6 and 21.9 pixels.
    assert_eq!(text(Anchor::Start, false), (Some(103), Some(141), Some(28), Some(49)));
    assert_eq!(text(Anchor::End, false), (Some(58), Some(96), Some(28), Some(49)));
    assert_eq!(text(Anchor::Middle, true), (Some(78), Some(99), Some(30), Some(69)));
}

#[test]
fn a_rectangle_without_an_inside_is_not_painted() {
    let stroke = Some(Stroke { colour: Colour::BLACK, width: 50 });
    let area = Rect { x: 500, y: 0, width: 0, height: 1_000 };
    let (bytes, _) = pixels(vec![Shape::Box { area, fill: None, stroke }]);
    assert!(bytes.iter().all(|byte| *byte == 255));
}
