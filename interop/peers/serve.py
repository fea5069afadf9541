"""Serves the application of the working folder's server.py on the listening socket that it is given."""

import os
import socket
import sys

import uvicorn

sys.path.insert(0, os.getcwd())
listener = socket.socket(fileno=int(sys.argv[1]))
uvicorn.Server(uvicorn.Config("server:app", log_level="warning")).run(sockets=[listener])
