import { Type } from 'typebox';
import { Flag, List, OrElse, Plain, Section } from '../fields.ts';

/** Who sees the products of a shop and their prices. */
export const SHOP_VISITORS = ['everybody', 'customers', 'groups'] as const;

const MAX_GROUPS = 100;

export const Visibility = Section(
  {
    shop: OrElse(
      'everybody',
      Type.Enum([...SHOP_VISITORS], {
        description:
          'Who sees products, prices and pages. everybody. customers: whoever has signed in. groups: signed-in customers of the groups. All others see the legal texts and a page on which they sign in; search engines, feeds, assistants and callers of the API without a token see nothing. Absent: everybody.',
        default: 'everybody',
        examples: ['groups'],
      }),
    ),
    groups: OrElse(
      [],
      List(
        Plain('Name of a group.', 'Cafes'),
        'The groups for whom the shop is, where it is for groups.',
        ['Cafes'],
        {
          maxItems: MAX_GROUPS,
        },
      ),
    ),
    requests: Flag(
      'Where the shop is for groups, visitors who have signed in can ask for access; people of the shop approve them.',
      true,
    ),
  },
  { description: 'For whom the shop is.' },
);
