import { emailField } from '../email-field.ts';
import { html, type Markup } from '../../http/html.ts';
import { notFound } from '../../http/errors.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { linesWithoutRight, withdraw, withdrawableLines } from '../../orders/customer-actions.ts';
import type { PartLine } from '../../orders/manage-queries.ts';
import type { OrderTokens } from '../../orders/order-link.ts';
import { findOrderOf } from '../../orders/queries.ts';
import { withdrawalLink } from '../../orders/withdrawal-emails.ts';
import { isEmailAddress, MAX_EMAIL_ADDRESS_LENGTH } from '../../platform/email/address.ts';
import { queueEmails } from '../../platform/email/queue.ts';
import type { Page } from '../page.ts';
import type { ShopFormRequest, Pages } from '../pages.ts';
import { shopPath, type Visit } from '../visit.ts';
import {
  backLink,
  hiddenParts,
  openOrderByToken,
  orderPageWith,
  parseParts,
  quantityList,
  quantityFields,
  type OpenedOrder,
} from './customer-order.ts';
import { saveAndShow } from './order-forms.ts';
import { showOrder } from './order-page.ts';
import { Redirect } from '../../http/page-kit.ts';

const MAX_NAME_LENGTH = 100;
const MAX_NUMBER_LENGTH = 64;
/** The maximum number of emails with a link per order and hour, regardless of who requests them. */
const LINKS_PER_HOUR = 3;
const FORM = { perHour: 60, hasSecretPath: true };

/**
 * The withdrawal function of article 11a of the Consumer Rights Directive: "withdraw from contract here" leads to the
 * choice of items, "confirm withdrawal" sends the declaration, and the acknowledgement comes by email at once. Guests
 * reach their order by its number and their email address.
 */
export function withdrawal(pages: Pages, tokens: OrderTokens): void {
  pages.get('/withdraw', async (visit) => identifyPage(visit, EMPTY));

  pages.post(
    '/withdraw',
    async (visit, { field, isWithinLimit }) => {
      const values = { number: field('number'), email: field('email') };
      const problem = identifyProblem(visit, values);
      if (problem !== undefined) return identifyPage(visit, values, problem);
      await sendLink(visit, values, isWithinLimit);
      return new Redirect(shopPath(visit, '/withdraw/sent'));
    },
    { perHour: 20 },
  );

  pages.get('/withdraw/sent', async (visit) => {
    requireOffer(visit);
    const messages = messagesIn(visit.locale).storefront.withdrawal;
    return {
      title: messages.sentTitle,
      path: '/withdraw/sent',
      isPrivate: true,
      main: html`<h1>${messages.sentTitle}</h1>
        <p>${messages.sent}</p>
        ${contact(visit)}`,
    };
  });

  pages.get('/order/:token/withdraw', async (visit, request) => {
    const opened = await openOrderByToken(visit, request, tokens);
    const available = withdrawableLines(opened, visit.db.now);
    return available.length > 0
      ? choosePage(visit, opened, available)
      : showOrder(visit, opened, messagesIn(visit.locale).storefront.withdrawal.notPossible);
  });

  pages.post(
    '/order/:token/withdraw',
    async (visit, request) => {
      const opened = await openOrderByToken(visit, request, tokens);
      const messages = messagesIn(visit.locale).storefront.withdrawal;
      const available = withdrawableLines(opened, visit.db.now);
      if (available.length === 0) return showOrder(visit, opened, messages.notPossible);
      const parts = parseParts(request.field, available);
      if (!parts || parts.length === 0) {
        return choosePage(visit, opened, available, { field: request.field, problem: messages.chooseItems });
      }
      return confirmPage(visit, opened, parts, declarationOf(opened));
    },
    FORM,
  );

  pages.post(
    '/order/:token/withdraw/confirm',
    async (visit, request) => {
      const { db, shopId, locale } = visit;
      const { field } = request;
      const opened = await openOrderByToken(visit, request, tokens);
      const messages = messagesIn(locale).storefront.withdrawal;
      const parts = parseParts(field, withdrawableLines(opened, db.now)) ?? [];
      if (parts.length === 0) return showOrder(visit, opened, messages.notPossible);
      const declaration = { name: field('name'), contact: field('contact') };
      const problem = declarationProblem(visit, declaration);
      if (problem !== undefined) return confirmPage(visit, opened, parts, declaration, problem);
      return saveAndShow(visit, request, tokens, {
        change: () =>
          db.transaction((tx) => withdraw(tx, shopId, opened.order.orderId, { parts, ...declaration })),
        done: messages.done({ address: declaration.contact }),
        refused: messages.notPossible,
      });
    },
    FORM,
  );
}

/** A shop that sells to businesses only has no such page. */
function requireOffer({ settings }: Visit): void {
  if (settings.withdrawal.days === 0) throw notFound();
}

interface Identity {
  number: string;
  email: string;
}

const EMPTY: Identity = { number: '', email: '' };

function identifyProblem({ locale }: Visit, { number, email }: Identity): string | undefined {
  const messages = messagesIn(locale).storefront.withdrawal;
  if (number === '' || number.length > MAX_NUMBER_LENGTH) return messages.wrongNumber;
  return isEmailAddress(email) ? undefined : messages.wrongEmail;
}

