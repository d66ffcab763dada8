import { Readable } from 'node:stream';
import { csvLine, escapeFormula } from '../../catalogue/products/csv-cells.ts';
import { html, type Markup } from '../../http/html.ts';
import { newPauses } from '../../http/pauses.ts';
import { findMoveLines, type MoveLine, type ShopMove } from '../../imports/moves/queries.ts';
import type { RecordKind } from '../../imports/records.ts';
import type { Counts } from '../../imports/run.ts';
import { buttonForm } from '../components/form.ts';
import { REGIONS } from '../components/format.ts';
import type { AdminFile } from '../page.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

const SHOWN_LINES = 100;
const LINES_AT_ONCE = 500;
const COUNTED = ['created', 'changed', 'unchanged', 'kept', 'refused'] as const satisfies (keyof Counts)[];

const numberText = ({ language }: ShopVisit, value: number) => value.toLocaleString(REGIONS[language]);

/** How far a move is, or what came of it. While it runs, htmx polls this part. */
export async function moveView(visit: ShopVisit, move: ShopMove): Promise<Markup> {
  const isRunning = move.state === 'checking' || move.state === 'importing';
  const path = adminPath(visit, `/move-in/${move.moveId}`);
  const lines = isRunning
    ? []
    : await findMoveLines(visit.db, visit.shopId, move.moveId, { after: 0, limit: SHOWN_LINES });
  return html`<div
    id="move"
    class="stack"
    ${
      isRunning &&
      html`hx-get="${path}" hx-trigger="every 2s" hx-select="#move" hx-target="this" hx-swap="outerHTML"`
    }
  >
    ${isRunning ? progressCard(visit, move, path) : resultCard(visit, move, path)}
    ${lines.length > 0 && linesCard(visit, move, lines, path)}
  </div>`;
}

function progressCard(visit: ShopVisit, move: ShopMove, path: string): Markup {
  const messages = visit.messages.moveIn;
  const { state, recordsDone, recordsAll } = move;
  const all = state === 'importing' ? recordsAll : null;
  const done = numberText(visit, recordsDone);
  const text =
    all === null ? messages.read({ done }) : messages.progress({ done, all: numberText(visit, all) });
  return html`<section class="card">
    <p>${state === 'checking' ? messages.checkingText : messages.importingText}</p>
    <progress
      ${all !== null && html`value="${Math.min(recordsDone, all)}" max="${all}"`}
      aria-label="${messages.states[state]}"
    >
      ${text}
    </progress>
    <p class="quiet" role="status">${text}</p>
    <p class="without-script"><a class="button" href="${path}">${messages.reload}</a></p>
    ${countsTable(visit, move)}
  </section>`;
}

function resultCard(visit: ShopVisit, move: ShopMove, path: string): Markup {
  const messages = visit.messages.moveIn;
  const { state, error, pictures, unknownFiles, counts } = move;
  const isChecked = state === 'checked';
  const text = isChecked
    ? messages.checkedText
    : state === 'failed'
      ? messages.failedText
      : messages.doneText;
  const fresh = Object.values(counts).reduce((sum, { created, changed }) => sum + created + changed, 0);
  return html`<section class="card">
    <p role="status">${text}</p>
    ${error !== null && html`<p class="problem" lang="en">${error}</p>`} ${countsTable(visit, move)}
    ${pictures > 0 && html`<p>${messages.pictures({ count: pictures })}</p>`}
    ${unknownFiles.length > 0 && html`<p>${messages.unknownFiles({ names: unknownFiles.join(', ') })}</p>`}
    ${isChecked && fresh === 0 && html`<p class="quiet">${messages.nothingNew}</p>`}
    <div class="actions">
      ${isChecked && fresh > 0 && buttonForm({ action: `${path}/start`, text: messages.start, kind: 'main' })}
      ${state !== 'done' && html`<a class="button" href="${path}?change=yes">${messages.change}</a>`}
      ${state === 'done' && html`<a class="button main" href="${adminPath(visit, '/products')}">${messages.toProducts}</a>`}
    </div>
  </section>`;
}

function countsTable(visit: ShopVisit, { counts }: ShopMove): Markup | false {
  const messages = visit.messages.moveIn;
  const kinds = Object.entries(counts) as [RecordKind, Counts][];
  if (kinds.length === 0) return false;
  return html`<div class="list plain">
    <table>
      <thead>
        <tr>
          <th scope="col">${messages.kind}</th>
          ${COUNTED.map((what) => html`<th scope="col" class="number">${messages.counts[what]}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${kinds.map(
          ([kind, count]) =>
            html`<tr>
              <td data-title="${messages.kind}">${messages.records[kind]}</td>
              ${COUNTED.map(
                (what) =>
                  html`<td data-title="${messages.counts[what]}" class="number">
                    ${numberText(visit, count[what])}
                  </td>`,
              )}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function linesCard(visit: ShopVisit, move: ShopMove, lines: readonly MoveLine[], path: string): Markup {
  const messages = visit.messages.moveIn;
  return html`<section class="card" aria-labelledby="lines">
    <h2 id="lines">${messages.lines} <span class="count">${numberText(visit, move.lines)}</span></h2>
    <p class="hint">${messages.linesHint}</p>
    <div class="list plain">
      <table>
        <thead>
          <tr>
            <th scope="col">${messages.place}</th>
            <th scope="col">${messages.kind}</th>
            <th scope="col">${messages.name}</th>
            <th scope="col">${messages.reason}</th>
          </tr>
        </thead>
        <tbody>
          ${lines.map(
            ({ kind, place, line, name, reason }) =>
              html`<tr>
                <td data-title="${messages.place}">
                  ${line === null ? place : messages.lineOf({ file: place, line: String(line) })}
                </td>
                <td data-title="${messages.kind}">${messages.records[kind as RecordKind]}</td>
                <td data-title="${messages.name}">${name}</td>
                <td data-title="${messages.reason}" lang="en">${reason}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${move.lines > lines.length && html`<p>${messages.firstLines({ count: lines.length })}</p>`}
    <p><a class="button" href="${path}/report.csv" hx-boost="false">${messages.download}</a></p>
  </section>`;
}

/** All lines that are kept, read in parts. */
export function reportFile(visit: ShopVisit, move: ShopMove): AdminFile {
  return {
    type: 'text/csv; charset=utf-8',
    fileName: 'move-in.csv',
    content: Readable.from(reportLines(visit, move)),
  };
}

async function* reportLines({ db, shopId }: ShopVisit, { moveId }: ShopMove): AsyncGenerator<string> {
  const pause = newPauses();
  yield `\u{feff}${csvLine(['kind', 'file', 'line', 'name', 'reason'])}`;
  for (let after = 0; ;) {
    const rows = await findMoveLines(db, shopId, moveId, { after, limit: LINES_AT_ONCE });
    for (const { kind, place, line, name, reason } of rows) {
      yield csvLine([kind, place, line === null ? '' : String(line), name, reason].map(escapeFormula));
      await pause();
    }
    if (rows.length < LINES_AT_ONCE) return;
    after = rows.at(-1)!.lineNumber;
  }
}
