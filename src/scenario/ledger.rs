//! The console's `ledger`: what the payment provider has on its books, which no kubectl line shows,
//! since it is outside of the cluster.

use crate::world::World;

/// Does the line: all payments, oldest first.
pub fn perform(world: &World, line: &str) -> Result<String, String> {
    if let Some(word) = line.split_whitespace().nth(1) {
        return Err(format!("unknown argument {word:?}; ledger takes none"));
    }
    let payments = world.provider().ledger();
    if payments.is_empty() {
        return Ok("No payments.\n".into());
    }
    let rows = payments.iter().map(|payment| {
        [
            payment.id.to_string(),
            format!("{}/{}", payment.namespace, payment.order),
            format!("{} {}", payment.amount, payment.currency),
            payment.state.word().into(),
            payment.key.as_deref().unwrap_or("<none>").into(),
        ]
    });
    let head = ["PAYMENT", "ORDER", "AMOUNT", "STATE", "IDEMPOTENCY-KEY"].map(String::from);
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0) + 3;
    let widths: [usize; 5] = std::array::from_fn(width);
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line: String = cells.collect();
        text.push_str(line.trim_end());
        text.push('\n');
    }
    Ok(text)
}
