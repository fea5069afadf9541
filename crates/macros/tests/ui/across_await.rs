use std::rc::Rc;

use antiphon::prelude::*;

/// Hold on to what can't change its thread.
#[tool]
async fn hold(count: u8) -> u8 {
    let held = Rc::new(count);
    std::future::ready(()).await;
    *held
}

fn main() {}
