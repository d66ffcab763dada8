import { seal, unsealIfPossible } from '../platform/sealing.ts';

/**
 * The state that a page keeps until its form is sent, protected from reading and changes: that the password was right,
 * the challenge for a passkey, the secret of an authenticator app. It travels in the form itself, sealed, so that
 * showing a page writes nothing.
 */
type Purpose = 'password shown' | 'passkey challenge' | 'new authenticator';

interface Sealed<State> {
  state: State;
  at: number;
}

export function sealState(key: Buffer, purpose: Purpose, now: Date, state: object): string {
  const text = JSON.stringify({ state, at: now.getTime() } satisfies Sealed<object>);
  return seal(key, text, `kontor admin ${purpose}`).toString('base64url');
}

export const MAX_STATE_LENGTH = 2_000;
const LIFETIME = 10 * 60_000;

/** With the time of sealing; undefined: it is too old, or was not sealed for this purpose. */
export function openState<State>(
  key: Buffer,
  purpose: Purpose,
  now: Date,
  text: string,
): Sealed<State> | undefined {
  if (text.length > MAX_STATE_LENGTH) return undefined;
  const opened = unsealIfPossible(key, Buffer.from(text, 'base64url'), `kontor admin ${purpose}`);
  if (opened === undefined) return undefined;
  const sealed = JSON.parse(opened) as Sealed<State>;
  return now.getTime() - sealed.at < LIFETIME ? sealed : undefined;
}
