import type { WithdrawalExclusion } from '../catalogue/products/facts.ts';

/** Services and digital content are no goods: the legal guarantee of goods does not cover them. */
const NOT_GOODS: readonly (WithdrawalExclusion | undefined)[] = ['digitalContent', 'servicePerformed'];

export const isGoods = ({ withdrawalExcluded }: { withdrawalExcluded?: WithdrawalExclusion }) =>
  !NOT_GOODS.includes(withdrawalExcluded);
