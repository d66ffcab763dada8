import { hash } from 'node:crypto';
import { html, safe, type Markup } from '../http/html.ts';
import type { Settings } from '../shop/settings.ts';
import type { Visit } from './visit.ts';

/** The shop's own values of the stylesheet's custom properties. */
function themeText(_settings: Settings): string {
  return ':root{--accent:#0b5d66}';
}

export function themeStyle({ settings }: Pick<Visit, 'settings'>): Markup {
  // The policy knows these very characters, so no formatter may move them.
  return html`${safe(`<style>${themeText(settings)}</style>`)}`;
}

/** What the Content-Security-Policy knows it by. */
export function themeHash(settings: Settings): string {
  return `'sha256-${hash('sha256', themeText(settings), 'base64')}'`;
}
