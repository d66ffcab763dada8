import { badRequest, conflict } from '../../http/errors.ts';
import { violatedConstraint } from '../../db/failure.ts';
import { html } from '../../http/html.ts';
import { createHostedShop, type CreationDeps } from '../../host/shops.ts';
import { isEmailAddress } from '../../platform/email/address.ts';
import { countryChoices } from '../components/country-choices.ts';
import { choiceField, problemOf, textField } from '../components/form.ts';
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

const SHOP_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;

/** A new shop, owned by its creator, who invites others there. */
export function newShop(pages: Pages, creation: CreationDeps): void {
  pages.form('/host/shops/new', 'host', {
    show: async (visit, _request, draft) => {
      const messages = visit.messages.host;
      const { language } = visit;
      const names = (type: 'currency' | 'language') => new Intl.DisplayNames([language], { type });
      const currencies = names('currency');
      const languages = names('language');
      return {
        title: messages.newShop,
        breadcrumbs: [{ href: '/admin/host', text: messages.title }],
        main: html`<form method="post" class="card narrow">
          ${problemOf(draft)}
          ${textField({ name: 'name', label: messages.name, maxLength: 100, isRequired: true, draft })}
          ${textField({ name: 'shopId', label: messages.shopId, hint: messages.shopIdHint, maxLength: 63, isRequired: true, draft })}
          ${textField({ name: 'email', label: messages.email, hint: messages.emailHint, type: 'email', value: visit.user.email, maxLength: 254, isRequired: true, draft })}
          ${choiceField({
            name: 'country',
            label: messages.country,
            value: 'DE',
            choices: countryChoices(language, COUNTRIES),
            draft,
          })}
          ${choiceField({
            name: 'locale',
            label: messages.shopLanguage,
            value: 'de_DE',
            choices: LOCALES.map((value) => ({
              value,
              text: languages.of(value.replace('_', '-')) ?? value,
            })),
            draft,
          })}
          ${choiceField({
            name: 'currency',
            label: messages.currency,
            value: 'EUR',
            choices: CURRENCIES.map((value) => ({ value, text: `${currencies.of(value)} (${value})` })),
            draft,
          })}
          <button class="main">${messages.create}</button>
        </form>`,
      };
    },
    save: async (visit, form) => {
      const messages = visit.messages.host;
      const field = (name: string) => form.field(name);
      const [shopId, name, email] = [field('shopId'), field('name'), field('email')];
      const [country, locale, currency] = [field('country'), field('locale'), field('currency')];
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
  });
}
