# Builds the executable and puts nothing beside it but the C library.
#   docker build --build-arg COMMIT="$(git rev-parse --short=12 HEAD)" -t rollcall .
#   docker run --init -p 8080:8080 -v rollcall:/data rollcall

FROM node:22-bookworm-slim AS build
ARG COMMIT=unknown
WORKDIR /build
COPY package.json package-lock.json ./
COPY scripts/install.mjs scripts/
RUN node --input-type=module --eval "import('/build/scripts/install.mjs').then((install) => install.installDependencies())"
COPY . .
RUN ROLLCALL_BUILD_COMMIT="$COMMIT" npm run build

FROM debian:bookworm-slim
RUN useradd --system --uid 10001 --home-dir /data rollcall && install -d -o rollcall -g rollcall -m 0700 /data
COPY --from=build /build/dist/rollcall /usr/local/bin/rollcall
USER rollcall
WORKDIR /data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/rollcall"]
CMD ["serve", "--data", "/data", "--host", "0.0.0.0", "--port", "8080"]
