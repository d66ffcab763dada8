import { Type } from 'typebox';
import { invalid, Refusal } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Id } from '../http/schemas.ts';
import { isEmailAddress, MAX_EMAIL_ADDRESS_LENGTH } from '../platform/email/address.ts';
import { causeOf, recordChange } from './log.ts';
import { findHostedShop, lockHostedShop } from './queries.ts';
import { OfShop, Owner, ShopIdParameter } from './routes.ts';
import type { Staff } from './staff.ts';

const listHostOwners = operation({
  under: 'host',
  method: 'GET',
  path: '/shops/:shopId/owners',
  name: 'listHostOwners',
  summary: 'List owners',
  tag: 'host',
  labels: [],
  access: { host: 'host_shops_read' },
  params: OfShop,
  answer: Type.Object(
    { items: Type.Array(Owner, { description: 'The owners of the shop.' }) },
    { title: 'owner list' },
  ),
});

const inviteHostOwner = operation({
  under: 'host',
  method: 'POST',
  path: '/shops/:shopId/owners',
  name: 'inviteHostOwner',
  summary: 'Invite owner',
  description:
    'Sends an invitation in the language of the shop; the person owns the shop after accepting it.',
  tag: 'host',
  labels: [],
  access: { host: 'host_shops_write' },
  params: OfShop,
  body: Type.Object(
    {
      email: Type.String({
        maxLength: MAX_EMAIL_ADDRESS_LENGTH,
        description: 'Where the invitation goes.',
        examples: ['partner@tea-house.example'],
      }),
    },
    { title: 'new owner' },
  ),
  status: 201,
  answer: Owner,
});

const removeHostOwner = operation({
  under: 'host',
  method: 'DELETE',
  path: '/shops/:shopId/owners/:ownerId',
  name: 'removeHostOwner',
  summary: 'Remove owner',
  description: 'Ends the work of a person in the shop. The last owner stays.',
  tag: 'host',
  labels: [],
  access: { host: 'host_shops_write' },
  params: Type.Object({ shopId: ShopIdParameter, ownerId: Id }),
  status: 204,
});

export function hostOwners(api: Operations, { staff }: { staff: Staff }): void {
  api.read(listHostOwners, async ({ db, shopId }) => {
    if (!(await findHostedShop(db, shopId))) throw new Refusal('SHOP_NOT_FOUND');
    const owners = await staff.owners(db, shopId);
    return {
      items: owners.map((owner) => ({ ...owner, signedInAt: owner.signedInAt?.toISOString() ?? null })),
    };
  });

  api.write(inviteHostOwner, async ({ tx, shopId, body, caller }) => {
    if (!isEmailAddress(body.email)) throw invalid('WRONG_FORMAT', 'email');
    if (!(await lockHostedShop(tx, shopId))) throw new Refusal('SHOP_NOT_FOUND');
    const cause = causeOf(caller, inviteHostOwner);
    const ownerId = await staff.inviteOwner(tx, shopId, { email: body.email, by: cause.appName });
    await recordChange(tx, shopId, 'SHOP_OWNER_ADDED', cause, { ownerId });
    const owner = (await staff.owners(tx, shopId)).find((one) => one.ownerId === ownerId)!;
    return { ...owner, signedInAt: owner.signedInAt?.toISOString() ?? null };
  });

  api.write(removeHostOwner, async ({ tx, shopId, params, caller }) => {
    if (!(await lockHostedShop(tx, shopId))) throw new Refusal('SHOP_NOT_FOUND');
    const { ownerId } = params;
    await staff.removeOwner(tx, shopId, ownerId);
    await recordChange(tx, shopId, 'SHOP_OWNER_REMOVED', causeOf(caller, removeHostOwner), { ownerId });
  });
}
