import type { Database } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect } from '../../http/page-kit.ts';
import type { CurrentMessages } from '../../host/current-messages.ts';
import { isCurrent, isFor, textOfMessage } from '../../host/message-audience.ts';
import { dismissMessage, findDismissed, type HostMessage } from '../../host/message-queries.ts';
import { isId } from '../../kernel/ids.ts';
import { notFound } from '../../http/errors.ts';
import { buttonForm } from '../components/form.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

/** The host's current messages to the people of a shop. Without a message, no statement is needed. */
export async function findHostMessages(
  db: Database,
  current: Pick<CurrentMessages, 'all'>,
  { shopId, userId }: { shopId: string; userId: string },
): Promise<readonly HostMessage[]> {
  const now = current.all().filter((message) => isCurrent(message, db.serviceNow));
  if (now.length === 0) return [];
  const plan = now.some(({ plans }) => plans !== null) ? await findPlan(db, shopId) : null;
  const own = now.filter((message) => isFor(message, { shopId, plan }));
  const infos = own.filter(({ level }) => level === 'info').map(({ messageId }) => messageId);
  const dismissed = infos.length === 0 ? new Set<string>() : await findDismissed(db, userId, infos);
  return own.filter(({ messageId, level }) => level === 'warning' || !dismissed.has(messageId));
}

async function findPlan(db: Database, shopId: string): Promise<string | null> {
  const row = await db.one<{ plan: string | null }>(sql`select plan from shop where shop_id = ${shopId}`);
  return row?.plan ?? null;
}

const PATH = '/host-messages';

export function hostMessageBanner(visit: ShopVisit): Markup {
  const { hostMessages, language, messages } = visit;
  return html`${hostMessages.map(
    ({ messageId, level, texts }) =>
      html`<div
        class="notice ${level === 'warning' && 'warning'}"
        role="note"
        data-host-message="${messageId}"
      >
        <span>${textOfMessage(texts, language)}</span>
        ${
          level === 'info' &&
          buttonForm({
            action: adminPath(visit, `${PATH}/${messageId}/dismiss`),
            text: messages.layout.dismiss,
          })
        }
      </div>`,
  )}`;
}

/** Everybody puts away a message for themselves. */
export function hostMessagePages(pages: ShopPages): void {
  pages.post(`${PATH}/:messageId/dismiss`, 'member', async (visit, form) => {
    const messageId = form.params['messageId']!;
    if (!isId(messageId)) throw notFound();
    await dismissMessage(visit.db, messageId, visit.user.userId);
    return new Redirect(adminPath(visit, ''));
  });
}
