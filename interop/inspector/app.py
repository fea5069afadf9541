"""agui-inspector and an Antiphon server on one origin: the page talks to nothing but its own."""

import os

import httpx
from agui_inspector import Agent, mount_inspector
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import StreamingResponse
from starlette.routing import Route

SERVER = os.environ.get("ANTIPHON_URL", "http://127.0.0.1:8888")
# The last two tell the server a page of another site from this one.
PASSED_ON = ("accept", "authorization", "content-type", "origin", "sec-fetch-site")
# Answers to this machine's names alone: a name of another site may be made to point here.
LOCAL = Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])

client = httpx.AsyncClient(base_url=SERVER, timeout=None)  # a run may take its time


async def run(request):
    headers = {name: request.headers[name] for name in PASSED_ON if name in request.headers}
    asked = client.build_request("POST", request.url.path, headers=headers, content=await request.body())
    answer = await client.send(asked, stream=True)

    async def events():
        try:
            async for piece in answer.aiter_bytes():
                yield piece
        finally:  # also where the page went away, so that the server learns of it
            await answer.aclose()

    return StreamingResponse(events(), answer.status_code, {"content-type": answer.headers["content-type"]})


def agents():
    for agent in httpx.get(f"{SERVER}/agents").json()["agents"]:
        about = httpx.get(SERVER + agent["url"]).json()
        yield Agent(agent["name"], agent["url"], capabilities=about["capabilities"])


app = Starlette(routes=[Route("/agents/{name}", run, methods=["POST"])], middleware=[LOCAL])
mount_inspector(app, agents=list(agents()), enabled=True)
