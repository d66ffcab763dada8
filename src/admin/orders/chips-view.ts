import { html, type Markup } from '../../http/html.ts';
import { chip } from '../components/format.ts';
import type { AdminMessages } from '../messages.ts';
import type { OrderChip } from './states.ts';

export function chipsView(chips: readonly OrderChip[], messages: AdminMessages): Markup {
  return html`<span class="chips"
    >${chips.map(({ name, kind }) => chip(messages.orders.chips[name], kind))}</span
  >`;
}
