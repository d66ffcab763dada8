import { Type, type Static } from 'typebox';
import { Id, Nullable, Paged, Timestamp } from '../http/schemas.ts';
import type { Upload } from '../http/upload.ts';
import { KEY_STATES, type KeyState } from './key-queries.ts';
import { MAX_KEY_LENGTH } from './licence-key.ts';

/** As in the checks of the tables. */
export const MAX_DOWNLOADS = 10_000;
export const MAX_DAYS = 3_650;
export const MAX_FEW_KEYS = 10_000;
export const MAX_FILE_NAME_LENGTH = 150;
export const MAX_FILE_NOTE_LENGTH = 1_000;

export const MAX_FILES = 50;
/** Of one product: a page of the admin counts them. */
export const MAX_KEYS = 100_000;
/** Of one request. */
export const MAX_NEW_KEYS = 1_000;

const maxDownloads = Nullable(
  Type.Integer({
    minimum: 1,
    maximum: MAX_DOWNLOADS,
    description: 'How often a purchase downloads each file; null: as often as its customer likes.',
    examples: [10],
  }),
);

const rules = {
  hasKeys: Type.Boolean({ description: 'Each piece that is sold gets a licence key.', examples: [true] }),
  maxDownloads,
  days: Nullable(
    Type.Integer({
      minimum: 1,
      maximum: MAX_DAYS,
      description:
        'Days after the delivery on which files can be downloaded; null: for ever. Keys do not expire.',
      examples: [365],
    }),
  ),
  fewKeys: Type.Integer({
    minimum: 0,
    maximum: MAX_FEW_KEYS,
    description: 'The shop is warned when fewer keys than this are left.',
    examples: [10],
  }),
};

export const DigitalProductBody = Type.Object(rules, {
  title: 'digital product (request)',
  description: 'For later purchases; earlier ones keep their limits.',
});

const note = Type.String({
  minLength: 1,
  maxLength: MAX_FILE_NOTE_LENGTH,
  pattern: '\\S',
  description: 'What is new in this version, as plain text.',
  examples: ['Chapter 7 is new.'],
});

