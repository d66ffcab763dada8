import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Type } from 'typebox';
import { html, type Markup } from '../../http/html.ts';
import { badRequest } from '../../http/errors.ts';
import { Redirect, type PageRequest } from '../../http/page-kit.ts';
import { addLicenceKeys, deleteLicenceKey, listLicenceKeys } from '../../downloads/key-routes.ts';
import type { KeyCounts } from '../../downloads/key-queries.ts';
import { MAX_KEY_LENGTH, maskedKey } from '../../downloads/licence-key.ts';
import { MAX_NEW_KEYS } from '../../downloads/schema.ts';
import {
  declareForm,
  declareHidden,
  declaredButton,
  optionsOf,
  readFields,
  showFields,
} from '../components/declared-form.ts';
import { fileField } from '../components/file-form.ts';
import { problemOf } from '../components/form.ts';
import { momentText } from '../components/format.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { productPage } from '../products/product-page.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { idOf, readSold } from './sold-product.ts';

const PATH = '/products/:productId/downloads/keys';
const ON_PAGE = 50;
const MAX_FILE_BYTES = 4 * 1_048_576;
/** More keys come in several files. */
const MAX_FILE_KEYS = 10_000;
const MAX_TEXT = 100_000;

/** One key in each line: one field, because keys may hold commas and blanks. */
const NEW_KEYS = declareForm(
  { body: Type.Object({ keys: Type.String({ maxLength: MAX_TEXT }) }) },
  ({ downloads: messages }) => ({
    keys: {
      kind: 'long text',
      label: messages.newKeys,
      hint: messages.newKeysHint,
      rows: 8,
      isCode: true,
      isRequired: true,
    },
  }),
);

const NOTHING = declareHidden({});

/** The licence keys of a product. */
export function keyPages(pages: ShopPages): void {
  pages.form(
    PATH,
    { read: 'products_read', write: 'products_write' },
    {
      show: showKeys,
      save: async (visit, form) => {
        const productId = idOf(form, 'productId');
        const lines = readFields(NEW_KEYS, form, visit).keys.split(/\r?\n/);
        return addKeys(visit, productId, keysIn(lines));
      },
    },
    optionsOf(NEW_KEYS),
  );

  pages.fileForm(`${PATH}/file`, 'products_write', {
    field: 'file',
    limit: MAX_FILE_BYTES,
    show: showFileForm,
    save: async (visit, request, { path }) =>
      addKeys(visit, idOf(request, 'productId'), await readKeys(visit, path)),
  });

  pages.post(
    `${PATH}/:keyId/delete`,
    'products_write',
    async (visit, form) => {
      readFields(NOTHING, form, visit);
      const params = { productId: idOf(form, 'productId'), keyId: idOf(form, 'keyId') };
      await visit.call(deleteLicenceKey, { params });
      return new Redirect(keysPath(visit, params.productId), visit.messages.downloads.keyDeleted);
    },
    optionsOf(NOTHING),
  );
}

const keysPath = (visit: ShopVisit, productId: string, query?: Record<string, string>) =>
  adminPath(visit, `/products/${productId}/downloads/keys`, query);

/** All of them or none. */
async function addKeys(visit: ShopVisit, productId: string, keys: readonly string[]): Promise<Redirect> {
  const messages = visit.messages.downloads;
  if (keys.length === 0) throw badRequest(messages.noNewKeys);
  if (keys.length > MAX_FILE_KEYS)
    throw badRequest(messages.tooManyKeys({ limit: MAX_FILE_KEYS.toLocaleString(visit.language) }));
  const added = await visit.inTransaction(async (call) => {
    let count = 0;
    for (let at = 0; at < keys.length; at += MAX_NEW_KEYS) {
      const body = { keys: keys.slice(at, at + MAX_NEW_KEYS) };
      count += (await call(addLicenceKeys, { params: { productId }, body })).added;
    }
    return count;
  });
  const known = keys.length - added;
  const text = `${messages.keysAdded({ count: added })}${known > 0 ? ` ${messages.keysKnown({ count: known })}` : ''}`;
  return new Redirect(keysPath(visit, productId), text);
}

const keysIn = (lines: readonly string[]) => [
  ...new Set(lines.map((line) => line.trim()).filter((line) => line !== '')),
];

/** Names of the column with the keys, in the first line of a file. */
const HEADING = /^(?:(?:licen[cs]e)?[ _-]?(?:key|code)s?|(?:lizenz)?(?:schlüssel|code)|clés?)$/i;

/** The first column of a CSV file, or its lines. It is read line by line, and no line is longer than a key may be. */
async function readKeys(visit: ShopVisit, path: string): Promise<string[]> {
  const messages = visit.messages.downloads;
  const found: string[] = [];
  const lines = createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity });
  try {
    for await (const line of lines) {
      const key = firstCell(line.replace(/^\uFEFF/, ''));
      if (key === '' || (found.length === 0 && HEADING.test(key))) continue;
      if (key.length > MAX_KEY_LENGTH || key.includes('\u0000'))
        throw badRequest(messages.wrongKey({ line: (found.length + 1).toLocaleString(visit.language) }));
      found.push(key);
      if (found.length > MAX_FILE_KEYS) break;
    }
  } finally {
    lines.close();
  }
  return keysIn(found);
}

