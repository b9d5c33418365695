//! Disjoint sets of numbers (union-find): which belong together, directly or by way of others.

/// Sets of the numbers from 0 on, each of which the smallest one stands for.
#[derive(Debug)]
pub struct Joined {
    /// Of each number another one of its set, which is smaller; of the smallest one itself.
    parents: Vec<usize>,
}

impl Joined {
    /// Of so many numbers, each by itself.
    pub fn new(numbers: usize) -> Self {
        Self { parents: (0..numbers).collect() }
    }

    /// The smallest number that a number belongs together with.
    pub fn of(&self, mut number: usize) -> usize {
        while self.parents[number] != number {
            number = self.parents[number];
        }
        number
    }

    /// Says that two numbers belong together; whether that is new.
    pub fn join(&mut self, one: usize, other: usize) -> bool {
        let (one, other) = (self.of(one), self.of(other));
        // Ways to the smallest one stay short, as most join the same few.
        self.parents[one.max(other)] = one.min(other);
        one != other
    }
}

#[cfg(test)]
mod tests {
    use super::Joined;

    #[test]
    fn what_belongs_to_the_same_belongs_together() {
        let mut joined = Joined::new(5);
        assert_eq!(
            [joined.join(4, 1), joined.join(2, 3), joined.join(3, 4), joined.join(1, 2)],
            [true, true, true, false]
        );
        assert_eq!([0, 1, 2, 3, 4].map(|number| joined.of(number)), [0, 1, 1, 1, 1]);
    }
}
