import type { Static } from 'typebox';
import type { MailingAnswer } from '../../content/mailings/schema.ts';
import { html, type Markup } from '../../http/html.ts';
import { priceText } from '../../http/price-text.ts';
import { showFields } from '../components/declared-form.ts';
import { buttonForm } from '../components/form.ts';
import { momentText } from '../components/format.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { STATE } from './mailing-parts.ts';

type Answer = Static<typeof MailingAnswer>;

const COUNTS = ['recipients', 'sent', 'skipped', 'refused', 'bounced', 'complained', 'unsubscribed'] as const;

/** How far sending has come, and what came of it. */
export function resultsCard(visit: ShopVisit, mailing: Answer): Markup {
  const { messages, language, locale } = visit;
  const words = messages.mailings;
  const { state, results, revenue, sendAt, startDate, endDate, problem } = mailing;
  const { recipients, sent, skipped, refused, bounced } = results;
  const done = sent + skipped + refused + bounced;
  const hasStarted = startDate !== null;
  const moments = [
    [words.sendAt, sendAt],
    [words.started, startDate],
    [words.ended, endDate],
  ] as const;
  return html`<section class="card">
    <h2>${words.states[state as keyof typeof words.states]}</h2>
    ${problem !== null && html`<p class="problem" role="alert">${words.problems[problem as keyof typeof words.problems]}</p>`}
    ${
      (state === 'sending' || state === 'paused') &&
      html`<p>
        <progress max="${Math.max(1, recipients)}" value="${done}" aria-label="${words.progress}"></progress>
        ${words.doneOf({ done: done.toLocaleString(language), recipients: recipients.toLocaleString(language) })}
      </p>`
    }
    <dl class="pairs">
      ${moments.map(
        ([title, moment]) =>
          moment !== null &&
          html`<dt>${title}</dt>
            <dd>${momentText(new Date(moment), language)}</dd>`,
      )}
      ${
        hasStarted &&
        COUNTS.map(
          (name) =>
            html`<dt>${words.results[name]}</dt>
              <dd>${results[name].toLocaleString(language)}</dd>`,
        )
      }
      ${revenue.map(
        ({ currency, orders, revenue: amount }) =>
          html`<dt>${words.revenue}</dt>
            <dd>${words.orders({ count: orders })}, ${priceText({ amount, currency }, locale)}</dd>`,
      )}
    </dl>
    ${hasStarted && html`<p class="hint">${words.resultsHint}</p>`}
  </section>`;
}

/** The buttons that a mailing has in its state. */
export function sendingCard(
  visit: ShopVisit,
  { mailingId, state, texts }: Answer,
  locale: string,
  isChanged: boolean,
): Markup | false {
  const { messages } = visit;
  const words = messages.mailings;
  const path = `/marketing/mailings/${mailingId}`;
  const button = (wanted: 'draft' | 'paused' | 'sending' | 'cancelled', kind?: 'danger') =>
    buttonForm({
      action: adminPath(visit, `${path}/state`),
      text: words.buttons[wanted],
      fields: { state: wanted },
      ...(kind && { kind, confirm: words.confirmCancel }),
    });
  const field = showFields(STATE, visit, { values: { state: 'scheduled' }, draft: undefined });
  // Unsaved changes would not be sent.
  const isReady = state === 'draft' && !isChanged;
  const hasText = texts.some((text) => text.locale === locale);
  const buttons = {
    draft: html``,
    scheduled: button('draft'),
    sending: html`${button('paused')} ${button('cancelled', 'danger')}`,
    paused: html`${button('sending')} ${button('cancelled', 'danger')}`,
  }[state];
  return (
    buttons !== undefined &&
    (state !== 'draft' || isReady) &&
    html`<section class="card above-form">
      <div class="actions">
        ${buttons}
        ${
          hasText &&
          (isReady || state === 'scheduled') &&
          buttonForm({
            action: adminPath(visit, `${path}/test`),
            text: words.test({ email: visit.user.email }),
            fields: { locale },
          })
        }
      </div>
      ${
        (isReady || state === 'scheduled') &&
        html`<form
          method="post"
          action="${adminPath(visit, `${path}/state`)}"
          class="narrow"
          data-confirm="${words.confirmSend}"
        >
          ${field('state')} ${field('sendAt')}
          <button class="main">${words.schedule}</button>
        </form>`
      }
    </section>`
  );
}
