import { isDeepStrictEqual } from 'node:util';
import { Type, type Static } from 'typebox';
import { IncludeFields } from '../../shops/settings/shown-fields.ts';
import { withFields } from '../../fields/values.ts';
import { aliasOf, aliasStart, freeAlias } from '../../kernel/aliases.ts';
import { hasScope, type Caller } from '../../http/callers.ts';
import { invalid, notFound, Refusal } from '../../http/errors.ts';
import { readingLocale, writingLocale, type Localised } from '../../http/locale.ts';
import { operation, type ReadCall } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { Id, LocaleParameter } from '../../http/schemas.ts';
import { isId, newId } from '../../kernel/ids.ts';
import { refreshListing, refreshOrRebuild } from '../products/listing.ts';
import { touchProducts } from '../products/product-events.ts';
import { keepFormerAddresses } from '../redirects/save.ts';
import { IncludeInvisible } from '../products/render-options.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import {
  deleteAssignmentRows,
  deleteCategories,
  findAliases,
  findCategoriesOf,
  findCategory,
  findProductsIn,
  findRoots,
  findSequence,
  insertCategory,
  lockCategory,
  lockProducts,
  lockTree,
  updateCategoryRow,
  updateSequence,
} from './queries.ts';
import { titledLink, toCategory, type CategoryView } from './render.ts';
import { Category, ChangedCategory, NewCategory, Sequence, Subcategory } from './schema.ts';
import { takeNumber } from '../../platform/counters.ts';
import { addMedia, bytesOf } from '../../platform/media/quota.ts';

const shared = { tag: 'categories', labels: ['Base', 'Now'] } as const;
const params = Type.Object({ categoryId: Id });

/** Products that are unassigned at once when their category is deleted. */
const BATCH = 1_000;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/*
 * Every change increments the settings' version first: rendered products show the name of their main category. The row
 * stays locked until the end, so changes of a shop's tree are serialised.
 */

export const listCategories = operation({
  ...shared,
  method: 'GET',
  path: '/categories',
  name: 'listCategories',
  summary: 'List categories',
  description:
    'The root of the tree, usually one; the other categories are found through its subCategories. With a productId: the categories that the product is assigned to, its main category first.',
  access: 'products_read',
  query: Type.Object({
    locale: LocaleParameter,
    productId: Type.Optional({ ...Id, description: 'Only categories of this product.' }),
    includeInvisible: IncludeInvisible,
    includeFields: IncludeFields,
  }),
  answer: Type.Array(Category),
});

export const getCategory = operation({
  ...shared,
  method: 'GET',
  path: '/categories/:categoryId',
  name: 'getCategory',
  summary: 'Get category',
  access: 'products_read',
  params,
  query: Type.Object({
    locale: LocaleParameter,
    includeInvisible: IncludeInvisible,
    includeFields: IncludeFields,
  }),
  answer: Category,
});

export const createSubcategory = operation({
  ...shared,
  method: 'POST',
  path: '/categories/:categoryId',
  name: 'createSubcategory',
  summary: 'Create subcategory',
  description:
    'The id in the path is that of the parent category. The new category comes last and is hidden until it is updated with visible true. Texts are in the locale of the call.',
  access: 'products_write',
  params,
  query: Type.Object({ locale: LocaleParameter }),
  body: NewCategory,
  answer: Subcategory,
});

export const updateCategory = operation({
  ...shared,
  method: 'PUT',
  path: '/categories/:categoryId',
  name: 'updateCategory',
  summary: 'Update category',
  description:
    'Texts are written in the locale of the call only; null deletes a text in it. Fields that are not sent stay as they are.',
  access: 'products_write',
  params,
  query: Type.Object({ locale: LocaleParameter }),
  body: ChangedCategory,
  answer: Category,
  constraints: { category_alias: () => new Refusal('CATEGORY_ALIAS_TAKEN') },
});

export const deleteCategory = operation({
  ...shared,
  labels: ['Base'],
  method: 'DELETE',
  path: '/categories/:categoryId',
  name: 'deleteCategory',
  summary: 'Delete category',
  description: 'Also deletes its subcategories. Products stay, without the assignment.',
  access: 'products_write',
  params,
  status: 204,
});

