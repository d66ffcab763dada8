import { html, type Markup } from '../../http/html.ts';
import type { Visit } from '../visit.ts';

const TABS = { shops: '/admin/host', jobs: '/admin/host/jobs', health: '/admin/host/health' };

export function hostTabs({ messages }: Visit<'host'>, current: keyof typeof TABS): Markup {
  return html`<nav class="tabs" aria-label="${messages.host.title}">
    ${(Object.keys(TABS) as (keyof typeof TABS)[]).map(
      (name) =>
        html`<a href="${TABS[name]}" ${name === current && html`aria-current="page"`}
          >${messages.host.tabs[name]}</a
        >`,
    )}
  </nav>`;
}

/** `12.4 MB` */
export function megabytes({ language }: Visit<'host'>, bytes: number): string {
  return (bytes / 1e6).toLocaleString(language, {
    style: 'unit',
    unit: 'megabyte',
    maximumFractionDigits: bytes < 1e8 ? 1 : 0,
  });
}
