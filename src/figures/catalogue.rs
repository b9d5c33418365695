//! All figures.

use super::figure::Figure;
use super::{
    cister2012, date2014, ecrts2018, ecrts2024, ospert2017, rtns2020, rtss2017, thesis2019, thesis2019_cost, waters2019,
};

/// Every figure and table that is computed, in the order of the gallery.
pub fn catalogue() -> Vec<Figure> {
    [
        rtss2017::FIGURES,
        ospert2017::FIGURES,
        ecrts2018::FIGURES,
        thesis2019::CHAPTER_3,
        thesis2019_cost::FIGURES,
        thesis2019::CHAPTER_4,
        waters2019::FIGURES,
        rtns2020::FIGURES,
        ecrts2024::FIGURES,
        date2014::FIGURES,
        cister2012::FIGURES,
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::figure::Make;
    use super::super::{Paper, axes};
    use super::*;

    #[test]
    fn every_figure_has_a_note_on_its_axes_and_every_note_a_figure() {
        let figures = catalogue();
        for figure in &figures {
            let has_picture = !matches!(figure.make, Make::Compared);
            assert_eq!(figure.axes().is_some(), has_picture, "{}", figure.name);
        }
        for (beginning, note) in axes::NOTES {
            assert!(figures.iter().any(|figure| figure.axes() == Some(*note)), "{beginning} is for no figure");
        }
    }

    #[test]
    fn names_are_unique_and_papers_stay_together_in_the_order_of_the_gallery() {
        let figures = catalogue();
        let names: BTreeSet<&str> = figures.iter().map(|figure| figure.name).collect();
        assert_eq!(names.len(), figures.len());
        let places: Vec<usize> = figures
            .iter()
            .map(|figure| Paper::ALL.iter().position(|&paper| paper == figure.paper).expect("it is one of all"))
            .collect();
        assert!(places.is_sorted());
    }
}
