/**
 * For pages that an app adds to the admin of a shop: the bridge to the page that frames them, and, for the back end of
 * the app, the check of the tokens that it brings. It needs nothing but a browser, or Node 20.
 */

/** What the frame is shown for. */
export interface FrameContext {
  kind: 'page' | 'block' | 'action';
  /** The name in the manifest. */
  name: string;
  /** The order, product or customer of a block; the orders of an action. */
  ids: string[];
  /** The language of the reader: `en`, `de` or `fr`. */
  language: string;
}

export interface PickedProduct {
  id: string;
  name: string;
  number: string;
}

export interface PickedOrder {
  id: string;
  number: string;
}

export interface AdminFrame {
  context: FrameContext;
  /** The origin of the admin. */
  origin: string;
  /** A token that is valid for some more seconds; get one for each call of your back end. */
  token(): Promise<string>;
  /** Sets the height of the frame in pixels. */
  resize(height: number): Promise<void>;
  /** Keeps the frame as high as its content; returns what ends that. */
  resizeWithContent(): () => void;
  /** Leads to a page of the admin, after a click: `/orders/0193A5F0-...`. */
  navigate(path: string): Promise<void>;
  /** Shows a short text, with the name of the app before it. */
  toast(text: string): Promise<void>;
  /** Lets people choose; empty, when they choose nothing. */
  pickProducts(options?: { several?: boolean }): Promise<PickedProduct[]>;
  pickOrders(options?: { several?: boolean }): Promise<PickedOrder[]>;
  /** Whether leaving the page loses something: the browser then asks first. */
  setUnsaved(isUnsaved: boolean): Promise<void>;
}

/** The admin has refused what the frame has asked for, or has not answered. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

export interface ConnectOptions {
  /**
   * The origins of the admins that may frame the page. Absent: the one that does; the back end then relies on the issuer
   * of the token alone.
   */
  origins?: readonly string[];
  /** Milliseconds. */
  timeout?: number;
}

const VERSION = 1;
const TIMEOUT = 10_000;

interface Message {
  kontor: number;
  type: string;
  id?: number;
  value?: unknown;
  error?: string;
  token?: string;
  context?: FrameContext;
}

/**
 * What is used of a browser. Its own types would come with the whole library of the DOM, also where there is none.
 */
interface Browser {
  parent: Frame;
  addEventListener(type: 'message', listener: (event: Heard) => void): void;
  removeEventListener(type: 'message', listener: (event: Heard) => void): void;
  document: { documentElement: { offsetHeight: number } };
  ResizeObserver: new (listener: () => void) => { observe(element: object): void; disconnect(): void };
}

interface Frame {
  postMessage(message: object, origin: string): void;
}

interface Heard {
  data: Message | null;
  source: unknown;
  origin: string;
}

const browser = globalThis as unknown as Browser;

/** Says that the page is there, and waits for the admin. */
export function connectToAdmin({ origins, timeout = TIMEOUT }: ConnectOptions = {}): Promise<AdminFrame> {
  const { parent } = browser;
  if ((parent as unknown) === globalThis) return Promise.reject(new FrameError('The page is not in a frame'));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      browser.removeEventListener('message', hear);
      reject(new FrameError('The admin has not answered'));
    }, timeout);
    const hear = ({ data, source, origin }: Heard) => {
      if (source !== parent || data?.kontor !== VERSION || data.type !== 'welcome') return;
      if (origins && !origins.includes(origin)) return;
      clearTimeout(timer);
      browser.removeEventListener('message', hear);
      resolve(frameOf(parent, origin, data.context!));
    };
    browser.addEventListener('message', hear);
    // Nothing in it is a secret, so it may go to any page that frames this one.
    parent.postMessage({ kontor: VERSION, type: 'ready' }, '*');
  });
}

function frameOf(parent: Frame, origin: string, context: FrameContext): AdminFrame {
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let last = 0;
  browser.addEventListener('message', ({ data, source, origin: from }: Heard) => {
    if (source !== parent || from !== origin || data?.kontor !== VERSION || data.type !== 'answer') return;
    const asked = waiting.get(data.id!);
    if (!asked) return;
    waiting.delete(data.id!);
    if (data.error === undefined) asked.resolve(data.value);
    else asked.reject(new FrameError(`The admin has refused it: ${data.error}`));
  });
  const ask = (type: string, values: object = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, { resolve, reject });
      parent.postMessage({ kontor: VERSION, type, id, ...values }, origin);
    });
  const tell = async (type: string, values: object) => void (await ask(type, values));
  const frame: AdminFrame = {
    context,
    origin,
    token: () => ask('token') as Promise<string>,
    resize: (height) => tell('size', { height }),
    resizeWithContent: () => {
      const fit = () => void frame.resize(browser.document.documentElement.offsetHeight);
      const observer = new browser.ResizeObserver(fit);
      observer.observe(browser.document.documentElement);
      return () => observer.disconnect();
    },
    navigate: (path) => tell('navigate', { path }),
    toast: (text) => tell('toast', { text }),
    pickProducts: ({ several = false } = {}) =>
      ask('pick', { of: 'product', several }) as Promise<PickedProduct[]>,
    pickOrders: ({ several = false } = {}) => ask('pick', { of: 'order', several }) as Promise<PickedOrder[]>,
    setUnsaved: (isUnsaved) => tell('unsaved', { isUnsaved }),
  };
  return frame;
}

