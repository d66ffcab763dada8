import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installationKey } from '../platform/sealing.ts';
import { openDataFolder } from './data-folder.ts';

// Windows has no such modes.
describe.skipIf(process.platform === 'win32')('the data folder', () => {
  let home: string;

  beforeAll(async () => {
    home = await mkdtemp(path.join(tmpdir(), 'kontor-folder-'));
    await chmod(home, 0o755);
  });

  afterAll(() => rm(home, { recursive: true, force: true }));

  const modeOf = async (folder: string) => (await stat(folder)).mode & 0o7777;

  test('is made for its owner alone, below folders that have the usual mode', async () => {
    const folder = path.join(home, 'srv', 'shops', 'data');
    expect(await openDataFolder(folder)).toBe(folder);
    expect(await modeOf(folder)).toBe(0o700);
    expect(await modeOf(path.dirname(folder))).toBe(0o777 & ~process.umask());
  });

  test.each(['postgres', 'secret.key'])('of an older version, with %s in it, is closed', async (entry) => {
    const folder = path.join(home, `older-${entry}`);
    await mkdir(path.join(folder, entry), { recursive: true });
    await chmod(folder, 0o755);
    await openDataFolder(folder);
    expect(await modeOf(folder)).toBe(0o700);
  });

  test('that somebody has made and left empty is closed', async () => {
    const folder = path.join(home, 'empty');
    await mkdir(folder);
    await chmod(folder, 0o777);
    await openDataFolder(folder);
    expect(await modeOf(folder)).toBe(0o700);
  });

  test('that holds other things, or that all may write to, stays as it is', async () => {
    const shared = path.join(home, 'shared');
    await mkdir(path.join(shared, 'postgres'), { recursive: true });
    await chmod(shared, 0o1777);
    const other = path.join(home, 'other');
    await mkdir(other);
    await writeFile(path.join(other, 'letter.txt'), 'Dear Ada');
    await chmod(other, 0o755);
    await openDataFolder(shared);
    await openDataFolder(other);
    expect([await modeOf(shared), await modeOf(other)]).toEqual([0o1777, 0o755]);
  });

  test('is made for its owner alone also by the key of the installation, which is for its eyes only', async () => {
    const folder = path.join(home, 'keys');
    await installationKey({ KONTOR_DATA: folder });
    expect([await modeOf(folder), await modeOf(path.join(folder, 'secret.key'))]).toEqual([0o700, 0o600]);
  });

  test('that can not be one says so in one line', async () => {
    const file = path.join(home, 'file');
    await writeFile(file, '');
    await expect(openDataFolder(file)).rejects.toThrow(
      `The data folder ${file} cannot be used (EEXIST): choose another one with KONTOR_DATA.`,
    );
  });
});
