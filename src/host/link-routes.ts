import { Type } from 'typebox';
import type { Transaction } from '../db/database.ts';
import { recordEntry } from '../http/audit-entry.ts';
import { invalid, Refusal } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Timestamp } from '../http/schemas.ts';
import { newId } from '../kernel/ids.ts';
import { isEmailAddress, MAX_EMAIL_ADDRESS_LENGTH } from '../platform/email/address.ts';
import { insertHostLink } from './links.ts';
import { causeOf, type Cause } from './log.ts';
import { lockHostedShop, type LockedShop } from './queries.ts';
import { OfShop } from './routes.ts';
import type { Staff } from './staff.ts';
import { findGrant } from './support.ts';

/** One line, with a character that can be seen. */
const LINE = '^(?=\\s*\\S)[^\\p{Cc}\\p{Zl}\\p{Zp}]*$';

/** Only a page of the admin: no other address, no control character, no backslash that a browser takes for a slash. */
const ADMIN_PAGE = '^/admin(?:[/?][\\x20-\\x5b\\x5d-\\x7e]*)?$';
const MAX_PAGE_LENGTH = 2_000;

const Link = {
  url: Type.String({
    description:
      'Opens the admin once. Send the browser of the person there, by a redirect or a link; the secret is after the #, where no server and no log sees it.',
    examples: ['https://shops.example/admin/enter#TeaHouse.0Uj7yVxkz1mRq8bnC3tLw5sDf9hGa2eP'],
  }),
  expiresAt: { ...Timestamp, description: 'Until when it can be opened.' },
};

const createHostSupportLink = operation({
  under: 'host',
  method: 'POST',
  path: '/shops/:shopId/support-links',
  name: 'createHostSupportLink',
  summary: 'Enter by support access',
  description:
    'A link of one use, for five minutes, with which this person of the host enters the admin of the shop. Only while its owner grants support access; the owners get an email when the link is opened, and the audit log of the shop names the person.',
  tag: 'host',
  labels: [],
  access: { host: 'host_support' },
  secretAnswer: 'not stored',
  params: OfShop,
  body: Type.Object(
    {
      name: Type.String({
        minLength: 1,
        maxLength: 100,
        pattern: LINE,
        description: 'Who enters, as the people of the shop read it.',
        examples: ['Anna Weber'],
      }),
      email: Type.String({
        maxLength: MAX_EMAIL_ADDRESS_LENGTH,
        description: 'Where the people of the shop reach this person.',
        examples: ['anna@host.example'],
      }),
      reason: Type.String({
        minLength: 1,
        maxLength: 500,
        pattern: LINE,
        description: 'Why, as the owners read it.',
        examples: ['Ticket 4711: delivery costs to France'],
      }),
    },
    { title: 'support person' },
  ),
  status: 201,
  answer: Type.Object(
    {
      ...Link,
      role: Type.String({
        description: 'What the owner lets support do: the name of a role of the admin.',
        examples: ['accountant'],
      }),
      grantedUntil: { ...Timestamp, description: 'When the support access of the shop ends.' },
    },
    { title: 'support link' },
  ),
});

const createHostSignInLink = operation({
  under: 'host',
  method: 'POST',
  path: '/shops/:shopId/sign-in-links',
  name: 'createHostSignInLink',
  summary: 'Sign a person in',
  description:
    'A link of one use, for 60 seconds, which signs a person of the shop in to the admin: in the place of the password. A person with an authenticator app is still asked for its code.',
  tag: 'host',
  labels: [],
  access: { host: 'host_sign_in' },
  secretAnswer: 'not stored',
  params: OfShop,
  body: Type.Object(
    {
      email: Type.String({
        maxLength: MAX_EMAIL_ADDRESS_LENGTH,
        description: 'The email address of a person who works in the shop.',
        examples: ['owner@tea-house.example'],
      }),
      to: Type.Optional(
        Type.String({
          maxLength: MAX_PAGE_LENGTH,
          pattern: ADMIN_PAGE,
          description: 'The page of the admin to open. Absent: the first page of the shop.',
          examples: ['/admin/shops/TeaHouse/orders'],
        }),
      ),
    },
    { title: 'person to sign in' },
  ),
  status: 201,
  answer: Type.Object(Link, { title: 'sign-in link' }),
});

export function hostLinks(api: Operations, { staff }: { staff: Staff }): void {
  api.write(createHostSupportLink, async ({ tx, shopId, body, caller, origin }) => {
    if (!isEmailAddress(body.email)) throw invalid('WRONG_FORMAT', 'email');
    const { deletionAt } = await lockShop(tx, shopId);
    const grant = deletionAt === null ? await findGrant(tx, shopId) : undefined;
    if (!grant) throw new Refusal('SUPPORT_NOT_GRANTED');
    const cause = causeOf(caller, createHostSupportLink);
    const from = { origin, madeBy: cause.appName };
    const link = await insertHostLink(tx, shopId, from, { grantId: grant.grantId, person: body });
    await record(tx, shopId, cause, body);
    return {
      url: link.url,
      expiresAt: link.expiresAt.toISOString(),
      role: grant.role,
      grantedUntil: grant.endsAt.toISOString(),
    };
  });

  api.write(createHostSignInLink, async ({ tx, shopId, body, caller, origin }) => {
    await lockShop(tx, shopId);
    const person = await staff.person(tx, shopId, body.email);
    if (!person) throw new Refusal('PERSON_NOT_IN_SHOP');
    // A token of the host must not become more than it is: these people change the installation itself.
    if (person.isHost) throw new Refusal('PERSON_RUNS_INSTALLATION');
    if (person.isInvited) throw new Refusal('INVITATION_NOT_ACCEPTED');
    const cause = causeOf(caller, createHostSignInLink);
    const link = await insertHostLink(
      tx,
      shopId,
      { origin, madeBy: cause.appName },
      { userId: person.userId, target: body.to ?? `/admin/shops/${shopId}` },
    );
    await record(tx, shopId, cause, { userId: person.userId });
    return { url: link.url, expiresAt: link.expiresAt.toISOString() };
  });
}

async function lockShop(tx: Transaction, shopId: string): Promise<LockedShop> {
  const shop = await lockHostedShop(tx, shopId);
  if (!shop) throw new Refusal('SHOP_NOT_FOUND');
  if (shop.deletionAt !== null && shop.deletionAt <= tx.serviceNow) throw new Refusal('SHOP_DELETION_BEGUN');
  return shop;
}

/** In the log of the shop alone: nothing of the shop has changed. */
function record(
  tx: Transaction,
  shopId: string,
  cause: Cause,
  object: Readonly<Record<string, string>>,
): Promise<void> {
  const { serviceNow: at } = tx;
  return recordEntry(tx, { shopId, entryId: newId(at), at, ...cause, object: { ...object } });
}
