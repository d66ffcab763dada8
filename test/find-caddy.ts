import { existsSync } from 'node:fs';
import path from 'node:path';

/** Why tests were skipped. */
export const NO_CADDY =
  'There is no Caddy: install it (on Debian: apt-get install caddy), or set KONTOR_CADDY to its path';

/** The proxy for tests: the one that KONTOR_CADDY names, or the first on the PATH. Undefined if there is none. */
export function findCaddy(): string | undefined {
  const { KONTOR_CADDY, PATH = '' } = process.env;
  if (KONTOR_CADDY) return KONTOR_CADDY;
  return PATH.split(path.delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => path.join(folder, 'caddy'))
    .find(existsSync);
}
