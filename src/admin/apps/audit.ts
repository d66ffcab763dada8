import { html, type Markup } from '../../http/html.ts';
import { isId } from '../../kernel/ids.ts';
import { findEntries, METHODS, type EntryFilter, type EntryRow } from '../../apps/audit-log/queries.ts';
import { chip, momentText, type ChipKind } from '../components/format.ts';
import { listView } from '../components/list.ts';
import { listState, type Column, type ListState } from '../components/list-state.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { appTabs } from './parts.ts';
import { findListedApps, findPeople } from './queries.ts';
import { thingPath } from './thing-links.ts';

const DAY = 86_400_000;

export function auditLog(pages: ShopPages): void {
  pages.get('/apps/audit', 'apps_read', async (visit, request) => {
    const { db, shopId } = visit;
    const words = visit.words.audit;
    const columns = entryColumns(visit);
    const state = listState(request, columns);
    // One more than is shown tells whether there is a next page: counting all entries would be slow.
    const [rows, appRows, people] = await Promise.all([
      findEntries(db, shopId, filterOf(state), state.limit + 1, state.offset),
      findListedApps(db, shopId),
      findPeople(db, shopId),
    ]);
    const who = [
      ...people.map(({ userId, email }) => ({ value: userId, text: email })),
      ...appRows.map(({ appId, name }) => ({ value: appId, text: name })),
    ];
    const shown = rows.slice(0, state.limit);
    return {
      title: visit.words.layout.menuEntries.apps,
      menu: 'apps',
      main: html`${appTabs(visit, 'audit')}
        <p class="intro">${words.intro}</p>
        ${await listView(visit, request, {
          path: '/apps/audit',
          caption: visit.words.apps.tabs.audit,
          columns,
          filters: [
            { kind: 'choice', name: 'who', label: words.who, choices: who },
            {
              kind: 'choice',
              name: 'method',
              label: words.method,
              choices: METHODS.map((method) => ({ value: method, text: words.methods[method] })),
            },
            { kind: 'date', name: 'from', label: words.from },
            { kind: 'date', name: 'to', label: words.to },
          ],
          rows: shown,
          results: state.offset + shown.length,
          isMore: rows.length > shown.length,
          href: (entry) => thingPath(visit, entry.object) ?? adminPath(visit, '/apps/audit'),
          empty: words.empty,
        })}`,
    };
  });
}

function filterOf(state: ListState): EntryFilter {
  const who = state.filter('who');
  const method = state.filter('method');
  const day = (name: string) => {
    const moment = Date.parse(state.filter(name));
    return Number.isFinite(moment) ? moment : null;
  };
  const [from, last] = [day('from'), day('to')];
  return {
    after: from === null ? null : new Date(from - 1),
    before: last === null ? null : new Date(last + DAY),
    appId: isId(who) ? who : null,
    method: METHODS.find((one) => one === method) ?? null,
  };
}

function entryColumns(visit: ShopVisit): Column<EntryRow>[] {
  const words = visit.words.audit;
  return [
    { name: 'what', title: words.what, cell: (entry) => whatText(visit, entry) },
    { name: 'kind', title: words.method, cell: (entry) => kindChip(visit, entry) },
    { name: 'who', title: words.who, cell: ({ appName }) => appName ?? words.system },
    { name: 'when', title: words.when, cell: ({ at }) => momentText(at, visit.language) },
    {
      name: 'technical',
      title: words.technical,
      isExtra: true,
      cell: ({ method, route }) => html`<code>${method} ${route}</code>`,
    },
  ];
}

/** The last entries of an app. */
export function entryTable(visit: ShopVisit, entries: readonly EntryRow[]): Markup {
  const words = visit.words.audit;
  return html`<div class="list plain">
    <table>
      <tbody>
        ${entries.map((entry) => {
          const href = thingPath(visit, entry.object);
          const text = whatText(visit, entry);
          return html`<tr>
            <td data-title="${words.what}">
              ${href === undefined ? text : html`<a href="${href}">${text}</a>`}
            </td>
            <td data-title="${words.method}">${kindChip(visit, entry)}</td>
            <td data-title="${words.when}">${momentText(entry.at, visit.language)}</td>
          </tr>`;
        })}
      </tbody>
    </table>
  </div>`;
}

const KINDS: Readonly<Record<string, ChipKind>> = { DELETE: 'bad', GET: 'warning', POST: 'good' };

function kindChip({ words }: ShopVisit, { method, object }: EntryRow): Markup {
  if (Object.hasOwn(object, 'refused')) return chip(words.audit.refused, 'bad');
  const texts: Readonly<Record<string, string>> = words.audit.methods;
  return chip(texts[method] ?? method, KINDS[method]);
}

/**
 * `Product: images`; a command as it was typed. Derived from the route:
 * `/rs/shops/:shopId/products/:productId/images`.
 */
function whatText({ words }: ShopVisit, { method, route }: EntryRow): string {
  if (method === 'COMMAND') return route;
  const things: Readonly<Record<string, string>> = words.audit.things;
  const parts = route
    .replace(/^\/(?:(?:rs|manage|admin)\/shops\/:shopId|admin)\//, '')
    .split('/')
    .filter((part) => !part.startsWith(':'));
  // In the admin, webhooks and scripts are below the apps.
  if (parts[0] === 'apps' && Object.hasOwn(things, parts[1] ?? '')) parts.shift();
  const [thing = '', ...rest] = parts;
  return [things[thing] ?? thing, ...rest].join(' › ');
}
