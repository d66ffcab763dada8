import { isIP } from 'node:net';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { BrowserName } from './browser-name.ts';

/** The site for which a passkey is created: it works on its host and nowhere else. */
export interface PasskeySite {
  /** Scheme and host. */
  origin: string;
  name: string;
}

/** A passkey belongs to a host name, so there is none where the pages only have an address such as 127.0.0.1. */
export function hasHostName({ origin }: PasskeySite): boolean {
  const { hostname } = new URL(origin);
  return isIP(hostname) === 0 && !hostname.startsWith('[');
}

const hostOf = ({ origin }: PasskeySite) => new URL(origin).hostname;

/** Loaded with the first page that offers a passkey. */
const library = () => import('@simplewebauthn/server');

/** The options that the browser needs to create a passkey for an account. */
export async function passkeyCreation(
  site: PasskeySite,
  { accountId, email }: { accountId: string; email: string },
  known: readonly { credentialId: string; transports: string[] }[],
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { generateRegistrationOptions } = await library();
  return generateRegistrationOptions({
    rpName: site.name,
    rpID: hostOf(site),
    userName: email,
    userID: new Uint8Array(Buffer.from(accountId.replaceAll('-', ''), 'hex')),
    excludeCredentials: known.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
    // The device asks for a fingerprint or a PIN, and stores the account itself.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
}

/** The options that the browser needs to sign in with any passkey for this site. */
export async function passkeyRequest(site: PasskeySite): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { generateAuthenticationOptions } = await library();
  return generateAuthenticationOptions({ rpID: hostOf(site), userVerification: 'required' });
}

export interface NewPasskey {
  credentialId: string;
  publicKey: Buffer;
  counter: number;
  transports: string[];
}

/** undefined: it is not a passkey that was created for this challenge on this site. */
export async function verifiedPasskey(
  site: PasskeySite,
  challenge: string,
  text: string,
): Promise<NewPasskey | undefined> {
  const response = parseResponse(text) as RegistrationResponseJSON | undefined;
  if (!response) return undefined;
  try {
    const { verifyRegistrationResponse } = await library();
    if (await namesCertificates(response)) return undefined;
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: hostOf(site),
    });
    if (!verified) return undefined;
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
    return {
      credentialId: id,
      publicKey: Buffer.from(publicKey),
      counter,
      transports: transports.filter((one) => TRANSPORTS.includes(one)),
    };
  } catch {
    // The library throws for any invalid response of a client.
    return undefined;
  }
}

const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

/**
 * The maker of the device is not requested, so certificates are not needed. The library would load lists of revoked
 * ones from addresses that they name, and this server makes no unnecessary calls.
 */
async function namesCertificates({ response }: RegistrationResponseJSON): Promise<boolean> {
  const { decodeAttestationObject, isoBase64URL } = await import('@simplewebauthn/server/helpers');
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject));
  const format = attestation.get('fmt');
  return format !== 'none' && !(format === 'packed' && attestation.get('attStmt').get('x5c') === undefined);
}

/** The passkey named in a response; undefined: the text is not a response. */
export function namedCredential(text: string): string | undefined {
  return parseResponse(text)?.id;
}

/**
 * Its counter after this use; undefined: the response was not made with this passkey, for this challenge, on this
 * site.
 */
export async function verifiedCounter(
  site: PasskeySite,
  challenge: string,
  text: string,
  { credentialId, publicKey, counter, transports }: NewPasskey,
): Promise<number | undefined> {
  const response = parseResponse(text) as AuthenticationResponseJSON | undefined;
  if (!response) return undefined;
  try {
    const { verifyAuthenticationResponse } = await library();
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: hostOf(site),
      credential: { id: credentialId, publicKey: new Uint8Array(publicKey), counter, transports },
    });
    return verified ? authenticationInfo.newCounter : undefined;
  } catch {
    return undefined;
  }
}

export const MAX_CREDENTIAL_LENGTH = 16_384;
const CREDENTIAL_ID = /^[A-Za-z0-9_-]{16,1400}$/;

/** The library checks everything else in it. */
function parseResponse(text: string): { id: string } | undefined {
  if (text.length > MAX_CREDENTIAL_LENGTH) return undefined;
  try {
    const value = JSON.parse(text) as { id: string } | null;
    return typeof value?.id === 'string' && CREDENTIAL_ID.test(value.id) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** More than anyone's number of devices. */
export const MAX_PASSKEYS = 10;

export interface PasskeyRow extends BrowserName {
  credentialId: string;
  transports: string[];
  createdAt: Date;
  usedAt: Date | null;
}

export function findPasskeys(db: Queries, shopId: string, accountId: string) {
  return db.many<PasskeyRow>(sql`
    select credential_id as "credentialId", transports, browser, system, created_at as "createdAt",
      used_at as "usedAt"
    from account_passkey where shop_id = ${shopId} and account_id = ${accountId}
    order by created_at, credential_id limit ${MAX_PASSKEYS}`);
}

/** False: the account has reached the limit, or this passkey is already registered. */
export async function insertPasskey(
  tx: Transaction,
  shopId: string,
  accountId: string,
  { credentialId, publicKey, counter, transports, browser, system }: NewPasskey & BrowserName,
): Promise<boolean> {
  // Locked, so that two concurrent requests can't exceed the limit.
  await tx.run(sql`
    select from account where shop_id = ${shopId} and account_id = ${accountId} for no key update`);
  const { count } = (await tx.one<{ count: number }>(sql`
    select count(*) as count from account_passkey where shop_id = ${shopId} and account_id = ${accountId}`))!;
  if (count >= MAX_PASSKEYS) return false;
  const inserted = await tx.run(sql`
    insert into account_passkey (shop_id, credential_id, account_id, public_key, counter, transports, browser, system,
      created_at)
    values (${shopId}, ${credentialId}, ${accountId}, ${publicKey}, ${counter}, ${transports}, ${browser}, ${system},
      ${tx.now})
    on conflict (shop_id, credential_id) do nothing`);
  return inserted === 1;
}

/** Locks the passkey and returns it with the address of its account. */
export function lockPasskey(tx: Transaction, shopId: string, credentialId: string) {
  return tx.one<NewPasskey & { email: string; usedAt: Date | null }>(sql`
    select credential_id as "credentialId", public_key as "publicKey", counter, transports, used_at as "usedAt", email
    from account_passkey
    join account on account.shop_id = account_passkey.shop_id and account.account_id = account_passkey.account_id
    where account_passkey.shop_id = ${shopId} and credential_id = ${credentialId} for update of account_passkey`);
}

export function updatePasskey(tx: Transaction, shopId: string, credentialId: string, counter: number) {
  return tx.run(sql`
    update account_passkey set counter = ${counter}, used_at = ${tx.now}
    where shop_id = ${shopId} and credential_id = ${credentialId}`);
}

export function deletePasskey(db: Queries, shopId: string, accountId: string, credentialId: string) {
  return db.run(sql`
    delete from account_passkey
    where shop_id = ${shopId} and account_id = ${accountId} and credential_id = ${credentialId}`);
}
