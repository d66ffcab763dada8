import { html, type Markup } from '../../http/html.ts';
import { guaranteeFiles } from '../../shops/legal/guarantee-files.ts';
import { findLegalStates } from '../../shops/legal/queries.ts';
import { lawOverview, type CountryRequirements, type Requirement } from '../../shops/legal/requirements.ts';
import { countryName } from '../../shops/countries/countries.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { chip } from '../components/format.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { sectionPage } from './section-page.ts';

/** What the law requires in the countries that the shop sells to, beside the numbers of the producer registers. */
export function lawSettingsPages(pages: ShopPages, format: SettingsFormat): void {
  sectionPage(pages, format, {
    name: 'law',
    isEven: true,
    beside: async (visit) => {
      const { db, shopId, settings, config } = visit;
      const files = guaranteeFiles(config);
      const legalTexts = await findLegalStates(db, shopId);
      const { countries, unknown } = lawOverview({
        settings,
        legalTexts,
        noticeLanguages: [...files.keys()],
      });
      const messages = visit.messages.law;
      const names = unknown.map((country) => countryName(country, visit.language)).join(', ');
      return html`<div class="stack">
        ${countries.map((one) => countryCard(visit, one))}
        <p class="quiet">
          ${unknown.length > 0 && html`${messages.unknown({ countries: names })}<br />`}${messages.noAdvice}
        </p>
      </div>`;
    },
  });
}

function countryCard(visit: ShopVisit, { country, requirements }: CountryRequirements): Markup {
  const messages = visit.messages.law;
  const id = `law-${country}`;
  return html`<section class="card" aria-labelledby="${id}">
    <h2 id="${id}">${country === 'EU' ? messages.union : countryName(country, visit.language)}</h2>
    <ul class="plain">
      ${requirements.map((requirement) => requirementItem(visit, requirement))}
    </ul>
  </section>`;
}

function requirementItem(visit: ShopVisit, requirement: Requirement): Markup {
  const messages = visit.messages.law;
  const { key, source, state, found, missing, path } = requirement;
  const { title, text } = messages.requirements[key];
  const mark =
    state === 'done'
      ? chip(messages.states.done, 'good')
      : state === 'missing'
        ? chip(messages.states.missing, 'bad')
        : chip(messages.states.check);
  return html`<li>
    <h3>${title} ${mark}</h3>
    <p>${text}</p>
    ${found.length > 0 && html`<p>${found.join(', ')}</p>`}
    ${
      missing.length > 0 &&
      html`<p>
        ${messages.missingNotices({
          languages: missing.join(', '),
        })}
      </p>`
    }
    <p class="quiet">
      ${source}${state !== 'done' && path !== '/settings/law' && html` · <a href="${adminPath(visit, path)}">${messages.open}</a>`}
    </p>
  </li>`;
}
