import { Type } from 'typebox';
import { badRequest, forbidden, notFound } from '../../http/errors.ts';
import { isId } from '../../kernel/ids.ts';
import { declareForm, optionsOf, readFields } from '../components/declared-form.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { deleteView, insertView } from './queries.ts';
import { Redirect } from '../../http/page-kit.ts';

const MAX_NAME_LENGTH = 60;
const MAX_QUERY_LENGTH = 2_000;

const VIEW = declareForm(
  {
    body: Type.Object({
      list: Type.String(),
      name: Type.String({ maxLength: MAX_NAME_LENGTH }),
      query: Type.String({ maxLength: MAX_QUERY_LENGTH }),
    }),
  },
  ({ list }) => ({
    list: { kind: 'hidden', label: '' },
    name: { label: list.viewName, isRequired: true },
    query: { kind: 'hidden', label: '' },
  }),
);

/** Views of lists: each user has their own. */
export function views(pages: ShopPages): void {
  pages.post(
    '/views',
    'member',
    async (visit, form) => {
      const { db, shopId, user, messages } = visit;
      if (user.support) throw forbidden(messages.support.notAllowed);
      const typed = readFields(VIEW, form, visit);
      const view = { ...typed, name: typed.name.slice(0, MAX_NAME_LENGTH) };
      if (view.name === '') throw badRequest(messages.list.viewName);
      if (!/^\/[a-z/-]{1,60}$/.test(view.list)) throw badRequest(messages.error.other);
      await db.transaction((tx) => insertView(tx, shopId, user.userId, view));
      return new Redirect(addressOf(visit, view), messages.list.viewSaved({ name: view.name }));
    },
    optionsOf(VIEW),
  );

  pages.post('/views/:viewId/delete', 'member', async (visit, form) => {
    const { db, shopId, user, messages } = visit;
    const viewId = form.params['viewId']!;
    const view = isId(viewId) ? await deleteView(db, shopId, user.userId, viewId) : undefined;
    if (!view) throw notFound();
    const { list, name, query } = view;
    return new Redirect(adminPath(visit, list), {
      text: messages.list.viewDeleted({ name }),
      undo: { action: adminPath(visit, '/views'), fields: { list, name, query } },
    });
  });
}

function addressOf(visit: ShopVisit, { list, query }: { list: string; query: string }): string {
  return adminPath(visit, list) + (query === '' ? '' : `?${query}`);
}
