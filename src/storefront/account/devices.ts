import { html, type Markup } from '../../http/html.ts';
import { isId } from '../../kernel/ids.ts';
import { messagesIn } from '../../kernel/messages.ts';
import {
  deleteOtherSessions,
  deleteSession,
  findSessions,
  type AccountSessionRow,
} from '../../people/accounts/queries.ts';
import type { Pages } from '../pages.ts';
import { shopPath, type Visit } from '../visit.ts';
import { deviceText } from './browser-text.ts';
import { passkeyList, passkeyScript } from './passkeys.ts';
import { accountPage, postButton, mediumDateText, whenFormSignedIn, whenSignedIn } from './account-page.ts';
import { Redirect } from '../../http/page-kit.ts';

const PATH = '/account/devices';

/** The browsers that are signed in, each of which can be signed out from here. */
export function accountDevices(pages: Pages): void {
  pages.get(
    PATH,
    whenSignedIn(async (visit, account) => {
      const messages = messagesIn(visit.locale).storefront.account.security;
      const sessions = await findSessions(visit.db, visit.shopId, account.accountId);
      return accountPage(visit, account, {
        title: messages.title,
        path: PATH,
        main: html`<p>${messages.intro}</p>
          <ul class="lines">
            ${sessions.map((session) => sessionLine(visit, session, session.sessionId === account.sessionId))}
          </ul>
          ${sessions.length > 1 && postButton(visit, `${PATH}/end-others`, messages.endOthers)}
          ${await passkeyList(visit, account)}`,
        ...passkeyScript,
      });
    }),
  );

  pages.post(
    `${PATH}/end-others`,
    whenFormSignedIn(async (visit, { accountId, sessionId }) => {
      await deleteOtherSessions(visit.db, visit.shopId, accountId, sessionId);
      return new Redirect(
        shopPath(visit, PATH),
        messagesIn(visit.locale).storefront.account.security.othersEnded,
      );
    }),
  );

  pages.post(
    `${PATH}/:sessionId/end`,
    whenFormSignedIn(async (visit, { accountId }, { params }) => {
      const sessionId = params['sessionId']!;
      if (isId(sessionId)) await deleteSession(visit.db, visit.shopId, accountId, sessionId);
      return new Redirect(shopPath(visit, PATH), messagesIn(visit.locale).storefront.account.security.ended);
    }),
  );
}

function sessionLine(visit: Visit, session: AccountSessionRow, isCurrent: boolean): Markup {
  const messages = messagesIn(visit.locale).storefront.account.security;
  const name = deviceText(visit, session);
  const since = messages.since({ date: mediumDateText(visit, session.createdAt) });
  return html`<li>
    <div class="what">
      <p><strong>${name}</strong>${isCurrent && html` <span class="badge">${messages.current}</span>`}</p>
      <p>
        <small
          >${since}${!isCurrent && `, ${messages.seen({ date: mediumDateText(visit, session.seenAt) })}`}</small
        >
      </p>
    </div>
    ${!isCurrent && postButton(visit, `${PATH}/${session.sessionId}/end`, messages.end, { name: messages.endOf({ name }) })}
  </li>`;
}
