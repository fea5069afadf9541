"""An agent of Pydantic AI behind its AG-UI adapter. Its model is a function: the last words choose what it does."""

import asyncio

from ag_ui.core import EventType, StateDeltaEvent, StateSnapshotEvent
from pydantic import BaseModel
from pydantic_ai import Agent, DeferredToolRequests, RunContext, ToolReturn
from pydantic_ai.messages import ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.ui import StateDeps
from pydantic_ai.ui.ag_ui import AGUIAdapter
from script import HELLO, call, refuse
from starlette.applications import Starlette
from starlette.routing import Route


class Shopping(BaseModel):
    items: list[str] = []


async def model(messages, info):
    refuse(
        (
            [part.tool_call_id for part in message.parts if isinstance(part, ToolCallPart)],
            [part.tool_call_id for part in message.parts if isinstance(part, ToolReturnPart)],
        )
        for message in messages
    )
    last = messages[-1].parts[-1]
    if isinstance(last, ToolReturnPart):
        yield "I was told: "
        yield last.model_response_str()
        return
    words = last.content
    if words == "fail":
        raise ValueError("the model is down")
    if words == "endless":
        yield "It was a dark "
        await asyncio.Event().wait()
    if made := call(words):
        name, arguments = made
        yield {0: DeltaToolCall(name=name)}
        for piece in arguments:
            yield {0: DeltaToolCall(json_args=piece)}
        return
    for piece in HELLO:
        yield piece


agent = Agent(
    FunctionModel(stream_function=model),
    deps_type=StateDeps[Shopping],
    output_type=[str, DeferredToolRequests],
)


@agent.tool_plain
def weather(city: str) -> str:
    return f"sunny in {city}"


@agent.tool_plain(requires_approval=True)
def delete_file(path: str) -> str:
    return f"{path} is gone"


@agent.tool
def add_item(ctx: RunContext[StateDeps[Shopping]], item: str) -> ToolReturn:
    """The first thing makes the state, each further one changes it."""
    items = ctx.deps.state.items
    items.append(item)
    if len(items) == 1:
        event = StateSnapshotEvent(type=EventType.STATE_SNAPSHOT, snapshot=ctx.deps.state.model_dump())
    else:
        delta = [{"op": "add", "path": "/items/-", "value": item}]
        event = StateDeltaEvent(type=EventType.STATE_DELTA, delta=delta)
    return ToolReturn(return_value=f"{len(items)} on the list", metadata=[event])


async def run(request):
    return await AGUIAdapter.dispatch_request(request, agent=agent, deps=StateDeps(Shopping()))


app = Starlette(routes=[Route("/", run, methods=["POST"])])
