import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { newFolder, startKontor, waitFor } from './process.ts';

/**
 * A data folder as the first start leaves it, with the demo shop: a copy, because a first start makes the database and
 * the pictures of the demo shop, which takes four times as long as any other start.
 */
export async function newStartedFolder(): Promise<string> {
  const folder = await newFolder();
  started ??= firstStart();
  // With the owners of the files, because PostgreSQL refuses a folder that is not its own.
  await promisify(execFile)('cp', ['-a', `${await started}/.`, folder]);
  return folder;
}

/** The files of a worker share it, and the workers too: the first one that makes the folder starts the service. */
let started: Promise<string> | undefined;

async function firstStart(): Promise<string> {
  const data = path.join(inject('folder'), 'first-start');
  const complete = `${data}-complete`;
  if (await isMadeHere(data)) {
    const service = await startKontor({ KONTOR_DATA: data });
    await service.stop();
    await writeFile(complete, '');
  } else {
    // Longer than the other worker waits for its service.
    await waitFor(() => existsSync(complete), 120_000);
  }
  return data;
}

async function isMadeHere(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
