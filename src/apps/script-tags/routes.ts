import { Type, type Static } from 'typebox';
import { toSeconds } from '../../http/dates.ts';
import { invalid, notFound, Refusal, unauthorised } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { Id, Links, Timestamp } from '../../http/schemas.ts';
import { newId } from '../../kernel/ids.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';
import {
  deleteScriptTagRow,
  findScriptTags,
  insertScriptTag,
  lockScriptTag,
  type ScriptTagRow,
} from './queries.ts';
import { SCRIPT_TYPES, scriptType } from './script-type.ts';

const address = {
  description: 'Address of the script, https only.',
  examples: ['https://widgets.example/social.js?id=123ab'],
};

const necessary = Type.Optional(
  Type.Boolean({
    description:
      'The shop does not work without the script, so it is loaded for visitors who allow only what is necessary too, if the merchant agrees in the setting appScripts. Absent: false.',
    examples: [true],
  }),
);

const ScriptTag = Type.Object(
  {
    scriptTagId: Id,
    scriptUrl: Type.String(address),
    scriptType: Type.String({
      description:
        'SERVICE_WORKER when the whole address ends with `worker.js`; with a query after it, NORMAL.',
      enum: [...SCRIPT_TYPES],
      examples: ['NORMAL'],
    }),
    necessary,
    createdOn: Timestamp,
    updatedOn: Timestamp,
    links: Links,
  },
  { title: 'scriptTag' },
);

const NewScriptTag = Type.Object(
  {
    // Blanks, quotes and angle brackets are not part of an address, and this one is written into pages.
    scriptUrl: Type.String({ ...address, pattern: '^https://[^\\s/?#"<>\\\\][^\\s"<>]*$', maxLength: 2000 }),
    necessary,
  },
  { title: 'scriptTag (create request)' },
);

const shared = { tag: 'script-tags', labels: ['Now'] } as const;

const listScriptTags = operation({
  ...shared,
  method: 'GET',
  path: '/script-tags',
  name: 'listScriptTags',
  summary: 'List script tags',
  description: 'Oldest first.',
  access: 'scripttags_read',
  query: Type.Object({
    myScriptTagsOnly: Type.Boolean({
      default: false,
      description: 'Only those that the calling app has created.',
      examples: [true],
    }),
  }),
  answer: Type.Object(
    { items: Type.Array(ScriptTag, { description: 'The script tags.' }) },
    { title: 'scriptTagList' },
  ),
});

const createScriptTag = operation({
  ...shared,
  method: 'POST',
  path: '/script-tags',
  name: 'createScriptTag',
  summary: 'Create script tag',
  description:
    'The script is loaded on all pages of the storefront, for visitors who allow it. Uninstalling the app removes it.',
  access: 'scripttags_write',
  body: NewScriptTag,
  status: 201,
  answer: ScriptTag,
  // The app was uninstalled by another process a moment ago.
  constraints: { script_tag_app: () => unauthorised('TOKEN_UNKNOWN') },
});

const deleteScriptTag = operation({
  ...shared,
  method: 'DELETE',
  path: '/script-tags/:scriptTagId',
  name: 'deleteScriptTag',
  summary: 'Delete script tag',
  description: 'An app can delete only its own script tags.',
  access: 'scripttags_write',
  params: Type.Object({ scriptTagId: Id }),
  status: 204,
});

export function scriptTagOperations(api: Operations): void {
  api.read(listScriptTags, async ({ db, shopId, query, caller, link }) => {
    const rows = await findScriptTags(db, shopId, query.myScriptTagsOnly ? caller.app!.appId : undefined);
    return { items: rows.map((row) => toScriptTag(row, link)) };
  });

  api.write(createScriptTag, async ({ tx, shopId, body, caller, link, created }) => {
    if (!URL.canParse(body.scriptUrl)) throw invalid('WRONG_FORMAT', 'scriptUrl');
    // Every page of the storefront loads it.
    await moveSettingsVersion(tx, shopId);
    const scriptTagId = newId(tx.now);
    const row = await insertScriptTag(tx, shopId, {
      scriptTagId,
      appId: caller.app!.appId,
      scriptUrl: body.scriptUrl,
      necessary: body.necessary ?? false,
    });
    created({ scriptTagId });
    return toScriptTag(row, link);
  });

  api.write(deleteScriptTag, async ({ tx, shopId, params, caller }) => {
    const row = await lockScriptTag(tx, shopId, params.scriptTagId);
    if (!row) throw notFound();
    if (row.appId !== caller.app!.appId) throw new Refusal('SCRIPT_TAG_OF_OTHER_APP');
    await moveSettingsVersion(tx, shopId);
    await deleteScriptTagRow(tx, shopId, params.scriptTagId);
  });
}

function toScriptTag(row: ScriptTagRow, link: (path: string) => string): Static<typeof ScriptTag> {
  const scriptTagId = row.scriptTagId.toUpperCase();
  return {
    scriptTagId,
    scriptUrl: row.scriptUrl,
    scriptType: scriptType(row.scriptUrl),
    ...(row.necessary && { necessary: true }),
    createdOn: toSeconds(row.createdAt),
    updatedOn: toSeconds(row.updatedAt),
    links: [{ rel: 'self', href: link(`/script-tags/${scriptTagId}`) }],
  };
}
