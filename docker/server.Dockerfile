# A server with its sandbox (bubblewrap), for docker/compose.yaml; built from the root of the repository:
#
#   docker build -t leakscale-server -f docker/server.Dockerfile .
#
# The sandbox's own image is made from the interpreter in here when the server starts. Name the base by digest where
# certificates must come out the same later: they name that image, and a tag can move.
ARG BASE=python:3.12-slim

FROM ${BASE} AS build
COPY pyproject.toml constraints.txt README.md LICENSE /src/
COPY sdk /src/sdk
COPY server /src/server
COPY sandbox /src/sandbox
COPY catalogs /src/catalogs
COPY studies /src/studies
RUN python3 -m venv /opt/leakscale \
    && /opt/leakscale/bin/pip install --no-cache-dir --constraint /src/constraints.txt '/src[server,http,bubblewrap]'

FROM ${BASE}
COPY --from=build /opt/leakscale /opt/leakscale
COPY docker/healthy.py /opt/leakscale/healthy.py
RUN useradd --uid 10001 --no-create-home --home-dir /data leakscale \
    && install --directory --owner=leakscale --mode=0700 /data /cache
ENV PATH=/opt/leakscale/bin:$PATH PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
VOLUME ["/data", "/cache"]
EXPOSE 7443 7480
ENTRYPOINT ["leakscale-server"]
