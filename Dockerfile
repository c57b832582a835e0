# The image of the operator, which MirrorOperator runs: Node, Linkspan and what it needs at run time, and no shell.
# Nothing is written at run time, so that it runs with a read-only root file system and as any user.

# Both are arguments: a release gives them by digest, and a network without these registries its own copies.
ARG BUILD_BASE=node:24-slim
ARG RUN_BASE=gcr.io/distroless/nodejs24-debian12

# What it makes is JavaScript, the same on each architecture, so that it runs on the builder's own.
FROM --platform=$BUILDPLATFORM ${BUILD_BASE} AS build
WORKDIR /source
COPY package.json package-lock.json ./
COPY tools/release/no-backport tools/release/no-backport
RUN npm ci
COPY . .
# What is published is what runs; the lock file says with which versions.
RUN npm pack --pack-destination /tmp \
  && mkdir /app \
  && tar --extract --gzip --file /tmp/linkspan-*.tgz --strip-components 1 --directory /app \
  && cp package-lock.json /app
WORKDIR /app
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM ${RUN_BASE}
COPY --from=build /app /app
WORKDIR /app
USER 65532:65532
# In MiB. What V8 keeps for short-lived objects otherwise grows with a burst of events, and stays.
ENV NODE_ENV=production NODE_OPTIONS=--max-semi-space-size=1
# One arena of glibc's for all threads: each further one keeps what was freed in it.
ENV MALLOC_ARENA_MAX=1
EXPOSE 9999
# The `linkspan` command; its file says `env node`, and there is no `env` here. The flags, which NODE_OPTIONS may not
# have, let the heap grow in small steps, and leave the HTTP parser, which is WebAssembly, without a second compilation:
# together about 40 MB less after a burst.
ENTRYPOINT ["/nodejs/bin/node", "--optimize-for-size", "--liftoff-only", "/app/dist/synth/cli.js"]
CMD ["operator"]