/** The visitor does not learn whether such an order exists: only its own email address is told. */
async function sendLink(
  { db, shopId }: Visit,
  { number, email }: Identity,
  isWithinLimit: ShopFormRequest['isWithinLimit'],
): Promise<void> {
  const order = await findOrderOf(db, shopId, number, email);
  if (!order || !(await isWithinLimit(`withdraw/${order.orderId}`, LINKS_PER_HOUR))) return;
  const { orderId, orderNumber, locale } = order;
  await db.transaction((tx) =>
    queueEmails(tx, shopId, withdrawalLink, [{ to: order.email, locale, facts: { orderId, orderNumber } }]),
  );
}

function identifyPage(visit: Visit, { number, email }: Identity, problem?: string): Page {
  requireOffer(visit);
  const messages = messagesIn(visit.locale).storefront.withdrawal;
  return {
    title: messages.title,
    path: '/withdraw',
    ...(problem !== undefined && { status: 400 }),
    main: html`<h1>${messages.title}</h1>
      <p>${messages.intro}</p>
      ${problemNotice(problem)}
      <form class="narrow" method="post" action="${shopPath(visit, '/withdraw')}" novalidate>
        <div class="field">
          <label for="number">${messages.number}</label>
          <input id="number" name="number" value="${number}" required maxlength="${MAX_NUMBER_LENGTH}" />
        </div>
        ${emailField(messages.email, email)}
        <button class="button">${messages.continue}</button>
      </form>
      ${contact(visit)}`,
  };
}

/** A customer without the number can declare the withdrawal in any other way. */
function contact({ locale, settings }: Visit): Markup {
  const { elsewhere } = messagesIn(locale).storefront.withdrawal;
  const { email } = settings;
  return html`<p>${elsewhere.pieces({ email: html`<a href="${`mailto:${email}`}">${email}</a>` })}</p>`;
}

function problemNotice(problem: string | undefined): Markup | false {
  return (
    problem !== undefined && html`<div class="notice" role="alert"><p class="error">${problem}</p></div>`
  );
}

function choosePage(
  visit: Visit,
  opened: OpenedOrder,
  available: readonly PartLine[],
  refused?: { field: ShopFormRequest['field']; problem: string },
): Page {
  const messages = messagesIn(visit.locale).storefront.withdrawal;
  const excluded = linesWithoutRight(opened);
  return orderPageWith(opened, '/withdraw', {
    title: messages.title,
    ...(refused && { status: 400 }),
    main: html`<h1>${messages.title}</h1>
      <p>${messages.choose({ number: opened.order.orderNumber })}</p>
      ${problemNotice(refused?.problem)}
      <form class="narrow" method="post" action="${shopPath(visit, `${opened.path}/withdraw`)}" novalidate>
        <fieldset>
          <legend>${messages.which}</legend>
          ${quantityFields(
            visit,
            opened,
            available,
            ({ lineItemId, quantity }) => refused?.field(`quantity-${lineItemId}`) ?? quantity,
          )}
        </fieldset>
        ${
          excluded.length > 0 &&
          html`<p>${messages.excludedItems}</p>
            ${quantityList(visit, opened, excluded)}`
        }
        <button class="button">${messages.continue}</button>
        ${backLink(visit, opened, messages.back)}
      </form>`,
  });
}

interface Person {
  name: string;
  contact: string;
}

function declarationOf({ order }: OpenedOrder): Person {
  const { firstName, lastName, emailAddress } = order.billingAddress;
  return { name: [firstName, lastName].filter(Boolean).join(' '), contact: emailAddress ?? '' };
}

function declarationProblem({ locale }: Visit, { name, contact: address }: Person): string | undefined {
  const messages = messagesIn(locale).storefront.withdrawal;
  if (name === '' || name.length > MAX_NAME_LENGTH) return messages.wrongName;
  return isEmailAddress(address) ? undefined : messages.wrongEmail;
}

/** Asks for nothing but the name, the contract and the email address for the acknowledgement. */
function confirmPage(
  visit: Visit,
  opened: OpenedOrder,
  parts: readonly PartLine[],
  person: Person,
  problem?: string,
): Page {
  const messages = messagesIn(visit.locale).storefront.withdrawal;
  return orderPageWith(opened, '/withdraw', {
    title: messages.confirmTitle,
    ...(problem !== undefined && { status: 400 }),
    main: html`<h1>${messages.confirmTitle}</h1>
      <p>${messages.declaration}</p>
      ${quantityList(visit, opened, parts)} ${problemNotice(problem)}
      <form
        class="narrow"
        method="post"
        action="${shopPath(visit, `${opened.path}/withdraw/confirm`)}"
        novalidate
      >
        ${hiddenParts(parts)}
        <div class="field">
          <label for="name">${messages.name}</label>
          <input
            id="name"
            name="name"
            value="${person.name}"
            required
            maxlength="${MAX_NAME_LENGTH}"
            autocomplete="name"
          />
        </div>
        <div class="field">
          <label for="contract">${messages.contract}</label>
          <input id="contract" value="${opened.order.orderNumber}" readonly />
        </div>
        <div class="field">
          <label for="contact">${messages.contact}</label>
          <input
            id="contact"
            name="contact"
            type="email"
            value="${person.contact}"
            required
            maxlength="${MAX_EMAIL_ADDRESS_LENGTH}"
            autocomplete="email"
          />
        </div>
        <button class="button">${messages.confirm}</button>
        ${backLink(visit, opened, messages.back)}
      </form>`,
  });
}
