import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { decodedText } from '../../catalogue/products/csv-file.ts';
import {
  MAX_REDIRECT_FILE_BYTES,
  MAX_REDIRECT_FILE_ROWS,
  readRedirects,
  redirectFileHead,
  redirectFileLine,
  type RedirectRow,
} from '../../catalogue/redirects/csv.ts';
import {
  countMissed,
  countRedirects,
  findMissed,
  findRedirect,
  findRedirects,
  findRedirectsAfter,
  TARGET_KINDS,
  type CountedAddress,
  type ListedRedirect,
} from '../../catalogue/redirects/queries.ts';
import {
  createRedirect,
  deleteRedirect,
  dismissMissedAddress,
  comparedStart,
  updateRedirect,
} from '../../catalogue/redirects/routes.ts';
import { domainsOf, redirectRefusal } from '../../catalogue/redirects/refusals.ts';
import { saveRedirects } from '../../catalogue/redirects/save.ts';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { newPauses } from '../../http/pauses.ts';
import { Redirect, type FormRequest, type PageRequest } from '../../http/page-kit.ts';
import type { Upload } from '../../http/upload.ts';
import { isId } from '../../kernel/ids.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { fileField, refusedLines } from '../components/file-form.ts';
import { buttonForm, problemOf } from '../components/form.ts';
import { dayText } from '../components/format.ts';
import { listView } from '../components/list.ts';
import { listState, type Column } from '../components/list-state.ts';
import { refusalText } from '../components/validation.ts';
import { readable } from '../import/new-import.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { settingsBreadcrumbs } from '../settings/section-page.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

const PATH = '/redirects';
const PERMISSIONS = { read: 'products_write', write: 'products_write' } as const;
const SHOWN_MISSED = 50;
const SHOWN_REFUSED = 100;
const ROWS_AT_ONCE = 1_000;

const REDIRECT = declareForm(createRedirect, ({ redirects: messages }) => ({
  source: { label: messages.source, hint: messages.sourceHint, isRequired: true },
  status: {
    kind: 'choice',
    label: messages.status,
    choices: [
      { value: '301', text: messages.statuses['301'] },
      { value: '410', text: messages.statuses['410'] },
    ],
  },
  kind: {
    kind: 'choice',
    label: messages.kind,
    choices: TARGET_KINDS.map((value) => ({ value, text: messages.kinds[value] })),
  },
  target: { label: messages.target, hint: messages.targetHint },
}));

const MISSED = declareForm(dismissMissedAddress, () => ({ address: { kind: 'hidden', label: '' } }));

const OPTIONS = optionsOf(REDIRECT);

/** Former addresses of the shop and where they lead, and the addresses that visitors have asked for in vain. */
export function redirectPages(pages: ShopPages): void {
  pages.get(PATH, 'products_write', showList);
  pages.form(`${PATH}/new`, PERMISSIONS, { show: showNew, save: addRedirect }, OPTIONS);
  pages.fileForm(`${PATH}/import`, 'products_write', {
    field: 'file',
    limit: MAX_REDIRECT_FILE_BYTES,
    show: async (visit, _request, draft) => fileFormPage(visit, draft),
    save: async (visit, _request, file) => importFile(visit, file),
  });
  pages.file(`${PATH}/redirects.csv`, 'products_write', async (visit) => ({
    type: 'text/csv; charset=utf-8',
    content: Readable.from(redirectsText(visit)),
    fileName: 'redirects.csv',
  }));
  pages.post(
    `${PATH}/missed/dismiss`,
    'products_write',
    async (visit, form) => {
      await visit.call(dismissMissedAddress, { body: readFields(MISSED, form, visit) });
      return new Redirect(adminPath(visit, PATH), visit.messages.redirects.dismissed);
    },
    optionsOf(MISSED),
  );
  pages.form(`${PATH}/:redirectId`, PERMISSIONS, { show: showRedirect, save: saveRedirect }, OPTIONS);
  pages.post(`${PATH}/:redirectId/delete`, 'products_write', async (visit, { params }) => {
    const { redirectId, source, status, kind, target } = await loadRedirect(visit, params['redirectId']!);
    await visit.call(deleteRedirect, { params: { redirectId } });
    const fields = { source, status: String(status), kind: kind ?? '', target: target ?? '' };
    return new Redirect(adminPath(visit, PATH), {
      text: visit.messages.redirects.deleted({ source }),
      undo: { action: adminPath(visit, `${PATH}/new`), fields },
    });
  });
}

const listStep = (visit: ShopVisit) => [
  ...settingsBreadcrumbs(visit),
  { href: adminPath(visit, PATH), text: visit.messages.redirects.title },
];

async function loadRedirect({ db, shopId }: ShopVisit, redirectId: string): Promise<ListedRedirect> {
  const found = isId(redirectId) ? await findRedirect(db, shopId, redirectId) : undefined;
  if (!found) throw notFound();
  return found;
}

