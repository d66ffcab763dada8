# Kontor in a container: the commands of the README, as a user that is not root. docs/operations/one-machine.md says how.
FROM node:24-bookworm-slim

WORKDIR /app
RUN mkdir /data && chown node:node /app /data
USER node
COPY --chown=node:node . .
RUN npm ci

# All addresses, because requests come from outside of the container.
ENV HOST=0.0.0.0 KONTOR_DATA=/data
# Two areas for malloc instead of eight for each core: freed memory is used again, and an idle process takes 8 MB less.
ENV MALLOC_ARENA_MAX=2
VOLUME /data
EXPOSE 8080
# What `npm start` runs, without npm in between, so that SIGTERM arrives.
CMD ["node", "bin/kontor.js", "serve"]
