import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { addressCaller, countCall, countTry } from '../http/rate-limit.ts';
import type { Settings } from '../shops/settings/settings.ts';
import type { AssistantDeps } from './deps.ts';
import {
  offeredCapabilities,
  sharedCapabilities,
  UCP_VERSION,
  type Capability,
  type OfferSettings,
} from './capabilities.ts';
import { profileAddress } from './fetch-profile.ts';
import {
  isSigned,
  signatureFailure,
  type SignatureFailure,
  type SignedRequest,
} from './message-signature.ts';
import type { PlatformProfile } from './platform-profile.ts';
import { ProtocolProblem } from './problem.ts';

import { parseDictionary } from './structured-fields.ts';

/** The assistant that sends a request, as its profile describes it. */
export interface Agent {
  /** The address of the profile. */
  profile: string;
  /** Its signature was verified; else anybody may have named this profile. */
  signed: boolean;
  /** Whose limits and idempotency keys are used: without a signature, also the address of the client tells them apart. */
  caller: string;
  /** What it and the shop can do in the same version. */
  capabilities: readonly Capability[];
}

/** Profiles that one client address may have fetched in an hour. */
const FETCHES_PER_HOUR = 60;

/** The address in the header UCP-Agent; undefined: there is no such header. */
export function namedProfile({ headers }: Pick<FastifyRequest, 'headers'>): unknown {
  const header = headers['ucp-agent'];
  return header === undefined
    ? undefined
    : parseDictionary([header].flat().join(', '))?.get('profile')?.value;
}

/** Loads the profile that a request names, verifies what is signed, and counts the request. */
export async function loadAgent(
  request: FastifyRequest,
  named: unknown,
  settings: Pick<Settings, 'shopId'> & OfferSettings,
  { db, config, limiter, profiles }: AssistantDeps,
): Promise<Agent> {
  const { shopId, assistants } = settings;
  if (named === undefined) {
    throw new ProtocolProblem('invalid_profile_url', 'The request names no profile (UCP-Agent)');
  }
  const address = profileAddress(named);
  const mayFetch = async () => {
    if (config.RATE_LIMIT_ANONYMOUS === 0) return;
    await countTry(limiter, `assistant-profile/${addressCaller(request.ip)}`, FETCHES_PER_HOUR, 'profiles');
  };
  let profile = await profiles.find(address, mayFetch);
  requireVersion(profile);
  const signed = isSigned(request);
  if (signed) {
    const inHeader = namedProfile(request);
    if (inHeader !== undefined && inHeader !== named) {
      throw new ProtocolProblem('signature_invalid', 'The profile of the signature is another one');
    }
    const message = toSignedRequest(request);
    let failure = signatureFailure(message, profile.keys, db.serviceNow);
    if (failure === 'key_not_found') {
      const newer = await profiles.findNewer(address, mayFetch);
      if (newer) {
        requireVersion(newer);
        failure = signatureFailure(message, newer.keys, db.serviceNow);
        profile = newer;
      }
    }
    if (failure !== undefined) throw new ProtocolProblem(failure, SIGNATURE_TEXTS[failure]);
  } else if (assistants.signedOnly) {
    throw new ProtocolProblem('signature_missing', 'This shop answers signed requests only');
  }
  // Without a signature others could use up the requests of an assistant in its name.
  const name = createHash('sha256').update(address.href).digest('base64url');
  const caller = signed ? name : `${name}/${addressCaller(request.ip)}`;
  await countCall(
    limiter,
    `assistant/${shopId}/${caller}`,
    assistants.callsPerHour,
    'requests of this assistant',
  );
  return {
    profile: address.href,
    signed,
    caller,
    capabilities: sharedCapabilities(offeredCapabilities(settings), profile.capabilities),
  };
}

function requireVersion({ version }: PlatformProfile): void {
  if (version === UCP_VERSION) return;
  throw new ProtocolProblem(
    'version_unsupported',
    `Protocol version ${/^[\w.-]{1,40}$/.test(version) ? version : 'of this form'} is not supported. This shop supports version ${UCP_VERSION}.`,
  );
}

const SIGNATURE_TEXTS: Readonly<Record<SignatureFailure, string>> = {
  signature_invalid: 'The signature of the request can not be verified',
  key_not_found: 'The key of the signature is not in the profile of the assistant',
  digest_mismatch: 'Content-Digest does not fit to the body',
  algorithm_unsupported: 'The algorithm of the signature is not supported',
};

function toSignedRequest(request: FastifyRequest): SignedRequest {
  const [path = '', ...query] = request.originalUrl.split('?');
  return {
    method: request.method,
    authority: request.host,
    path,
    query: query.join('?'),
    headers: request.headers,
    body: request.bodyBytes ?? Buffer.alloc(0),
  };
}
