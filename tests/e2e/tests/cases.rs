//! One test per folder of `tests/cases`, named after it.
//!
//! `cargo test -p antiphon-e2e --test cases -- P01` plays one case, `-- --ignored` those that
//! wait for their part of the server.

use antiphon_e2e::{case::Case, flow};
use libtest_mimic::{Arguments, Failed, Trial};

/// Cases whose part of the server is still to come. The list can only get shorter.
const LATER: &[&str] = &[
    "A01", "A02", "A04", "A07", "D07", "G01", "G03", "K10", "O01", "X08",
];

fn main() {
    let arguments = Arguments::from_args();
    let cases = match Case::all() {
        Ok(cases) => cases,
        Err(error) => {
            let trial = Trial::test("cases_can_be_read", move || Err(Failed::from(error)));
            libtest_mimic::run(&arguments, vec![trial]).exit();
        }
    };
    let mut trials = vec![list_names_cases(&cases)];
    for case in cases {
        let is_later = LATER.contains(&case.id());
        let trial = Trial::test(case.name.clone(), move || play(&case));
        trials.push(trial.with_ignored_flag(is_later));
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn play(case: &Case) -> Result<(), Failed> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let played = runtime.block_on(flow::play(case));
    played.map_err(|stop| Failed::from(format!("{}\n{stop}", case.spec.about)))
}

/// A case that was renamed or removed must not stay on the list.
fn list_names_cases(cases: &[Case]) -> Trial {
    let ids: Vec<_> = cases.iter().map(|case| case.id().to_owned()).collect();
    Trial::test("every_case_on_the_list_of_later_ones_exists", move || {
        let gone: Vec<_> = LATER
            .iter()
            .filter(|id| !ids.iter().any(|known| known == *id))
            .collect();
        if gone.is_empty() {
            Ok(())
        } else {
            Err(format!("no such cases: {gone:?}").into())
        }
    })
}
