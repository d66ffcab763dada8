import { Type } from 'typebox';
import { notFound, unauthorised } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { toPage } from '../../http/paging.ts';
import { Id } from '../../http/schemas.ts';
import { EVENT_TYPES_TEXT } from '../../platform/events/types.ts';
import { setActive } from './actions.ts';
import { registerWebhook } from './create.ts';
import { countWebhooks, deleteWebhookRow, findWebhook, findWebhooks, lockWebhook } from './queries.ts';
import type { ReceiverPolicy } from './receiver-address.ts';
import {
  ActiveForm,
  NewWebhook,
  toListedWebhook,
  toNewWebhook,
  toWebhook,
  Webhook,
  WebhookList,
} from './schema.ts';

const MAX_PAGE_SIZE = 100;
const shared = { tag: 'webhooks', labels: [], access: 'any token' } as const;
export const params = Type.Object({ webhookId: Id });

/** The app was uninstalled by another process a moment ago. */
export const constraints = { webhook_app: () => unauthorised('TOKEN_UNKNOWN') };

export interface WebhookDeps {
  policy: ReceiverPolicy;
  /** The key of this installation. */
  loadKey: () => Promise<Buffer>;
}

const listWebhooks = operation({
  ...shared,
  method: 'GET',
  path: '/webhooks',
  name: 'listWebhooks',
  summary: 'List webhooks',
  description: 'The webhooks of the calling app, oldest first. Unlike in other lists, pages count from 0.',
  query: Type.Object({
    page: Type.Integer({
      minimum: 0,
      default: 0,
      description: 'Page to show, from 0. Beyond the end: no content, and the true number of webhooks.',
      examples: [0],
    }),
    size: Type.Integer({
      minimum: 1,
      default: 20,
      description: `Page size; more than ${MAX_PAGE_SIZE} is taken as ${MAX_PAGE_SIZE}.`,
      examples: [20],
    }),
  }),
  answer: WebhookList,
});

const createWebhook = operation({
  ...shared,
  method: 'POST',
  path: '/webhooks',
  name: 'createWebhook',
  summary: 'Create webhook',
  description:
    'Calls the address for each event of this type from now on, at least once, in order per resource. ' +
    'A call that is not answered with 2xx within 10 s is repeated up to 11 times over 48 hours; then the webhook ' +
    'is deactivated. The token needs the scope of the type:\n\n' +
    EVENT_TYPES_TEXT,
  body: NewWebhook,
  status: 201,
  answer: Webhook,
  constraints,
});

const getWebhook = operation({
  ...shared,
  method: 'GET',
  path: '/webhooks/:webhookId',
  name: 'getWebhook',
  summary: 'Get webhook',
  params,
  answer: Webhook,
});

const activateWebhook = operation({
  ...shared,
  method: 'POST',
  path: '/webhooks/:webhookId',
  name: 'activateWebhook',
  summary: 'Activate webhook',
  description:
    'Switches the webhook on or off. A webhook that was off, or was deactivated after failures, resumes with the event it stopped at, as long as the log has it.',
  params,
  accepts: 'form',
  body: ActiveForm,
  answer: Webhook,
});

const deleteWebhook = operation({
  ...shared,
  method: 'DELETE',
  path: '/webhooks/:webhookId',
  name: 'deleteWebhook',
  summary: 'Delete webhook',
  description: 'Undelivered events are dropped.',
  params,
  status: 204,
});

/** The webhooks of the contract. An app sees and changes its own only. */
export function webhookOperations(api: Operations, { policy, loadKey }: WebhookDeps): void {
  api.read(listWebhooks, async ({ db, shopId, query, caller, link }) => {
    const { appId } = caller.app!;
    const size = Math.min(query.size, MAX_PAGE_SIZE);
    const { page, offset } = toPage(query.page, 0, size);
    const [totalElements, rows] = await Promise.all([
      countWebhooks(db, shopId, appId),
      findWebhooks(db, shopId, appId, { limit: size, offset }),
    ]);
    return {
      links: [{ rel: 'self', href: link('/webhooks/') }],
      content: rows.map((row) => toListedWebhook(row, link)),
      page: { size, totalElements, totalPages: Math.ceil(totalElements / size), number: page },
    };
  });

  api.write(createWebhook, async (call) => {
    const { webhook } = await registerWebhook(call, { policy, key: await loadKey() });
    call.created({ webhookId: webhook.webhookId });
    return toNewWebhook(webhook, call.link);
  });

  api.read(getWebhook, async ({ db, shopId, params, caller, link }) => {
    const webhook = await findWebhook(db, shopId, caller.app!.appId, params.webhookId);
    if (!webhook) throw notFound();
    return toWebhook(webhook, link);
  });

  api.write(activateWebhook, async ({ tx, shopId, params: { webhookId }, body, caller, link }) => {
    const active = String(body.active) === 'true';
    const webhook = await lockWebhook(tx, shopId, caller.app!.appId, webhookId);
    if (!webhook) throw notFound();
    return toWebhook(await setActive(tx, shopId, webhook, active), link);
  });

  api.write(deleteWebhook, async ({ tx, shopId, params: { webhookId }, caller }) => {
    const webhook = await lockWebhook(tx, shopId, caller.app!.appId, webhookId);
    if (!webhook) throw notFound();
    await deleteWebhookRow(tx, shopId, webhookId);
  });
}
