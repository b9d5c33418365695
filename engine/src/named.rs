//! Enumerations whose values have names: a value is declared once, with its name beside it.

/// Declares an enum whose values have names, with the function `name`. After a colon stands what else it has: `ALL`, in
/// the order of declaration, `from_name` (which needs `ALL`), `Display`, `Serialize`, and `words`: what is said of each
/// beside its declaration, as text.
#[macro_export]
#[doc(hidden)]
macro_rules! named {
    ($(#[$meta:meta])* $vis:vis enum $kind:ident { $($values:tt)+ }) => {
        $crate::named::named!(@enum $(#[$meta])* $vis $kind { $($values)+ });
    };
    ($(#[$meta:meta])* $vis:vis enum $kind:ident: $($more:ident),+ { $($values:tt)+ }) => {
        $crate::named::named!(@enum $(#[$meta])* $vis $kind { $($values)+ });
        $crate::named::named!(@each [$($more)+] $vis $kind { $($values)+ });
    };
    (@each [$($more:ident)+] $vis:vis $kind:ident $values:tt) => {
        $($crate::named::named!(@$more $vis $kind $values);)+
    };
    (@enum $(#[$meta:meta])* $vis:vis $kind:ident {
        $($(#[$note:meta])* $value:ident = $name:literal),+ $(,)?
    }) => {
        $(#[$meta])*
        $vis enum $kind {
            $($(#[$note])* #[doc = concat!("\n`", $name, "`")] $value),+
        }

        impl $kind {
            /// Its name.
            $vis const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name),+
                }
            }
        }
    };
    (@ALL $vis:vis $kind:ident { $($(#[$note:meta])* $value:ident = $name:literal),+ $(,)? }) => {
        impl $kind {
            /// All of them, in the order of their declaration.
            $vis const ALL: [Self; [$($name),+].len()] = [$(Self::$value),+];
        }
    };
    (@from_name $vis:vis $kind:ident $values:tt) => {
        impl $kind {
            /// The one of that name.
            $vis fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|known| known.name() == name)
            }
        }
    };
    (@words $vis:vis $kind:ident {
        $($(#[$($note:tt)+])+ $value:ident = $name:literal),+ $(,)?
    }) => {
        impl $kind {
            /// What it means, in a sentence.
            $vis const fn words(self) -> &'static str {
                match self {
                    $(Self::$value => concat!($($crate::named::named!(@note $($note)+)),+).trim_ascii_start()),+
                }
            }
        }
    };
    (@note doc = $words:literal) => { $words };
    (@note $($other:tt)+) => { "" };
    (@Display $vis:vis $kind:ident $values:tt) => {
        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
    (@Serialize $vis:vis $kind:ident $values:tt) => {
        impl serde::Serialize for $kind {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }
    };
}

pub use named;
