import { displayName } from '../../kernel/display-names.ts';
import { languageTag } from '../../http/locale.ts';
import { Type } from 'typebox';
import { badRequest, conflict } from '../../http/errors.ts';
import { violatedConstraint } from '../../db/failure.ts';
import { html } from '../../http/html.ts';
import { createHostedShop, type CreationDeps } from '../../host/shops.ts';
import { isEmailAddress } from '../../platform/email/address.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import type { Pages } from '../pages.ts';
import { putRole } from '../users/queries.ts';
import { causeOfPage } from './cause.ts';
import { Redirect } from '../../http/page-kit.ts';

/** The initial choices for a shop; its settings can change all of them. */
const COUNTRIES =
  'AT BE BG CH CY CZ DE DK EE ES FI FR GB GR HR HU IE IT LI LT LU LV MT NL NO PL PT RO SE SI SK US'.split(
    ' ',
  );
const CURRENCIES = ['EUR', 'GBP', 'USD', 'CHF', 'SEK', 'DKK', 'NOK', 'PLN', 'CZK', 'HUF', 'RON', 'BGN'];
const LOCALES = [
  'en_GB',
  'en_US',
  'de_DE',
  'de_AT',
  'de_CH',
  'fr_FR',
  'fr_BE',
  'fr_CH',
  'it_IT',
  'es_ES',
  'nl_NL',
];

const SHOP = declareForm(
  {
    body: Type.Object({
      name: Type.String({ maxLength: 100 }),
      shopId: Type.String({ maxLength: 63 }),
      email: Type.String({ maxLength: 254 }),
      country: Type.String(),
      locale: Type.String(),
      currency: Type.String(),
    }),
  },
  ({ host: messages }) => ({
    name: { label: messages.name, isRequired: true },
    shopId: { label: messages.shopId, hint: messages.shopIdHint, isRequired: true },
    email: { kind: 'email', label: messages.email, hint: messages.emailHint, isRequired: true },
    country: { kind: 'country', label: messages.country, countries: COUNTRIES },
    locale: { kind: 'choice', label: messages.shopLanguage },
    currency: { kind: 'choice', label: messages.currency },
  }),
);

const SHOP_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;

/** A new shop, owned by its creator, who invites others there. */
export function newShop(pages: Pages, creation: CreationDeps): void {
  pages.form(
    '/host/shops/new',
    'host',
    {
      show: async (visit, _request, draft) => {
        const messages = visit.messages.host;
        const { language } = visit;
        const values = { email: visit.user.email, country: 'DE', locale: 'de_DE', currency: 'EUR' };
        const field = showFields(SHOP, visit, { values, draft });
        return {
          title: messages.newShop,
          breadcrumbs: [{ href: '/admin/host', text: messages.title }],
          main: html`<form method="post" class="card narrow">
            ${problemOf(draft)} ${field('name')} ${field('shopId')} ${field('email')} ${field('country')}
            ${field('locale', {
              choices: LOCALES.map((value) => ({
                value,
                text: displayName(languageTag(value), 'language', language),
              })),
            })}
            ${field('currency', {
              choices: CURRENCIES.map((value) => ({
                value,
                text: `${displayName(value, 'currency', language)} (${value})`,
              })),
            })}
            <button class="main">${messages.create}</button>
          </form>`,
        };
      },
      save: async (visit, form) => {
        const messages = visit.messages.host;
        const { shopId, name, email, country, locale, currency } = readFields(SHOP, form, visit);
        if (!SHOP_ID.test(shopId)) throw badRequest(messages.wrongId);
        if (name === '' || name.length > 100) throw badRequest(messages.wrongName);
        if (!isEmailAddress(email)) throw badRequest(visit.messages.signIn.wrongEmail);
        const isKnown =
          COUNTRIES.includes(country) && LOCALES.includes(locale) && CURRENCIES.includes(currency);
        if (!isKnown) throw badRequest(messages.wrongChoice);
        try {
          await visit.db.transaction(async (tx) => {
            const cause = causeOfPage(visit, '/host/shops/new');
            await createHostedShop(tx, creation, { shopId, name, email, country, locale, currency }, cause);
            await putRole(tx, shopId, visit.user.userId, 'owner');
          });
        } catch (error) {
          if (violatedConstraint(error) === 'shop_pkey') throw conflict(messages.taken({ shopId }));
          throw error;
        }
        return new Redirect(`/admin/shops/${shopId}`, messages.created({ name }));
      },
    },
    optionsOf(SHOP),
  );
}
