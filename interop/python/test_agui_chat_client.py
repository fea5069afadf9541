"""Microsoft Agent Framework's AGUIChatClient as a client of the demo.

It speaks the wire in snake_case, names no protocol version and keeps no state of its own, so what the thread
holds is read from the session route.
"""

import asyncio
import json
import uuid

import httpx
from agent_framework import Agent, tool
from agent_framework_ag_ui import AGUIChatClient


class Conversation:
    """One thread with one of the demo's agents, and what came of its last turn."""

    def __init__(self, demo, agent, tools=()):
        self.demo = demo
        self.thread = f"thread-{uuid.uuid4().hex}"
        self.client = AGUIChatClient(endpoint=f"{demo}/agents/{agent}")
        self.agent = Agent(name="Page", client=self.client, tools=list(tools))
        self.session = self.agent.create_session()

    async def say(self, text):
        """Says something; returns the answer's text and the arguments of the calls by tool name."""
        said, calls, names = "", {}, {}
        options = {"metadata": {"thread_id": self.thread}}
        async for update in self.agent.run(text, session=self.session, stream=True, options=options):
            said += update.text or ""
            for content in update.contents:
                if content.type == "function_call":
                    names[content.call_id] = content.name or names.get(content.call_id)
                    name = names[content.call_id]
                    calls[name] = calls.get(name, "") + (content.arguments or "")
        return said, {name: json.loads(arguments) for name, arguments in calls.items()}

    def state(self):
        """The thread's state, as the server holds it."""
        answer = httpx.get(f"{self.demo}/sessions/{self.thread}")
        assert answer.status_code == 200, answer.text
        return answer.json()["state"]


def test_two_turns_with_the_recipe_agent_end_with_the_right_state(demo):
    async def talk():
        chat = Conversation(demo, "recipe")
        async with chat.client:
            said, calls = await chat.say("Create a pasta recipe")
            written = chat.state()["recipe"]
            assert said
            assert written["title"] == "Classic Pasta Carbonara"
            assert calls["update_recipe"]["recipe"] == written

            said, calls = await chat.say("Make it vegetarian")
            changed = chat.state()["recipe"]
            assert said
            assert calls["update_recipe"]["recipe"] == changed
            assert changed["title"] == "Carbonara Vegetariana"
            assert changed["special_preferences"] == ["Vegetarian"]

    asyncio.run(talk())


def test_a_tool_of_the_page_runs_in_the_client_and_the_run_goes_on(demo):
    ran = []

    @tool
    def change_background(background: str) -> str:
        """Change the page's background."""
        ran.append(background)
        return json.dumps({"status": "success"})

    async def talk():
        chat = Conversation(demo, "agentic_chat", [change_background])
        async with chat.client:
            said, _ = await chat.say("tool")
            assert len(ran) == 1 and ran[0]
            assert said

    asyncio.run(talk())
