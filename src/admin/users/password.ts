/** OWASP's recommendation for argon2id: 19 MB, two rounds, about 40 ms. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

export const MIN_PASSWORD_LENGTH = 10;
/** A longer one would cost time without being safer. */
export const MAX_PASSWORD_LENGTH = 200;

/** Loaded with the first password, because most processes never see one. */
const argon2 = () => import('@node-rs/argon2');

export async function hashPassword(password: string): Promise<string> {
  const { hash } = await argon2();
  return hash(password.normalize('NFKC'), COST);
}

/** The same hash for the same text and salt, for secrets that are looked up by it. */
export async function hashWithSalt(secret: string, salt: Buffer): Promise<Buffer> {
  const { hashRaw } = await argon2();
  return hashRaw(secret, { ...COST, salt });
}

/** A hash that matches no password, so that an unknown address takes as long as a wrong password. */
const NOBODY =
  '$argon2id$v=19$m=19456,t=2,p=1$c29tZSBzYWx0IG9mIG5vYm9keQ$Zm9yIG5vYm9keSBhdCBhbGwsIG5vdCBldmVuIG9uZQ';

/** null: the user is unknown, or has no password. */
export async function isPassword(password: string, hash: string | null): Promise<boolean> {
  const { verify } = await argon2();
  const isRight = await verify(hash ?? NOBODY, password.slice(0, MAX_PASSWORD_LENGTH).normalize('NFKC'));
  return hash !== null && isRight;
}

/** Guesses that the list of common passwords does not have, because they are of other keyboards and languages. */
const MORE_COMMON = ['passwort', 'kennwort', 'motdepasse', 'qwertzuiop', 'azertyuiop', 'iloveyou'];

let known: Promise<ReadonlySet<string>> | undefined;

/** The 49,000 most common passwords of published breaches, loaded with the first new password. */
async function commonPasswords(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set([...dictionary['passwords-common'], ...MORE_COMMON]);
}

/** Digits and signs around a common word are what people add to pass a check, and what attackers try next. */
const AROUND = /^[^\p{L}]+|[^\p{L}]+$/gu;

export type PasswordProblem = 'short' | 'long' | 'common' | 'email';

/** The problem of a new password. Length is what matters, so there are no rules about kinds of characters. */
export async function passwordProblem(password: string, email: string): Promise<PasswordProblem | undefined> {
  const text = password.normalize('NFKC').toLowerCase();
  if (text.length < MIN_PASSWORD_LENGTH) return 'short';
  if (password.length > MAX_PASSWORD_LENGTH) return 'long';
  const common = await (known ??= commonPasswords());
  const isCommon = common.has(text) || common.has(text.replaceAll(AROUND, ''));
  if (isCommon || new Set(text).size < 4) return 'common';
  if (text.includes(email.toLowerCase()) || email.toLowerCase().includes(text)) return 'email';
  return undefined;
}
