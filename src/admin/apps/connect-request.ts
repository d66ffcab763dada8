import type { FetchDeps } from '../../apps/manifest/fetch-manifest.ts';
import { allowsRedirect, loadClient, MAX_ADDRESS, type OauthClient } from '../../apps/oauth/clients.ts';
import { resourceOf } from '../../apps/oauth/routes.ts';
import { isLoopback } from '../../config.ts';
import { badRequest } from '../../http/errors.ts';
import type { PageRequest } from '../../http/page-kit.ts';
import { isScope, type Scope } from '../../http/scopes.ts';
import type { Visit } from '../visit.ts';

/** What an assistant asks for, as its link to the page of consent says it (OAuth 2.1). */
export interface ConnectRequest {
  client: OauthClient;
  redirectAddress: string;
  challenge: string;
  state: string | undefined;
  /** undefined: it leaves it to the person. */
  asked: Scope[] | undefined;
}

export interface ConnectDeps extends FetchDeps {
  /** Counts a call of a page that a link of a stranger names; false: there were too many. */
  mayFetch: (userId: string) => Promise<boolean>;
}

const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
const MAX_STATE = 1_000;
/** The page of sign-in takes the whole address with it. */
const MAX_SEARCH = 3_000;

/**
 * Reads the request. One that is wrong is shown to the person and never answered to the assistant: a link could lead them to
 * any other site.
 */
export async function readConnectRequest(
  { db, origin, user, messages }: Visit<'signed in'>,
  { query, queryList, search }: PageRequest,
  deps: ConnectDeps,
): Promise<ConnectRequest> {
  const wrong = () => badRequest(messages.connect.wrongRequest);
  const isRepeated = PARAMETERS.some((name) => queryList(name).length > 1);
  if (search.length > MAX_SEARCH || isRepeated) throw wrong();
  const clientId = query('client_id') ?? '';
  const client =
    clientId.length > 0 && clientId.length <= MAX_ADDRESS
      ? await loadClient(db, deps, clientId, () => deps.mayFetch(user.userId))
      : undefined;
  if (!client) throw badRequest(messages.connect.unknownClient);
  const only = client.redirectAddresses.length === 1 ? client.redirectAddresses[0] : undefined;
  const redirectAddress = query('redirect_uri') ?? only ?? '';
  const isOurs = allowsRedirect(client, redirectAddress) && isOwnPage(redirectAddress, deps);
  if (isOurs || !allowsRedirect(client, redirectAddress)) throw wrong();
  const challenge = query('code_challenge') ?? '';
  const state = query('state');
  const isComplete =
    query('response_type') === 'code' &&
    query('code_challenge_method') === 'S256' &&
    CHALLENGE.test(challenge) &&
    (state ?? '').length <= MAX_STATE &&
    [undefined, resourceOf(origin)].includes(query('resource'));
  if (!isComplete) throw wrong();
  return { client, redirectAddress, challenge, state, asked: askedScopes(query('scope')) };
}

const PARAMETERS = [
  'client_id',
  'redirect_uri',
  'code_challenge',
  'code_challenge_method',
  'response_type',
  'resource',
  'scope',
  'state',
];

/** A page of a shop would get a code for another one. A program on this machine is none. */
function isOwnPage(address: string, { isOwnOrigin }: FetchDeps): boolean {
  const { origin, hostname } = new URL(address);
  return !isLoopback(hostname) && isOwnOrigin(origin);
}

function askedScopes(text: string | undefined): Scope[] | undefined {
  const scopes = (text ?? '').split(' ').filter(isScope);
  return scopes.length === 0 ? undefined : scopes;
}

/** The address that takes the answer to the assistant. It says who answers, so that no other service is taken for us. */
export function answerAddress(
  { redirectAddress, state }: ConnectRequest,
  origin: string,
  answer: { code: string } | { error: string },
): string {
  const address = new URL(redirectAddress);
  for (const [name, value] of Object.entries(answer)) address.searchParams.set(name, value);
  if (state !== undefined) address.searchParams.set('state', state);
  address.searchParams.set('iss', origin);
  return address.href;
}
