# Siding to be tried, with Debian's Python and git and nothing else:
#
#   docker build -t siding .
#   docker run --rm -it -v "$PWD:/repository" -v siding:/home/siding siding run -- sh -c 'date >now.txt'
#   docker run --rm -it -v "$PWD:/repository" -v siding:/home/siding siding diff
#
# in a repository of its own for that: the workspaces lie in the volume `siding`, at paths that only
# the container has. Git wants the owner of the repository: --build-arg UID="$(id -u)" makes the
# image for somebody who is not user 1000. An agent to be run is installed by an image made FROM
# this one. `podman` does the same by the same words.
FROM debian:trixie-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends python3-venv ca-certificates
COPY . /source
RUN python3 -m venv /opt/siding && /opt/siding/bin/pip install --no-cache-dir /source

FROM debian:trixie-slim
RUN apt-get update && apt-get install -y --no-install-recommends python3 git ca-certificates && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/siding /opt/siding
RUN ln -s /opt/siding/bin/siding /usr/local/bin/siding
ARG UID=1000
RUN useradd --create-home --uid "$UID" siding
USER siding
WORKDIR /repository
ENTRYPOINT ["siding"]
