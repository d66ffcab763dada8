import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Type } from 'typebox';
import type { Transaction } from '../../db/database.ts';
import { badRequest, conflict, notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect, type FormRequest, type PageRequest } from '../../http/page-kit.ts';
import type { Upload } from '../../http/upload.ts';
import { EXPORTS, type ExportSystem } from '../../imports/exports.ts';
import { IMPORTED, type Imported } from '../../imports/import-shop.ts';
import {
  deleteMove,
  findMove,
  findMoveFiles,
  findMoves,
  insertMove,
  insertMovePart,
  lockMove,
  startMove,
  type MoveOptions,
  type MoveState,
  type MoveSystem,
  type ShopMove,
} from '../../imports/moves/queries.ts';
import { MOVE_TOKENS } from '../../imports/moves/runner.ts';
import { isId } from '../../kernel/ids.ts';
import { brandOf } from '../../platform/brand.ts';
import { seal } from '../../platform/sealing.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { fileField } from '../components/file-form.ts';
import { problemOf } from '../components/form.ts';
import { chip, type ChipKind } from '../components/format.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { settingsBreadcrumbs } from '../settings/section-page.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { moveView, reportFile } from './report.ts';

export const PATH = '/move-in';
const PERMISSIONS = { read: 'settings_write', write: 'settings_write' } as const;

/** Bytes of one file, and of all files of a move. */
const FILE_LIMIT = 64 * 1_048_576;
const MOVE_LIMIT = 128 * 1_048_576;
const MAX_FILES = 10;
const PART = 1_048_576;
const READABLE = /\.(?:csv|tsv|txt|zip)$/i;

const API = declareForm(
  { body: Type.Object({ address: Type.String(), token: Type.String() }) },
  ({ moveIn: messages }) => ({
    address: { kind: 'url', label: messages.address, hint: messages.addressHint, isRequired: true },
    token: {
      kind: 'password',
      label: messages.token,
      hint: messages.tokenHint,
      autocomplete: 'off',
      isRequired: true,
    },
  }),
);

const NextNumber = Type.String({ maxLength: 12 });
const OPTIONS = declareForm(
  {
    body: Type.Object({
      only: Type.Array(Type.String()),
      nextOrderNumber: NextNumber,
      nextInvoiceNumber: NextNumber,
    }),
  },
  ({ moveIn: messages }) => ({
    only: { kind: 'ticks', label: messages.kinds },
    nextOrderNumber: {
      label: messages.nextOrderNumber,
      hint: messages.nextOrderNumberHint,
      inputMode: 'numeric',
    },
    nextInvoiceNumber: {
      label: messages.nextInvoiceNumber,
      hint: messages.nextInvoiceNumberHint,
      inputMode: 'numeric',
    },
  }),
);

/** A shop of another system comes here: its files or the address of its API, a check, and the import. */
export function moveInPages(pages: ShopPages): void {
  pages.get(PATH, 'settings_write', showStart);
  pages.form(`${PATH}/epages`, PERMISSIONS, { show: showApi, save: saveApi }, optionsOf(API));
  for (const system of EXPORTS) {
    pages.fileForm(`${PATH}/${system}`, 'settings_write', {
      field: 'file',
      limit: FILE_LIMIT,
      show: async (visit, _request, draft) => showUpload(visit, system, draft),
      save: (visit, _request, file) => saveFirstFile(visit, system, file),
    });
  }
  pages.fileForm(`${PATH}/:moveId/files`, 'settings_write', {
    field: 'file',
    limit: FILE_LIMIT,
    show: async (visit, request, draft) => {
      const { system } = await loadMove(visit, request);
      return showUpload(visit, system as ExportSystem, draft);
    },
    save: async (visit, request, file) => {
      const { moveId, system } = await loadMove(visit, request);
      if (system === 'epages') throw notFound();
      await visit.db.transaction((tx) => addFile(visit, tx, moveId, file));
      return new Redirect(adminPath(visit, `${PATH}/${moveId}`));
    },
  });
  pages.form(`${PATH}/:moveId`, PERMISSIONS, { show: showMove, save: startCheck }, optionsOf(OPTIONS));
  pages.post(`${PATH}/:moveId/start`, 'settings_write', async (visit, form) => {
    const { moveId, options } = await loadMove(visit, form);
    await start(visit, moveId, { state: 'importing', options, from: ['checked'] });
    return new Redirect(adminPath(visit, `${PATH}/${moveId}`));
  });
  pages.post(`${PATH}/:moveId/delete`, 'settings_write', async (visit, form) => {
    const { moveId } = await loadMove(visit, form);
    if ((await visit.db.transaction((tx) => deleteMove(tx, visit.shopId, moveId))) === 0)
      throw conflict(visit.messages.moveIn.busy);
    return new Redirect(adminPath(visit, PATH), visit.messages.moveIn.deleted);
  });
  pages.file(`${PATH}/:moveId/report.csv`, 'settings_write', async (visit, request) =>
    reportFile(visit, await loadMove(visit, request)),
  );
}

