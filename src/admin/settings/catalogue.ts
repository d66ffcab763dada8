import { html, type Markup } from '../../http/html.ts';
import { UNIT_KEYS } from '../../kernel/units.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import type { ShopPages } from '../pages.ts';
import type { ShopVisit } from '../visit.ts';
import { languageName } from '../components/language-name.ts';
import { fieldProblemLine } from './form-context.ts';
import { sectionPage, type ShownForm } from './section-page.ts';

export function catalogue(pages: ShopPages, format: SettingsFormat): void {
  sectionPage(pages, format, {
    name: 'catalogue',
    leftOut: ['units'],
    fields: unitTable,
  });
}

/** Characters of the names of a unit, as the schema has them. */
const MAX_LENGTH = { long: 255, short: 32 };

/** The names and signs of all units in the languages of the shop. */
function unitTable(visit: ShopVisit, { file, context }: ShownForm): Markup {
  const { messages, locales, language, isDisabled, problemAt } = context;
  const { units } = visit.messages;
  const table = visit.messages.settings.unitTable;
  const parts = ['long', 'short'] as const;
  return html`<details class="card" id="field-units" ${problemAt(['units', '*']) !== undefined && html`open`}>
    <summary>
      <strong>${messages.label('units')}</strong> <span class="quiet">${messages.hint('units')}</span>
    </summary>
    <div class="scroll">
      <table class="unit-names">
        <thead>
          <tr>
            <th scope="col">${table.unit}</th>
            ${locales.flatMap((locale) =>
              parts.map(
                (part) =>
                  html`<th scope="col">${languageName(locale, language, locales)}: ${table[part]}</th>`,
              ),
            )}
          </tr>
        </thead>
        <tbody>
          ${UNIT_KEYS.map(
            (unit) =>
              html`<tr id="field-units.${unit}">
                <th scope="row">${units[unit]}</th>
                ${locales.flatMap((locale) =>
                  parts.map((part) => {
                    const path = ['units', unit, locale, part];
                    return html`<td>
                      <input
                        name="${path.join('.')}"
                        id="field-${path.join('.')}"
                        value="${file.units?.[unit]?.[locale]?.[part]}"
                        maxlength="${MAX_LENGTH[part]}"
                        aria-label="${units[unit]}, ${languageName(locale, language, locales)}, ${table[part]}"
                        ${isDisabled && html`disabled`}
                      />
                      ${fieldProblemLine(problemAt(path))}
                    </td>`;
                  }),
                )}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </details>`;
}
