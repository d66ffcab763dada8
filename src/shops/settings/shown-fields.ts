import { Type } from 'typebox';
import { FIELD_TYPES, type FieldType } from './settings.ts';

/** Custom fields beside the thing that has them: of the shop itself, and of what the modules below have. */

export const FieldTypeName = Type.Unsafe<FieldType>({
  type: 'string',
  enum: [...FIELD_TYPES],
  description: 'The type of its values. product, category, customer, page and file are references.',
  examples: ['text'],
});

/** Beside the thing that has it, in the language of the answer. */
const ShownFieldAnswer = Type.Object(
  {
    namespace: Type.String({ description: 'Its namespace.', examples: ['care'] }),
    key: Type.String({ description: 'Its name in the namespace.', examples: ['washing'] }),
    name: Type.String({ description: 'What people read.', examples: ['Care instructions'] }),
    type: FieldTypeName,
    value: Type.Unsafe<unknown>({
      type: ['string', 'number', 'boolean', 'object', 'array', 'null'],
      additionalProperties: true,
      description: 'As in the list of all values, in the language of this answer.',
      examples: ['Cold wash'],
    }),
    label: Type.Optional(Type.String({ description: 'What people read of a choice.', examples: ['Cold'] })),
  },
  { title: 'shown custom field' },
);

/** Beside a thing in an answer, where they are asked for. */
export const ShownFields = Type.Optional(
  Type.Array(ShownFieldAnswer, { description: 'Custom fields; only with includeFields.' }),
);

export const IncludeFields = Type.Optional(
  Type.Boolean({
    description: 'Also the custom fields that the caller may read.',
    examples: [true],
  }),
);
