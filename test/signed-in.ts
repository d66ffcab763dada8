import { expect } from 'vitest';
import { installationKey } from '../src/platform/sealing.ts';
import { signInCodes, type SignInCodes } from '../src/people/accounts/sign-in-codes.ts';
import { queuedEmails } from './carts.ts';
import type { Service } from './service.ts';
import type { PageAnswer, Visitor } from './visitor.ts';

export async function codesOf(service: Service): Promise<SignInCodes> {
  return signInCodes(await installationKey(service.config));
}

/** Asks for the email, and returns the request that the email will be made of. */
export async function askToSignIn(
  service: Service,
  visitor: Visitor,
  email: string,
  fields: Record<string, string> = {},
  shopId = 'DemoShop',
): Promise<string> {
  const answer = await visitor.post('/account/sign-in', { email, ...fields });
  expect(answer.status).toBe(303);
  return String((await queuedEmails(service, shopId)).at(-1)!.facts['requestId']);
}

/** Signs in with the digits of the email, and opens the page that they lead to. */
export async function signInAs(
  service: Service,
  visitor: Visitor,
  email: string,
  headers: Record<string, string> = {},
  shopId = 'DemoShop',
): Promise<PageAnswer> {
  const requestId = await askToSignIn(service, visitor, email, {}, shopId);
  const digits = (await codesOf(service)).digits(shopId, requestId);
  const answer = await visitor.post('/account/code', { digits }, headers);
  expect(answer.status).toBe(303);
  return visitor.get(String(answer.headers.location));
}