async function loadMove(visit: ShopVisit, { params }: PageRequest): Promise<ShopMove> {
  const moveId = params['moveId']!;
  const found = isId(moveId) ? await findMove(visit.db, visit.shopId, moveId) : undefined;
  if (!found) throw notFound();
  return found;
}

const startStep = (visit: ShopVisit) => [
  ...settingsBreadcrumbs(visit),
  { href: adminPath(visit, PATH), text: visit.messages.moveIn.title },
];

const STATE_KINDS: Readonly<Record<MoveState, ChipKind>> = {
  open: 'neutral',
  checking: 'warning',
  checked: 'neutral',
  importing: 'warning',
  done: 'good',
  failed: 'bad',
};

function systemName({ messages, config }: ShopVisit, system: MoveSystem): string {
  const { systems } = messages.moveIn;
  return system === 'epages' ? systems.epages({ product: brandOf(config).name }) : systems[system];
}

async function showStart(visit: ShopVisit): Promise<AdminPage> {
  const messages = visit.messages.moveIn;
  const moves = await findMoves(visit.db, visit.shopId);
  const systems: readonly MoveSystem[] = [...EXPORTS, 'epages'];
  return {
    title: messages.title,
    menu: 'settings',
    breadcrumbs: settingsBreadcrumbs(visit),
    main: html`<p class="hint intro">${messages.intro}</p>
      <div class="stack">
        <nav class="cards" aria-label="${messages.from}">
          ${systems.map(
            (system) =>
              html`<a class="card" href="${adminPath(visit, `${PATH}/${system}`)}"
                ><strong>${systemName(visit, system)}</strong>
                <span class="quiet">${messages.about[system]}</span></a
              >`,
          )}
        </nav>
        ${
          moves.length > 0 &&
          html`<section class="card" aria-labelledby="moves">
            <h2 id="moves">${messages.moves}</h2>
            <ul class="things">
              ${moves.map((move) => moveItem(visit, move))}
            </ul>
          </section>`
        }
      </div>`,
  };
}

function moveItem(visit: ShopVisit, { moveId, system, author, state }: ShopMove): Markup {
  const messages = visit.messages.moveIn;
  const name = systemName(visit, system);
  return html`<li>
    <span
      ><a href="${adminPath(visit, `${PATH}/${moveId}`)}">${name}</a><br />
      <span class="quiet">${messages.by({ author })}</span></span
    >
    <span class="actions"
      >${chip(messages.states[state], STATE_KINDS[state])}
      ${
        state !== 'importing' &&
        html`<form method="post" action="${adminPath(visit, `${PATH}/${moveId}/delete`)}">
          <button class="link" aria-label="${messages.remove({ name })}">×</button>
        </form>`
      }</span
    >
  </li>`;
}

function showUpload(visit: ShopVisit, system: ExportSystem, draft: Draft | undefined): AdminPage {
  const messages = visit.messages.moveIn;
  return {
    title: messages.fromSystem({ system: systemName(visit, system) }),
    menu: 'settings',
    breadcrumbs: startStep(visit),
    main: html`${problemOf(draft)}
      <form class="card" method="post" enctype="multipart/form-data">
        <p>${messages.how[system]}</p>
        ${exportField(visit)}
        <button class="main">${messages.send}</button>
      </form>`,
  };
}

