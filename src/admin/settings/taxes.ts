import { html, type Markup } from '../../http/html.ts';
import { countryName } from '../../shops/countries/countries.ts';
import { fromBasisPoints } from '../../shops/settings/fields.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { standardVat } from '../../shops/taxes/vat-rates.ts';
import type { ShopPages } from '../pages.ts';
import type { ShopVisit } from '../visit.ts';
import { numberText, fieldProblemLine } from './form-context.ts';
import { sectionPage, type ShownForm } from './section-page.ts';

/** The tax model of prices, and the rates of all classes in one table by country. */
export function taxSettingsPages(pages: ShopPages, format: SettingsFormat): void {
  sectionPage(pages, format, {
    name: 'taxes',
    leftOut: ['taxClasses.rates'],
    fields: rateTable,
  });
}

/** One row per country that the shop delivers to or has a rate for, its own first. */
function rateTable(visit: ShopVisit, { file, context }: ShownForm): Markup {
  const messages = visit.messages.settings.taxTable;
  const classes = file.taxClasses ?? [];
  const { language, problemAt, isDisabled } = context;
  const named = new Set([
    ...(file.countries?.items ?? []),
    ...classes.flatMap(({ rates }) => Object.keys(rates ?? {})),
  ]);
  const own = file.country ?? visit.settings.country;
  const others = [...named]
    .filter((country) => country !== own)
    .toSorted((one, other) =>
      countryName(one, language).localeCompare(countryName(other, language), language),
    );
  const titleOf = ({ name, key }: (typeof classes)[number]) =>
    typeof name === 'string' ? name : (name?.[context.locale] ?? name?.[context.locales[0]!] ?? key);
  return html`<section class="card" id="section-rates">
    <h2>${messages.title}</h2>
    <p class="hint">${messages.hint}</p>
    ${classes.map((_, index) => fieldProblemLine(problemAt(['taxClasses', index, 'rates'])))}
    <div class="scroll">
      <table class="rates">
        <thead>
          <tr>
            <th scope="col">${messages.country}</th>
            ${classes.map((entry) => html`<th scope="col" class="number">${titleOf(entry)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${[own, ...others].map(
            (country) =>
              html`<tr>
                <th scope="row">${countryName(country, language)}</th>
                ${classes.map((entry, index) => {
                  const problem = problemAt(['taxClasses', index, 'rates', country]);
                  const standard = entry.default ? standardVat(country) : undefined;
                  return html`<td class="number">
                    <input
                      name="taxClasses.${index}.rates.${country}"
                      id="field-taxClasses.${index}.rates.${country}"
                      value="${numberText(entry.rates?.[country], context)}"
                      inputmode="decimal"
                      aria-label="${titleOf(entry)}, ${countryName(country, language)}"
                      ${standard !== undefined && html`placeholder="${numberText(fromBasisPoints(standard), context)}"`}
                      ${problem !== undefined && html`aria-invalid="true"`}
                      ${isDisabled && html`disabled`}
                    />
                    ${fieldProblemLine(problem)}
                  </td>`;
                })}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </section>`;
}
