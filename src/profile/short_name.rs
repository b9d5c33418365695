//! Names of C++ functions, short enough for a table.

/// Functions that only wrap what their template argument names.
const WRAPPERS: [&str; 3] = ["Kernel", "Kernel2", "device_kernel"];

/// The function's own name, without return type, namespaces, template arguments and parameters:
/// `vectorized_elementwise_kernel` of `void at::native::vectorized_elementwise_kernel<4, …>(int, …)`. A name that has
/// no such parts stays as it is.
pub(crate) fn short_name(name: &str) -> &str {
    let mut function = name.strip_prefix("void ").unwrap_or(name);
    // An unnamed namespace has parentheses of its own.
    while let Some((before, after)) = function.split_once("(anonymous namespace)::")
        && !before.contains(['<', '('])
    {
        function = after;
    }
    let own = last_component(function);
    let inner = function.split_once('<').map(|(_, inner)| last_component(inner));
    match inner {
        Some(inner) if WRAPPERS.contains(&own) && !inner.is_empty() => inner,
        _ if own.is_empty() => name,
        _ => own,
    }
}

/// What stands last between `::` before anything in brackets.
fn last_component(text: &str) -> &str {
    let end = text.find(['<', '>', '(', ',']).unwrap_or(text.len());
    let path = text[..end].trim();
    path.rsplit_once("::").map_or(path, |(_, last)| last)
}