function exportField(visit: ShopVisit): Markup {
  const messages = visit.messages.moveIn;
  const megabytes = String(FILE_LIMIT / 1_048_576);
  return fileField({
    label: messages.file,
    hint: messages.fileHint({ megabytes, files: String(MAX_FILES) }),
    accept: '.csv,.tsv,.txt,.zip,text/csv,text/plain,application/zip',
  });
}

async function saveFirstFile(visit: ShopVisit, system: ExportSystem, file: Upload): Promise<Redirect> {
  const moveId = await visit.db.transaction(async (tx) => {
    const id = await insertMove(tx, visit.shopId, {
      author: visit.user.email,
      system,
      address: null,
      tokenSealed: null,
      options: { only: IMPORTED },
    });
    await addFile(visit, tx, id, file);
    return id;
  });
  return new Redirect(adminPath(visit, `${PATH}/${moveId}`));
}

/** Stores a file in parts. */
async function addFile(
  { shopId, messages }: ShopVisit,
  tx: Transaction,
  moveId: string,
  { name, path }: Upload,
): Promise<void> {
  const words = messages.moveIn;
  if (!READABLE.test(name)) throw badRequest(words.noTable);
  const move = await lockMove(tx, shopId, moveId);
  if (move?.state !== 'open' && move?.state !== 'checked' && move?.state !== 'failed')
    throw conflict(words.busy);
  const files = await findMoveFiles(tx, shopId, moveId);
  const { size } = await stat(path);
  const bytes = files.reduce((sum, file) => sum + file.bytes, size);
  if (size === 0) throw badRequest(words.emptyFile);
  if (files.length >= MAX_FILES || bytes > MOVE_LIMIT)
    throw badRequest(words.tooMuch({ files: String(MAX_FILES), megabytes: String(MOVE_LIMIT / 1_048_576) }));
  const fileName = plainName(name);
  const fileNumber = (files.at(-1)?.number ?? 0) + 1;
  let partNumber = 1;
  for await (const content of createReadStream(path, { highWaterMark: PART }) as AsyncIterable<Buffer>) {
    await insertMovePart(tx, shopId, moveId, { fileNumber, partNumber: partNumber++, fileName, content });
  }
}

/** It becomes the name of a file on this machine. */
const plainName = (name: string) =>
  name
    .replaceAll(/[^\w.-]+/g, '_')
    .replace(/^\.+/, '')
    .slice(-80);

async function showApi(visit: ShopVisit, _request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const messages = visit.messages.moveIn;
  const field = showFields(API, visit, { draft });
  return {
    title: messages.fromSystem({ system: systemName(visit, 'epages') }),
    menu: 'settings',
    breadcrumbs: startStep(visit),
    main: html`<form class="card" method="post">
      ${problemOf(draft)}
      <p>${messages.how.epages}</p>
      ${field('address')} ${field('token')}
      <button class="main">${messages.next}</button>
    </form>`,
  };
}

async function saveApi(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const messages = visit.messages.moveIn;
  const { address, token } = readFields(API, form, visit);
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
    throw badRequest(messages.noAddress);
  if (token === '') throw badRequest(messages.noToken);
  const moveId = await visit.db.transaction((tx) =>
    insertMove(tx, visit.shopId, {
      author: visit.user.email,
      system: 'epages',
      address,
      tokenSealed: seal(visit.key, token, MOVE_TOKENS),
      options: { only: IMPORTED },
    }),
  );
  return new Redirect(adminPath(visit, `${PATH}/${moveId}`));
}

async function showMove(visit: ShopVisit, request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const move = await loadMove(visit, request);
  const messages = visit.messages.moveIn;
  const isOpen =
    move.state === 'open' ||
    draft !== undefined ||
    (['checked', 'failed'].includes(move.state) && request.query('change') === 'yes');
  return {
    title: messages.fromSystem({ system: systemName(visit, move.system) }),
    menu: 'settings',
    breadcrumbs: startStep(visit),
    main: isOpen ? await optionsForm(visit, move, draft) : await moveView(visit, move),
  };
}

