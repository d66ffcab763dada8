/** Signatures as the Standard Webhooks specification has them: HMAC-SHA256 over id, time and body. */

/** A message that is signed: a webhook, a call while the customer waits, or the answer to one. */
export interface SignedMessage {
  id: string;
  /** Seconds since 1970, as the header says them. */
  timestamp: string;
  body: Uint8Array<ArrayBuffer>;
}

const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' };

/** The header `webhook-signature` with one signature. */
export async function signatureOf(key: Uint8Array<ArrayBuffer>, message: SignedMessage): Promise<string> {
  return `v1,${await hmac(key, signedBytes(message))}`;
}

/** Whether one of the signatures in the header is made with the key: while a secret is changed, there are two. */
export async function isSignedWith(
  key: Uint8Array<ArrayBuffer>,
  message: SignedMessage,
  header: string,
): Promise<boolean> {
  const signed = signedBytes(message);
  for (const signature of header.split(' ')) {
    const [version, text = ''] = signature.split(',');
    if (version === 'v1' && (await isHmacOf(key, signed, text))) return true;
  }
  return false;
}

/** In Base64. */
export async function hmac(
  secret: Uint8Array<ArrayBuffer>,
  message: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const key = await crypto.subtle.importKey('raw', secret, ALGORITHM, false, ['sign']);
  return toBase64(new Uint8Array(await crypto.subtle.sign('HMAC', key, message)));
}

/** Web Crypto compares in constant time. */
export async function isHmacOf(
  secret: Uint8Array<ArrayBuffer>,
  message: Uint8Array<ArrayBuffer>,
  text: string,
): Promise<boolean> {
  const signature = fromBase64(text);
  if (!signature) return false;
  const key = await crypto.subtle.importKey('raw', secret, ALGORITHM, false, ['verify']);
  return crypto.subtle.verify('HMAC', key, signature, message);
}

/** The key in the secret of a webhook: `whsec_` and Base64. */
export function webhookKey(secret: string): Uint8Array<ArrayBuffer> {
  const key = fromBase64(secret.replace(/^whsec_/, ''));
  if (!key) throw new TypeError('The secret of a webhook is whsec_ and Base64');
  return key;
}

export function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function signedBytes({ id, timestamp, body }: SignedMessage): Uint8Array<ArrayBuffer> {
  const head = encode(`${id}.${timestamp}.`);
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return bytes;
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

/** undefined: it is no Base64. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
