//! The console's `ledger`: what the payment provider has on its books, which no kubectl line shows,
//! since it is outside of the cluster.

use crate::controllers::order::payment::Payment;
use crate::kubectl::Table;
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
    let row = |payment: &Payment| {
        vec![
            payment.id.to_string(),
            format!("{}/{}", payment.namespace, payment.order),
            format!("{} {}", payment.amount, payment.currency),
            payment.state.word().into(),
            payment.key.as_deref().unwrap_or("<none>").into(),
        ]
    };
    let columns = ["PAYMENT", "ORDER", "AMOUNT", "STATE", "IDEMPOTENCY-KEY"].map(String::from);
    let table = Table { columns: columns.into(), rows: payments.iter().map(row).collect() };
    Ok(table.text(true))
}
