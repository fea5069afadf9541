//! What an event costs on its way out and in.

use antiphon_protocol::{
    Event, Replica, TextMessageContent, TextMessageStart, Verifier, proto, sse,
};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

fn token() -> Event {
    TextMessageContent::new("msg_0199f3c2-7d1e-7f6a-9d53-1c2b3a4d5e6f", " certainly").into()
}

#[divan::bench]
fn token_to_json(bencher: Bencher<'_, '_>) {
    let event = token();
    bencher.bench(|| black_box(&event).to_json());
}

#[divan::bench]
fn token_to_sse_frame(bencher: Bencher<'_, '_>) {
    let event = token();
    bencher.bench(|| sse::frame(Some("run_1:42"), &black_box(&event).to_json()));
}

#[divan::bench]
fn token_to_protobuf_frame(bencher: Bencher<'_, '_>) {
    let event = token();
    bencher.bench(|| proto::frame(black_box(&event)));
}

#[divan::bench]
fn token_from_sse(bencher: Bencher<'_, '_>) {
    let frame = sse::frame(None, &token().to_json());
    let mut decoder = sse::Decoder::new(1 << 20);
    bencher.bench_local(|| {
        decoder.push(black_box(&frame));
        decoder.next_event()
    });
}

#[divan::bench]
fn token_verified_and_folded(bencher: Bencher<'_, '_>) {
    let event = token();
    let Event::TextMessageContent(content) = &event else {
        return;
    };
    let start = TextMessageStart::new(content.message_id.clone()).into();
    let mut verifier = Verifier::producer();
    let started = antiphon_protocol::RunStarted {
        protocol_version: Some("1.0".to_owned()),
        ..antiphon_protocol::RunStarted::new("t1", "r1")
    };
    verifier.check(&started.into()).expect("legal");
    verifier.check(&start).expect("legal");
    let mut replica = Replica::new(Vec::new(), None);
    replica.apply(&start);
    bencher.bench_local(|| {
        verifier.check(black_box(&event)).expect("legal");
        replica.apply(black_box(&event))
    });
}
