import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { Decimal, Given, Text } from '../../http/request-fields.ts';
import { adminMessagesIn } from '../messages.ts';
import { declareForm, optionsOf, readFields, showFields } from './declared-form.ts';

const body = Type.Object({
  name: Text('Name.', 'Kettle', 255),
  note: Given(Text('Note.', 'by phone', 10_000)),
  price: Given(Decimal('Price.', 49.9)),
  limit: Given(Type.Integer()),
  visible: Given(Type.Boolean()),
  methods: Given(Type.Array(Type.String())),
});

const FORM = declareForm({ body }, ({ products: { fields } }) => ({
  name: { label: fields.name, isRequired: true },
  note: { kind: 'long text', label: fields.description, input: 'text' },
  price: { kind: 'decimal', label: fields.price },
  limit: { kind: 'integer', label: fields.maxOrder },
  visible: { kind: 'tick', label: fields.visible },
  methods: { kind: 'ticks', label: fields.shippingMethods },
}));

const german = { messages: adminMessagesIn('de'), language: 'de' } as const;

const requestOf = (fields: Readonly<Record<string, readonly string[]>>) => ({
  field: (name: string) => fields[name]?.[0] ?? '',
  fieldList: (name: string) => [...(fields[name] ?? [])],
});

test.each([
  [
    'filled in',
    {
      name: ['Kettle'],
      text: ['red'],
      price: ['1.234,50'],
      limit: ['1.000'],
      visible: ['yes'],
      methods: ['a', 'b'],
    },
    { name: 'Kettle', note: 'red', price: '1234.50', limit: 1000, visible: true, methods: ['a', 'b'] },
  ],
  ['empty', {}, { name: '', note: null, price: null, limit: null, visible: false, methods: [] }],
  [
    'with words for numbers, which the operation refuses',
    { name: ['Kettle'], price: ['ten'], limit: ['many'] },
    { name: 'Kettle', note: null, price: 'ten', limit: Number.NaN, visible: false, methods: [] },
  ],
])('a form %s is read as the operation takes it', (_name, fields, read) => {
  expect(readFields(FORM, requestOf(fields), german)).toEqual(read);
});

test('the limits of a form are those of the operation where they are above the usual one', () => {
  expect(optionsOf(FORM).limits.texts).toMatchObject({ name: 1_000, text: 10_000 });
});

test('refusals name the values by the labels of the form', () => {
  expect(optionsOf(FORM).labels(german.messages)).toMatchObject({ name: 'Name', price: 'Preis' });
});

test('a field has the bound of the operation, and shows the typed value of a refused form', () => {
  const draft = { ...requestOf({ name: ['Kanne'] }), problem: '' };
  const values = { name: 'Kettle', price: 12.5 };
  const stored = showFields(FORM, german, { values, draft: undefined });
  expect(stored('name').toString()).toMatch(
    /name="name"[^>]*value="Kettle"[^>]*maxlength="255"[^>]*required/,
  );
  expect(stored('price').toString()).toMatch(/value="12,5"[^>]*inputmode="decimal"/);
  const refused = showFields(FORM, german, { values, draft, isDisabled: true });
  expect(refused('name').toString()).toMatch(/value="Kanne"[^>]*disabled/);
});
