//! Sizes as they are told: five digits and a unit.

/// Such as `16KiB` or `33.333KiB`.
pub(super) fn shown(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let power = (0..units.len() - 1)
        .rev()
        .find(|power| bytes >= 1 << (10 * (power + 1)))
        .map_or(0, |power| power + 1);
    let value = bytes as f64 / (1u64 << (10 * power)) as f64;
    let whole_digits = if value < 1.0 { 1 } else { value.log10() as usize + 1 };
    let text = format!("{value:.*}", 5usize.saturating_sub(whole_digits));
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    format!("{text}{}", units[power])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_five_digits() {
        let all = [0, 512, 16_384, 34_133, 102_399, 2 << 30, 83_886_080_000];
        let texts = all.map(shown);
        assert_eq!(
            texts,
            ["0B", "512B", "16KiB", "33.333KiB", "99.999KiB", "2GiB", "78.125GiB"]
        );
    }
}
