import { html, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { PAGES, type PageName } from '../../shops/legal/schema.ts';
import type { Missing, Readiness, ReadinessStep } from '../../shops/shop/readiness.ts';
import { chip } from '../components/format.ts';
import { buttonForm } from '../components/form.ts';
import { languageName } from '../components/language-name.ts';
import { settingsMessages } from '../settings/settings-messages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

/** What a shop needs before it sells: each step with what is missing, why, and a link to the very field. */
export function checklist(visit: ShopVisit, { ready, steps }: Readiness): Markup {
  const messages = visit.messages.opening;
  const { isOpen } = visit.settings;
  const done = steps.filter((step) => step.done).length;
  const progress = messages.progress({ done, all: steps.length });
  return html`<section class="card checklist" aria-labelledby="checklist">
    <h2 id="checklist">${isOpen ? messages.openButIncomplete : messages.notOpen}</h2>
    <p>${isOpen ? messages.openButIncompleteText : ready ? messages.readyText : messages.notOpenText}</p>
    <p class="progress">
      <progress max="${steps.length}" value="${done}" aria-label="${progress}"></progress>
      <span>${progress}</span>
    </p>
    <ol>
      ${!isOpen && visit.may('settings_write') && moveInItem(visit)}
      ${steps.map((step) => stepItem(visit, step))}
    </ol>
    <p><a href="${adminPath(visit, '/settings/law')}">${messages.law}</a></p>
    ${
      !isOpen &&
      ready &&
      visit.may('settings_write') &&
      buttonForm({ action: adminPath(visit, '/settings/opening/open'), text: messages.open, kind: 'main' })
    }
  </section>`;
}

/** Who has a shop elsewhere brings it first: it saves most of the other steps. */
function moveInItem(visit: ShopVisit): Markup {
  const { moveIn, optional } = visit.messages.opening;
  return html`<li id="step-moveIn">
    <h3>${moveIn.title} ${chip(optional)}</h3>
    <p class="quiet">${moveIn.reason}</p>
    <p><a class="button" href="${adminPath(visit, '/move-in')}">${moveIn.action}</a></p>
  </li>`;
}

function stepItem(visit: ShopVisit, { key, required, done, missing, path }: ReadinessStep): Markup {
  const messages = visit.messages.opening;
  const { title, reason, action } = messages.steps[key];
  const state = done
    ? chip(messages.done, 'good')
    : required
      ? chip(messages.missing, 'bad')
      : chip(messages.recommended);
  const isTestOrder = key === 'testOrder';
  const target = isTestOrder && html`target="_blank" rel="noopener"`;
  return html`<li id="step-${key}" class="${done ? 'done' : ''}">
    <h3>${title} ${state}</h3>
    ${
      !done &&
      html`<p class="quiet">${reason}</p>
        ${
          NAMED.includes(key) &&
          html`<ul>
            ${missing.map(
              (one) => html`<li><a href="${adminPath(visit, one.path)}">${fieldName(visit, one)}</a></li>`,
            )}
          </ul>`
        }
        <p><a class="button" href="${adminPath(visit, path)}" ${target}>${action}</a></p>`
    }
  </li>`;
}

/** The steps whose missing fields have names of their own. */
const NAMED: readonly string[] = ['address', 'taxNumber', 'bankAccount', 'legalTexts'];

function fieldName(visit: ShopVisit, { field }: Missing): string {
  const [page, locale] = field.split('.') as [string, string?];
  if (PAGES.some((known) => known.page === page)) {
    const name = messagesIn(visit.language).storefront.legal.names[page as PageName];
    return locale === undefined
      ? name
      : `${name} (${languageName(locale, visit.language, visit.settings.locales)})`;
  }
  if (field.startsWith('paymentMethods.')) {
    const labels: Readonly<Record<string, string>> = visit.messages.settings.paymentKeys.labels;
    const name = field.slice(field.lastIndexOf('.') + 1);
    return labels[name] ?? name;
  }
  return field === 'invoicing.vatId'
    ? visit.messages.opening.vatIdOrTaxNumber
    : settingsMessages(visit.messages, visit.language).label(field);
}
