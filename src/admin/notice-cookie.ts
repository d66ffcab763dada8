import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { SignedInUser } from './users/queries.ts';
import type { Notice } from '../http/page-kit.ts';

const SIGNATURE_LENGTH = 43;

/** More does not fit into a cookie beside its signature. */
const MAX_LENGTH = 3_000;

export type NoticeCookie = ReturnType<typeof createNoticeCookie>;

/**
 * The notice that the next page shows, in a signed cookie. A notice with an undo form is signed for the session, so
 * that no one else can put such a form on a page of the admin. A notice of text alone is not, because it must outlast
 * signing in and out.
 */
export function createNoticeCookie(installationKey: Buffer) {
  const key = Buffer.from(hkdfSync('sha256', installationKey, '', 'kontor admin notices', 32));
  const signatureOf = (sessionId: string, text: string) =>
    createHmac('sha256', key).update(`${sessionId} ${text}`).digest('base64url');
  const signerOf = ({ undo }: Notice, user: SignedInUser | undefined) =>
    undo ? `session ${user?.sessionId ?? ''}` : '';
  return {
    nameAt: (origin: string) => (origin.startsWith('https:') ? '__Host-admin-notice' : 'admin-notice'),

    read(cookie: string | undefined, user: SignedInUser | undefined): Notice | undefined {
      if (cookie === undefined) return undefined;
      const text = cookie.slice(0, -SIGNATURE_LENGTH - 1);
      const signature = Buffer.from(cookie.slice(-SIGNATURE_LENGTH));
      const notice = decode(text);
      if (!notice) return undefined;
      const expected = Buffer.from(signatureOf(signerOf(notice, user), text));
      return signature.length === expected.length && timingSafeEqual(signature, expected)
        ? notice
        : undefined;
    },

    /** A notice that is too long loses its undo form, because its text matters more. */
    write({ text, isProblem, undo }: Notice, user: SignedInUser | undefined): string {
      const whole = encode({ text, isProblem, undo });
      const notice =
        whole.length <= MAX_LENGTH ? { text, isProblem, undo } : { text: text.slice(0, 500), isProblem };
      const content = encode(notice);
      return `${content}.${signatureOf(signerOf(notice, user), content)}`;
    },
  };
}

const encode = (notice: Notice) => Buffer.from(JSON.stringify(notice)).toString('base64url');

/** undefined: it was not written by `encode`. */
function decode(text: string): Notice | undefined {
  try {
    const value = JSON.parse(Buffer.from(text, 'base64url').toString()) as Notice | null;
    return typeof value?.text === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
