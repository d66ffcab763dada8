import { Type } from 'typebox';
import { toSeconds } from '../../http/dates.ts';
import { invalid, notFound, Refusal } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { paged, paging } from '../../http/paging.ts';
import { Id, Nullable, Paged, Timestamp } from '../../http/schemas.ts';
import { queueEmails } from '../../platform/email/queue.ts';
import { recordEvents } from '../../platform/events/log.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { lockCustomer, updateCustomerGroup } from '../customers/queries.ts';
import { accessApprovedEmail } from './approved-email.ts';
import {
  ACCESS_STATES,
  countAccessRequests,
  decideAccessRequest,
  findAccessRequest,
  findAccessRequests,
  type AccessRequest,
  type AccessState,
} from './queries.ts';

const { parameters, pageOf } = paging({ standard: 20, maximum: 100 });

const shared = { under: 'manage', tag: 'access-requests', labels: [] } as const;
const params = Type.Object({ customerId: Id });

const state = Type.Unsafe<AccessState>({
  type: 'string',
  enum: [...ACCESS_STATES],
  description: 'waiting: the shop has not decided.',
  examples: ['waiting'],
});

const AccessRequestAnswer = Type.Object(
  {
    customerId: Id,
    email: Type.String({ description: 'The address that has signed in.', examples: ['ada@cafe.example'] }),
    company: Type.String({ description: 'As the customer has typed it.', examples: ['Quay Café Ltd'] }),
    vatId: Type.String({
      description: 'As typed, and not checked; may be empty.',
      examples: ['DE123456789'],
    }),
    text: Type.String({ description: 'What else the customer has said; may be empty.', examples: [''] }),
    state,
    askedOn: Timestamp,
    decidedOn: Nullable(Timestamp),
  },
  { title: 'access request' },
);

export const ApprovalBody = Type.Object(
  {
    customerGroupId: { ...Id, description: 'The group that the customer gets: one for which the shop is.' },
  },
  { title: 'approval of access (request)' },
);

export const listAccessRequests = operation({
  ...shared,
  method: 'GET',
  path: '/access-requests',
  name: 'listAccessRequests',
  summary: 'List access requests',
  description: 'Customers who ask to be let into a shop that is for some groups only, the oldest first.',
  access: 'customers_read',
  query: Type.Object({ ...parameters, state: Type.Optional(state) }),
  answer: Paged(AccessRequestAnswer, 'access requests'),
});

export const approveAccess = operation({
  ...shared,
  method: 'POST',
  path: '/access-requests/:customerId/approve',
  name: 'approveAccess',
  summary: 'Approve access',
  description: 'Puts the customer into a group for which the shop is, and says so by email.',
  access: 'customers_write',
  params,
  body: ApprovalBody,
  answer: AccessRequestAnswer,
  constraints: { customer_customer_group: () => new Refusal('CUSTOMER_GROUP_UNKNOWN') },
});

export const declineAccess = operation({
  ...shared,
  method: 'POST',
  path: '/access-requests/:customerId/decline',
  name: 'declineAccess',
  summary: 'Decline access',
  description: 'The customer gets no email, and may ask again.',
  access: 'customers_write',
  params,
  answer: AccessRequestAnswer,
});

export function accessRequests(api: Operations): void {
  api.read(listAccessRequests, async ({ db, shopId, query }) => {
    const page = pageOf(query);
    const wanted = query.state ?? 'waiting';
    const [results, rows] = await Promise.all([
      countAccessRequests(db, shopId, wanted),
      findAccessRequests(db, shopId, wanted, { limit: page.resultsPerPage, offset: page.offset }),
    ]);
    return paged(page, results, rows.map(toAnswer));
  });

  api.write(approveAccess, async ({ tx, shopId, params: { customerId }, body }) => {
    const customerGroupId = body.customerGroupId.toUpperCase();
    const [{ customerGroups, visibility }, known] = await Promise.all([
      shopSettings(tx, shopId),
      findAccessRequest(tx, shopId, customerId),
    ]);
    if (!known) throw notFound();
    const group = customerGroups.find((one) => one.customerGroupId === customerGroupId);
    // Another group would not open the shop, which the email says.
    const isShut = visibility.shop === 'groups' && group && !visibility.groups.includes(group.name);
    if (!group || isShut) throw invalid('UNKNOWN_VALUE', 'customerGroupId');
    const request = await decided(tx, shopId, customerId, 'approved');
    await updateCustomerGroup(tx, shopId, customerId, customerGroupId);
    await queueEmails(tx, shopId, accessApprovedEmail, [
      { to: request.email, locale: request.locale, facts: {} },
    ]);
    return toAnswer(request);
  });

  api.write(declineAccess, async ({ tx, shopId, params: { customerId } }) =>
    toAnswer(await decided(tx, shopId, customerId, 'declined')),
  );
}

async function decided(
  tx: Parameters<typeof decideAccessRequest>[0],
  shopId: string,
  customerId: string,
  wanted: 'approved' | 'declined',
): Promise<AccessRequest> {
  // A decision about a customer, and a change of it, lock it first.
  if (!(await lockCustomer(tx, shopId, customerId))) throw notFound();
  const request = await decideAccessRequest(tx, shopId, customerId, wanted);
  if (!request) {
    const known = await findAccessRequest(tx, shopId, customerId);
    throw known ? new Refusal('ACCESS_DECIDED') : notFound();
  }
  recordEvents(tx, shopId, [{ type: 'ACCESS_DECIDED', resourceId: customerId, data: { state: wanted } }]);
  return request;
}

const toAnswer = ({
  customerId,
  email,
  company,
  vatId,
  text,
  state: now,
  askedAt,
  decidedAt,
}: AccessRequest) => ({
  customerId,
  email,
  company,
  vatId,
  text,
  state: now,
  askedOn: toSeconds(askedAt),
  decidedOn: decidedAt && toSeconds(decidedAt),
});
