import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect, type FormRequest, type PageRequest } from '../../http/page-kit.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { inheritedFacts } from '../../catalogue/products/facts.ts';
import {
  addDownloadFile,
  deleteDownloadFile,
  replaceDownloadFile,
  setDigitalProduct,
  setDownloadFile,
  uploadLimit,
} from '../../downloads/product-routes.ts';
import { countKeys } from '../../downloads/key-queries.ts';
import { findDigitalProduct, findDownloadFiles, type DownloadFile } from '../../downloads/queries.ts';
import { taxClassFor } from '../../pricing/tax.ts';
import type { Config } from '../../config.ts';
import {
  declareForm,
  declareHidden,
  declaredButton,
  optionsOf,
  readFields,
  showFields,
} from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { momentText } from '../components/format.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { productPage } from '../products/product-page.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { keysCard } from './keys.ts';
import { idOf, readSold } from './sold-product.ts';

const PATH = '/products/:productId/downloads';
const FILE = `${PATH}/files/:fileId`;
const MEGABYTE = 1_048_576;

const RULES = declareForm(setDigitalProduct, ({ downloads: messages }) => ({
  hasKeys: { kind: 'tick', label: messages.hasKeys, hint: messages.hasKeysHint },
  maxDownloads: { kind: 'integer', label: messages.maxDownloads, hint: messages.maxDownloadsHint },
  days: { kind: 'integer', label: messages.days, hint: messages.daysHint },
  fewKeys: { kind: 'integer', label: messages.fewKeys, hint: messages.fewKeysHint, isRequired: true },
}));

const NEWS = declareForm(setDownloadFile, ({ downloads: messages }) => ({
  note: { kind: 'long text', label: messages.note, hint: messages.noteHint, rows: 3 },
  notify: { kind: 'tick', label: messages.notify, hint: messages.notifyHint },
}));

const NOTHING = declareHidden({});

/** The files and keys of a product: what its buyers get. */
export function productDownloadPages(pages: ShopPages, config: Config): void {
  const limit = uploadLimit(config);

  pages.form(
    PATH,
    { read: 'products_read', write: 'products_write' },
    { show: showDownloads, save: saveRules },
    optionsOf(RULES),
  );

  pages.fileForm(`${PATH}/files/new`, 'products_write', {
    field: 'file',
    limit,
    show: (visit, request, draft) => uploadPage(visit, request, limit, draft),
    save: async (visit, request, file) => {
      const productId = idOf(request, 'productId');
      await visit.call(addDownloadFile, { params: { productId }, body: { file } });
      return backTo(visit, productId, visit.messages.downloads.fileAdded);
    },
  });

  pages.fileForm(`${FILE}/replace`, 'products_write', {
    field: 'file',
    limit,
    show: (visit, request, draft) => uploadPage(visit, request, limit, draft),
    save: async (visit, request, file) => {
      const params = { productId: idOf(request, 'productId'), fileId: idOf(request, 'fileId') };
      await visit.call(replaceDownloadFile, { params, body: { file } });
      // What is new in it is said next.
      return new Redirect(
        adminPath(visit, `/products/${params.productId}/downloads/files/${params.fileId}`),
        visit.messages.downloads.fileReplaced,
      );
    },
  });

  pages.form(
    FILE,
    { read: 'products_read', write: 'products_write' },
    { show: showFile, save: saveFile },
    optionsOf(NEWS),
  );

  pages.post(
    `${FILE}/delete`,
    'products_write',
    async (visit, form) => {
      readFields(NOTHING, form, visit);
      const params = { productId: idOf(form, 'productId'), fileId: idOf(form, 'fileId') };
      await visit.call(deleteDownloadFile, { params });
      return backTo(visit, params.productId, visit.messages.downloads.fileDeleted);
    },
    optionsOf(NOTHING),
  );
}

const backTo = (visit: ShopVisit, productId: string, notice: string) =>
  new Redirect(adminPath(visit, `/products/${productId}/downloads`), notice);

async function showDownloads(visit: ShopVisit, request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const { db, shopId } = visit;
  const row = await readSold(visit, request);
  const messages = visit.messages.downloads;
  const [digital, files, counts] = await Promise.all([
    findDigitalProduct(db, shopId, row.productId),
    findDownloadFiles(db, shopId, [row.productId]),
    countKeys(db, shopId, row.productId),
  ]);
  const mayWrite = visit.may('products_write');
  return productPage(visit, row, 'downloads', {
    main: html`${warnings(visit, row, digital !== undefined)}
      <section class="card" aria-labelledby="files">
        <h2 id="files">${messages.files}</h2>
        <p class="hint">${messages.filesHint}</p>
        ${files.length === 0 && html`<p class="quiet">${messages.noFiles}</p>`}
        ${files.map((file) => fileRow(visit, file))}
        ${
          mayWrite &&
          html`<p>
            <a class="button" href="${adminPath(visit, `/products/${row.productId}/downloads/files/new`)}"
              >${messages.addFile}</a
            >
          </p>`
        }
      </section>
      ${keysCard(visit, row.productId, counts)} ${rulesForm(visit, row.productId, digital, draft)}`,
  });
}

