"""An agent of Microsoft's Agent Framework behind its AG-UI endpoint. Its model is made up: the last words choose
what it does."""

import asyncio
import uuid

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    ResponseStream,
    tool,
)
from agent_framework.ag_ui import AgentFrameworkAgent, add_agent_framework_fastapi_endpoint
from agent_framework_ag_ui import state_update
from fastapi import FastAPI
from script import HELLO, call, refuse

# How the framework tells the model of the state: where an approval goes on, between the call and its result.
STATE = "Application state supplied by the AG-UI client"


class Model(FunctionInvocationLayer, BaseChatClient):
    def _inner_get_response(self, *, messages, stream=False, options=None, **kwargs):
        updates = self.play(messages)
        if stream:
            return ResponseStream(updates, finalizer=ChatResponse.from_updates)

        async def whole():
            return ChatResponse.from_updates([update async for update in updates])

        return whole()

    async def play(self, messages):
        refuse(
            (ids(message, "function_call"), ids(message, "function_result"))
            for message in messages
            if not message.text.startswith(STATE)
        )
        last = messages[-1]
        if results := [content.result for content in last.contents if content.type == "function_result"]:
            yield said("I was told: ")
            yield said(str(results[-1]))
            return
        words = last.text
        if words == "fail":
            raise ValueError("the model is down")
        if words == "endless":
            yield said("It was a dark ")
            await asyncio.Event().wait()
        if made := call(words):
            name, arguments = made
            call_id = f"call_{uuid.uuid4().hex}"
            for piece in ["", *arguments]:
                yield called(call_id, name, piece)
            return
        for piece in HELLO:
            yield said(piece)


def ids(message, kind):
    return [content.call_id for content in message.contents if content.type == kind]


def said(text):
    return ChatResponseUpdate(contents=[Content.from_text(text)], role="assistant")


def called(call_id, name, arguments):
    return ChatResponseUpdate(contents=[Content.from_function_call(call_id, name, arguments=arguments)], role="assistant")


@tool
def weather(city: str) -> str:
    return f"sunny in {city}"


@tool(approval_mode="always_require")
def delete_file(path: str) -> str:
    return f"{path} is gone"


@tool
def write_note(text: str) -> str:
    return "written"


@tool
def add_item(item: str) -> Content:
    return state_update(text=f"{item} is on the list", state={"item": item})


def serve(path, require_confirmation):
    agent = AgentFrameworkAgent(
        Agent(client=Model(), name="peer", tools=[weather, delete_file, write_note, add_item]),
        state_schema={key: {"type": "string"} for key in ("note", "item", "background")},
        predict_state_config={
            "note": {"tool": "write_note", "tool_argument": "text"},
            "background": {"tool": "change_background", "tool_argument": "background"},
        },
        require_confirmation=require_confirmation,
    )
    add_agent_framework_fastapi_endpoint(app, agent, path, single_user=True)


app = FastAPI()
serve("/", False)
# As the framework is by default: what is predicted of the state, and what needs approval, is confirmed in the page.
serve("/confirming", True)
