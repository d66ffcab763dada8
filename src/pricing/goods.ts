import type { WithdrawalExclusion } from '../catalogue/products/facts.ts';

/** Services, digital content and gift cards are no goods: the legal guarantee of goods does not cover them. */
const NOT_GOODS: readonly (WithdrawalExclusion | undefined)[] = ['digitalContent', 'servicePerformed'];

export const isGoods = ({
  withdrawalExcluded,
  giftCard,
}: {
  withdrawalExcluded?: WithdrawalExclusion;
  giftCard?: object;
}) => giftCard === undefined && !NOT_GOODS.includes(withdrawalExcluded);
