import { setTimeout as sleep } from 'node:timers/promises';
import { HttpError, tooManyRequests } from '../../http/errors.ts';
import { addressCaller } from '../../http/rate-limit.ts';
import type { Visit } from '../visit.ts';
import type { FormRequest } from '../../http/page-kit.ts';

/** Tries per hour for a password or a code: for one person, and from one address. */
const TRIES = {
  password: { perPerson: 30, perAddress: 100 },
  code: { perPerson: 10, perAddress: 50 },
};

/**
 * Limits guessing, without letting a guesser lock users out: strangers share the tries for a user and those of their
 * address; a browser in which this user has signed in before has its own tries. The tries are renewed every hour, and
 * neither a passkey nor a one-time link needs them.
 */
export async function requireTriesLeft(
  visit: Visit<'anybody'>,
  form: FormRequest,
  { email, userId }: { email: string; userId?: string | undefined },
  what: keyof typeof TRIES = 'password',
): Promise<void> {
  const { perPerson, perAddress } = TRIES[what];
  const { device } = visit;
  const isKnown = userId !== undefined && device?.userIds.includes(userId);
  const isAllowed = isKnown
    ? await form.isWithinLimit(`${what}-device/${device!.deviceId}`, perPerson)
    : (await form.isWithinLimit(`${what}/${email.slice(0, 254)}`, perPerson)) &&
      (await form.isWithinLimit(`${what}-from/${addressCaller(form.address)}`, perAddress));
  if (!isAllowed) {
    const { headers } = tooManyRequests(perPerson, 3600);
    throw new HttpError(429, visit.messages.signIn.tooOften, headers);
  }
}

/** Longer than any work done for a known user and not for a stranger. */
const ANSWER_AFTER = 400;

/** Responses take the same time, whether the address is known or not. */
export async function afterSameTime(startedAt: number): Promise<void> {
  await sleep(Math.max(0, startedAt + ANSWER_AFTER - performance.now()));
}
