import { freezeEmails, freezeHostShopEmails, readEmailState, thawEmails } from '../../host/emails.ts';
import { findHostedShop } from '../../host/queries.ts';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect } from '../../http/page-kit.ts';
import { declareForm, optionsOf, readChecked, showFields } from '../components/declared-form.ts';
import { buttonForm, problemOf } from '../components/form.ts';
import { chip, momentText } from '../components/format.ts';
import type { Draft, Pages } from '../pages.ts';
import type { Visit } from '../visit.ts';
import { causeOfPage } from './cause.ts';

const FREEZE = declareForm(freezeHostShopEmails, ({ host: messages }) => ({
  reason: {
    kind: 'long text',
    label: messages.freezeReason,
    hint: messages.freezeReasonHint,
    isRequired: true,
    rows: 3,
  },
}));

/** The host stops the emails of a shop, and lets them go again, as its API does. */
export function shopEmails(pages: Pages): void {
  pages.form(
    '/host/shops/:shopId/emails',
    'host',
    {
      show: (visit, request, draft) => emailsPage(visit, request.params['shopId']!, draft),
      save: async (visit, form) => {
        const shopId = form.params['shopId']!;
        const { reason } = readChecked(FREEZE, form, visit);
        const cause = causeOfPage(visit, '/host/shops/:shopId/emails');
        await visit.db.transaction((tx) => freezeEmails(tx, shopId, reason, cause));
        return new Redirect(`/admin/host/shops/${shopId}/emails`, visit.messages.host.frozen({ shopId }));
      },
    },
    { needsReauthentication: true, ...optionsOf(FREEZE) },
  );

  pages.post(
    '/host/shops/:shopId/thaw-emails',
    'host',
    async (visit, form) => {
      const shopId = form.params['shopId']!;
      const cause = causeOfPage(visit, '/host/shops/:shopId/thaw-emails');
      await visit.db.transaction((tx) => thawEmails(tx, shopId, cause));
      return new Redirect(`/admin/host/shops/${shopId}/emails`, visit.messages.host.thawed({ shopId }));
    },
    { needsReauthentication: true },
  );
}

async function emailsPage(visit: Visit<'host'>, shopId: string, draft: Draft | undefined) {
  const messages = visit.messages.host;
  const shop = await findHostedShop(visit.db, shopId);
  if (!shop) throw notFound();
  const { frozenAt, reason, waiting } = await readEmailState(visit.db, shopId);
  return {
    title: messages.emailsOf({ name: shop.name }),
    breadcrumbs: [{ href: '/admin/host', text: messages.title }],
    main: html`<div class="stack narrow">
      ${
        frozenAt === null
          ? freezeForm(visit, draft)
          : html`<section class="card">
              <p>${chip(messages.areFrozen, 'bad')} ${momentText(new Date(frozenAt), visit.language)}</p>
              <p>${reason}</p>
              <p class="quiet">${messages.waiting({ count: waiting })}</p>
              <p class="hint">${messages.thawHint}</p>
              ${buttonForm({
                action: `/admin/host/shops/${shopId}/thaw-emails`,
                text: messages.thaw,
                kind: 'main',
              })}
            </section>`
      }
    </div>`,
  };
}

function freezeForm(visit: Visit<'host'>, draft: Draft | undefined): Markup {
  const messages = visit.messages.host;
  const field = showFields(FREEZE, visit, { draft });
  return html`<form method="post" class="card">
    ${problemOf(draft)}
    <p>${messages.freezeAbout}</p>
    ${field('reason')}
    <button class="danger">${messages.freeze}</button>
  </form>`;
}
