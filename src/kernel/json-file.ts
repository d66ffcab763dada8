import { readFileSync } from 'node:fs';

/** Reads a JSON file that belongs to the program. Node 20 prints a warning where one is imported. */
export function readJson(file: URL): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}
