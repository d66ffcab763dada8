import { Flag, Key, List, Plain, Section } from '../fields.ts';
import { Moment } from './promotions.ts';

/** Each list is compared with the group of each customer who signs in. */
export const MAX_PRICE_LISTS = 200;
const MAX_GROUPS = 100;

export const PriceList = Section({
  key: Key('Its name in this file; the prices of products belong to it.', 'partners-spring'),
  name: Plain('Its name for the people of the shop.', 'Partners, spring 2027', 100),
  active: Flag('It may apply.', true),
  customerGroups: List(
    Plain('Name of a group.', 'Cafes'),
    'Groups of customers whose prices it has.',
    ['Cafes', 'Hotels'],
    { minItems: 1, maxItems: MAX_GROUPS },
  ),
  from: Moment('When it begins, ISO 8601; without a zone it is UTC. Absent: at once.', '2027-03-01'),
  to: Moment('When it ends. A day alone is its beginning. Absent: never.', '2027-06-01'),
});