async function showList(visit: ShopVisit, request: PageRequest): Promise<AdminPage> {
  const { db, shopId, messages, language } = visit;
  const words = messages.redirects;
  const columns: Column<ListedRedirect>[] = [
    { name: 'source', title: words.source, cell: ({ source }) => source },
    {
      name: 'target',
      title: words.target,
      cell: ({ kind, target }) =>
        kind === null
          ? html`<span class="quiet">${words.statuses['410']}</span>`
          : html`<span><span class="quiet">${words.kinds[kind]}</span> ${target}</span>`,
    },
    { name: 'origin', title: words.origin, cell: ({ origin }) => words.origins[origin] },
    { name: 'created', title: words.created, cell: ({ createdAt }) => dayText(createdAt, language) },
  ];
  const state = listState(request, columns);
  const start = comparedStart(state.filter('q'));
  const [rows, results, missed, missedCount] = await Promise.all([
    findRedirects(db, shopId, { start, limit: state.limit, offset: state.offset }),
    countRedirects(db, shopId, start),
    findMissed(db, shopId, { limit: SHOWN_MISSED, offset: 0 }),
    countMissed(db, shopId),
  ]);
  return {
    title: words.title,
    menu: 'settings',
    breadcrumbs: settingsBreadcrumbs(visit),
    actions: html`<a class="button" href="${adminPath(visit, `${PATH}/redirects.csv`)}" hx-boost="false"
        >${words.download}</a
      >
      <a class="button" href="${adminPath(visit, `${PATH}/import`)}">${words.file}</a>
      <a class="button main" href="${adminPath(visit, `${PATH}/new`)}">${words.add}</a>`,
    main: html`<p class="hint intro">${words.intro}</p>
      <div class="stack">
        <div>
          ${await listView(visit, request, {
            path: PATH,
            caption: words.title,
            columns,
            filters: [{ kind: 'search', name: 'q', label: words.search }],
            rows,
            results,
            href: ({ redirectId }) => adminPath(visit, `${PATH}/${redirectId}`),
            empty: words.empty,
          })}
        </div>
        ${missedCard(visit, missed, missedCount)}
      </div>`,
  };
}

function missedCard(visit: ShopVisit, missed: readonly CountedAddress[], count: number): Markup {
  const messages = visit.messages.redirects;
  return html`<section class="card" aria-labelledby="missed">
    <h2 id="missed">
      ${messages.missed}${count > 0 && html` <span class="count">${count.toLocaleString(visit.language)}</span>`}
    </h2>
    <p class="hint">${missed.length === 0 ? messages.noMissed : messages.missedHint}</p>
    ${
      missed.length > 0 &&
      html`<div class="list plain">
        <table>
          <thead>
            <tr>
              <th scope="col">${messages.source}</th>
              <th scope="col" class="number">${messages.hits}</th>
              <th scope="col">${messages.lastDay}</th>
              <th scope="col">${messages.referrers}</th>
              <th scope="col"><span class="hidden">${messages.redirect}</span></th>
            </tr>
          </thead>
          <tbody>
            ${missed.map((one) => missedRow(visit, one))}
          </tbody>
        </table>
      </div>`
    }
  </section>`;
}

function missedRow(visit: ShopVisit, { address, hits, lastDay, referrers }: CountedAddress): Markup {
  const messages = visit.messages.redirects;
  return html`<tr>
    <td data-title="${messages.source}"><code>${address}</code></td>
    <td data-title="${messages.hits}" class="number">${hits.toLocaleString(visit.language)}</td>
    <td data-title="${messages.lastDay}">${dayText(new Date(lastDay), visit.language)}</td>
    <td data-title="${messages.referrers}"><span class="quiet">${referrers.join(', ')}</span></td>
    <td>
      <div class="actions">
        <a
          class="button"
          href="${adminPath(visit, `${PATH}/new`, { source: address })}"
          aria-label="${messages.redirectThis({ address })}"
          >${messages.redirect}</a
        >
        <form method="post" action="${adminPath(visit, `${PATH}/missed/dismiss`)}">
          <input type="hidden" name="address" value="${address}" />
          <button class="link" aria-label="${messages.dismissThis({ address })}">${messages.dismiss}</button>
        </form>
      </div>
    </td>
  </tr>`;
}

async function showNew(visit: ShopVisit, request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const values = { source: request.query('source'), status: '301', kind: 'product' };
  return {
    title: visit.messages.redirects.add,
    menu: 'settings',
    breadcrumbs: listStep(visit),
    main: redirectForm(visit, values, draft),
  };
}

interface Values {
  source?: string | undefined;
  status: string;
  kind?: string | null;
  target?: string | null;
}

function redirectForm(visit: ShopVisit, values: Values, draft: Draft | undefined): Markup {
  const field = showFields(REDIRECT, visit, { values, draft });
  return html`<form method="post" class="card">
    ${problemOf(draft)} ${field('source')} ${field('status')} ${field('kind')} ${field('target')}
    <button class="main">${visit.messages.form.save}</button>
  </form>`;
}

