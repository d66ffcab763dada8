import { html, type Markup, type Part } from '../../http/html.ts';
import { isId } from '../../kernel/ids.ts';
import { findAuditEntries, METHODS, type EntryFilter, type EntryRow } from '../../apps/audit-log/queries.ts';
import { chip, momentText, type ChipKind } from '../components/format.ts';
import { listView } from '../components/list.ts';
import { listState, type Column, type ListState } from '../components/list-state.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { appTabs } from './parts.ts';
import { findListedApps, findPeople } from './queries.ts';
import { thingOf, thingPath } from './thing-links.ts';
import { findThingNames, type ThingNames } from './thing-names.ts';

const DAY = 86_400_000;

export function auditLog(pages: ShopPages): void {
  pages.get('/apps/audit', 'apps_read', async (visit, request) => {
    const { db, shopId } = visit;
    const messages = visit.messages.audit;
    const state = listState(request, entryColumns(visit, new Map()));
    // One more than is shown tells whether there is a next page: counting all entries would be slow.
    const [rows, appRows, people] = await Promise.all([
      findAuditEntries(db, shopId, filterOf(state), state.limit + 1, state.offset),
      findListedApps(db, shopId),
      findPeople(db, shopId),
    ]);
    const who = [
      ...people.map(({ userId, email }) => ({ value: userId, text: email })),
      ...appRows.map(({ appId, name }) => ({ value: appId, text: name })),
    ];
    const shown = rows.slice(0, state.limit);
    const columns = entryColumns(
      visit,
      await findThingNames(
        visit,
        shown.map(({ object }) => object),
      ),
    );
    return {
      title: visit.messages.layout.menuEntries.apps,
      menu: 'apps',
      main: html`${appTabs(visit, 'audit')}
        <p class="intro">${messages.intro}</p>
        ${await listView(visit, request, {
          path: '/apps/audit',
          caption: visit.messages.apps.tabs.audit,
          columns,
          filters: [
            { kind: 'choice', name: 'who', label: messages.who, choices: who },
            {
              kind: 'choice',
              name: 'method',
              label: messages.method,
              choices: METHODS.map((method) => ({ value: method, text: messages.methods[method] })),
            },
            { kind: 'date', name: 'from', label: messages.from },
            { kind: 'date', name: 'to', label: messages.to },
          ],
          rows: shown,
          results: state.offset + shown.length,
          isMore: rows.length > shown.length,
          href: (entry) => thingPath(visit, entry.object) ?? adminPath(visit, '/apps/audit'),
          empty: messages.empty,
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

function entryColumns(visit: ShopVisit, names: ThingNames): Column<EntryRow>[] {
  const messages = visit.messages.audit;
  return [
    { name: 'what', title: messages.what, cell: (entry) => whatText(visit, entry) },
    { name: 'about', title: messages.about, cell: (entry) => aboutView(visit, entry, names) },
    { name: 'kind', title: messages.method, cell: (entry) => kindChip(visit, entry) },
    { name: 'who', title: messages.who, cell: ({ appName }) => appName ?? messages.system },
    { name: 'when', title: messages.when, cell: ({ at }) => momentText(at, visit.language) },
    {
      name: 'technical',
      title: messages.technical,
      isExtra: true,
      cell: ({ method, route }) => html`<code>${method} ${route}</code>`,
    },
  ];
}

/** The last entries of an app. */
export async function entryTable(visit: ShopVisit, entries: readonly EntryRow[]): Promise<Markup> {
  const messages = visit.messages.audit;
  const names = await findThingNames(
    visit,
    entries.map(({ object }) => object),
  );
  return html`<div class="list plain">
    <table>
      <tbody>
        ${entries.map((entry) => {
          const href = thingPath(visit, entry.object);
          const text = whatText(visit, entry);
          return html`<tr>
            <td data-title="${messages.what}">
              ${href === undefined ? text : html`<a href="${href}">${text}</a>`}
            </td>
            <td data-title="${messages.about}">${aboutView(visit, entry, names)}</td>
            <td data-title="${messages.method}">${kindChip(visit, entry)}</td>
            <td data-title="${messages.when}">${momentText(entry.at, visit.language)}</td>
          </tr>`;
        })}
      </tbody>
    </table>
  </div>`;
}

/**
 * The thing that an entry is about, by name, with a link to its page. A thing that was deleted is named by its id, and
 * has no page.
 */
function aboutView(visit: ShopVisit, { object }: EntryRow, names: ThingNames): Part {
  const [, id] = thingOf(object) ?? [];
  const name = id && names.get(id);
  if (name) return html`<a href="${thingPath(visit, object)}">${name}</a>`;
  const text = id ?? OTHER_NAMES.map((key) => object[key]).find((value) => value !== undefined);
  return text !== undefined && html`<span class="quiet">${text.slice(0, MAX_NAME_LENGTH)}</span>`;
}

/** What entries name without an id: a member, an app of the command line, a domain, the sections of the settings. */
const OTHER_NAMES = ['email', 'user', 'app', 'host', 'name', 'sections'];
const MAX_NAME_LENGTH = 100;

const KINDS: Readonly<Record<string, ChipKind>> = { DELETE: 'bad', GET: 'warning', POST: 'good' };

function kindChip({ messages }: ShopVisit, { method, route, object }: EntryRow): Markup {
  const { audit } = messages;
  if (Object.hasOwn(object, 'refused')) return chip(audit.refused, 'bad');
  const texts: Readonly<Record<string, string>> = audit.methods;
  const done = method === 'POST' ? (actionOf(audit, route) ?? audit.created) : (texts[method] ?? method);
  return chip(done, KINDS[method]);
}

/**
 * What was done by a POST: shipped, refunded. Undefined: something was created. What is set in the admin is sent by POST
 * to its page.
 */
function actionOf({ actions }: AuditMessages, route: string): string | undefined {
  const parts = partsOf(route);
  const name = parts[0] === 'settings' && parts.at(-1) === 'payments' ? 'settings' : parts.at(-1)!;
  return Object.hasOwn(actions, name) ? actions[name as keyof typeof actions] : undefined;
}

type AuditMessages = ShopVisit['messages']['audit'];

/** The names in a route, without its parameters: `/rs/shops/:shopId/products/:productId/images` is products and images. */
function partsOf(route: string): string[] {
  const parts = route
    .replace(/^\/(?:(?:rs|manage|admin)\/shops\/:shopId|admin|oauth|mcp)\//, '')
    .split('/')
    .filter((part) => !part.startsWith(':'));
  // In the admin, webhooks and scripts are below the apps.
  return parts[0] === 'apps' && ['webhooks', 'scripts'].includes(parts[1] ?? '') ? parts.slice(1) : parts;
}

/** `Product › Images`; a command as it was typed. The last name of a POST says what was done, not to what. */
function whatText({ messages: { audit } }: ShopVisit, { method, route }: EntryRow): string {
  if (method === 'COMMAND') return route;
  const things: Readonly<Record<string, string>> = audit.things;
  const texts: Readonly<Record<string, string>> = audit.parts;
  const [thing = '', ...rest] = partsOf(route);
  const isAction = method === 'POST' && rest.length > 0 && actionOf(audit, route) !== undefined;
  const parts = isAction ? rest.slice(0, -1) : rest;
  return [things[thing] ?? thing, ...parts.map((part) => texts[part] ?? part)].join(' › ');
}
