import { readFile, stat } from 'node:fs/promises';
import { Type } from 'typebox';
import { decodedText } from '../../catalogue/products/csv-file.ts';
import { deleteImport, findImports, type ImportState } from '../../catalogue/products/import-queries.ts';
import { badRequest, notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { UPLOAD_LIMIT } from '../../http/upload.ts';
import { isId } from '../../kernel/ids.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { fileField } from '../components/file-form.ts';
import { problemOf } from '../components/form.ts';
import { chip, type ChipKind } from '../components/format.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { ARCHIVE_LIMIT, archivePages, takeArchive, waitingPictures } from './archive.ts';
import { newImport, storeImport } from './new-import.ts';
import { type PageRequest, Redirect } from '../../http/page-kit.ts';

/** Pasted rows; more rows are sent as a file. */
const PASTED = { characters: 900_000, lines: 20_000 };

const PASTE = declareForm({ body: Type.Object({ rows: Type.String() }) }, ({ import: { paste } }) => ({
  rows: { kind: 'long text', label: paste, rows: 5, isCode: true, isRequired: true, maxLength: PASTED },
}));

/** The upload of product files, and the list of uploads. */
export function importFiles(pages: ShopPages): void {
  archivePages(pages);
  pages.fileForm('/products/import', 'products_write', {
    field: 'file',
    limit: ARCHIVE_LIMIT,
    show: showFiles,
    save: async (visit, _request, { name, path }) => {
      if (/\.zip$/i.test(name)) return takeArchive(visit, path);
      if ((await stat(path)).size > UPLOAD_LIMIT) throw badRequest(visit.messages.import.tooLarge);
      return takeTable(visit, name, await decodedText(await readFile(path)));
    },
  });

  pages.form(
    '/products/import/paste',
    { read: 'products_write', write: 'products_write' },
    {
      show: showFiles,
      save: (visit, form) =>
        takeTable(visit, visit.messages.import.pasted, readFields(PASTE, form, visit).rows),
    },
    optionsOf(PASTE),
  );

  pages.post('/products/import/:importId/delete', 'products_write', async (visit, form) => {
    const { importId } = form.params;
    if (!isId(importId!)) throw notFound();
    const deleted = await visit.db.transaction((tx) => deleteImport(tx, visit.shopId, importId!));
    if (deleted === 0) throw notFound();
    return new Redirect(adminPath(visit, '/products/import'), visit.messages.import.deleted);
  });
}

/** Guesses the columns of a table, and stores it. */
async function takeTable(visit: ShopVisit, fileName: string, content: string): Promise<Redirect> {
  const importId = await storeImport(visit, await newImport(visit, fileName, content));
  return new Redirect(adminPath(visit, `/products/import/${importId}`));
}

const STATE_KINDS: Readonly<Record<ImportState, ChipKind>> = {
  mapping: 'neutral',
  checking: 'warning',
  checked: 'neutral',
  importing: 'warning',
  done: 'good',
  failed: 'bad',
};

async function showFiles(visit: ShopVisit, _request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const messages = visit.messages.import;
  return {
    title: messages.title,
    menu: 'products',
    breadcrumbs: [{ href: adminPath(visit, '/products'), text: visit.messages.layout.menuEntries.products }],
    main: html`${problemOf(draft)}
      <p class="hint intro">${messages.intro}</p>
      <div class="sides">
        <div class="stack">
          <form
            class="card"
            method="post"
            action="${adminPath(visit, '/products/import')}"
            enctype="multipart/form-data"
          >
            <h2>${messages.newTitle}</h2>
            ${fileField({ label: messages.file, hint: messages.fileHint, accept: '.csv,.tsv,.txt,.zip,text/csv,text/tab-separated-values,text/plain,application/zip' })}
            <button class="main">${messages.send}</button>
          </form>
          <form class="card" method="post" action="${adminPath(visit, '/products/import/paste')}">
            ${showFields(PASTE, visit, { draft })('rows')}
            <button>${messages.sendPasted}</button>
          </form>
        </div>
        <div class="stack">
          <section class="card">
            <p>${messages.template}</p>
            <p>
              <a class="button" href="${adminPath(visit, '/products/export')}">${messages.templateLink}</a>
            </p>
          </section>
          ${await waitingPictures(visit)} ${await recentImports(visit)}
        </div>
      </div>`,
  };
}

async function recentImports(visit: ShopVisit): Promise<Markup> {
  const messages = visit.messages.import;
  const imports = await findImports(visit.db, visit.shopId);
  return html`<section class="card" aria-labelledby="recent">
    <h2 id="recent">${messages.recent}</h2>
    ${imports.length === 0 && html`<p class="quiet">${messages.none}</p>`}
    <ul class="things">
      ${imports.map(
        ({ importId, fileName, author, state, rowCount }) =>
          html`<li>
            <span
              ><a href="${adminPath(visit, `/products/import/${importId}`)}">${fileName}</a><br />
              <span class="quiet"
                >${messages.rows({ count: rowCount })}, ${messages.by({ author })}</span
              ></span
            >
            <span class="actions"
              >${chip(messages.states[state], STATE_KINDS[state])}
              <form method="post" action="${adminPath(visit, `/products/import/${importId}/delete`)}">
                <button class="link" aria-label="${messages.remove({ name: fileName })}">×</button>
              </form></span
            >
          </li>`,
      )}
    </ul>
  </section>`;
}
