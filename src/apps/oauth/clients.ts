import { Type, type Static } from 'typebox';
import { isLoopback } from '../../config.ts';
import type { Queries } from '../../db/database.ts';
import { compileBody } from '../../http/validation.ts';
import { isId } from '../../kernel/ids.ts';
import { fetchManifestText, type FetchDeps } from '../manifest/fetch-manifest.ts';
import { ManifestProblem } from '../manifest/manifest.ts';
import { findClient } from './queries.ts';

/** A program that wants to be connected: it has registered itself, or its id is the address where it describes itself. */
export interface OauthClient {
  clientId: string;
  name: string;
  redirectAddresses: readonly string[];
  /** Where it describes itself, which nobody else can; undefined: it has registered itself, under any name. */
  host: string | undefined;
}

export const MAX_CLIENT_NAME = 80;
export const MAX_REDIRECT_URIS = 10;
export const MAX_ADDRESS = 500;

export const ClientMetadata = Type.Object({
  client_id: Type.Optional(Type.String({ maxLength: MAX_ADDRESS })),
  client_name: Type.Optional(Type.String({ maxLength: 1_000 })),
  redirect_uris: Type.Array(Type.String({ maxLength: MAX_ADDRESS }), {
    minItems: 1,
    maxItems: MAX_REDIRECT_URIS,
  }),
  grant_types: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 20 })),
  response_types: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 20 })),
});

const isMetadata = compileBody(ClientMetadata);

export const isClientMetadata = (value: unknown): value is Static<typeof ClientMetadata> =>
  isMetadata(value ?? null);

/** undefined: there is no such client, or it can't be read. `mayFetch` counts against the limits of who causes a call. */
export async function loadClient(
  db: Queries,
  deps: FetchDeps,
  clientId: string,
  mayFetch: () => Promise<boolean>,
): Promise<OauthClient | undefined> {
  if (isId(clientId)) {
    const found = await findClient(db, clientId);
    return found && { ...found, host: undefined };
  }
  const address = addressOf(clientId);
  if (!address) return undefined;
  return (await mayFetch()) ? readClient(deps, address, clientId) : undefined;
}

/** An id that is an address names a document, so it has a path. */
function addressOf(clientId: string): URL | undefined {
  if (clientId.length > MAX_ADDRESS || !URL.canParse(clientId)) return undefined;
  const url = new URL(clientId);
  return ['https:', 'http:'].includes(url.protocol) && url.pathname !== '/' && url.hash === ''
    ? url
    : undefined;
}

/** Reads what a client says of itself at the address that is its id. */
async function readClient(deps: FetchDeps, address: URL, clientId: string): Promise<OauthClient | undefined> {
  let document: unknown;
  try {
    document = JSON.parse(await fetchManifestText(deps, address));
  } catch (error) {
    if (error instanceof ManifestProblem || error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (!isClientMetadata(document) || document.client_id !== clientId) return undefined;
  const redirectAddresses = document.redirect_uris.filter(isRedirectAddress);
  return redirectAddresses.length === 0
    ? undefined
    : { clientId, name: clientName(document.client_name), redirectAddresses, host: address.host };
}

/** A name that is shown in one line; a client without one is called by what it is. */
export function clientName(given = ''): string {
  const name = given
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_CLIENT_NAME)
    .trim();
  return name.isWellFormed() && name !== '' ? name : 'Assistant';
}

/** A code travels there, so it must be encrypted, or stay on the machine of the person. */
export function isRedirectAddress(text: string): boolean {
  if (!URL.canParse(text) || /[^\x21-\x7e]/.test(text)) return false;
  const { protocol, hostname, hash, username, password } = new URL(text);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
  return isSafe && !text.includes('#') && hash === '' && username === '' && password === '';
}

/** Whether a client may have codes sent there: the address is one of its own, but a program on a machine takes any port. */
export function allowsRedirect(
  { redirectAddresses }: Pick<OauthClient, 'redirectAddresses'>,
  text: string,
): boolean {
  if (!isRedirectAddress(text)) return false;
  if (redirectAddresses.includes(text)) return true;
  return (
    isLoopback(new URL(text).hostname) &&
    redirectAddresses.some((own) => withoutPort(own) === withoutPort(text))
  );
}

function withoutPort(text: string): string {
  const url = new URL(text);
  url.port = '';
  return url.href;
}
