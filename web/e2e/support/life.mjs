// A fake agent for the whole life of a conversation: each word of the person brings one situation.
import { approval, calls, says, snapshot } from './fake-agent.mjs';

const call = (id, name, args) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(args) } });

/** Ends a run with interrupts whose calls are in the thread. */
function asks(turn, interrupts, toolCalls) {
  const messages = [...turn.thread.messages, { id: `a-${turn.input.runId}`, role: 'assistant', toolCalls }];
  return [
    ...toolCalls.flatMap(({ id, function: { name, arguments: args } }) => calls(name, args, { id })),
    snapshot(messages),
    { type: 'RUN_FINISHED', outcome: { type: 'interrupt', interrupts } },
  ];
}

function resumed({ resume, thread }) {
  const words = resume.map(({ status, payload }) => (status === 'cancelled' ? 'cancelled' : payload?.approved === true ? 'approved' : payload?.approved === false ? 'declined' : 'answered'));
  const edited = resume.find(({ payload }) => payload?.editedArgs !== undefined)?.payload.editedArgs;
  thread.open = [];
  return says(`You ${words.join(' and ')}${edited === undefined ? '' : ` with ${JSON.stringify(edited)}`}.`);
}

export function life(turn) {
  const { text, resume, input } = turn;
  if (resume?.length > 0) return resumed(turn);
  const run = input.runId;
  if (/two/.test(text)) {
    const ids = [`c1-${run}`, `c2-${run}`];
    const args = [{ id: 'C-1' }, { id: 'C-2' }];
    return asks(turn, ids.map((id, i) => approval({ toolCallId: id, name: 'delete_customer', args: args[i], message: `Delete customer ${args[i].id}?` })), ids.map((id, i) => call(id, 'delete_customer', args[i])));
  }
  if (/delete/.test(text)) {
    const args = { id: 'C-1042', cascade: true, note: 'Requested by the owner' };
    return asks(turn, [approval({ toolCallId: `c-${run}`, name: 'delete_customer', args, message: 'Delete customer C-1042 with all orders?', edits: /edit/.test(text) })], [call(`c-${run}`, 'delete_customer', args)]);
  }
  if (/private/.test(text)) {
    const schema = { type: 'object', properties: { token: { type: 'string', title: 'Access token', description: 'From your provider’s settings page.' } }, required: ['token'] };
    const interrupt = { id: `p-${run}`, reason: 'private_input', message: 'Please enter your access token.', responseSchema: schema, expiresAt: new Date(Date.now() + 300_000).toISOString(), metadata: { harnest: { type: 'client_tool', name: 'provide_token', privateInput: true } } };
    return asks(turn, [interrupt], []);
  }
  if (/form/.test(text)) {
    const properties = {
      seat: { enum: ['Window', 'Aisle'], title: 'Seat' },
      bags: { type: 'integer', title: 'Bags', minimum: 0, maximum: 5, default: 1 },
      meal: { type: 'boolean', title: 'With a meal' },
      remark: { type: 'string', title: 'Remark', maxLength: 1000 },
    };
    return asks(turn, [{ id: `f-${run}`, reason: 'input_required', message: 'Which seat would you like?', responseSchema: { type: 'object', properties, required: ['seat', 'bags'] } }], []);
  }
  if (/slow/.test(text)) return says('One two three four five six seven eight nine ten. '.repeat(20), { piece: 8, pace: 30 });
  if (/error/.test(text)) return [...says('I begin, but'), { type: 'RUN_ERROR', message: 'The model is overloaded.', code: 'provider_overloaded' }];
  if (/busy/.test(text)) {
    turn.thread.messages.pop();
    return { status: 409, body: { error: { code: 'thread_busy', message: 'the thread has an active run' } } };
  }
  if (/refuse/.test(text)) return { status: 400, body: { error: { code: 'invalid_input', message: 'the message is too long', field: 'messages[0].content' } } };
  if (/cut/.test(text)) return [...says('I begin, but'), 'cut'];
  if (/end/.test(text)) return [...says('I begin, but'), 'end'];
  if (/illegal/.test(text)) return [{ type: 'TEXT_MESSAGE_CONTENT', messageId: 'never-started', delta: 'x' }];
  if (/think/.test(text)) {
    return [
      { type: 'REASONING_START', messageId: 'r' },
      { type: 'REASONING_MESSAGE_START', messageId: 'rm', role: 'reasoning' },
      { type: 'REASONING_MESSAGE_CONTENT', messageId: 'rm', delta: 'First I look at the question.\nThen I weigh the answers.' },
      { type: 'REASONING_MESSAGE_END', messageId: 'rm' },
      { type: 'REASONING_END', messageId: 'r' },
      ...says('I thought about it.'),
    ];
  }
  if (/markdown/.test(text)) return says(MARKDOWN);
  return [...calls('get_weather', { location: 'Tokyo' }, { result: '{"temperature":21,"conditions":"Sunny"}' }), ...says(`You said: ${text}`)];
}

const MARKDOWN = `# A heading

A paragraph with **strong**, *emphasis*, \`code\`, ~~gone~~ and a [link](https://example.com/page).

- one
- two
  - nested
- [x] done
- [ ] open

1. first
2. second

> A quotation of some length.

| Name | Amount |
|------|-------:|
| Spaghetti | 400 g |
| Guanciale | 200 g |

\`\`\`rust
fn main() {
    println!("Hello");
}
\`\`\`
`;