export const DownloadFileView = Type.Object(
  {
    fileId: Id,
    name: Type.String({ description: 'The name under which it is saved.', examples: ['star-chart.pdf'] }),
    version: Type.Integer({ description: 'Counts its uploads.', examples: [2] }),
    note: Nullable(note),
    bytes: Type.Integer({ description: 'Its size.', examples: [1_204_224] }),
    sha256: Type.String({
      description: 'Its hash, hexadecimal.',
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
    changedOn: { ...Timestamp, description: 'When this version was uploaded.' },
  },
  { title: 'download file' },
);

export const KeyCountsView = Type.Object(
  {
    free: Type.Integer({ description: 'Not given to anybody.', examples: [120] }),
    given: Type.Integer({ description: 'Given to customers.', examples: [30] }),
    revoked: Type.Integer({
      description: 'Given, and then refunded or cancelled. They are not given again.',
      examples: [1],
    }),
  },
  { title: 'licence key counts', description: 'How many licence keys the product has.' },
);

export const DigitalProductView = Type.Object(
  {
    productId: Id,
    ...rules,
    files: Type.Array(DownloadFileView, { description: 'In the order in which they were added.' }),
    keys: KeyCountsView,
  },
  { title: 'digital product' },
);

export const FileUpload = Type.Object(
  {
    file: Type.Unsafe<Upload>({
      type: 'string',
      format: 'binary',
      description: 'The file, with its name; at most DOWNLOAD_MAX_MB for the whole request.',
      examples: ['star-chart.pdf'],
    }),
  },
  { title: 'download file (upload)' },
);

export const DownloadFileBody = Type.Object(
  {
    note: Nullable(note),
    notify: Type.Optional(
      Type.Boolean({ default: false, description: 'Tell earlier buyers by email.', examples: [true] }),
    ),
  },
  { title: 'download file (request)' },
);

export const LicenceKeyView = Type.Object(
  {
    keyId: Id,
    lastCharacters: Type.String({
      description:
        'The last four characters of the key; empty for a short one. The key itself is shown to its customer only.',
      examples: ['HP4S'],
    }),
    state: Type.Unsafe<KeyState>({
      type: 'string',
      enum: [...KEY_STATES],
      description: 'A revoked key was refunded or cancelled, and is not given again.',
      examples: ['given'],
    }),
    orderId: Nullable(Id),
    orderNumber: Nullable(Type.String({ description: 'The number of its order.', examples: ['1042'] })),
    givenOn: Nullable(Timestamp),
  },
  { title: 'licence key' },
);

export const LicenceKeyList = Paged(LicenceKeyView, 'licence key list');

export const NewKeysBody = Type.Object(
  {
    keys: Type.Array(
      Type.String({
        minLength: 1,
        maxLength: MAX_KEY_LENGTH,
        pattern: '\\S',
        description: 'A key, as its customer sees it. Blanks around it are removed.',
        examples: ['7QXM-2KTR-9DWA-HP4S'],
      }),
      {
        minItems: 1,
        maxItems: MAX_NEW_KEYS,
        description: 'In the order in which they are given to customers. Known ones are left out.',
      },
    ),
  },
  { title: 'licence keys (request)' },
);

export const AddedKeys = Type.Object(
  {
    added: Type.Integer({ description: 'How many were new.', examples: [99] }),
    known: Type.Integer({ description: 'How many the product had already.', examples: [1] }),
    free: Type.Integer({
      description: 'How many are free now, before waiting orders get theirs.',
      examples: [120],
    }),
  },
  { title: 'added licence keys' },
);

export const DOWNLOAD_STATES = ['open', 'waitsForConsent', 'waitsForKeys', 'expired', 'ended'] as const;
export type DownloadState = (typeof DOWNLOAD_STATES)[number];

export const DeliveryView = Type.Object(
  {
    lineItemId: Id,
    productId: Id,
    state: Type.Unsafe<DownloadState>({
      type: 'string',
      enum: [...DOWNLOAD_STATES],
      description:
        'waitsForConsent: the customer has not agreed that the supply begins before the withdrawal period ends. waitsForKeys: some or all keys are missing. expired: files can no longer be downloaded. ended: revoked, refunded or cancelled.',
      examples: ['open'],
    }),
    deliveredOn: Nullable({ ...Timestamp, description: 'null: nothing yet.' }),
    beginsOn: Nullable({
      ...Timestamp,
      description: 'When the supply begins without a consent; null: it has begun.',
    }),
    expiresOn: Nullable({ ...Timestamp, description: 'Until when files can be downloaded; null: for ever.' }),
    maxDownloads,
    isRevoked: Type.Boolean({ description: 'By the shop.', examples: [false] }),
    missingKeys: Type.Integer({ description: 'Keys that it waits for.', examples: [0] }),
    files: Type.Array(
      Type.Object(
        {
          fileId: Id,
          name: Type.String({ description: 'Its name.', examples: ['star-chart.pdf'] }),
          downloads: Type.Integer({ description: 'How often it was downloaded.', examples: [2] }),
          lastDownloadOn: Nullable(Timestamp),
        },
        { title: 'delivered file' },
      ),
      { description: 'The files of the product, as they are now.' },
    ),
    keys: Type.Array(
      Type.Object(
        {
          keyId: Id,
          lastCharacters: Type.String({ description: 'The end of the key.', examples: ['HP4S'] }),
          isRevoked: Type.Boolean({ description: 'The customer no longer sees it.', examples: [false] }),
        },
        { title: 'delivered licence key' },
      ),
      { description: 'The keys that the line has got.' },
    ),
  },
  { title: 'digital delivery' },
);

export const DownloadDeliveryList = Type.Object(
  { items: Type.Array(DeliveryView, { description: 'Of each line with files or keys.' }) },
  { title: 'digital deliveries' },
);

export const DeliverBody = Type.Object(
  {
    isReleased: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Deliver although the order is not paid, such as one on account.',
        examples: [false],
      }),
    ),
    sendsEmail: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Send the email again, also if nothing is new.',
        examples: [true],
      }),
    ),
  },
  { title: 'digital deliveries (request)' },
);

export const DeliveryBody = Type.Object(
  {
    isRevoked: Type.Boolean({
      description: 'true: files and keys are closed to the customer.',
      examples: [false],
    }),
    maxDownloads,
    expiresOn: Nullable({
      ...Timestamp,
      description: 'Until when files can be downloaded; null: for ever.',
      maxLength: 40,
    }),
  },
  { title: 'digital delivery (request)' },
);

export type DeliveryJson = Static<typeof DeliveryView>;
