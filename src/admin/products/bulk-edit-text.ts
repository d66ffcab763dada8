import type { BulkAction } from '../../catalogue/products/bulk-edit.ts';
import { decimalText } from '../components/decimal.ts';
import { amountText } from '../components/format.ts';
import type { ShopVisit } from '../visit.ts';

/** A change in words: `Set price: €12.00`. */
export function actionText(visit: ShopVisit, action: BulkAction): string {
  const words = visit.messages.products.bulk;
  switch (action.kind) {
    case 'setPrice':
      return `${words.kinds.setPrice}: ${amountText(action.amount, visit, action.currency)}`;
    case 'changePrice':
      return `${words.kinds.changePrice}: ${decimalText(action.basisPoints / 100, visit.language)} %`;
    case 'setStock':
    case 'addStock':
      return `${words.kinds[action.kind]}: ${decimalText(action.amount, visit.language)}`;
    case 'addCategory':
    case 'removeCategory':
      return words.kinds[action.kind];
    case 'setVisible':
      return action.visible ? words.kinds.show : words.kinds.hide;
  }
}
