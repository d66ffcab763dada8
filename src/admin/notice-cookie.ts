import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Notice } from './page.ts';
import type { SignedInUser } from './users/queries.ts';

const SIGNATURE_LENGTH = 43;

/** More does not fit into a cookie beside its signature. */
const MAX_LENGTH = 3_000;

export type NoticeCookie = ReturnType<typeof createNoticeCookie>;

/**
 * The notice that the next page shows, in a cookie. It is signed for one session, because it may hold a form that takes
 * a change back: nobody else may put such a form on a page of the admin.
 */
export function createNoticeCookie(installationKey: Buffer) {
  const key = Buffer.from(hkdfSync('sha256', installationKey, '', 'kontor admin notices', 32));
  const signatureOf = (user: SignedInUser | undefined, text: string) =>
    createHmac('sha256', key)
      .update(`${user?.sessionId ?? ''} ${text}`)
      .digest('base64url');
  return {
    nameAt: (origin: string) => (origin.startsWith('https:') ? '__Host-admin-notice' : 'admin-notice'),

    read(cookie: string | undefined, user: SignedInUser | undefined): Notice | undefined {
      if (cookie === undefined) return undefined;
      const text = cookie.slice(0, -SIGNATURE_LENGTH - 1);
      const signature = Buffer.from(cookie.slice(-SIGNATURE_LENGTH));
      const expected = Buffer.from(signatureOf(user, text));
      if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) return undefined;
      return JSON.parse(Buffer.from(text, 'base64url').toString()) as Notice;
    },

    /** A notice that is too long loses its way back, because its text matters more. */
    write({ text, undo }: Notice, user: SignedInUser | undefined): string {
      const whole = encode({ text, undo });
      const content = whole.length <= MAX_LENGTH ? whole : encode({ text: text.slice(0, 500) });
      return `${content}.${signatureOf(user, content)}`;
    },
  };
}

const encode = (notice: Notice) => Buffer.from(JSON.stringify(notice)).toString('base64url');