/** What a token says; nothing of it names a person. */
export interface FrameToken {
  /** The installation of Kontor: scheme and host. */
  iss: string;
  /** The client id of the app. */
  aud: string;
  /** The user who looks at the page. */
  sub: string;
  shop: string;
  /** The role of the user in the shop. */
  role: string;
  /** The name of the page, block or action in the manifest. */
  page: string;
  place: 'menu' | 'order' | 'product' | 'customer' | 'settings' | 'orders';
  ids?: string[];
  iat: number;
  exp: number;
  jti: string;
}

/** It is not from the installation, not for the app, or too old. */
export class FrameTokenError extends Error {
  override readonly name = 'FrameTokenError';
}

export interface VerifyOptions {
  /** The installation at which the app is registered: the origin of the `apiUrl` that it was sent. */
  issuer: string;
  clientId: string;
  /** Gets the published keys; absent: the `fetch` of the platform. */
  fetch?: (address: string) => Promise<Response>;
  /** Milliseconds since 1970; absent: the clock. */
  now?: number;
}

interface PublicKey {
  kid: string;
  kty: string;
  crv: string;
  x: string;
  y: string;
}

type ImportedKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** Seconds by which two clocks may differ. */
const SKEW = 5;
/** Milliseconds for which keys are kept, and for which an unknown one is not asked for again. */
const KEYS_FOR = 300_000;
const ASK_AGAIN = 10_000;
const keysOf = new Map<string, { keys: readonly PublicKey[]; at: number }>();

/** Checks a token in the back end of the app and returns what it says, or rejects with a FrameTokenError. */
export async function verifyFrameToken(
  token: string,
  { issuer, clientId, fetch = (address) => globalThis.fetch(address), now = Date.now() }: VerifyOptions,
): Promise<FrameToken> {
  const [head = '', body = '', signature = '', ...rest] = token.slice(0, 16_384).split('.');
  const header = json(head) as { alg?: unknown; kid?: unknown };
  const claims = json(body) as FrameToken;
  if (rest.length > 0 || header.alg !== 'ES256') throw new FrameTokenError('It is not a token of Kontor');
  if (claims.iss !== issuer || claims.aud !== clientId) throw new FrameTokenError('It is for another app');
  const seconds = now / 1_000;
  if (!(claims.exp > seconds - SKEW && claims.iat < seconds + SKEW))
    throw new FrameTokenError('It is too old');
  const key = await publicKey(issuer, header.kid, fetch, now);
  const isGenuine = await crypto.subtle.verify(
    { name: 'ECDSA', hash: 'SHA-256' },
    key,
    bytesOf(signature),
    new TextEncoder().encode(`${head}.${body}`),
  );
  if (!isGenuine) throw new FrameTokenError('The signature is wrong');
  return claims;
}

async function publicKey(
  issuer: string,
  kid: unknown,
  fetch: (address: string) => Promise<Response>,
  now: number,
): Promise<ImportedKey> {
  let known = keysOf.get(issuer);
  const find = () => known?.keys.find((key) => key.kid === kid);
  const age = known ? now - known.at : Infinity;
  if (age > KEYS_FOR || (!find() && age > ASK_AGAIN)) {
    const response = await fetch(`${issuer}/.well-known/jwks.json`);
    if (!response.ok) throw new FrameTokenError(`The keys can't be read: ${response.status}`);
    const { keys } = (await response.json()) as { keys: PublicKey[] };
    keysOf.set(issuer, (known = { keys, at: now }));
  }
  const found = find();
  if (!found) throw new FrameTokenError('Its key is unknown');
  const { kty, crv, x, y } = found;
  return crypto.subtle.importKey('jwk', { kty, crv, x, y }, { name: 'ECDSA', namedCurve: 'P-256' }, false, [
    'verify',
  ]);
}

function json(part: string): unknown {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytesOf(part)));
    if (typeof value === 'object' && value !== null) return value;
  } catch (error) {
    throw new FrameTokenError('It is not a token', { cause: error });
  }
  throw new FrameTokenError('It is not a token');
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  try {
    const text = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(text, (character) => character.charCodeAt(0));
  } catch (error) {
    throw new FrameTokenError('It is not a token', { cause: error });
  }
}
