//! `antiphon demo`: built-in agents, on a script or on a real model.

mod manners;
mod page;
mod plan;
mod token;
mod verifier;
mod weather;

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use antiphon::model::{Model, OpenAi};
use antiphon::protocol::StateSnapshot;
use antiphon::server::{Server, Waits};
use antiphon::{Agent, FinishedCall};
use serde_json::json;

use crate::address::Address;
use crate::agents::{ModelChoice, agents};
use crate::args;
use crate::failure::{Ended, Failure};
use crate::file::{AgentFile, Variables};
use crate::running;
use crate::store::StoreUrl;
use crate::web;

/// The agents; what a file can't say is added in [`with_code`].
const FILE: &str = include_str!("agents.yaml");
/// What to do where strangers could come in.
const REMEDY: &str = "the demo knows no users, so listen on 127.0.0.1";
/// The model that is used where a key is there and nothing else is said.
const USUAL_MODEL: &str = "gpt-5-mini";

/// Serves the demo until it is told to stop.
///
/// # Errors
/// The model or the store can't be used, or the address is taken.
pub(crate) async fn demo(args: args::Demo) -> Result<Ended, Failure> {
    let variables = Variables::of_process();
    let choice = model(args.model.as_deref(), &variables)?;
    let waits = Waits::new();
    let agents = demo_agents(&choice, &variables, &waits)?;
    let url = store_url(args.store.as_deref())?;
    let store = url.open().await.map_err(Failure::failed)?;
    let server = Server::new(agents.agents)
        .default_agent("recipe")
        .page(web::router().merge(page::router(agents.listed, label(&choice))))
        .waits(waits)
        .drain(args.running.drain)
        .shared_store(store);
    let bound = running::bind(server, &Address::of_option(&args.listen), REMEDY).await?;
    tracing::info!(model = label(&choice), store = %url, "demo; open http://{}", bound.local_addr());
    running::serve(bound).await
}

/// The demo's agents and how a page lists them.
struct DemoAgents {
    agents: Vec<Agent>,
    listed: Vec<page::Listed>,
}

fn demo_agents(
    choice: &ModelChoice,
    variables: &Variables,
    waits: &Waits,
) -> Result<DemoAgents, Failure> {
    let file = AgentFile::parse(Path::new("demo"), FILE, variables)?;
    let note = match choice {
        ModelChoice::AsWritten => " (a fixed script plays the model's part)",
        ModelChoice::All(_) => "",
    };
    let entries = &file.document.agents.0;
    let described = entries.iter().map(|(name, entry)| {
        let description = entry.description.as_deref().unwrap_or_default();
        (name.clone(), format!("{description}{note}"))
    });
    let listed: Vec<page::Listed> = described
        .map(|(name, description)| page::Listed { name, description })
        .collect();
    let agents = agents(&file, variables, choice)?;
    let agents = agents.into_iter().zip(&listed).map(|(agent, listed)| {
        with_code(&listed.name, agent, waits).description(&listed.description)
    });
    Ok(DemoAgents {
        agents: agents.collect(),
        listed,
    })
}

/// What an agent has beyond its entry in the file: tools in Rust, and manners that its page wants.
fn with_code(name: &str, agent: Agent, waits: &Waits) -> Agent {
    match name {
        "plan" => plan::planner(agent),
        "agentic_generative_ui" => plan::planner(agent).on_event(manners::without_tool_calls),
        "agentic_chat" | "backend_tool_rendering" => agent.tools(weather::get_weather),
        "shared_state" => agent.map_result("generate_recipe", |call: &FinishedCall<'_>, _| {
            [StateSnapshot::new(
                json!({ "recipe": call.argument("recipe") }),
            )]
        }),
        "private_token" => agent
            .tools(token::provide_token)
            .resource(token::Vault::default()),
        "verification" => verifier::verified(agent, waits.clone()),
        "predictive_state_updates" => agent.middleware(manners::PagePredicts),
        _ => agent,
    }
}

/// Which model plays: the one that was asked for, else a real one where there is a key.
fn model(asked: Option<&str>, variables: &Variables) -> Result<ModelChoice, Failure> {
    let openai = |name: &str| {
        let account = OpenAi::from_env().map_err(|error| {
            Failure::usage(format!(
                "--model: {error}; set it, or leave --model out to play the script"
            ))
        })?;
        let model = account.model(name);
        model
            .check()
            .map_err(|error| Failure::usage(error.to_string()))?;
        let model: Arc<dyn Model> = Arc::new(model);
        Ok(ModelChoice::All(model))
    };
    match asked.map(|asked| asked.split_once('/').unwrap_or((asked, ""))) {
        None if variables.filled("OPENAI_API_KEY").is_some() => openai(USUAL_MODEL),
        None | Some(("script", "")) => Ok(ModelChoice::AsWritten),
        Some(("openai", "")) => openai(USUAL_MODEL),
        Some(("openai", name)) => openai(name),
        Some((provider, _)) => Err(Failure::usage(format!(
            "--model: the provider {provider:?} is not supported yet by this build; use openai/NAME or script"
        ))),
    }
}

fn label(choice: &ModelChoice) -> String {
    match choice {
        ModelChoice::AsWritten => "script (a stand-in that plays fixed turns)".to_owned(),
        ModelChoice::All(model) => format!("{}/{}", model.provider(), model.name()),
    }
}

/// The store that was asked for, else a file in the user's data folder.
fn store_url(asked: Option<&str>) -> Result<StoreUrl, Failure> {
    if let Some(asked) = asked {
        return StoreUrl::parse(asked, Path::new(""))
            .map_err(|what| Failure::usage(format!("--store {asked}: {what}")));
    }
    let Some(folder) = data_folder() else {
        tracing::warn!("there is no data folder, as HOME is not set; threads are kept in memory");
        return Ok(StoreUrl::Memory);
    };
    let folder = folder.join("antiphon");
    std::fs::create_dir_all(&folder).map_err(|error| {
        let folder = folder.display();
        Failure::failed(format!(
            "the data folder {folder} can't be made: {error}; choose a store with --store"
        ))
    })?;
    Ok(StoreUrl::file(folder.join("demo.db")))
}

/// `$XDG_DATA_HOME`, or `~/.local/share`; the specification wants relative paths ignored.
fn data_folder() -> Option<PathBuf> {
    let absolute = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")))
}
