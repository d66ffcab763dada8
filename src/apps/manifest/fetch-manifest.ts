import http from 'node:http';
import https from 'node:https';
import { loadSharp } from '../../platform/media/store-image.ts';
import { ReceiverProblem, type ReceiverPolicy } from '../webhooks/receiver-address.ts';
import { lookupOf } from '../webhooks/sending.ts';
import { ManifestProblem, parseManifest } from './manifest.ts';
import type { Manifest } from './schema.ts';

const TIMEOUT = 5_000;
const MAX_BYTES = 65_536;
const MAX_ICON_BYTES = 262_144;
const MAX_REDIRECTS = 3;

export interface FetchDeps {
  /** Which machines may be called. */
  policy: ReceiverPolicy;
  /** Whether this is an origin of the service or of a shop: a page of an app must not be one of ours. */
  isOwnOrigin: (origin: string) => boolean;
}

export interface ReadManifest {
  manifest: Manifest;
  icon: Buffer | null;
}

/** Reads the manifest at this address, and the icon that it names. */
export async function fetchManifest(deps: FetchDeps, address: URL): Promise<ReadManifest> {
  return readManifest(deps, address, await fetchManifestText(deps, address));
}

/** The manifest in this text, which was read there, with the icon that it names. */
export async function readManifest(deps: FetchDeps, address: URL, text: string): Promise<ReadManifest> {
  const manifest = parseManifest(text, address);
  if (manifest.icon === null) return { manifest, icon: null };
  const picture = await fetchBytes(
    deps.policy,
    new URL(manifest.icon),
    'image/png, image/jpeg',
    MAX_ICON_BYTES,
  );
  return { manifest, icon: await drawIcon(picture) };
}

/** The manifest as it is written, unchecked. */
export async function fetchManifestText(deps: FetchDeps, address: URL): Promise<string> {
  if (deps.isOwnOrigin(address.origin)) throw new ManifestProblem('ownAddress');
  const bytes = await fetchBytes(deps.policy, address, 'application/json', MAX_BYTES);
  return bytes.toString('utf8');
}

/** Redirects lead no further than the host: what the merchant has typed is what the app is called by. */
async function fetchBytes(
  policy: ReceiverPolicy,
  address: URL,
  accept: string,
  maxBytes: number,
): Promise<Buffer> {
  const signal = AbortSignal.timeout(TIMEOUT);
  let url = address;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const answer = await get(policy, url, { accept, maxBytes, signal });
    if (typeof answer !== 'string') return answer;
    const next = URL.canParse(answer, url.href) ? new URL(answer, url) : undefined;
    if (next?.origin !== address.origin) throw new ManifestProblem('redirect', next?.host);
    url = next;
  }
  throw new ManifestProblem('answer', 'too many redirects');
}

/** The bytes, or the address of a redirect. */
function get(
  policy: ReceiverPolicy,
  url: URL,
  { accept, maxBytes, signal }: { accept: string; maxBytes: number; signal: AbortSignal },
): Promise<Buffer | string> {
  const problem = policy.problemOf(url);
  if (problem !== undefined) throw new ManifestProblem('forbidden', `it ${problem}`);
  const client = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(asProblem(error));
    const request = client.get(url, {
      agent: false,
      lookup: lookupOf(policy, url),
      signal,
      headers: { accept, 'user-agent': 'Kontor' },
    });
    request.on('error', fail);
    request.on('response', (response) => {
      const { statusCode = 0, headers } = response;
      if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
        response.destroy();
        return resolve(headers.location);
      }
      if (statusCode !== 200) {
        response.destroy();
        return reject(new ManifestProblem('answer', String(statusCode)));
      }
      const parts: Buffer[] = [];
      let length = 0;
      response.on('data', (part: Buffer) => {
        parts.push(part);
        length += part.length;
        if (length <= maxBytes) return;
        response.destroy();
        reject(new ManifestProblem('tooLarge'));
      });
      response.on('end', () => resolve(Buffer.concat(parts)));
      response.on('error', fail);
    });
  });
}

/** Only our own texts, because the message of an error may tell about the network of the service. */
function asProblem(error: unknown): ManifestProblem {
  return error instanceof ReceiverProblem
    ? new ManifestProblem('forbidden')
    : new ManifestProblem('unreachable');
}

const SIGNATURES = ['89504e470d0a1a0a', 'ffd8ff'];
const SIDE = 64;
const MAX_PIXELS = 4_194_304;

/** Only its pixels are kept: an SVG with a script reaches no decoder, and no browser. */
async function drawIcon(bytes: Buffer): Promise<Buffer> {
  const start = bytes.subarray(0, 8).toString('hex');
  if (!SIGNATURES.some((signature) => start.startsWith(signature))) throw new ManifestProblem('icon');
  const sharp = await loadSharp();
  try {
    return await sharp(bytes, { failOn: 'error', limitInputPixels: MAX_PIXELS })
      .timeout({ seconds: 5 })
      .resize({ width: SIDE, height: SIDE, fit: 'contain', background: { r: 0, g: 0, b: 0, alpha: 0 } })
      .png({ palette: true })
      .toBuffer();
  } catch {
    throw new ManifestProblem('icon');
  }
}