async function optionsForm(visit: ShopVisit, move: ShopMove, draft: Draft | undefined): Promise<Markup> {
  const messages = visit.messages.moveIn;
  const { moveId, system, address, options } = move;
  const path = adminPath(visit, `${PATH}/${moveId}`);
  const files = system === 'epages' ? [] : await findMoveFiles(visit.db, visit.shopId, moveId);
  const chosen = draft ? draft.fieldList('only') : options.only;
  const numbers = {
    nextOrderNumber: options.nextOrderNumber?.toString(),
    nextInvoiceNumber: options.nextInvoiceNumber?.toString(),
  };
  const field = showFields(OPTIONS, visit, { values: numbers, draft });
  return html`<div class="stack">
    ${
      system === 'epages'
        ? html`<section class="card"><p>${messages.address}: ${address}</p></section>`
        : html`<section class="card" aria-labelledby="files">
            <h2 id="files">${messages.files}</h2>
            <ul class="things">
              ${files.map(
                ({ name, bytes }) =>
                  html`<li>
                    <span>${name}</span>
                    <span class="quiet"
                      >${Math.max(1, Math.round(bytes / 1_024)).toLocaleString(visit.language)} KB</span
                    >
                  </li>`,
              )}
            </ul>
            <form method="post" action="${path}/files" enctype="multipart/form-data">
              ${exportField(visit)}
              <button>${messages.addFile}</button>
            </form>
          </section>`
    }
    <form class="card" method="post" action="${path}">
      ${problemOf(draft)}
      <h2>${messages.what}</h2>
      <fieldset>
        <legend>${messages.kinds}</legend>
        <div class="export-columns">
          ${IMPORTED.map(
            (kind) =>
              html`<label
                ><input
                  type="checkbox"
                  name="only"
                  value="${kind}"
                  ${chosen.includes(kind) && html`checked`}
                />
                ${messages.imported[kind]}</label
              >`,
          )}
        </div>
      </fieldset>
      ${field('nextOrderNumber')} ${field('nextInvoiceNumber')}
      <button class="main">${messages.check}</button>
      <p class="hint">${messages.checkHint}</p>
    </form>
  </div>`;
}

/** Stores what is imported, and starts the check, which writes nothing. */
async function startCheck(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const { moveId } = await loadMove(visit, form);
  const messages = visit.messages.moveIn;
  const typed = readFields(OPTIONS, form, visit);
  const only = IMPORTED.filter((kind: Imported) => typed.only.includes(kind));
  if (only.length === 0) throw badRequest(messages.nothingChosen);
  const nextOrderNumber = numberIn(visit, typed.nextOrderNumber);
  const nextInvoiceNumber = numberIn(visit, typed.nextInvoiceNumber);
  const options: MoveOptions = {
    only,
    ...(nextOrderNumber !== undefined && { nextOrderNumber }),
    ...(nextInvoiceNumber !== undefined && { nextInvoiceNumber }),
  };
  await start(visit, moveId, { state: 'checking', options, from: ['open', 'checked', 'failed'] });
  return new Redirect(adminPath(visit, `${PATH}/${moveId}`));
}

function numberIn({ messages }: ShopVisit, typed: string): number | undefined {
  if (typed === '') return undefined;
  if (!/^[1-9]\d{0,11}$/.test(typed)) throw badRequest(messages.moveIn.noNumber);
  return Number(typed);
}

async function start(
  visit: ShopVisit,
  moveId: string,
  given: { state: 'checking' | 'importing'; options: MoveOptions; from: readonly MoveState[] },
): Promise<void> {
  await visit.db.transaction(async (tx) => {
    if (!(await startMove(tx, visit.shopId, moveId, given))) throw conflict(visit.messages.moveIn.busy);
    await recordAction(tx, visit, `${PATH}/:moveId${given.state === 'importing' ? '/start' : ''}`, {
      moveId,
    });
  });
}
