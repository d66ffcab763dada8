import { Type } from 'typebox';
import { SHOWN_PROBLEMS, type StoredImport } from '../../catalogue/products/import-queries.ts';
import { MAX_LENGTHS } from '../../catalogue/products/request-fields.ts';
import type { RowProblem } from '../../catalogue/products/row-problem.ts';
import { html, type Markup } from '../../http/html.ts';
import { declareRows, inputOf } from '../components/declared-form.ts';
import { buttonForm } from '../components/form.ts';
import { REGIONS } from '../components/format.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { columnTitle } from './column-titles.ts';

/** The cell of a refused row that is not accepted; a row is a line of the file. */
export const CELLS = declareRows(
  { body: Type.Object({ cell: Type.String({ maxLength: MAX_LENGTHS.text }) }) },
  ({ import: messages }) => ({ cell: { label: messages.column } }),
);
export const cellInput = (line: number, { messages }: Pick<ShopVisit, 'messages'>) =>
  inputOf(CELLS, 'cell', CELLS.fieldsIn(messages).cell, { row: String(line) });

/** The progress of a check or an import, or its result. While it runs, htmx polls this part. */
export function reportView(visit: ShopVisit, found: StoredImport): Markup {
  const isRunning = found.state === 'checking' || found.state === 'importing';
  const path = adminPath(visit, `/products/import/${found.importId}`);
  return html`<div
    id="import"
    class="stack"
    ${
      isRunning &&
      html`hx-get="${path}" hx-trigger="every 1s" hx-select="#import" hx-target="this" hx-swap="outerHTML"`
    }
  >
    ${isRunning ? progressCard(visit, found, path) : resultCard(visit, found, path)}
    ${!isRunning && found.problems.length > 0 && problemCard(visit, found, path)}
  </div>`;
}

function progressCard(visit: ShopVisit, { state, rowsDone, rowCount }: StoredImport, path: string): Markup {
  const messages = visit.messages.import;
  const text = messages.progress({ done: numberText(visit, rowsDone), all: numberText(visit, rowCount) });
  return html`<section class="card">
    <p>${state === 'checking' ? messages.checkingText : messages.importingText}</p>
    <progress value="${rowsDone}" max="${rowCount}" aria-label="${messages.states[state]}">${text}</progress>
    <p class="quiet" role="status">${text}</p>
    <p class="without-script"><a class="button" href="${path}">${messages.reload}</a></p>
  </section>`;
}

function resultCard(visit: ShopVisit, found: StoredImport, path: string): Markup {
  const messages = visit.messages.import;
  const { state, created, changed, unchanged, refused, newCategories } = found;
  const text =
    { checked: messages.checkedText, failed: messages.failedText }[state as string] ?? messages.doneText;
  const isChecked = state === 'checked';
  const counts: [string, number][] = [
    [isChecked ? messages.wouldCreate : messages.created, created],
    [isChecked ? messages.wouldChange : messages.changed, changed],
    [messages.unchanged, unchanged],
    [messages.refused, refused],
  ];
  return html`<section class="card">
    <p role="status">${text}</p>
    ${found.error !== null && html`<p class="problem">${found.error}</p>`}
    <dl class="import-counts">
      ${counts.map(
        ([title, count], index) =>
          html`<div class="${index === 3 && count > 0 ? 'bad' : ''}">
            <dt>${title}</dt>
            <dd>${numberText(visit, count)}</dd>
          </div>`,
      )}
    </dl>
    ${
      newCategories.length > 0 &&
      html`<details>
        <summary>${messages.newCategories({ count: new Set(newCategories).size })}</summary>
        <ul>
          ${[...new Set(newCategories)].slice(0, SHOWN_PROBLEMS).map((category) => html`<li>${category}</li>`)}
        </ul>
      </details>`
    }
    ${isChecked && created + changed === 0 && html`<p class="quiet">${messages.nothingToImport}</p>`}
    <div class="actions">
      ${
        isChecked &&
        created + changed > 0 &&
        buttonForm({
          action: `${path}/start`,
          text: messages.start({ count: created + changed }),
          kind: 'main',
        })
      }
      ${isChecked && html`<a class="button" href="${path}?columns=yes">${messages.changeColumns}</a>`}
      ${
        !isChecked &&
        html`<a class="button main" href="${adminPath(visit, '/products')}">${messages.toProducts}</a>
          <a class="button" href="${adminPath(visit, '/products/import')}">${messages.another}</a>`
      }
    </div>
  </section>`;
}

function numberText({ language }: ShopVisit, value: number): string {
  return value.toLocaleString(REGIONS[language]);
}

/** Bad cells can be fixed in place: the rows are then checked as a separate file. */
function problemCard(visit: ShopVisit, found: StoredImport, path: string): Markup {
  const messages = visit.messages.import;
  const shown = found.problems.toSorted((left, right) => left.line - right.line);
  return html`<form class="card" method="post" action="${path}/mend" aria-labelledby="problems">
    <h2 id="problems">${messages.problemsTitle}</h2>
    <p class="hint">${messages.problemsHint}</p>
    <div class="scroll">
      <table class="row-problems">
        <thead>
          <tr>
            <th scope="col">${messages.row}</th>
            <th scope="col">${messages.column}</th>
            <th scope="col">${messages.wasRead}</th>
            <th scope="col">${messages.reason}</th>
          </tr>
        </thead>
        <tbody>
          ${shown.map((problem) => problemRow(visit, found, problem))}
        </tbody>
      </table>
    </div>
    ${found.refused > shown.length && html`<p>${messages.moreProblems({ count: found.refused - shown.length })}</p>`}
    <div class="actions">
      <button class="main">${messages.mend}</button>
      <a class="button" href="${path}/refused.csv" hx-boost="false">${messages.download}</a>
    </div>
  </form>`;
}

function problemRow(visit: ShopVisit, { reading }: StoredImport, problem: RowProblem): Markup {
  const messages = visit.messages.import;
  const place = problem.column === null ? -1 : reading.mapping.indexOf(problem.column);
  const column = problem.column === null ? messages.wholeRow : columnTitle(visit, problem.column);
  return html`<tr>
    <td>${problem.line}</td>
    <td>${column}</td>
    <td>
      ${
        place === -1
          ? problem.cell
          : html`<input
              name="${cellInput(problem.line, visit)}"
              value="${problem.cell}"
              aria-label="${messages.mendField({ row: problem.line, column })}"
            />`
      }
    </td>
    <td>${rowRefusal(visit, problem)}</td>
  </tr>`;
}

/** Why a row is refused, in the user's language. */
export function rowRefusal({ messages }: ShopVisit, { code, values, text }: RowProblem): string {
  const reasons: Readonly<Record<string, unknown>> = messages.import.problems;
  const reason = reasons[code];
  if (typeof reason === 'function') return (reason as (given: typeof values) => string)(values);
  return typeof reason === 'string' ? reason : text;
}
