import { html, type Markup } from '../../http/html.ts';
import { chip } from '../components/format.ts';
import type { Words } from '../messages.ts';
import type { OrderChip } from './states.ts';

export function chipsView(chips: readonly OrderChip[], words: Words): Markup {
  return html`<span class="chips"
    >${chips.map(({ name, kind }) => chip(words.orders.chips[name], kind))}</span
  >`;
}
