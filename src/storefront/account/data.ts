import { Readable } from 'node:stream';
import { HttpError, notFound } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { findCustomerIdOf, findOrCreateCustomerOf } from '../../people/accounts/customer.ts';
import { eraseCustomerData } from '../../people/privacy/erase.ts';
import { exportText } from '../../people/privacy/export.ts';
import { findCustomerRecord } from '../../people/privacy/queries.ts';
import { BY_CUSTOMER, insertPrivacyRequest } from '../../people/privacy/requests.ts';
import type { PersonalData } from '../../platform/personal-data.ts';
import type { Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import { shopPath, type Visit } from '../visit.ts';
import { accountPage, postButton, whenFormSignedIn, whenSignedIn } from './account-page.ts';
import type { SignedInAccount } from './signed-in-account.ts';
import { Redirect } from '../../http/page-kit.ts';

const PATH = '/account/data';
const DELETE = '/account/delete';
const EXPORT = '/account/export.json';

/** Rights that the law grants to everyone: a copy of one's data, and its deletion. */
export function accountData(pages: Pages, sources: readonly PersonalData[]): void {
  pages.get(
    PATH,
    whenSignedIn(async (visit, account) => {
      const messages = messagesIn(visit.locale).storefront.account.data;
      return accountPage(visit, account, {
        title: messages.title,
        path: PATH,
        main: html`<h2>${messages.exportTitle}</h2>
          <p>${messages.exportText}</p>
          ${postButton(visit, '/account/export', messages.export, { isDownload: true })}
          <h2>${messages.deleteTitle}</h2>
          <p>${messages.deleteText}</p>
          <p><a href="${shopPath(visit, DELETE)}">${messages.delete}</a></p>`,
      });
    }),
  );

  // The export is that of a customer, whose address a merchant may have changed since the shopper signed in.
  pages.post(
    '/account/export',
    whenFormSignedIn(async (visit, { email }) => {
      const { db, shopId } = visit;
      await db.transaction((tx) => findOrCreateCustomerOf(tx, shopId, email));
      return new Redirect(shopPath(visit, EXPORT));
    }),
  );

  pages.file(EXPORT, async ({ db, shopId, account, origin }) => {
    const customerId = account && (await findCustomerIdOf(db, shopId, account.email));
    const record = customerId && (await findCustomerRecord(db, shopId, customerId));
    if (!record) throw notFound();
    // Only this one of the customer's addresses is confirmed, so nothing is looked up by the others.
    const person = { ...record, emails: [account.email] };
    await insertPrivacyRequest(db, shopId, 'export', record, BY_CUSTOMER);
    return {
      type: 'application/json; charset=utf-8',
      content: Readable.from(exportText(db, sources, { shopId, person, origin }), {
        objectMode: false,
        highWaterMark: 65_536,
      }),
      headers: {
        'content-disposition': `attachment; filename="${shopId}-data.json"`,
        'cache-control': 'private, no-store',
      },
    };
  });

  pages.get(
    DELETE,
    whenSignedIn(async (visit, account) => deletePage(visit, account)),
  );

  pages.post(
    DELETE,
    whenFormSignedIn(async (visit, account) => {
      const { locale } = visit;
      const messages = messagesIn(locale).storefront.account.data;
      try {
        await eraseAccount(visit, account, sources);
      } catch (error) {
        if (!(error instanceof HttpError && error.status === 409)) throw error;
        return deletePage(visit, account, messages.open);
      }
      visit.setAccountToken(null);
      return new Redirect(shopPath(visit, ''), messages.deleted);
    }),
  );
}

async function eraseAccount(
  { db, shopId }: Visit,
  { email }: SignedInAccount,
  sources: readonly PersonalData[],
): Promise<void> {
  const afterCommit: (() => void)[] = [];
  await db.transaction(async (tx) => {
    afterCommit.length = 0;
    const customerId = await findOrCreateCustomerOf(tx, shopId, email);
    await eraseCustomerData(tx, sources, {
      shopId,
      customerId,
      by: BY_CUSTOMER,
      appId: null,
      force: false,
      afterCommit: (work) => afterCommit.push(work),
    });
  });
  for (const work of afterCommit) work();
}

function deletePage(visit: Visit, account: SignedInAccount, problem?: string): Page {
  const messages = messagesIn(visit.locale).storefront.account;
  return accountPage(visit, account, {
    title: messages.data.sureTitle,
    path: DELETE,
    ...(problem !== undefined && { status: 409 }),
    main: html`${problem !== undefined && html`<div class="notice" role="alert"><p class="error">${problem}</p></div>`}
      <p>${messages.data.deleteText}</p>
      <p><strong>${messages.data.sure}</strong></p>
      <div class="actions">
        ${postButton(visit, DELETE, messages.data.yes, { isQuiet: false })}
        <a class="quiet" href="${shopPath(visit, PATH)}">${messages.cancel}</a>
      </div>`,
  });
}
