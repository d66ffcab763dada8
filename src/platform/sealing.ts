import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, scrypt } from 'node:crypto';
import { link, open, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Config } from '../config.ts';
import { openDataFolder } from '../db/data-folder.ts';

/**
 * App secrets sign what the service sends to an app, so they must be readable again. They are kept sealed with a key
 * that is not in the database: a stolen backup of the database alone can't sign anything.
 */

const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;
const APP_SECRETS = 'kontor app secrets';

/** The key of this installation does not open what another one sealed. */
class SealProblem extends Error {
  override name = 'SealProblem';
}

/** AES-256-GCM: nonce, tag, ciphertext. A text sealed for one purpose cannot be opened for another. */
export function seal(key: Buffer, text: string, purpose = APP_SECRETS): Buffer {
  const nonce = randomBytes(NONCE_LENGTH);
  const cipher = createCipheriv('aes-256-gcm', sealingKey(key, purpose), nonce, {
    authTagLength: TAG_LENGTH,
  });
  const hidden = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), hidden]);
}

export function unseal(key: Buffer, sealed: Buffer, purpose = APP_SECRETS): string {
  try {
    const nonce = sealed.subarray(0, NONCE_LENGTH);
    const decipher = createDecipheriv('aes-256-gcm', sealingKey(key, purpose), nonce, {
      authTagLength: TAG_LENGTH,
    });
    decipher.setAuthTag(sealed.subarray(NONCE_LENGTH, NONCE_LENGTH + TAG_LENGTH));
    const hidden = sealed.subarray(NONCE_LENGTH + TAG_LENGTH);
    return Buffer.concat([decipher.update(hidden), decipher.final()]).toString('utf8');
  } catch (error) {
    throw new SealProblem(
      'A secret was sealed with another key: set the KONTOR_SECRET (or the KONTOR_DATA with the secret.key) of the process that stored it.',
      { cause: error },
    );
  }
}

/** undefined: it was sealed with another key. */
export function unsealIfPossible(key: Buffer, sealed: Buffer, purpose = APP_SECRETS): string | undefined {
  try {
    return unseal(key, sealed, purpose);
  } catch (error) {
    if (error instanceof SealProblem) return undefined;
    throw error;
  }
}

const ANSWERS = 'kontor stored answers';

/** Seals the answers that are stored for an Idempotency-Key and hold a secret. */
export function createAnswerSeal(loadKey: () => Promise<Buffer>) {
  return {
    seal: async (text: string) => seal(await loadKey(), text, ANSWERS).toString('base64'),
    unseal: async (sealed: string) => unseal(await loadKey(), Buffer.from(sealed, 'base64'), ANSWERS),
  };
}

/** A key of its own per purpose, so that no other use of the installation's key touches the seals. */
function sealingKey(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', purpose, 32));
}

/**
 * The key of this installation, 32 bytes: from KONTOR_SECRET, which may be a phrase and therefore passes through
 * scrypt, else random, generated once and stored in the data folder.
 */
export async function installationKey(
  config: Pick<Config, 'KONTOR_SECRET' | 'KONTOR_DATA'>,
): Promise<Buffer> {
  if (config.KONTOR_SECRET === undefined) return storedKey(config.KONTOR_DATA);
  // All processes must derive the same key from the secret alone, so the salt is fixed.
  return promisify<string, string, number, Buffer>(scrypt)(config.KONTOR_SECRET, 'kontor installation', 32);
}

/** The key of another installation, from a copy of its secret.key or from a file that holds its KONTOR_SECRET. */
export async function keyFromFile(file: string): Promise<Buffer> {
  const text = await firstText(file);
  if (KEY_TEXT.test(text)) return Buffer.from(text.trim(), 'hex');
  return installationKey({ KONTOR_SECRET: text.trim(), KONTOR_DATA: '' });
}

/** No key is longer, and the file name may lead to an endless file. */
const MAX_KEY_BYTES = 4_096;

async function firstText(file: string): Promise<string> {
  const opened = await open(file);
  try {
    const { buffer, bytesRead } = await opened.read(Buffer.alloc(MAX_KEY_BYTES + 1));
    if (bytesRead > MAX_KEY_BYTES) throw new SealProblem(`it has more than ${MAX_KEY_BYTES} bytes`);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await opened.close();
  }
}

const KEY_TEXT = /^[0-9a-f]{64}\n$/;

async function storedKey(folder: string): Promise<Buffer> {
  const file = path.join(folder, 'secret.key');
  const text = (await readIfThere(file)) ?? (await createKey(folder, file));
  if (!KEY_TEXT.test(text)) {
    throw new SealProblem(
      `${file} is damaged: restore it from a backup. Without it the secrets of all apps are lost.`,
    );
  }
  return Buffer.from(text.trim(), 'hex');
}

/** A link appears with its whole content or not at all, and only the first of several processes can create it. */
async function createKey(folder: string, file: string): Promise<string> {
  await openDataFolder(folder);
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(draft, `${randomBytes(32).toString('hex')}\n`, { flag: 'wx', mode: 0o600, flush: true });
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  return readFile(file, 'utf8');
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
