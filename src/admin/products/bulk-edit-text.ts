import type { BulkAction } from '../../catalogue/products/bulk-edit.ts';
import { textIn } from '../../http/locale.ts';
import { decimalText } from '../components/decimal.ts';
import { amountText } from '../components/format.ts';
import type { ShopVisit } from '../visit.ts';
import { findNamesOfCategories } from './queries.ts';

/** Changes in words: `Set price: €12.00`, `Add to category: Tea`. */
export async function actionTexts(visit: ShopVisit, actions: readonly BulkAction[]): Promise<string[]> {
  const { db, shopId, locale, settings } = visit;
  const ids = actions.flatMap((action) => ('categoryId' in action ? [action.categoryId] : []));
  const found = ids.length === 0 ? [] : await findNamesOfCategories(db, shopId, ids);
  const names = new Map(
    found.map(({ categoryId, alias, name }) => [
      categoryId,
      textIn(name, locale, settings.defaultLocale) ?? alias,
    ]),
  );
  return actions.map((action) => actionText(visit, action, names));
}

function actionText(
  visit: ShopVisit,
  action: BulkAction,
  categoryNames: ReadonlyMap<string, string>,
): string {
  const messages = visit.messages.products.bulk;
  switch (action.kind) {
    case 'setPrice':
      return `${messages.kinds.setPrice}: ${amountText(action.amount, visit, action.currency)}`;
    case 'changePrice':
      return `${messages.kinds.changePrice}: ${decimalText(action.basisPoints / 100, visit.language)} %`;
    case 'setStock':
    case 'addStock':
      return `${messages.kinds[action.kind]}: ${decimalText(action.amount, visit.language)}`;
    case 'addCategory':
    case 'removeCategory': {
      // A category that was deleted since has no name.
      const name = categoryNames.get(action.categoryId);
      return name === undefined ? messages.kinds[action.kind] : `${messages.kinds[action.kind]}: ${name}`;
    }
    case 'setVisible':
      return action.visible ? messages.kinds.show : messages.kinds.hide;
  }
}
