import { Type } from 'typebox';

/** Parts of operations of the host that several of them have. */

export const ShopIdParameter = Type.String({
  description: 'The id of the shop, case as created.',
  examples: ['TeaHouse'],
});

export const OfShop = Type.Object({ shopId: ShopIdParameter });

export const PlanName = Type.String({
  minLength: 1,
  maxLength: 63,
  description: 'The name of a plan in the file of plans.',
  examples: ['small'],
});

export const NewShopId = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$',
  maxLength: 63,
  description: '1 to 63 letters, digits, - and _, a letter or digit first. It can not be changed.',
  examples: ['TeaHouse'],
});
