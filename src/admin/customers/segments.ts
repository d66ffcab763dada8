import {
  createSegment,
  deleteSegment,
  findSegment,
  findSegmentByName,
  findSegments,
  FILTERS,
  MAX_SEGMENT_VALUE_LENGTH,
  updateSegment,
  type FilterValues,
  type Segment,
} from '../../people/customers/segments.ts';
import { badRequest, notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { areTotalsComplete } from '../../orders/customer-totals.ts';
import {
  declareForm,
  declareHidden,
  optionsOf,
  readFields,
  showFields,
} from '../components/declared-form.ts';
import { dayText } from '../components/format.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { toFilter } from '../../people/customers/customer-filter.ts';
import { segmentText, givenValues } from './customer-filter.ts';
import { listStep } from './customer-steps.ts';
import { findCustomerPage } from './queries.ts';

const SEGMENT = declareForm(createSegment, ({ customers: messages }) => ({
  name: { label: messages.saveSegment, isCell: true, isRequired: true },
}));

const inputOfFilter = (name: string) => `filter.${name}`;
/** The current filter of the list. */
const FILTER = declareHidden(
  Object.fromEntries(FILTERS.map((name) => [inputOfFilter(name), MAX_SEGMENT_VALUE_LENGTH])),
);

/** The segments of the shop, which all of its people share. */
export function segmentPages(pages: ShopPages): void {
  pages.get('/customers/segments', 'customers_read', async (visit) => {
    const { db, shopId, settings, messages } = visit;
    const words = messages.customers;
    const segments = await findSegments(db, shopId);
    const counts: string[] = [];
    // One after the other, so that a page of many segments leaves the database to others.
    for (const { filter } of segments) {
      const page = { isOldestFirst: false, limit: 0, offset: 0 };
      const values = toFilter((name) => filter[name] ?? '', settings);
      const { results, isMore } = await findCustomerPage(db, shopId, values, page);
      counts.push(results.toLocaleString(visit.language) + (isMore ? '+' : ''));
    }
    return {
      title: words.segments,
      menu: 'customers',
      breadcrumbs: [listStep(visit)],
      main: html`<p class="hint intro">${words.segmentsHint}</p>
        ${await countingNotice(visit)}
        ${
          segments.length === 0
            ? html`<p class="card">
                ${words.noSegments}
                <a href="${adminPath(visit, '/customers')}">${messages.layout.menuEntries.customers}</a>
              </p>`
            : html`<div class="list segments">
                <table>
                  <thead>
                    <tr>
                      <th scope="col">${words.name}</th>
                      <th scope="col">${words.conditions}</th>
                      <th scope="col" class="number">${messages.layout.menuEntries.customers}</th>
                      <th scope="col">${words.savedBy}</th>
                      <th scope="col"><span class="hidden">${messages.form.delete}</span></th>
                    </tr>
                  </thead>
                  <tbody>
                    ${segments.map((segment, index) => segmentRow(visit, segment, counts[index]!))}
                  </tbody>
                </table>
              </div>`
        }`,
    };
  });

  pages.post(
    '/customers/segments',
    'customers_write',
    async (visit, form) => {
      const { messages } = visit;
      const { name } = readFields(SEGMENT, form, visit);
      const typed = readFields(FILTER, form, visit);
      const filter = givenValues((parameter) =>
        typed[inputOfFilter(parameter)]!.slice(0, MAX_SEGMENT_VALUE_LENGTH),
      );
      if (Object.keys(filter).length === 0) throw badRequest(messages.customers.segmentEmpty);
      await visit.inTransaction(async (call, tx) => {
        // A segment that has this name already gets the filter.
        const named = await findSegmentByName(tx, visit.shopId, name);
        if (!named) await call(createSegment, { body: { name, filter } });
        else await call(updateSegment, { params: { segmentId: named.segmentId }, body: { name, filter } });
      });
      return new Redirect(adminPath(visit, '/customers', filter), messages.customers.segmentSaved({ name }));
    },
    optionsOf(SEGMENT),
  );

  pages.post('/customers/segments/:segmentId/delete', 'customers_write', async (visit, form) => {
    const { db, shopId, messages } = visit;
    const segmentId = form.params['segmentId']!;
    const segment = isId(segmentId) ? await findSegment(db, shopId, segmentId) : undefined;
    if (!segment) throw notFound();
    await visit.call(deleteSegment, { params: { segmentId } });
    const { name, filter } = segment;
    const fields = Object.entries(filter).map(([parameter, value]) => [inputOfFilter(parameter), value]);
    return new Redirect(adminPath(visit, '/customers/segments'), {
      text: messages.customers.segmentDeleted({ name }),
      undo: {
        action: adminPath(visit, '/customers/segments'),
        fields: { name, ...(Object.fromEntries(fields) as Record<string, string>) },
      },
    });
  });
}

function segmentRow(visit: ShopVisit, segment: Segment, count: string): Markup {
  const { messages, language } = visit;
  const words = messages.customers;
  const { segmentId, name, filter, author, createdAt } = segment;
  return html`<tr>
    <td data-title="${words.name}"><a href="${adminPath(visit, '/customers', filter)}">${name}</a></td>
    <td data-title="${words.conditions}">${segmentText(visit, filter)}</td>
    <td data-title="${messages.layout.menuEntries.customers}" class="number">${count}</td>
    <td data-title="${words.savedBy}"><span>${author}, ${dayText(createdAt, language)}</span></td>
    <td>
      <div class="actions">
        <a class="button" href="${adminPath(visit, '/customers/export.csv', filter)}" hx-boost="false"
          >${messages.list.export}</a
        >
        ${
          visit.may('customers_write') &&
          html`<form method="post" action="${adminPath(visit, `/customers/segments/${segmentId}/delete`)}">
            <button class="danger" aria-label="${words.deleteSegment({ name })}">
              ${messages.form.delete}
            </button>
          </form>`
        }
      </div>
    </td>
  </tr>`;
}

/** Links to the segments, above the list. */
export function segmentLinks(visit: ShopVisit, segments: readonly Segment[], current: FilterValues): Markup {
  const messages = visit.messages.customers;
  if (segments.length === 0) return html``;
  return html`<nav class="views" aria-label="${messages.segments}">
    <span class="quiet">${messages.segments}</span>
    ${segments.map(
      ({ name, filter }) =>
        html`<a
          href="${adminPath(visit, '/customers', filter)}"
          ${isSame(filter, current) && html`aria-current="page"`}
          >${name}</a
        >`,
    )}
    <a href="${adminPath(visit, '/customers/segments')}">${messages.manageSegments}</a>
  </nav>`;
}

const isSame = (left: FilterValues, right: FilterValues) =>
  FILTERS.every((name) => (left[name] ?? '') === (right[name] ?? ''));

/** The form that saves the current filter; it is a part of the list, which is loaded again with each change of a filter. */
export function saveSegmentForm(
  visit: ShopVisit,
  segments: readonly Segment[],
  current: FilterValues,
): Markup | false {
  const messages = visit.messages.customers;
  const isSaved = segments.some(({ filter }) => isSame(filter, current));
  if (!visit.may('customers_write') || isSaved || Object.keys(current).length === 0) return false;
  return html`<form class="save-segment" method="post" action="${adminPath(visit, '/customers/segments')}">
    ${Object.entries(current).map(
      ([name, value]) => html`<input type="hidden" name="${inputOfFilter(name)}" value="${value}" />`,
    )}
    <label for="segment-name">${messages.saveSegment}</label>
    ${showFields(SEGMENT, visit, { draft: undefined })('name', { id: 'segment-name' })}
    <button>${visit.messages.list.save}</button>
  </form>`;
}

/** Says that older orders are still counted, and segments by orders not yet whole. */
export async function countingNotice({ db, shopId, messages }: ShopVisit): Promise<Markup | false> {
  if (await areTotalsComplete(db, shopId)) return false;
  return html`<p class="notice">${messages.customers.stillCounting}</p>`;
}
