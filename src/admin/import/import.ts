import { readFile } from 'node:fs/promises';
import {
  decodedText,
  FileProblem,
  inspectFile,
  textFile,
  type FileStart,
} from '../../catalogue/products/csv-file.ts';
import { guessMapping, knownColumns, type Mapping } from '../../catalogue/products/csv-mapping.ts';
import { decimalSignIn } from '../../catalogue/products/import.ts';
import {
  deleteImport,
  findImports,
  insertImport,
  type ImportState,
} from '../../catalogue/products/import-queries.ts';
import { badRequest, notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { isId } from '../../kernel/ids.ts';
import { longTextField, problemOf } from '../components/form.ts';
import { chip, type ChipKind } from '../components/format.ts';
import { Redirect, type AdminPage } from '../page.ts';
import type { Draft, PageRequest, ShopPages } from '../pages.ts';
import { to, type ShopVisit } from '../visit.ts';

/** Sending a file with products, and the files that were sent. */
export function importFiles(pages: ShopPages): void {
  pages.fileForm('/products/import', 'products_write', {
    field: 'file',
    show: showFiles,
    save: async (visit, _request, { name, path }) => takeFile(visit, name, decodedText(await readFile(path))),
  });

  pages.form(
    '/products/import/paste',
    { read: 'products_write', write: 'products_write' },
    {
      show: showFiles,
      save: (visit, form) => takeFile(visit, visit.words.import.pasted, form.field('rows')),
    },
  );

  pages.post('/products/import/:importId/delete', 'products_write', async (visit, form) => {
    const { importId } = form.params;
    if (!isId(importId!)) throw notFound();
    const deleted = await visit.db.transaction((tx) => deleteImport(tx, visit.shopId, importId!));
    if (deleted === 0) throw notFound();
    return new Redirect(to(visit, '/products/import'), visit.words.import.deleted);
  });
}

const MOST_COLUMNS = 500;

/** Reads the file once, guesses what its columns are, and stores it. */
async function takeFile(visit: ShopVisit, fileName: string, content: string): Promise<Redirect> {
  const words = visit.words.import;
  if (content.trim() === '') throw badRequest(words.empty);
  const start = await startOf(visit, fileName, content);
  if (start.rows === 0) throw badRequest(words.noRows);
  if (start.header.length > MOST_COLUMNS) throw badRequest(words.tooManyColumns({ most: MOST_COLUMNS }));
  const mapping = guessMapping(start.header, visit.settings);
  const importId = await storeImport(visit, {
    fileName,
    content,
    rowCount: start.rows,
    reading: { mapping, decimalSign: decimalSignIn(start, columnsIn(visit, mapping)), visible: true },
    state: 'mapping',
  });
  return new Redirect(to(visit, `/products/import/${importId}`));
}

export function columnsIn({ settings }: ShopVisit, mapping: Mapping) {
  const known = knownColumns(settings);
  return mapping.flatMap((key, place) => {
    const column = key === null ? undefined : known.get(key);
    return column ? [{ column, place }] : [];
  });
}

export async function startOf(visit: ShopVisit, fileName: string, content: string): Promise<FileStart> {
  try {
    return await inspectFile(textFile(fileName, content));
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    throw badRequest(visit.words.import.unreadable({ reason: error.message }));
  }
}

export function storeImport(visit: ShopVisit, given: Omit<Parameters<typeof insertImport>[2], 'author'>) {
  return visit.db.transaction((tx) => insertImport(tx, visit.shopId, { ...given, author: visit.user.email }));
}

export const STATE_KINDS: Readonly<Record<ImportState, ChipKind>> = {
  mapping: 'neutral',
  checking: 'warning',
  checked: 'neutral',
  importing: 'warning',
  done: 'good',
  failed: 'bad',
};

async function showFiles(visit: ShopVisit, _request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const words = visit.words.import;
  return {
    title: words.title,
    menu: 'products',
    trail: [{ href: to(visit, '/products'), text: visit.words.layout.menuEntries.products }],
    main: html`${problemOf(draft)}
      <p class="hint intro">${words.intro}</p>
      <div class="sides">
        <div class="stack">
          <form
            class="card"
            method="post"
            action="${to(visit, '/products/import')}"
            enctype="multipart/form-data"
          >
            <h2>${words.newTitle}</h2>
            <div class="field">
              <label for="file">${words.file}</label>
              <input
                type="file"
                id="file"
                name="file"
                accept=".csv,.tsv,.txt,text/csv,text/tab-separated-values,text/plain"
                required
              />
            </div>
            <button class="main">${words.send}</button>
          </form>
          <form class="card" method="post" action="${to(visit, '/products/import/paste')}">
            ${longTextField({ name: 'rows', label: words.paste, rows: 5, isCode: true, isRequired: true, draft })}
            <button>${words.sendPasted}</button>
          </form>
        </div>
        <div class="stack">
          <section class="card">
            <p>${words.template}</p>
            <p><a class="button" href="${to(visit, '/products/export')}">${words.templateLink}</a></p>
          </section>
          ${await recentImports(visit)}
        </div>
      </div>`,
  };
}

async function recentImports(visit: ShopVisit): Promise<Markup> {
  const words = visit.words.import;
  const imports = await findImports(visit.db, visit.shopId);
  return html`<section class="card" aria-labelledby="recent">
    <h2 id="recent">${words.recent}</h2>
    ${imports.length === 0 && html`<p class="quiet">${words.none}</p>`}
    <ul class="things">
      ${imports.map(
        ({ importId, fileName, author, state, rowCount }) =>
          html`<li>
            <span
              ><a href="${to(visit, `/products/import/${importId}`)}">${fileName}</a><br />
              <span class="quiet">${words.rows({ count: rowCount })}, ${words.by({ author })}</span></span
            >
            <span class="actions"
              >${chip(words.states[state], STATE_KINDS[state])}
              <form method="post" action="${to(visit, `/products/import/${importId}/delete`)}">
                <button class="link" aria-label="${words.remove({ name: fileName })}">×</button>
              </form></span
            >
          </li>`,
      )}
    </ul>
  </section>`;
}
