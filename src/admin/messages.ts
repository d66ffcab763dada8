import { openMessages } from '../kernel/messages.ts';
import type english from './messages/en.json';

const catalogues = openMessages<typeof english>(new URL('./messages/', import.meta.url));

/** The texts of the admin in a language such as `de`. */
export const adminMessagesIn = catalogues.in;

export type AdminMessages = ReturnType<typeof adminMessagesIn>;

/** The languages of the admin. */
export const LANGUAGES = ['en', 'de', 'fr'] as const;
export type Language = (typeof LANGUAGES)[number];

export function isLanguage(text: string): text is Language {
  return (LANGUAGES as readonly string[]).includes(text);
}
