import { readFile, stat } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import { lookupOf } from '../../apps/webhooks/sending.ts';
import { ReceiverProblem, type ReceiverPolicy } from '../../apps/webhooks/receiver-address.ts';
import { MAX_PICTURE_BYTES } from './picture-addresses.ts';

const TIMEOUT = 20_000;
const MAX_REDIRECTS = 3;

/** Why a picture could not be fetched, in a text that a merchant may read. */
export class PictureProblem extends Error {
  override name = 'PictureProblem';
}

/**
 * Fetches a picture from an address in a file. The webhook policy decides for each hop which machines may be called,
 * so that the service cannot be made to call machines of its own network.
 */
export async function fetchPicture(policy: ReceiverPolicy, address: string): Promise<Buffer> {
  const signal = AbortSignal.timeout(TIMEOUT);
  let url = new URL(address);
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const answer = await get(policy, url, signal);
    if (typeof answer !== 'string') return answer;
    if (!URL.canParse(answer, url.href)) break;
    url = new URL(answer, url);
  }
  throw new PictureProblem('The address leads elsewhere too often');
}

/** The bytes, or the address of a redirect. */
function get(policy: ReceiverPolicy, url: URL, signal: AbortSignal): Promise<Buffer | string> {
  url.hash = '';
  const problem = policy.problemOf(url);
  if (problem !== undefined) throw new PictureProblem(`The address ${problem}`);
  const client = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(asProblem(error));
    const request = client.request(url, {
      lookup: lookupOf(policy, url),
      signal,
      headers: { accept: 'image/*', 'user-agent': 'Kontor' },
    });
    request.on('error', fail);
    request.on('response', (response) => {
      const { statusCode = 0, headers } = response;
      const { location } = headers;
      if (statusCode >= 300 && statusCode < 400 && location !== undefined) {
        response.destroy();
        return resolve(location);
      }
      if (statusCode !== 200) {
        response.destroy();
        return reject(new PictureProblem(`The address answers ${statusCode}`));
      }
      const parts: Buffer[] = [];
      let length = 0;
      response.on('data', (part: Buffer) => {
        parts.push(part);
        length += part.length;
        if (length <= MAX_PICTURE_BYTES) return;
        response.destroy();
        reject(new PictureProblem('The picture has more than 10 MB'));
      });
      response.on('end', () => resolve(Buffer.concat(parts)));
      response.on('error', fail);
    });
    request.end();
  });
}

/** Reads a picture below a folder, or anywhere on this machine if the name says so. */
export async function readPictureFile(folder: string, name: string): Promise<Buffer> {
  const file = path.resolve(folder, name);
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw new PictureProblem(`There is no file ${file}`);
  if (found.size > MAX_PICTURE_BYTES) throw new PictureProblem('The picture has more than 10 MB');
  return readFile(file);
}

/** Only our own texts, because an error message may reveal too much. */
function asProblem(error: unknown): PictureProblem {
  if (error instanceof ReceiverProblem) return new PictureProblem(error.message);
  const { name } = error as Error;
  return new PictureProblem(
    name === 'AbortError' || name === 'TimeoutError'
      ? `The address did not answer within ${TIMEOUT / 1000} s`
      : 'The address could not be called',
  );
}
