import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { inject } from 'vitest';
import { waitFor } from './process.ts';

const made = new Map<string, Promise<string>>();

/**
 * Makes what takes long and is only copied afterwards. The files of a worker share it, and the workers too: the first one
 * that creates the folder calls `make`, the others wait for it. The folder is removed at the end of the run.
 */
export function oncePerRun(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const known = made.get(name);
  if (known) return known;
  const making = makeOrWait(path.join(inject('folder'), name), make);
  made.set(name, making);
  return making;
}

async function makeOrWait(folder: string, make: (folder: string) => Promise<void>): Promise<string> {
  const complete = `${folder}-complete`;
  if (await isCreatedHere(folder)) {
    await make(folder);
    await writeFile(complete, '');
  } else {
    // Longer than the other worker waits for a service that it starts.
    await waitFor(() => existsSync(complete), 120_000);
  }
  return folder;
}

async function isCreatedHere(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
