//! Tools that ask in the middle of their work.

use std::sync::atomic::{AtomicU32, Ordering};

use antiphon::prelude::*;

use crate::support::Stage;

#[derive(Default)]
struct Airline {
    held: AtomicU32,
}

impl Airline {
    async fn hold(&self, flight: &str) -> Result<String, ToolError> {
        let holds = self.held.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(format!("{flight} held {holds} time(s)"))
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Seat {
    row: u8,
}

/// Book a flight.
#[tool]
async fn book(flight: String, run: RunContext<'_>, airline: Resource<Airline>) -> Result<String> {
    let held = run.step("hold", airline.hold(&flight)).await?;
    let seat: Seat = run.ask("Which seat?").schema().await?;
    Ok(format!("{held}, row {}", seat.row))
}

#[tokio::test]
async fn the_answer_is_typed_and_recorded_steps_are_not_done_again() {
    let mut stage = Stage::calling("book", &json!({ "flight": "OS 1" }), |agent| {
        agent.tools(book).resource(Airline::default())
    });
    let asked = stage.ask().await;
    assert_eq!(asked.interrupt()["message"], "Which seat?");
    assert!(asked.interrupt()["responseSchema"]["properties"]["row"].is_object());
    let played = stage.answer(&asked, &json!({ "row": 12 })).await;
    assert_eq!(played.result(), "OS 1 held 1 time(s), row 12");
}