function rulesForm(
  visit: ShopVisit,
  productId: string,
  digital:
    | { hasKeys: boolean; maxDownloads: number | null; days: number | null; fewKeys: number }
    | undefined,
  draft: Draft | undefined,
): Markup {
  const messages = visit.messages.downloads;
  const values = digital ?? { hasKeys: false, maxDownloads: 10, days: null, fewKeys: 10 };
  const field = showFields(RULES, visit, { values, draft });
  return html`<form
    class="card"
    method="post"
    action="${adminPath(visit, `/products/${productId}/downloads`)}"
  >
    <h2>${messages.rules}</h2>
    ${problemOf(draft)} ${field('hasKeys')}
    <div class="row">${field('maxDownloads')} ${field('days')} ${field('fewKeys')}</div>
    ${visit.may('products_write') && html`<button class="main">${visit.messages.form.save}</button>`}
  </form>`;
}

/** What the merchant should set for a product that is delivered digitally. */
function warnings(visit: ShopVisit, row: ProductRow, isDigital: boolean): Markup | false {
  if (!isDigital) return false;
  const messages = visit.messages.downloads;
  const facts = inheritedFacts(row.facts, row.master?.facts ?? null);
  const taxClassId = row.taxClassId ?? row.master?.taxClassId ?? null;
  const texts = [
    ...(taxClassFor(taxClassId, visit.settings).digital ? [] : [messages.notDigitalTax]),
    ...(facts.withdrawalExcluded === 'digitalContent' ? [] : [messages.noConsent]),
  ];
  return (
    texts.length > 0 &&
    html`<div class="notice">
      ${texts.map((text) => html`<p>${text}</p>`)}
      <p><a href="${adminPath(visit, `/products/${row.productId}`)}">${messages.toProduct}</a></p>
    </div>`
  );
}

function fileRow(visit: ShopVisit, file: DownloadFile): Markup {
  const messages = visit.messages.downloads;
  const path = `/products/${file.productId}/downloads/files/${file.fileId}`;
  return html`<div class="title">
    <div>
      <a href="${adminPath(visit, path)}">${file.name}</a>
      <p class="quiet">${fileFacts(visit, file)}</p>
    </div>
    ${
      visit.may('products_write') &&
      html`<div class="buttons">
        <a class="button" href="${adminPath(visit, `${path}/replace`)}"
          >${messages.replace}<span class="hidden">: ${file.name}</span></a
        >
        ${declaredButton(
          NOTHING,
          visit,
          {},
          {
            action: adminPath(visit, `${path}/delete`),
            text: visit.messages.form.delete,
            label: messages.deleteOf({ name: file.name }),
            kind: 'danger',
            confirm: messages.deleteSure,
          },
        )}
      </div>`
    }
  </div>`;
}

function fileFacts({ messages, language }: ShopVisit, { bytes, version, changedAt }: DownloadFile): string {
  const size = Math.max(0.01, bytes / MEGABYTE).toLocaleString(language, { maximumFractionDigits: 2 });
  return messages.downloads.fileFacts({
    size,
    version: String(version),
    day: momentText(changedAt, language),
  });
}

async function uploadPage(
  visit: ShopVisit,
  request: PageRequest,
  limit: number,
  draft: Draft | undefined,
): Promise<AdminPage> {
  const row = await readSold(visit, request);
  const messages = visit.messages.downloads;
  const megabytes = (limit / MEGABYTE).toLocaleString(visit.language);
  return productPage(visit, row, 'downloads', {
    main: html`${problemOf(draft)}
      <form class="card" method="post" enctype="multipart/form-data">
        <div class="field">
          <label for="file">${messages.file}</label>
          <input type="file" id="file" name="file" aria-describedby="file-hint" required />
          <p class="hint" id="file-hint">${messages.fileHint({ megabytes })}</p>
        </div>
        <button class="main">${messages.upload}</button>
      </form>`,
  });
}

async function showFile(visit: ShopVisit, request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const row = await readSold(visit, request);
  const fileId = idOf(request, 'fileId');
  const file = (await findDownloadFiles(visit.db, visit.shopId, [row.productId])).find(
    (one) => one.fileId === fileId,
  );
  if (!file) throw notFound();
  const field = showFields(NEWS, visit, { values: { note: file.note, notify: false }, draft });
  return productPage(visit, row, 'downloads', {
    main: html`<form
      class="card"
      method="post"
      action="${adminPath(visit, `/products/${row.productId}/downloads/files/${fileId}`)}"
    >
      <h2>${file.name}</h2>
      <p class="quiet">${fileFacts(visit, file)}</p>
      ${problemOf(draft)} ${field('note')} ${field('notify')}
      ${visit.may('products_write') && html`<button class="main">${visit.messages.form.save}</button>`}
    </form>`,
  });
}

async function saveFile(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const params = { productId: idOf(form, 'productId'), fileId: idOf(form, 'fileId') };
  const body = readFields(NEWS, form, visit);
  await visit.call(setDownloadFile, { params, body });
  const messages = visit.messages.downloads;
  return backTo(visit, params.productId, body.notify ? messages.buyersTold : messages.saved);
}

async function saveRules(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const { productId } = await readSold(visit, form);
  await visit.call(setDigitalProduct, { params: { productId }, body: readFields(RULES, form, visit) });
  return backTo(visit, productId, visit.messages.downloads.saved);
}
