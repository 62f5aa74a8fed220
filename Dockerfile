# The demo in a container:
#
#   docker build -t delta-scd2 . && docker run --rm -it delta-scd2

# Debian 12 is the newest one with Java 17.
FROM python:3.11-slim-bookworm AS tools
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git make openjdk-17-jre-headless \
    && rm -rf /var/lib/apt/lists/*

FROM tools
WORKDIR /delta-scd2
COPY . .
# Not `make env`: what that leaves to the background would end with this layer.
RUN make archive
CMD ["make", "build"]
