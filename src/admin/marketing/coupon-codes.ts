import { dayOf } from '../../http/dates.ts';
import { csvLine, escapeFormula } from '../../catalogue/products/csv-cells.ts';
import { html, type Markup } from '../../http/html.ts';
import { makeCouponCodes } from '../../coupons/manage-routes.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { chip, dayText } from '../components/format.ts';
import type { Draft } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { COUPON_CODE } from './campaign-form.ts';
import { findCodesAfter, MAX_COUNTED_CODES, type ListedCampaign, type ListedCode } from './queries.ts';
import type { FormRequest } from '../../http/page-kit.ts';

export const SHOWN_CODES = 50;

const NEW_CODES = declareForm(makeCouponCodes, ({ coupons: messages }) => ({
  count: { kind: 'number', label: messages.count, isRequired: true },
  prefix: { label: messages.prefix },
}));

export const CODES_OPTIONS = optionsOf(NEW_CODES, COUPON_CODE);

export const typedCodes = (visit: ShopVisit, form: FormRequest) => readFields(NEW_CODES, form, visit);

/** `10,000+` when there are more than were counted. */
export const countText = ({ language }: ShopVisit, codes: number, max: number) =>
  codes > max ? `${max.toLocaleString(language)}+` : codes.toLocaleString(language);

/** The codes of a campaign: adding, generating and finding them, and the file with all of them. */
export function codesCard(
  visit: ShopVisit,
  path: string,
  {
    listed,
    codes,
    wanted,
    draft,
  }: { listed: ListedCampaign; codes: readonly ListedCode[]; wanted: string; draft: Draft | undefined },
): Markup {
  const messages = visit.messages.coupons;
  const field = showFields(NEW_CODES, visit, { values: { count: 100 }, draft });
  return html`<section class="card" id="codes">
    <h2>${messages.codes} (${countText(visit, listed.codes, MAX_COUNTED_CODES.alone)})</h2>
    ${problemOf(draft)}
    ${
      visit.may('coupons_write') &&
      html`<form method="post" action="${adminPath(visit, `${path}/codes`)}" class="row code-form">
          ${showFields(COUPON_CODE, visit, { draft })('code', { isRequired: true })}
          <button>${messages.addCode}</button>
        </form>
        <details ${Boolean(draft?.field('count')) && html`open`}>
          <summary>${messages.generate}</summary>
          <p class="hint">${messages.generateHint}</p>
          <form method="post" action="${adminPath(visit, `${path}/codes`)}" class="row code-form">
            ${field('count')} ${field('prefix')}
            <button>${messages.generate}</button>
          </form>
        </details>`
    }
    ${
      listed.codes === 0
        ? html`<p class="quiet">${messages.noCodes}</p>`
        : html`<div class="actions">
              <a class="button" href="${adminPath(visit, `${path}/codes.csv`)}">${messages.download}</a>
              ${
                listed.codes > SHOWN_CODES &&
                html`<form method="get" action="${adminPath(visit, path)}" class="code-search">
                  <label class="hidden" for="find-code">${messages.findCode}</label>
                  <input
                    type="search"
                    id="find-code"
                    name="code"
                    value="${wanted}"
                    placeholder="${messages.findCode}"
                  />
                </form>`
              }
            </div>
            ${codeTable(visit, codes)}
            ${
              listed.codes > SHOWN_CODES &&
              wanted === '' &&
              html`<p class="hint">${messages.more({ count: SHOWN_CODES })}</p>`
            }`
    }
  </section>`;
}

function codeTable(visit: ShopVisit, codes: readonly ListedCode[]): Markup {
  const messages = visit.messages.coupons;
  if (codes.length === 0) return html`<p class="quiet">${visit.messages.list.nothingFound}</p>`;
  return html`<div class="list plain">
    <table>
      <thead>
        <tr>
          <th scope="col">${messages.code}</th>
          <th scope="col" class="number">${messages.used}</th>
          <th scope="col">${messages.createdAt}</th>
        </tr>
      </thead>
      <tbody>
        ${codes.map(
          ({ code, used, createdAt, isWithdrawn }) =>
            html`<tr>
              <td data-title="${messages.code}">
                <span><code>${code}</code> ${isWithdrawn && chip(messages.withdrawn)}</span>
              </td>
              <td data-title="${messages.used}" class="number">${used}</td>
              <td data-title="${messages.createdAt}">${dayText(createdAt, visit.language)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

const AT_ONCE = 5_000;

/** All codes as a file, read in parts. */
export async function* codesText(visit: ShopVisit, campaignId: string): AsyncGenerator<string> {
  const messages = visit.messages.coupons;
  yield `\u{feff}${csvLine([messages.code, messages.used, messages.createdAt, messages.withdrawn])}`;
  let after = '';
  for (;;) {
    const rows = await findCodesAfter(visit.db, visit.shopId, campaignId, { after, limit: AT_ONCE });
    yield rows
      .map(({ code, used, createdAt, isWithdrawn }) =>
        csvLine([
          escapeFormula(code),
          String(used),
          dayOf(createdAt),
          isWithdrawn ? visit.messages.form.yes : visit.messages.form.no,
        ]),
      )
      .join('');
    if (rows.length < AT_ONCE) return;
    after = rows.at(-1)!.codeKey;
  }
}
