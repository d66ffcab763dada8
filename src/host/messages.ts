import { Type, type Static } from 'typebox';
import { parseMoment } from '../http/dates.ts';
import { invalid, notFound, Refusal } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Id, Nullable, Timestamp } from '../http/schemas.ts';
import { isId, newId } from '../kernel/ids.ts';
import type { CurrentMessages } from './current-messages.ts';
import {
  countMessages,
  deleteMessage,
  findMessage,
  findMessages,
  insertMessage,
  lockMessage,
  MAX_MESSAGES,
  MESSAGE_LEVELS,
  updateMessage,
  type HostMessage,
  type StoredMessage,
} from './message-queries.ts';

const MAX_PLANS = 50;
const MAX_SHOPS = 500;

const Text = (language: string) =>
  Type.String({
    minLength: 1,
    maxLength: 1_000,
    pattern: '\\S',
    description: `The message in ${language}, as plain text.`,
    examples: ['On Sunday from 2 to 4 am the shops are not available: the database is updated.'],
  });

const Texts = Type.Object(
  {
    en: Text('English'),
    de: Type.Optional(Text('German')),
    fr: Type.Optional(Text('French')),
  },
  {
    title: 'message texts',
    description: 'The message in the languages of the admin; where one is missing, the English one is shown.',
  },
);

const Moment = (description: string) =>
  Type.String({ description, examples: ['2026-11-22T02:00:00Z'], maxLength: 40 });

/** What a message is made of. */
const values = {
  texts: Texts,
  level: Type.Enum([...MESSAGE_LEVELS], {
    description: 'info: everybody can put it away. warning: it stays until its end.',
    examples: ['warning'],
  }),
  from: Moment('From when on it is shown, ISO 8601.'),
  until: Moment('Until when it is shown, ISO 8601.'),
  plans: Nullable(
    Type.Array(Type.String({ maxLength: 63, description: 'The name of a plan.', examples: ['small'] }), {
      minItems: 1,
      maxItems: MAX_PLANS,
      description: 'Only shops of these plans; an empty name: of the default one. null: whatever the plan.',
    }),
  ),
  shopIds: Nullable(
    Type.Array(
      Type.String({
        minLength: 1,
        maxLength: 63,
        description: 'The id of a shop, case as created.',
        examples: ['TeaHouse'],
      }),
      { minItems: 1, maxItems: MAX_SHOPS, description: 'Only these shops. null: whatever the shop.' },
    ),
  ),
  isPublic: Type.Boolean({
    description: 'The status page of the service at /status shows it too, to everybody.',
    examples: [true],
  }),
};

const Message = Type.Object(
  {
    messageId: Id,
    ...values,
    from: { ...Timestamp, description: 'From when on it is shown.' },
    until: { ...Timestamp, description: 'Until when it is shown.' },
    createdAt: { ...Timestamp, description: 'When it was made.' },
    changedAt: { ...Timestamp, description: 'When it was changed last.' },
    isBeingEmailed: Type.Boolean({
      description: 'The owners are being sent it by email.',
      examples: [false],
    }),
  },
  { title: 'host message' },
);

const shared = { under: 'host', tag: 'host', labels: [] } as const;
const READ = { host: 'host_shops_read' } as const;
const WRITE = { host: 'host_shops_write' } as const;
const params = Type.Object({ messageId: Id });

const listHostMessages = operation({
  ...shared,
  method: 'GET',
  path: '/messages',
  name: 'listHostMessages',
  summary: 'List messages',
  description: `Past, current and coming messages to the people of shops, the newest first. There are at most ${MAX_MESSAGES}.`,
  access: READ,
  answer: Type.Object(
    { items: Type.Array(Message, { description: 'The messages.' }) },
    { title: 'host message list' },
  ),
});

const getHostMessage = operation({
  ...shared,
  method: 'GET',
  path: '/messages/:messageId',
  name: 'getHostMessage',
  summary: 'Get message',
  access: READ,
  params,
  answer: Message,
});