const getCategorySequence = operation({
  ...shared,
  method: 'GET',
  path: '/categories/:categoryId/sequence',
  name: 'getCategorySequence',
  summary: 'Get category sequence',
  description: 'The aliases of the subcategories in their order, hidden ones too.',
  access: 'products_write',
  params,
  answer: Sequence,
});

const updateCategorySequence = operation({
  ...shared,
  method: 'PUT',
  path: '/categories/:categoryId/sequence',
  name: 'updateCategorySequence',
  summary: 'Update category sequence',
  description: 'The same aliases in another order: nothing can be added or left out.',
  access: 'products_write',
  params,
  body: Sequence,
  answer: Sequence,
});

export function categories(api: Operations): void {
  api.read(listCategories, async (call) => {
    const { db, shopId, query, caller, link, origin } = call;
    const all = seesHidden(caller, query);
    const { productId = '' } = query;
    const [settings, rows] = await Promise.all([
      shopSettings(db, shopId),
      productId === ''
        ? findRoots(db, shopId, all)
        : isId(productId)
          ? findCategoriesOf(db, shopId, productId, all)
          : [],
    ]);
    const view = { settings, locale: readingLocale(query.locale, settings), link, origin };
    return besideFields(
      call,
      view,
      rows.map((row) => toCategory(row, view)),
    );
  });

  api.read(getCategory, async (call) => {
    const { db, shopId, params, query, caller, link, origin } = call;
    const [settings, row] = await Promise.all([
      shopSettings(db, shopId),
      findCategory(db, shopId, params.categoryId, seesHidden(caller, query)),
    ]);
    const locale = readingLocale(query.locale, settings);
    if (!row) throw notFound();
    const view = { settings, locale, link, origin };
    const [category] = await besideFields(call, view, [toCategory(row, view)]);
    return category!;
  });

  api.write(createSubcategory, async ({ tx, shopId, params, query, body, link, origin, created }) => {
    const settings = await shopSettings(tx, shopId);
    const locale = writingLocale(query.locale, settings);
    await moveSettingsVersion(tx, shopId);
    const parent = await lockCategory(tx, shopId, params.categoryId);
    if (!parent) throw notFound();
    const alias = body.alias?.trim() || aliasOf(body.name ?? '', 'category');
    const categoryId = newId(tx.now);
    await insertCategory(tx, shopId, {
      categoryId,
      parentId: parent.categoryId,
      number: await takeNumber(tx, shopId, 'category'),
      alias: freeAlias(alias, await findAliases(tx, shopId, aliasStart(alias))),
      name: withText({}, locale, body.name),
      pageTitle: withText({}, locale, body.pageTitle),
      navigationCaption: withText({}, locale, body.navigationCaption),
      description: withText({}, locale, body.description),
    });
    created({ categoryId });
    const view = { settings, locale, link, origin };
    const row = (await findCategory(tx, shopId, categoryId, true))!;
    return { ...toCategory(row, view), parent: titledLink('parent', parent, view) };
  });

  api.write(updateCategory, async ({ tx, shopId, params: { categoryId }, query, body, link, origin }) => {
    const settings = await shopSettings(tx, shopId);
    const locale = writingLocale(query.locale, settings);
    await moveSettingsVersion(tx, shopId);
    const stored = await lockCategory(tx, shopId, categoryId);
    if (!stored) throw notFound();
    if (body.categoryId.toUpperCase() !== categoryId) throw invalid('UNKNOWN_VALUE', 'categoryId');
    const alias = body.alias?.trim();
    if (alias === undefined && given(body.name) === undefined) throw invalid('MISSING', 'alias');
    if (alias !== undefined && alias !== stored.alias && stored.isRoot) {
      throw new Refusal('ROOT_CATEGORY_ALIAS');
    }
    const changed = {
      ...stored,
      alias: alias ?? stored.alias,
      name: withText(stored.name, locale, body.name),
      pageTitle: withText(stored.pageTitle, locale, body.pageTitle),
      navigationCaption: withText(stored.navigationCaption, locale, body.navigationCaption),
      description: withText(stored.description, locale, body.description),
      visible: body.visible ?? stored.visible,
      visibleInNavigation: body.visibleInNavigation ?? stored.visibleInNavigation,
      specialOffer: body.specialOffer ?? stored.specialOffer,
      showFacets: body.facetedSearchShowFacetsOnCategory ?? stored.showFacets,
      facetStartDepth: body.facetedSearchCategoryStartDepth ?? stored.facetStartDepth,
    };
    await updateCategoryRow(tx, shopId, changed);
    if (changed.alias !== stored.alias) {
      await keepFormerAddresses(tx, shopId, {
        kind: 'category',
        id: categoryId,
        before: [pathOf(stored.alias)],
        after: [pathOf(changed.alias)],
      });
    }
    if (changed.visible !== stored.visible || !isDeepStrictEqual(changed.name, stored.name)) {
      // Search finds the products of the category, and of those below it, by its name; the lists above it show them.
      const tree = await lockTree(tx, shopId, categoryId);
      await refreshOrRebuild(tx, shopId, (limit) => findProductsIn(tx, shopId, tree, BEFORE_ALL, limit));
    }
    const row = (await findCategory(tx, shopId, categoryId, true))!;
    return toCategory(row, { settings, locale, link, origin });
  });

  api.write(deleteCategory, async ({ tx, shopId, params: { categoryId } }) => {
    await moveSettingsVersion(tx, shopId);
    const stored = await lockCategory(tx, shopId, categoryId);
    if (!stored) throw notFound();
    if (stored.isRoot) throw new Refusal('ROOT_CATEGORY_NOT_DELETABLE');
    const tree = await lockTree(tx, shopId, categoryId);
    // In batches, because a category may hold more products than one statement can handle in time.
    for (let last = BEFORE_ALL; ;) {
      const productIds = await findProductsIn(tx, shopId, tree, last, BATCH);
      if (productIds.length === 0) break;
      await lockProducts(tx, shopId, productIds);
      await deleteAssignmentRows(tx, shopId, tree, productIds);
      await touchProducts(tx, shopId, productIds, ['categories']);
      await refreshListing(tx, shopId, productIds);
      last = productIds.at(-1)!;
    }
    const pictures = await deleteCategories(tx, shopId, tree);
    // The files are left to the clean-up.
    await addMedia(tx, shopId, -bytesOf(pictures.map((sizes) => ({ sizes }))));
  });

  api.read(getCategorySequence, async ({ db, shopId, params }) => {
    const aliases = await findSequence(db, shopId, params.categoryId);
    if (!aliases) throw notFound();
    return aliases;
  });

  api.write(updateCategorySequence, async ({ tx, shopId, params, body }) => {
    await moveSettingsVersion(tx, shopId);
    const aliases = await findSequence(tx, shopId, params.categoryId);
    if (!aliases) throw notFound();
    const left = new Set(aliases);
    for (const [index, alias] of body.entries()) {
      if (!left.delete(alias)) throw invalid('UNKNOWN_VALUE', String(index));
    }
    if (left.size > 0) throw invalid('MISSING', 'body');
    await updateSequence(tx, shopId, params.categoryId, body);
    return body;
  });
}

/** With their custom fields, where they are asked for. */
async function besideFields(
  call: ReadCall<unknown, { includeFields?: boolean }, unknown>,
  { settings, locale }: Pick<CategoryView, 'settings' | 'locale'>,
  categories: Static<typeof Category>[],
): Promise<Static<typeof Category>[]> {
  if (!call.query.includeFields) return categories;
  return withFields(call, settings, locale, ['category'], categories, ({ categoryId }) => categoryId);
}

function seesHidden(caller: Caller, { includeInvisible = false }: { includeInvisible?: boolean }): boolean {
  return includeInvisible && hasScope(caller, 'products_write');
}

const pathOf = (alias: string) => `/Categories/${encodeURIComponent(alias)}`;

/** Blank text means "not given". */
function given(text: string | null | undefined): string | undefined {
  return text != null && /\S/.test(text) ? text : undefined;
}

/** undefined leaves the texts unchanged; null and blank text delete the one in this locale. */
function withText(texts: Localised, locale: string, text: string | null | undefined): Localised {
  if (text === undefined) return texts;
  const { [locale]: _old, ...others } = texts;
  const next = given(text);
  return next === undefined ? others : { ...others, [locale]: next };
}
