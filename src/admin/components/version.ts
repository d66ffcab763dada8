import { hash } from 'node:crypto';
import { conflict } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import type { AdminMessages } from '../messages.ts';
import type { FormRequest } from '../../http/page-kit.ts';

/**
 * Optimistic locking: a form contains the state of the thing it was made from, and is refused when another user has
 * changed the thing since. Sending it again, after seeing the current state, saves it.
 */
export function versionField(thing: unknown): Markup {
  return html`<input type="hidden" name="version" value="${versionOf(thing)}" />`;
}

export function requireUnchanged(form: FormRequest, thing: unknown, messages: AdminMessages): void {
  if (!isUnchanged(form, thing)) throw conflict(messages.layout.changedMeanwhile);
}

export const isUnchanged = (form: Pick<FormRequest, 'field'>, thing: unknown) =>
  form.field('version') === versionOf(thing);

export function versionOf(thing: unknown): string {
  return hash('sha256', JSON.stringify(thing), 'base64url').slice(0, 22);
}