const createHostMessage = operation({
  ...shared,
  method: 'POST',
  path: '/messages',
  name: 'createHostMessage',
  summary: 'Create message',
  description:
    'The admin of the shops concerned shows it on every page, within seconds. With `isEmailed` the owners get it by email too, each of them once, whatever the number of shops.',
  access: WRITE,
  body: Type.Object(
    {
      texts: values.texts,
      level: values.level,
      from: Type.Optional(Moment('From when on it is shown, ISO 8601. Absent: from now on.')),
      until: values.until,
      plans: Type.Optional(values.plans),
      shopIds: Type.Optional(values.shopIds),
      isPublic: Type.Optional(values.isPublic),
      isEmailed: Type.Optional(
        Type.Boolean({ description: 'The owners get it by email, too.', examples: [false] }),
      ),
    },
    { title: 'new host message' },
  ),
  status: 201,
  answer: Message,
});

const updateHostMessage = operation({
  ...shared,
  method: 'PATCH',
  path: '/messages/:messageId',
  name: 'updateHostMessage',
  summary: 'Update message',
  description: 'Only what is named changes. An email that was sent is not sent again.',
  access: WRITE,
  params,
  body: Type.Partial(Type.Object(values), { title: 'host message changes' }),
  answer: Message,
});

const deleteHostMessage = operation({
  ...shared,
  method: 'DELETE',
  path: '/messages/:messageId',
  name: 'deleteHostMessage',
  summary: 'Delete message',
  description: 'It is no longer shown, and nobody else is sent it by email.',
  access: WRITE,
  params,
  status: 204,
});

/** What the host tells the people of its shops. */
export function hostMessages(api: Operations, current: Pick<CurrentMessages, 'refresh'>): void {
  api.read(listHostMessages, async ({ db }) => ({ items: (await findMessages(db)).map(toMessage) }));

  api.read(getHostMessage, async ({ db, params: { messageId } }) => {
    const message = isId(messageId) ? await findMessage(db, messageId) : undefined;
    if (!message) throw notFound('messageId');
    return toMessage(message);
  });

  api.write(createHostMessage, async ({ tx, body, afterCommit, created }) => {
    const { texts, level, from, until, plans = null, shopIds = null, isPublic = false } = body;
    if ((await countMessages(tx)) >= MAX_MESSAGES) {
      throw new Refusal('TOO_MANY_HOST_MESSAGES', { limit: MAX_MESSAGES });
    }
    const messageId = newId(tx.now);
    const startsAt = from === undefined ? tx.now : parseMoment(from, 'from');
    const endsAt = parseMoment(until, 'until');
    const message = withOrder({ messageId, level, texts, startsAt, endsAt, plans, shopIds, isPublic });
    await insertMessage(tx, message, body.isEmailed === true);
    created({ messageId });
    afterCommit(() => current.refresh());
    return toMessage((await findMessage(tx, messageId))!);
  });

  api.write(updateHostMessage, async ({ tx, params: { messageId }, body, afterCommit }) => {
    const before = isId(messageId) ? await lockMessage(tx, messageId) : undefined;
    if (!before) throw notFound('messageId');
    const { from, until, ...changes } = body;
    const message = withOrder({
      ...before,
      ...changes,
      ...(from !== undefined && { startsAt: parseMoment(from, 'from') }),
      ...(until !== undefined && { endsAt: parseMoment(until, 'until') }),
    });
    await updateMessage(tx, message);
    afterCommit(() => current.refresh());
    return toMessage((await findMessage(tx, messageId))!);
  });

  api.write(deleteHostMessage, async ({ tx, params: { messageId }, afterCommit }) => {
    if (!isId(messageId) || !(await deleteMessage(tx, messageId))) throw notFound('messageId');
    afterCommit(() => current.refresh());
  });
}

/** A message that ends before it begins would never be shown. */
function withOrder(message: HostMessage): HostMessage {
  if (message.endsAt <= message.startsAt) throw invalid('UNKNOWN_VALUE', 'until');
  return message;
}

function toMessage(message: StoredMessage): Static<typeof Message> {
  const { messageId, texts, level, startsAt, endsAt, plans, shopIds, isPublic, isBeingEmailed } = message;
  return {
    messageId,
    texts,
    level,
    from: startsAt.toISOString(),
    until: endsAt.toISOString(),
    plans,
    shopIds,
    isPublic,
    createdAt: message.createdAt.toISOString(),
    changedAt: message.changedAt.toISOString(),
    isBeingEmailed,
  };
}