function firstCell(line: string): string {
  const quoted = /^\s*"((?:[^"]|"")*)"/.exec(line)?.[1];
  return (quoted?.replaceAll('""', '"') ?? line.split(/[,;\t]/, 1)[0]!).trim();
}

/** On the page of the downloads. */
export function keysCard(visit: ShopVisit, productId: string, counts: KeyCounts): Markup {
  const messages = visit.messages.downloads;
  return html`<section class="card" aria-labelledby="keys">
    <h2 id="keys">${messages.keys}</h2>
    <p class="hint">${messages.keysHint}</p>
    <p>${countsText(visit, counts)}</p>
    <p><a class="button" href="${keysPath(visit, productId)}">${messages.showKeys}</a></p>
  </section>`;
}

function countsText({ messages, language }: ShopVisit, { free, given, revoked }: KeyCounts): string {
  const number = (count: number) => count.toLocaleString(language);
  return messages.downloads.counts({ free: number(free), given: number(given), revoked: number(revoked) });
}

async function showKeys(visit: ShopVisit, request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const { language, messages } = visit;
  const words = messages.downloads;
  const row = await readSold(visit, request);
  const { productId } = row;
  const page = Number(/^[1-9]\d{0,3}$/.exec(request.query('page') ?? '')?.[0] ?? 1);
  const list = await visit
    .call(listLicenceKeys, { params: { productId }, query: { page, resultsPerPage: ON_PAGE } })
    .catch(
      // A product without files and keys.
      (error: unknown) => {
        if ((error as { status?: unknown }).status === 404) return undefined;
        throw error;
      },
    );
  const mayWrite = visit.may('products_write');
  const items = list?.items ?? [];
  return productPage(visit, row, 'downloads', {
    main: html`${
      mayWrite &&
      html`<form class="card" method="post" action="${keysPath(visit, productId)}">
        <h2>${words.addKeys}</h2>
        ${problemOf(draft)} ${showFields(NEW_KEYS, visit, { draft })('keys')}
        <div class="buttons">
          <button class="main">${words.addKeys}</button>
          <a class="button" href="${adminPath(visit, `/products/${productId}/downloads/keys/file`)}"
            >${words.fromFile}</a
          >
        </div>
      </form>`
    }
    ${items.length === 0 && html`<p class="quiet">${words.noKeys}</p>`}
    ${
      items.length > 0 &&
      html`<div class="list plain">
        <table>
          <thead>
            <tr>
              <th scope="col">${words.key}</th>
              <th scope="col">${words.state}</th>
              <th scope="col">${words.order}</th>
              <th scope="col"><span class="hidden">${messages.form.delete}</span></th>
            </tr>
          </thead>
          <tbody>
            ${items.map(
              ({ keyId, lastCharacters, state, orderId, orderNumber, givenOn }) =>
                html`<tr>
                  <td data-title="${words.key}"><code>${maskedKey(lastCharacters)}</code></td>
                  <td data-title="${words.state}">
                    ${words.keyStates[state]} ${givenOn !== null && momentText(new Date(givenOn), language)}
                  </td>
                  <td data-title="${words.order}">
                    ${
                      orderId !== null &&
                      html`<a href="${adminPath(visit, `/orders/${orderId}`)}">${orderNumber ?? orderId}</a>`
                    }
                  </td>
                  <td>
                    ${
                      mayWrite &&
                      state === 'free' &&
                      declaredButton(
                        NOTHING,
                        visit,
                        {},
                        {
                          action: adminPath(visit, `/products/${productId}/downloads/keys/${keyId}/delete`),
                          text: messages.form.delete,
                          label: words.deleteOf({ name: maskedKey(lastCharacters) }),
                        },
                      )
                    }
                  </td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>`
    }
    ${list && pageLinks(visit, productId, page, list.results)}`,
  });
}

function pageLinks(visit: ShopVisit, productId: string, page: number, results: number): Markup | false {
  if (results <= ON_PAGE) return false;
  const messages = visit.messages.reviews;
  const link = (other: number, text: string) =>
    html`<a class="button" href="${keysPath(visit, productId, { page: String(other) })}">${text}</a>`;
  return html`<nav class="buttons" aria-label="${messages.pages}">
    ${page > 1 && link(page - 1, messages.newer)}
    ${page * ON_PAGE < results && link(page + 1, messages.older)}
  </nav>`;
}

async function showFileForm(visit: ShopVisit, request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const row = await readSold(visit, request);
  const messages = visit.messages.downloads;
  const limit = MAX_FILE_KEYS.toLocaleString(visit.language);
  return productPage(visit, row, 'downloads', {
    main: html`${problemOf(draft)}
      <form class="card" method="post" enctype="multipart/form-data">
        ${fileField({ label: messages.keyFile, hint: messages.keyFileHint({ limit }) })}
        <button class="main">${messages.addKeys}</button>
      </form>`,
  });
}
