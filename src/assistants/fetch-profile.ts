import http from 'node:http';
import https from 'node:https';
import { lookupOf } from '../apps/webhooks/sending.ts';
import type { ReceiverPolicy } from '../apps/webhooks/receiver-address.ts';
import { ProtocolProblem } from './problem.ts';

const TIMEOUT = 5_000;
/** The protocol asks verifiers to set no lower bound (Profile Fetching, rule 8), so that no good profile is refused. */
const MAX_BYTES = 131_072;
export const MAX_ADDRESS_LENGTH = 500;

/** Seconds for which a profile is used without asking again: what it says itself, within these bounds. */
const MIN_AGE = 60;
const MAX_AGE = 3_600;
const USUAL_AGE = 300;

/** The address of a profile that a client has named. */
export function profileAddress(text: unknown): URL {
  const isText = typeof text === 'string' && text.length <= MAX_ADDRESS_LENGTH && URL.canParse(text);
  if (!isText) throw invalidAddress('it is not an address');
  return new URL(text);
}

export interface FetchedProfile {
  bytes: Buffer;
  /** Seconds for which it may be used. */
  age: number;
}

/**
 * Fetches the profile that a stranger's request names. Only machines of the internet are called, their addresses are
 * checked after the name was resolved, and a redirect is not followed: it would lead to an unchecked address.
 */
export function fetchProfile(policy: ReceiverPolicy, address: URL): Promise<FetchedProfile> {
  const problem = policy.problemOf(address);
  if (problem !== undefined) throw invalidAddress(`it ${problem}`);
  const signal = AbortSignal.timeout(TIMEOUT);
  return Promise.race([get(policy, address, signal), rejectAtEnd(signal)]);
}

/** The lookup of a name can't be aborted, but no caller need wait for it. */
function rejectAtEnd(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(unreachable('it did not answer in time')), { once: true });
  });
}

function get(policy: ReceiverPolicy, url: URL, signal: AbortSignal): Promise<FetchedProfile> {
  const client = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const refuse = (reason: string) => {
      request.destroy();
      reject(unreachable(reason));
    };
    // Only our own texts, because the message of an error may tell about the network of the service.
    const fail = () => reject(unreachable('it could not be fetched'));
    const request = client.get(url, {
      agent: false,
      lookup: lookupOf(policy, url),
      signal,
      headers: { accept: 'application/json', 'user-agent': 'Kontor' },
    });
    request.on('error', fail);
    request.on('response', (response) => {
      const { statusCode = 0, headers } = response;
      response.on('error', fail);
      if (statusCode !== 200) return refuse(`its address answered ${statusCode}`);
      const parts: Buffer[] = [];
      let length = 0;
      response.on('data', (part: Buffer) => {
        length += part.length;
        if (length > MAX_BYTES) refuse(`it has more than ${MAX_BYTES} bytes`);
        else parts.push(part);
      });
      response.on('end', () =>
        resolve({ bytes: Buffer.concat(parts), age: ageIn(headers['cache-control']) }),
      );
    });
  });
}

function ageIn(cacheControl = ''): number {
  const given = /\bmax-age=(\d{1,9})/i.exec(cacheControl)?.[1];
  return given === undefined ? USUAL_AGE : Math.min(Math.max(Number(given), MIN_AGE), MAX_AGE);
}

const invalidAddress = (reason: string) =>
  new ProtocolProblem('invalid_profile_url', `The profile of the assistant can not be fetched: ${reason}`);

const unreachable = (reason: string) =>
  new ProtocolProblem('profile_unreachable', `The profile of the assistant can not be read: ${reason}`);