/** A page that is gone has no target, whatever the other fields say. */
function typedRedirect(visit: ShopVisit, form: FormRequest) {
  const { source, status, kind, target } = readFields(REDIRECT, form, visit);
  const isGone = String(status) === '410';
  return isGone
    ? { source, status: 410 as const, kind: null, target: null }
    : { source, status: 301 as const, kind, target };
}

async function addRedirect(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const body = typedRedirect(visit, form);
  await visit.call(createRedirect, { body });
  return new Redirect(adminPath(visit, PATH), visit.messages.redirects.added({ source: body.source }));
}

async function showRedirect(visit: ShopVisit, request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const messages = visit.messages.redirects;
  const { redirectId, source, status, kind, target } = await loadRedirect(
    visit,
    request.params['redirectId']!,
  );
  return {
    title: messages.edit,
    menu: 'settings',
    breadcrumbs: listStep(visit),
    actions: buttonForm({
      action: adminPath(visit, `${PATH}/${redirectId}/delete`),
      text: messages.delete,
      kind: 'danger',
    }),
    main: redirectForm(visit, { source, status: String(status), kind, target }, draft),
  };
}

async function saveRedirect(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const { redirectId } = await loadRedirect(visit, form.params['redirectId']!);
  const body = typedRedirect(visit, form);
  await visit.call(updateRedirect, { params: { redirectId }, body });
  return new Redirect(adminPath(visit, PATH), visit.messages.redirects.saved({ source: body.source }));
}

interface RefusedRow {
  row: RedirectRow;
  reason: string;
}

function fileFormPage(
  visit: ShopVisit,
  draft: Draft | undefined,
  refused: readonly RefusedRow[] = [],
  notice?: Markup,
): AdminPage {
  const messages = visit.messages.redirects;
  const limits = {
    rows: MAX_REDIRECT_FILE_ROWS.toLocaleString(visit.language),
    megabytes: String(MAX_REDIRECT_FILE_BYTES / 1_048_576),
  };
  return {
    title: messages.file,
    menu: 'settings',
    breadcrumbs: listStep(visit),
    main: html`${problemOf(draft)} ${notice} ${refused.length > 0 && refusedTable(visit, refused)}
      <form class="card" method="post" enctype="multipart/form-data">
        ${fileField({ label: messages.file, hint: messages.fileHint(limits) })}
        <button class="main">${messages.send}</button>
      </form>`,
  };
}

function refusedTable(visit: ShopVisit, refused: readonly RefusedRow[]): Markup {
  const messages = visit.messages.redirects;
  return refusedLines(
    [messages.line, messages.source, messages.target, messages.reason],
    refused.map(({ row, reason }) => [row.line, row.source, row.target, reason]),
  );
}

/** Saves the redirects of a file in one transaction, and lists the lines that can't be. */
async function importFile(visit: ShopVisit, { path }: Upload): Promise<AdminPage | Redirect> {
  const messages = visit.messages.redirects;
  const text = await decodedText(await readFile(path));
  const rows = await readable(visit, async () => {
    const pause = newPauses();
    const read: RedirectRow[] = [];
    for (const row of readRedirects(text)) {
      read.push(row);
      await pause();
    }
    return read;
  });
  const { saved, refused, count } = await visit.db.transaction(async (tx) => {
    const domains = await domainsOf(tx, visit.shopId);
    const found: RefusedRow[] = [];
    let left = 0;
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
      const part = rows.slice(at, at + ROWS_AT_ONCE);
      const problems = await saveRedirects(tx, visit.shopId, part, {
        origin: 'imported',
        domains,
        replaces: true,
      });
      for (const [index, problem] of problems.entries()) {
        if (problem === undefined) continue;
        left++;
        const row = part[index]!;
        if (found.length < SHOWN_REFUSED)
          found.push({ row, reason: refusalText(visit, redirectRefusal(row, problem)) });
      }
    }
    await recordAction(tx, visit, `${PATH}/import`, { redirects: String(rows.length - left) });
    return { saved: rows.length - left, refused: found, count: left };
  });
  if (count === 0) return new Redirect(adminPath(visit, PATH), messages.imported({ count: saved }));
  return fileFormPage(
    visit,
    undefined,
    refused,
    html`<p class="notice" role="status">
      ${messages.imported({ count: saved })} ${messages.refused({ count })}
      ${count > refused.length && messages.firstRefused({ count: refused.length })}
    </p>`,
  );
}

/** All redirects as a file, read in parts. */
async function* redirectsText({ db, shopId }: ShopVisit): AsyncGenerator<string> {
  yield `\u{feff}${redirectFileHead()}`;
  let after = '';
  for (;;) {
    const rows = await findRedirectsAfter(db, shopId, after, ROWS_AT_ONCE);
    yield rows.map(redirectFileLine).join('');
    if (rows.length < ROWS_AT_ONCE) return;
    after = rows.at(-1)!.sourceKey;
  }
}
