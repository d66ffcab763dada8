import { readFile } from 'node:fs/promises';
import { Type } from 'typebox';
import { badRequest, notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { newPauses } from '../../http/pauses.ts';
import { Redirect, type FormRequest, type PageRequest } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { matchEntries, referencesIn, type Proposal } from '../../orders/bank/match.ts';
import {
  countOpenEntries,
  findOpenEntries,
  findPayableOrders,
  findOrdersToPay,
  markIgnored,
  saveCredits,
  type BankEntry,
} from '../../orders/bank/queries.ts';
import { recordBankEntries, type EntryPayment } from '../../orders/bank/record.ts';
import { MAX_STATEMENT_BYTES, readStatement } from '../../orders/bank/statement.ts';
import { StatementProblem } from '../../orders/bank/statement-problem.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { brandOf } from '../../platform/brand.ts';
import { fileField } from '../components/file-form.ts';
import { problemOf } from '../components/form.ts';
import { amountText, chip, type ChipKind } from '../components/format.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

const PATH = '/orders/bank';
/** Entries that a page shows and one click records. */
const MAX_ENTRIES = 100;
const MAX_COUNTED = 10_000;
const MAX_WAITING = 1_000;
const ROWS_AT_ONCE = 500;

/** Entries and their orders, as the page has matched them: the ids of both, with a blank between them. */
const PAIRS = declareForm(
  { body: Type.Object({ pair: Type.Array(Type.String({ maxLength: 73 }), { maxItems: MAX_ENTRIES }) }) },
  () => ({ pair: { kind: 'ticks', label: '' } }),
);

/** An entry, and the order that a person names for it. */
const ENTRY = declareForm(
  {
    body: Type.Object({ entry: Type.String({ maxLength: 36 }), orderNumber: Type.String({ maxLength: 64 }) }),
  },
  ({ bank: messages }) => ({
    entry: { kind: 'hidden', label: '' },
    orderNumber: {
      label: messages.orderNumber,
      placeholder: messages.orderNumber,
      isRequired: true,
      isCell: true,
    },
  }),
);

/** Statements of the bank account: each credit is matched to an order, and recorded as its payment by a click. */
export function bankPages(pages: ShopPages): void {
  pages.fileForm(PATH, 'orders_write', {
    field: 'file',
    limit: MAX_STATEMENT_BYTES,
    show: showEntries,
    save: async (visit, _request, { path }) => takeStatement(visit, await readFile(path)),
  });

  pages.post(
    `${PATH}/record`,
    'orders_write',
    async (visit, form) => {
      const payments = await chosenPayments(visit, form);
      const recorded = await visit.db.transaction(async (tx) => {
        const count = await recordBankEntries(tx, visit.shopId, payments, visit.user.userId.toUpperCase());
        if (count > 0) await recordAction(tx, visit, `${PATH}/record`, { payments: String(count) });
        return count;
      });
      const messages = visit.messages.bank;
      const left = payments.length - recorded;
      const text = `${messages.recorded({ count: recorded })}${left > 0 ? ` ${messages.notRecorded({ count: left })}` : ''}`;
      return new Redirect(adminPath(visit, PATH), { text, isProblem: left > 0 });
    },
    optionsOf(PAIRS, ENTRY),
  );

  pages.post(`${PATH}/:entryId/ignore`, 'orders_write', async (visit, { params }) => {
    const entryId = params['entryId']!;
    const ignored = isId(entryId)
      ? await visit.db.transaction((tx) => markIgnored(tx, visit.shopId, entryId))
      : 0;
    if (ignored === 0) throw notFound();
    return new Redirect(adminPath(visit, PATH), visit.messages.bank.ignored);
  });
}

/** Stores the credits of a statement. One that is sent again adds nothing. */
async function takeStatement(visit: ShopVisit, bytes: Buffer): Promise<Redirect> {
  const messages = visit.messages.bank;
  const credits = await readStatement(bytes, { currency: visit.settings.defaultCurrency }).catch(
    (error: unknown) => {
      throw error instanceof StatementProblem ? badRequest(messages.problems[error.code]) : error;
    },
  );
  if (credits.length === 0) throw badRequest(messages.noCredits);
  const added = await visit.db.transaction(async (tx) => {
    let count = 0;
    for (let at = 0; at < credits.length; at += ROWS_AT_ONCE) {
      count += await saveCredits(tx, visit.shopId, credits.slice(at, at + ROWS_AT_ONCE));
    }
    await recordAction(tx, visit, PATH, { entries: String(count) });
    return count;
  });
  const known = credits.length - added;
  const text = `${messages.added({ count: added })}${known > 0 ? ` ${messages.known({ count: known })}` : ''}`;
  return new Redirect(adminPath(visit, PATH), text);
}

/** Pairs of an entry and its order, or one entry with a typed order number. */
async function chosenPayments(visit: ShopVisit, form: FormRequest): Promise<EntryPayment[]> {
  const messages = visit.messages.bank;
  const { entry: entryId, orderNumber } = readFields(ENTRY, form, visit);
  if (entryId !== '') {
    const [order] = await findPayableOrders(visit.db, visit.shopId, [orderNumber]);
    if (!isId(entryId) || !order) throw badRequest(messages.unknownOrder);
    return [{ entryId, orderId: order.orderId }];
  }
  const pairs = readFields(PAIRS, form, visit).pair.map((pair) => pair.split(' '));
  if (pairs.length === 0) throw badRequest(messages.nothingChosen);
  return pairs.map(([entry = '', orderId = '']) => {
    if (!isId(entry) || !isId(orderId)) throw badRequest(messages.nothingChosen);
    return { entryId: entry, orderId };
  });
}

async function loadProposals({ db, shopId }: ShopVisit): Promise<Proposal<BankEntry>[]> {
  const entries = await findOpenEntries(db, shopId, MAX_ENTRIES);
  const pause = newPauses();
  const references = new Set<string>();
  for (const { text } of entries) {
    for (const reference of referencesIn(text)) references.add(reference);
    await pause();
  }
  const [named, waiting] = await Promise.all([
    findPayableOrders(db, shopId, [...references]),
    findOrdersToPay(db, shopId, [...new Set(entries.map(({ amount }) => amount))], MAX_WAITING),
  ]);
  return matchEntries(entries, { named, waiting });
}

async function showEntries(visit: ShopVisit, _request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const messages = visit.messages.bank;
  const [proposals, count] = await Promise.all([
    loadProposals(visit),
    countOpenEntries(visit.db, visit.shopId, MAX_COUNTED),
  ]);
  return {
    title: messages.title,
    menu: 'orders',
    breadcrumbs: [{ href: adminPath(visit, '/orders'), text: visit.messages.layout.menuEntries.orders }],
    main: html`${problemOf(draft)}
      <form class="card" method="post" action="${adminPath(visit, PATH)}" enctype="multipart/form-data">
        <p class="hint">${messages.intro({ product: brandOf(visit.config).name })}</p>
        ${fileField({ label: messages.file, hint: messages.fileHint({ megabytes: String(MAX_STATEMENT_BYTES / 1_048_576) }), accept: '.xml,.csv,.txt,text/xml,application/xml,text/csv,text/plain' })}
        <button class="main">${messages.send}</button>
      </form>
      ${entriesCard(visit, proposals, count)}`,
  };
}

const KINDS: Readonly<Record<Proposal['kind'], ChipKind>> = {
  sure: 'good',
  possible: 'warning',
  none: 'neutral',
};

function entriesCard(visit: ShopVisit, proposals: readonly Proposal<BankEntry>[], count: number): Markup {
  const messages = visit.messages.bank;
  if (proposals.length === 0) return html`<p class="quiet">${messages.nothing}</p>`;
  const sure = proposals.filter(({ kind }) => kind === 'sure');
  return html`<section class="card" aria-labelledby="open">
    <h2 id="open">${messages.open}</h2>
    ${
      sure.length > 0 &&
      html`<form method="post" action="${adminPath(visit, `${PATH}/record`)}">
        ${sure.map(({ entry, orders }) => pairField(entry, orders[0]!.orderId))}
        <button class="main">${messages.recordSure({ count: sure.length })}</button>
      </form>`
    }
    ${count > proposals.length && html`<p class="hint">${messages.more({ shown: proposals.length, count })}</p>`}
    <ul class="things">
      ${proposals.map((proposal) => entryItem(visit, proposal))}
    </ul>
  </section>`;
}

const pairField = ({ entryId }: BankEntry, orderId: string) =>
  html`<input type="hidden" name="pair" value="${entryId} ${orderId}" />`;

function entryItem(visit: ShopVisit, { entry, kind, orders }: Proposal<BankEntry>): Markup {
  const messages = visit.messages.bank;
  const record = adminPath(visit, `${PATH}/record`);
  const field = showFields(ENTRY, visit, { values: { entry: entry.entryId }, draft: undefined });
  return html`<li>
    <span
      ><strong>${amountText(entry.amount, visit, entry.currency)}</strong> ${entry.payer}<br />
      <span class="quiet">${entry.bookedOn} ${entry.text}</span></span
    >
    <div class="stack">
      ${chip(messages.kinds[kind], KINDS[kind])}
      ${orders.map(
        ({ orderId, orderNumber, customer, payable, currency }) =>
          html`<form method="post" action="${record}">
            <a href="${adminPath(visit, `/orders/${orderId}`)}">${orderNumber}</a> ${customer},
            ${amountText(payable, visit, currency)} ${pairField(entry, orderId)}
            ${
              entry.amount > payable
                ? html`<span class="quiet">${messages.tooMuch}</span>`
                : html`<button aria-label="${messages.recordFor({ order: orderNumber })}">
                    ${messages.record}
                  </button>`
            }
          </form>`,
      )}
      ${
        kind === 'none' &&
        html`<form method="post" action="${record}" class="actions">
          ${field('entry')} ${field('orderNumber', { id: `order-${entry.entryId}` })}
          <button>${messages.record}</button>
        </form>`
      }
      <form method="post" action="${adminPath(visit, `${PATH}/${entry.entryId}/ignore`)}">
        <button class="link">${messages.ignore}</button>
      </form>
    </div>
  </li>`;
}
