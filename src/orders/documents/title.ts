import { messagesIn } from '../../kernel/messages.ts';
import type { DocumentKind } from './facts.ts';
import type { DocumentRow } from './queries.ts';

/** `Rechnung 1001` */
export function documentTitle(kind: DocumentKind, number: number, locale: string): string {
  return `${messagesIn(locale).documents[kind]} ${number}`;
}

/** The name of its file: `Rechnung-1001`. */
export function documentName({
  kind,
  number,
  terms,
}: Pick<DocumentRow, 'kind' | 'number' | 'terms'>): string {
  return documentTitle(kind, number, terms.locale)
    .normalize('NFD')
    .replaceAll(/[^\w ]/g, '')
    .replaceAll(' ', '-');
}
