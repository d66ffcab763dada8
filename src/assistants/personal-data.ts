import { toMilliseconds } from '../http/dates.ts';
import { batchedSection, type PersonalData } from '../platform/personal-data.ts';
import { findSessionsOfCustomer } from './queries.ts';

const BATCH = 100;

/** Which assistants have brought a customer. An erasure leaves it: it names an assistant, and the order names nobody then. */
export const assistantPersonalData: PersonalData = {
  sections: {
    assistants: batchedSection<Awaited<ReturnType<typeof findSessionsOfCustomer>>[number]>(
      'Assistants, such as ChatGPT, that have prepared an order: the address of their profile, and the number of the order.',
      (db, shopId, { customerId }, last) => findSessionsOfCustomer(db, shopId, customerId, last, BATCH),
      async () =>
        ({ orderNumber, profile, createdAt }) => ({
          orderNumber,
          profile,
          preparedOn: toMilliseconds(createdAt),
        }),
    ),
  },
};
