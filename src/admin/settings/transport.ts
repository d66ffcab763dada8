import { Type } from 'typebox';
import { badRequest } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect } from '../../http/page-kit.ts';
import { isFieldValue } from '../../orders/payments/accounts.ts';
import {
  deleteTransportAccount,
  findTransport,
  saveTransportAccount,
} from '../../orders/transport/queries.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { chip } from '../components/format.ts';
import { problemOf } from '../components/form.ts';
import type { ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { sectionPage, settingsBreadcrumbs } from './section-page.ts';

const PATH = '/settings/invoices';
const KEY_PATH = `${PATH}/transport`;

const ACCOUNT = declareForm(
  { body: Type.Object({ apiKey: Type.String(), remove: Type.Boolean() }) },
  ({ settings: { transport: messages } }) => ({
    apiKey: { kind: 'password', label: messages.label, hint: messages.hint, autocomplete: 'off' },
    remove: { kind: 'tick', label: messages.remove },
  }),
);

/** The seller on documents, and the key of the access point that sends electronic ones. */
export function invoiceSettingsPages(pages: ShopPages, format: SettingsFormat): void {
  sectionPage(pages, format, { name: 'invoices', beside: accountCard });

  pages.form(
    KEY_PATH,
    { read: 'settings_write', write: 'settings_write' },
    {
      show: async (visit, _, draft) => {
        const messages = visit.messages.settings.transport;
        const field = showFields(ACCOUNT, visit, { draft });
        const isStored = (await findTransport(visit.db, visit.shopId)) !== undefined;
        return {
          title: messages.title,
          menu: 'settings',
          breadcrumbs: [
            ...settingsBreadcrumbs(visit),
            { href: adminPath(visit, PATH), text: visit.messages.settings.pages.invoices },
          ],
          main: html`<form method="post" class="card" autocomplete="off">
            ${problemOf(draft)}
            <p class="quiet">${messages.about}</p>
            ${field('apiKey', { placeholder: isStored ? messages.stored : '' })}
            ${isStored && field('remove')}
            <button class="main">${visit.messages.form.save}</button>
          </form>`,
        };
      },
      save: async (visit, form) => {
        const messages = visit.messages.settings.transport;
        const { apiKey, remove } = readFields(ACCOUNT, form, visit);
        const isRemoved = apiKey === '' && remove;
        if (apiKey === '' && !isRemoved) {
          return new Redirect(adminPath(visit, PATH), visit.messages.settings.nothingChanged);
        }
        if (!isFieldValue(apiKey)) throw badRequest(messages.wrong);
        const { shopId, key } = visit;
        await visit.db.transaction(async (tx) => {
          if (isRemoved) await deleteTransportAccount(tx, shopId);
          else await saveTransportAccount(tx, key, shopId, { provider: 'e-invoice.be', account: { apiKey } });
          await recordAction(tx, visit, KEY_PATH, { provider: 'e-invoice.be' });
        });
        return new Redirect(adminPath(visit, PATH), isRemoved ? messages.removed : messages.saved);
      },
    },
    { needsReauthentication: true, ...optionsOf(ACCOUNT) },
  );
}

async function accountCard(visit: ShopVisit): Promise<Markup> {
  const messages = visit.messages.settings.transport;
  const provider = await findTransport(visit.db, visit.shopId);
  return html`<section class="card">
    <h2>${messages.title}</h2>
    <p>${provider ? chip(`${provider}: ${messages.ready}`, 'good') : chip(messages.none, 'neutral')}</p>
    <p class="hint">${messages.about}</p>
    ${
      visit.may('settings_write') &&
      html`<p class="actions">
        <a class="button" href="${adminPath(visit, KEY_PATH)}">${messages.change}</a>
      </p>`
    }
  </section>`;
}
