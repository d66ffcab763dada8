import { Type } from 'typebox';
import { knownColumns, likelyKeys } from '../../catalogue/products/csv-mapping.ts';
import type { FileRow } from '../../catalogue/products/csv-reader.ts';
import {
  findImport,
  findImportContent,
  startImport,
  type Reading,
  type StoredImport,
} from '../../catalogue/products/import-queries.ts';
import { badRequest, conflict, notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { newPauses } from '../../http/pauses.ts';
import { isId } from '../../kernel/ids.ts';
import {
  declareForm,
  declareRows,
  inputOf,
  readFields,
  showFields,
  optionsOf,
} from '../components/declared-form.ts';
import { problemOf, type Choice } from '../components/form.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { columnChoices, columnTitle } from './column-titles.ts';
import { startOf } from './new-import.ts';
import { reportView } from './report.ts';
import { type FormRequest, type PageRequest, Redirect } from '../../http/page-kit.ts';

/** What a column of the file means; a row is a column. */
const COLUMNS = declareRows({ body: Type.Object({ column: Type.String() }) }, ({ import: messages }) => ({
  column: { label: messages.means },
}));
const columnInput = (place: number, { messages }: Pick<ShopVisit, 'messages'>) =>
  inputOf(COLUMNS, 'column', COLUMNS.fieldsIn(messages).column, { row: String(place) });

const READING = declareForm(
  { body: Type.Object({ decimalSign: Type.String(), visible: Type.Boolean() }) },
  ({ import: messages }) => ({
    decimalSign: {
      kind: 'choice',
      label: messages.decimalSign,
      choices: [
        { value: '.', text: messages.signs.point },
        { value: ',', text: messages.signs.comma },
      ],
    },
    visible: { kind: 'tick', label: messages.visible },
  }),
);

/** The import of one file: its columns, a check, the import, and the result. */
export function importPages(pages: ShopPages): void {
  pages.form(
    '/products/import/:importId',
    { read: 'products_write', write: 'products_write' },
    { show: showImport, save: saveColumns },
    optionsOf(COLUMNS, READING),
  );

  pages.post('/products/import/:importId/start', 'products_write', async (visit, form) => {
    const { importId, reading } = await loadImport(visit, form);
    await visit.db.transaction(async (tx) => {
      const isStarted = await startImport(tx, visit.shopId, importId, {
        state: 'importing',
        reading,
        from: ['checked'],
      });
      if (!isStarted) throw conflict(visit.messages.import.busy);
      await recordAction(tx, visit, '/products/import/:importId/start', { importId });
    });
    return new Redirect(adminPath(visit, `/products/import/${importId}`));
  });
}

export async function loadImport(visit: ShopVisit, { params }: PageRequest): Promise<StoredImport> {
  const importId = params['importId']!;
  const found = isId(importId) ? await findImport(visit.db, visit.shopId, importId) : undefined;
  if (!found) throw notFound();
  return found;
}

async function showImport(visit: ShopVisit, request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const found = await loadImport(visit, request);
  const messages = visit.messages.import;
  const isOpen =
    found.state === 'mapping' || (found.state === 'checked' && request.query('columns') === 'yes');
  return {
    title: found.fileName,
    menu: 'products',
    breadcrumbs: [
      { href: adminPath(visit, '/products'), text: visit.messages.layout.menuEntries.products },
      { href: adminPath(visit, '/products/import'), text: messages.title },
    ],
    main: isOpen || draft ? await columnsForm(visit, found, draft) : reportView(visit, found),
  };
}

const SHOWN_VALUES = 3;

async function columnsForm(visit: ShopVisit, found: StoredImport, draft?: Draft): Promise<Markup> {
  const messages = visit.messages.import;
  const content = await findImportContent(visit.db, visit.shopId, found.importId);
  const { header, sample } = await startOf(visit, found.fileName, content);
  const { mapping, decimalSign, visible } = found.reading;
  const options = columnChoices(visit, knownColumns(visit.settings).values()).map(columnOption);
  const field = showFields(READING, visit, { values: { decimalSign, visible }, draft });
  const chosenIn = (place: number) => draft?.field(columnInput(place, visit)) ?? mapping[place] ?? '';
  const open = header.flatMap((title, place) => (chosenIn(place) === '' ? [{ title, place }] : []));
  const guesses = await likelyKeys(
    open.map(({ title }) => title),
    visit.settings,
  );
  const likely = new Map(open.map(({ place }, index) => [place, guesses[index]]));
  const used = mapping.filter((key) => key !== null).length;
  const pause = newPauses();
  const rows: Markup[] = [];
  for (const [place, title] of header.entries()) {
    await pause();
    rows.push(
      columnRow(visit, {
        title,
        place,
        values: shownValues(sample, place),
        chosen: chosenIn(place),
        options,
        likely: likely.get(place),
      }),
    );
  }
  return html`<form
    method="post"
    class="card"
    action="${adminPath(visit, `/products/import/${found.importId}`)}"
  >
    ${problemOf(draft)}
    <h2>${messages.columnsTitle}</h2>
    <p class="hint">
      ${messages.columnsHint} ${messages.recognised({ known: used, all: header.length })}
      ${messages.rows({ count: found.rowCount })}.
    </p>
    <table class="file-columns">
      <thead>
        <tr>
          <th scope="col">${messages.inFile}</th>
          <th scope="col">${messages.means}</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
    ${field('decimalSign')} ${field('visible')}
    <div class="actions"><button class="main">${messages.check}</button></div>
  </form>`;
}

function shownValues(sample: readonly FileRow[], place: number): string[] {
  const values: string[] = [];
  for (const { cells } of sample) {
    const cell = cells[place]?.trim() ?? '';
    if (cell !== '') values.push(cell);
    if (values.length === SHOWN_VALUES) break;
  }
  return values;
}

/** A column to choose. It is rendered once for all columns of a file, which may be hundreds. */
interface ColumnOption {
  key: string;
  open: Markup;
  chosen: Markup;
}

function columnOption({ value, text }: Choice): ColumnOption {
  return {
    key: value,
    open: html`<option value="${value}">${text}</option>`,
    chosen: html`<option value="${value}" selected>${text}</option>`,
  };
}

interface ShownColumn {
  title: string;
  place: number;
  values: readonly string[];
  chosen: string;
  options: readonly ColumnOption[];
  /** The likely choice, where nothing is chosen. */
  likely: string | undefined;
}

function columnRow(visit: ShopVisit, { title, place, values, chosen, options, likely }: ShownColumn): Markup {
  const messages = visit.messages.import;
  const name = columnInput(place, visit);
  return html`<tr>
    <td>
      <label for="${name}">${title === '' ? `${messages.column} ${place + 1}` : title.slice(0, 100)}</label>
      <span class="quiet samples"
        >${values.length === 0 ? messages.sampleEmpty : values.map((value) => value.slice(0, 40)).join(' · ')}</span
      >
    </td>
    <td>
      <select id="${name}" name="${name}">
        <option value="">${messages.leaveOut}</option>
        ${options.map((option) => (option.key === chosen ? option.chosen : option.open))}
      </select>
      ${likely !== undefined && html`<p class="hint">${messages.likely({ name: columnTitle(visit, likely) })}</p>`}
    </td>
  </tr>`;
}

/** Stores the chosen columns, and starts the check of the file. */
async function saveColumns(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const { importId, reading } = await loadImport(visit, form);
  const next = readColumns(visit, form, reading);
  const isStarted = await visit.db.transaction((tx) =>
    startImport(tx, visit.shopId, importId, {
      state: 'checking',
      reading: next,
      from: ['mapping', 'checked', 'failed'],
    }),
  );
  if (!isStarted) throw conflict(visit.messages.import.busy);
  return new Redirect(adminPath(visit, `/products/import/${importId}`));
}

function readColumns(visit: ShopVisit, form: FormRequest, { mapping }: Reading): Reading {
  const messages = visit.messages.import;
  const known = knownColumns(visit.settings);
  const chosen = mapping.map((_key, place) => {
    const { column: key } = readFields(COLUMNS, form, visit, { row: String(place) });
    return known.has(key) ? key : null;
  });
  const { decimalSign, visible } = readFields(READING, form, visit);
  const twice = chosen.find((key, place) => key !== null && chosen.indexOf(key) !== place);
  if (twice) throw badRequest(messages.columnTwice({ name: columnTitle(visit, twice) }));
  if (!chosen.includes('Alias')) throw badRequest(messages.numberMissing);
  return {
    mapping: chosen,
    decimalSign: decimalSign === ',' ? ',' : '.',
    visible,
  };
}
