import { html, type Markup } from '../../http/html.ts';
import { moneyText } from '../../http/price-text.ts';
import { toMinor } from '../../kernel/money.ts';
import { countryName } from '../../shops/countries/countries.ts';
import { numberText, type FormContext } from './form-context.ts';

/** The path of the zones, by which their texts are found. */
export const ZONES = 'shippingMethods.zones';

const COLUMNS = ['countries', 'postcodes', 'price', 'freeFrom', 'days', 'maxWeight'] as const;

/** The names of the columns that the rows of zones have. */
export function zoneHeader({ messages }: FormContext): Markup {
  return html`<p class="zone-row zone-header" aria-hidden="true">
    ${COLUMNS.map((column) => html`<span>${messages.zones[column]}</span>`)}
  </p>`;
}

/** A zone in one line, so that the zones of a method read as a table. Wrong values are left to their fields. */
export function zoneRow(value: unknown, context: FormContext): Markup {
  const { messages } = context;
  const zone = value as Readonly<Record<string, unknown>>;
  const cells: Record<(typeof COLUMNS)[number], string> = {
    countries: listOf(zone['countries'])
      .map((code) => (/^[A-Z]{2}$/.test(code) ? countryName(code, context.language) : code))
      .join(', '),
    postcodes: listOf(zone['postcodes']).join(', '),
    price: pricesText(zone, context),
    freeFrom: amountText(zone['freeFrom'], context),
    days: daysText(zone['days'], context),
    maxWeight: typeof zone['maxWeight'] === 'number' ? `${numberText(zone['maxWeight'], context)} kg` : '',
  };
  return html`<span class="zone-row">
    ${COLUMNS.map((column) => {
      const text = cells[column];
      if (column === 'countries') return html`<strong>${text}</strong>`;
      if (text === '') return html`<span class="quiet" aria-hidden="true">–</span>`;
      return html`<span><span class="zone-label">${messages.zones[column]}:</span> ${text}</span>`;
    })}
  </span>`;
}

const listOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

function amountText(value: unknown, { currency, language }: FormContext): string {
  const minor = typeof value === 'number' ? toMinor(value, currency) : undefined;
  return minor === undefined ? '' : moneyText(minor, currency, language);
}

/** One price, or the lowest and the highest of several. */
function pricesText(
  { price, tiers, weights }: Readonly<Record<string, unknown>>,
  context: FormContext,
): string {
  if (typeof price === 'number') return amountText(price, context);
  const steps = [tiers, weights].flatMap((list) =>
    Array.isArray(list) ? (list as { price?: unknown }[]) : [],
  );
  const prices = steps.flatMap((step) => (typeof step.price === 'number' ? [step.price] : []));
  if (prices.length === 0) return '';
  const ends = [...new Set([Math.min(...prices), Math.max(...prices)])];
  return ends.map((one) => amountText(one, context)).join('–');
}

function daysText(value: unknown, context: FormContext): string {
  const { from, to } = (value ?? {}) as { from?: unknown; to?: unknown };
  return [...new Set([from, to].map((one) => numberText(one, context)))]
    .filter((one) => one !== '')
    .join('–');
}
