import { Type } from 'typebox';
import { Flag, LINES_OF_TEXT, LocalisedText, OrElse, Section } from '../fields.ts';

/** Who is invited by email to review what was delivered. */
export const INVITED = ['nobody', 'subscribers', 'customers'] as const;

export const Reviews = Section(
  {
    open: Flag('Customers may review the products that they have bought, and product pages show it.', false),
    moderation: OrElse(
      'before',
      Type.Enum(['before', 'after'], {
        description:
          'before: a review is shown when the shop has published it. after: it is shown at once. Absent: before.',
        default: 'before',
        examples: ['before'],
      }),
    ),
    invite: OrElse(
      'nobody',
      Type.Enum([...INVITED], {
        description:
          'Who is invited by email to review what was sent. An invitation is advertising. subscribers: those who have confirmed a newsletter of the shop, and so have consented. customers: everybody, which § 7 (3) UWG in Germany, and its like elsewhere, only allows to a shop that has told its customers when it asked for the address that they may object at any time. Absent: nobody.',
        default: 'nobody',
        examples: ['subscribers'],
      }),
    ),
    invitationDays: OrElse(
      14,
      Type.Integer({
        minimum: 1,
        maximum: 90,
        default: 14,
        description: 'Days between a shipment and the invitation. Absent: 14.',
        examples: [14],
      }),
    ),
    checks: Type.Optional(
      LocalisedText(
        'How the shop makes sure that reviews are by buyers, and how it deals with good and bad ones, which § 5b (3) UWG and Directive (EU) 2019/2161 want to be said. Absent: what the service itself does.',
        'Only people who have bought the product here can review it.',
        2_000,
        LINES_OF_TEXT,
      ),
    ),
  },
  { description: 'Reviews of products by those who have bought them.' },
);
