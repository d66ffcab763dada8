# Kontor in a container; docs/operations/install.md says how.

# What npm would publish, with the packages that it needs in production.
FROM node:24-bookworm AS build
WORKDIR /source
COPY . .
RUN npm ci --no-audit --no-fund && deploy/assemble.sh /app
# Node.js alone, without the names that only debuggers read: npm, headers and these are a third of its image.
RUN strip --strip-unneeded -o /app/node /usr/local/bin/node

FROM debian:bookworm-slim
COPY --from=build /app /app
# The program belongs to root, so that the service cannot change it.
RUN useradd --uid 1000 --home-dir /data --shell /usr/sbin/nologin kontor \
  && install --directory --owner=kontor --group=kontor --mode=0700 /data \
  && ln -s /app/node /usr/local/bin/node \
  && ln -s /app/bin/kontor.js /usr/local/bin/kontor
WORKDIR /data
USER kontor

# All addresses, because requests come from outside of the container.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 KONTOR_DATA=/data
# Two areas for malloc instead of eight for each core: freed memory is used again, and an idle process takes 8 MB less.
ENV MALLOC_ARENA_MAX=2
VOLUME /data
EXPOSE 8080
# Long enough for the migrations of a large shop; until then the service answers, but is not ready.
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Without npm in between, so that SIGTERM arrives.
CMD ["node", "/app/bin/kontor.js", "serve"]
