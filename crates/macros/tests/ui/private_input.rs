use antiphon::prelude::*;

/// Say nothing to the model.
#[private_input]
async fn silent(form: Secret) {}

/// Ask for nothing.
#[private_input(response = "Stored.")]
async fn formless() {}

/// Ask for two things.
#[private_input(response = "Stored.")]
async fn doubled(name: Secret, token: Secret) {}

/// Tell what nobody is told.
#[private_input(response = "Stored.")]
async fn talkative(form: Secret) -> Result<String> {
    Ok(form.expose().to_owned())
}

fn main() {}
