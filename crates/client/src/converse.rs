//! Whole conversations: everything that a run stops for is dealt with, and it goes on.

use antiphon_protocol::{Content, Event};

use crate::{Answer, Ended, Error, ErrorKind, Question, Run, Thread};

/// How many runs one conversation may take. An agent that calls the same tool for ever must not
/// keep a program busy for ever.
const MAX_RUNS: usize = 64;

/// Who watches a conversation and answers its questions.
///
/// A function that takes events watches and answers nothing:
///
/// ```no_run
/// # async fn f(mut thread: antiphon_client::Thread) -> Result<(), antiphon_client::Error> {
/// use antiphon_client::Event;
///
/// let ended = thread
///     .converse("A carbonara, please", |event: &Event| {
///         if let Event::TextMessageContent(content) = event {
///             print!("{}", content.delta);
///         }
///     })
///     .await?;
/// # let _ = ended;
/// # Ok(()) }
/// ```
///
/// One that answers implements both:
///
/// ```no_run
/// use antiphon_client::{Answer, Handler, Question};
///
/// struct Careful;
///
/// impl Handler for Careful {
///     async fn answer(&mut self, question: &Question) -> Option<Answer> {
///         Some(question.decline("nobody is here to look at it"))
///     }
/// }
/// # async fn f(mut thread: antiphon_client::Thread) -> Result<(), antiphon_client::Error> {
/// thread.converse("Delete customer 7", Careful).await?;
/// # Ok(()) }
/// ```
pub trait Handler: Send {
    /// Is shown every event.
    fn event(&mut self, event: &Event) {
        let _ = event;
    }

    /// Answers a question, or does not: the conversation then ends there.
    fn answer(&mut self, question: &Question) -> impl Future<Output = Option<Answer>> + Send {
        let _ = question;
        async { None }
    }
}

impl<F: FnMut(&Event) + Send> Handler for F {
    fn event(&mut self, event: &Event) {
        self(event);
    }
}

impl Thread {
    /// Says something and carries the conversation on until the agent is done: this client's
    /// tools are run and their results sent, questions are answered by the handler.
    ///
    /// It ends early, as [`Ended::Asked`] or [`Ended::Waiting`], where the handler leaves a
    /// question unanswered or a tool is not here.
    ///
    /// # Errors
    ///
    /// A run failed, or [`ErrorKind::Limit`]: the agent has not come to an end in 64 runs.
    pub async fn converse(
        &mut self,
        text: impl Into<Content>,
        mut handler: impl Handler,
    ) -> Result<Ended, Error> {
        let mut ended = watch(self.send(text).await?, &mut handler).await?;
        for _ in 1..MAX_RUNS {
            let run = match &ended {
                Ended::Waiting(_) if self.run_client_tools().await => self.proceed().await?,
                Ended::Asked(questions) => match answers(self, questions, &mut handler).await {
                    Some(answers) => self.answer(answers).await?,
                    None => return Ok(ended),
                },
                _ => return Ok(ended),
            };
            ended = watch(run, &mut handler).await?;
        }
        match ended {
            Ended::Asked(_) | Ended::Waiting(_) => Err(Error::new(
                ErrorKind::Limit,
                format!("the agent has not come to an end in {MAX_RUNS} runs"),
            )),
            ended => Ok(ended),
        }
    }
}

async fn watch(mut run: Run<'_>, handler: &mut impl Handler) -> Result<Ended, Error> {
    while let Some(event) = run.next().await? {
        handler.event(&event);
    }
    run.end()
}

/// Answers all questions, or none.
async fn answers(
    thread: &Thread,
    questions: &[Question],
    handler: &mut impl Handler,
) -> Option<Vec<Answer>> {
    let mut answers = Vec::with_capacity(questions.len());
    for question in questions.iter().filter(|q| !q.is_client_tool()) {
        answers.push(handler.answer(question).await?);
    }
    // People first: a function may do something that an unanswered question makes useless.
    for question in questions.iter().filter(|q| q.is_client_tool()) {
        let call = question.call()?;
        let tool = thread.function(&call.function.name)?;
        answers.push(match tool.call(&call.function.arguments).await {
            Ok(result) => question.answer(result),
            Err(_) => question.cancel(),
        });
    }
    Some(answers)
}
