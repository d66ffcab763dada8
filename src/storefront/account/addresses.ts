import { addressLines } from '../../orders/documents/address-lines.ts';
import type { Address } from '../../shops/countries/address.ts';
import { notFound, ValidationError, type FieldProblem } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { languageTag } from '../../http/locale.ts';
import { isId } from '../../kernel/ids.ts';
import { messagesIn } from '../../kernel/messages.ts';
import {
  deleteAddress,
  findAddresses,
  insertAddress,
  MAX_ADDRESSES,
  updateAddress,
  type AddressRow,
} from '../../people/accounts/queries.ts';
import {
  checkoutAddressFields,
  fieldErrors,
  parseAddress,
  type AddressValues,
} from '../checkout/address-form.ts';
import { addressValues, errorList, parseAddresses } from '../checkout/address-step.ts';
import { businessFields, businessForm } from '../checkout/business-fields.ts';
import type { Page } from '../page.ts';
import type { ShopFormRequest, Pages } from '../pages.ts';
import { shopPath, type Visit } from '../visit.ts';
import { accountPage, postButton, whenFormSignedIn, whenSignedIn } from './account-page.ts';
import type { SignedInAccount } from './signed-in-account.ts';
import { checkAccountNumber } from './vat-check.ts';
import { Redirect } from '../../http/page-kit.ts';

const PATH = '/account/addresses';

/** The address book. */
export function accountAddresses(pages: Pages): void {
  pages.get(
    PATH,
    whenSignedIn(async (visit, account) => {
      const messages = messagesIn(visit.locale).storefront.account.addresses;
      const addresses = await findAddresses(visit.db, visit.shopId, account.accountId);
      return accountPage(visit, account, {
        title: messages.title,
        path: PATH,
        main: html`<p>${addresses.length > 0 ? messages.intro : messages.empty}</p>
          ${
            addresses.length > 0 &&
            html`<div class="boxes">${addresses.map((row) => addressBox(visit, row))}</div>`
          }
          ${
            addresses.length < MAX_ADDRESSES &&
            html`<p><a class="button" href="${shopPath(visit, `${PATH}/new`)}">${messages.add}</a></p>`
          }`,
      });
    }),
  );

  pages.get(
    `${PATH}/new`,
    whenSignedIn(async (visit, account) =>
      formPage(visit, account, { values: { country: visit.settings.defaultCountry } }),
    ),
  );

  pages.post(
    `${PATH}/new`,
    whenFormSignedIn(async (visit, account, form) =>
      saveAddress(visit, account, form, undefined, async (address) => {
        const { db, shopId, locale } = visit;
        const messages = messagesIn(locale).storefront.account.addresses;
        const isSaved = await db.transaction((tx) => insertAddress(tx, shopId, account.accountId, address));
        return isSaved ? messages.saved : messages.full({ most: MAX_ADDRESSES });
      }),
    ),
  );

  pages.get(
    `${PATH}/:addressId`,
    whenSignedIn(async (visit, account, { params }) => {
      const row = await requireAddress(visit, account, params['addressId']!);
      return formPage(visit, account, { addressId: row.addressId, values: addressValues(row.address) });
    }),
  );

  pages.post(
    `${PATH}/:addressId`,
    whenFormSignedIn(async (visit, account, form) => {
      const { addressId, address: stored } = await requireAddress(visit, account, form.params['addressId']!);
      return saveAddress(visit, account, form, { addressId, address: stored }, async (address) => {
        const { db, shopId, locale } = visit;
        await updateAddress(db, shopId, account.accountId, { addressId, address });
        return messagesIn(locale).storefront.account.addresses.saved;
      });
    }),
  );

  pages.post(
    `${PATH}/:addressId/delete`,
    whenFormSignedIn(async (visit, account, { params }) => {
      const { db, shopId, locale } = visit;
      const { addressId } = await requireAddress(visit, account, params['addressId']!);
      await deleteAddress(db, shopId, account.accountId, addressId);
      return new Redirect(shopPath(visit, PATH), messagesIn(locale).storefront.account.addresses.removed);
    }),
  );
}

async function requireAddress(
  { db, shopId }: Visit,
  { accountId }: SignedInAccount,
  addressId: string,
): Promise<AddressRow> {
  const rows = isId(addressId) ? await findAddresses(db, shopId, accountId) : [];
  const row = rows.find((one) => one.addressId === addressId.toUpperCase());
  if (!row) throw notFound();
  return row;
}

/** Each address gets the confirmed email address, so it need not be typed. */
async function saveAddress(
  visit: Visit,
  account: SignedInAccount,
  form: ShopFormRequest,
  stored: AddressRow | undefined,
  save: (address: Address) => Promise<string>,
): Promise<Page | Redirect> {
  const { billing, newCountry } = parseAddresses(visit, form);
  const values = { ...billing, emailAddress: account.email };
  const shown = { ...(stored && { addressId: stored.addressId }), values };
  if (newCountry !== undefined) return formPage(visit, account, shown);
  try {
    const address = parseAddress('billing', values, addressValues(stored?.address ?? null), visit.settings);
    const notice = await save(address);
    await checkAccountNumber(visit, address);
    return new Redirect(shopPath(visit, PATH), notice);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return formPage(visit, account, shown, error.problems);
  }
}

interface ShownForm {
  /** Missing: a new address. */
  addressId?: string;
  values: AddressValues;
}

function formPage(
  visit: Visit,
  account: SignedInAccount,
  { addressId, values }: ShownForm,
  problems: readonly FieldProblem[] = [],
): Page {
  const messages = messagesIn(visit.locale).storefront.account;
  const path = `${PATH}/${addressId ?? 'new'}`;
  const form = { billing: values, shipping: {}, isElsewhere: false };
  const errors = fieldErrors(visit, problems, form);
  const part = { part: 'billing' as const, values, errors };
  const business = businessForm(values, null);
  return accountPage(visit, account, {
    title: addressId === undefined ? messages.addresses.addTitle : messages.addresses.editTitle,
    path,
    ...(problems.length > 0 && { status: 400 }),
    main: html`${errorList(visit, errors, form)}
      <form class="narrow" method="post" action="${shopPath(visit, path)}">
        ${checkoutAddressFields(visit, part)}
        ${businessFields(visit, part, business, { hasReferences: false })}
        <p>
          <button class="button">${messages.save}</button>
          <a class="quiet" href="${shopPath(visit, PATH)}">${messages.cancel}</a>
        </p>
      </form>`,
  });
}

function addressBox(visit: Visit, { addressId, address }: AddressRow): Markup {
  const messages = messagesIn(visit.locale).storefront.account;
  const lines = addressLines(address, visit.settings.country, languageTag(visit.locale));
  const name = lines.join(', ');
  return html`<section>
    <address>${lines.map((line) => html`${line}<br />`)}</address>
    <div class="actions">
      <a
        class="quiet"
        href="${shopPath(visit, `${PATH}/${addressId}`)}"
        aria-label="${messages.addresses.edit}: ${name}"
        >${messages.addresses.edit}</a
      >
      ${postButton(visit, `${PATH}/${addressId}/delete`, messages.remove, { name: `${messages.remove}: ${name}` })}
    </div>
  </section>`;
}
