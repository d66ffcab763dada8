import type { TObject } from 'typebox';
import type { FormRequest } from '../../http/page-kit.ts';
import {
  inputOf,
  readDecimal,
  SHOWN,
  textOfStored,
  type DeclaredField,
  type DeclaredForm,
  type FormReader,
  type FormValue,
} from './declared-form.ts';
import { refusalBeside, refuseField } from './validation.ts';

export interface JsonPatchOperation {
  op: 'add' | 'replace' | 'remove';
  path: string;
  value?: unknown;
}

/** An operation of a JSON Patch, and the input that its value was typed in. */
export interface TypedOperation {
  operation: JsonPatchOperation;
  input: string;
  label: string;
}

/**
 * The changes of a row: the fields whose text differs from the one that the page showed. A field that another user, or an
 * order, has changed meanwhile is refused in the words of `moved`; the other fields of the row do not matter.
 */
export function changesOfRow<Name extends string>(
  form: DeclaredForm<TObject, Name>,
  request: Pick<FormRequest, 'fieldList'>,
  { messages, language }: FormReader,
  { row, stored, moved }: { row: string; stored: Readonly<Record<Name, FormValue>>; moved: string },
): TypedOperation[] {
  return Object.entries<DeclaredField>(form.fieldsIn(messages)).flatMap(([name, field]) => {
    const input = inputOf(form, name, field, { row });
    const now = textOfStored(stored[name as Name], language);
    // A box sends two values: that it was on the page, and that it is checked. The last one counts.
    const sent = (of: string) => request.fieldList(of).at(-1)?.trim() ?? now;
    const [shown, text] = [sent(SHOWN + input), sent(input)];
    if (text === shown || text === now) return [];
    if (now !== shown) throw refuseField(input, moved, 409);
    return [{ operation: operationOf(field, text, input, language), input, label: field.label }];
  });
}

function operationOf(
  field: DeclaredField,
  text: string,
  input: string,
  language: FormReader['language'],
): JsonPatchOperation {
  const { kind, isRequired = false } = field;
  const path = field.path!;
  if (kind === 'tick') return { op: 'replace', path, value: text === 'yes' };
  if (text === '' && !isRequired) return { op: 'remove', path };
  return {
    op: 'replace',
    path,
    value: kind === 'decimal' ? readDecimal(text, input, field, language) : text,
  };
}

/** The place of a value in a JSON Patch, as an operation names it: `[2] /stocklevel.value`. */
const IN_PATCH = /^\[(\d+)\] /;

/** A refused JSON Patch as a problem beside the input that the operation was made from. */
export function refusedPatch(error: unknown, operations: readonly TypedOperation[], reader: FormReader) {
  return refusalBeside(error, reader, (place) => {
    const [, index] = IN_PATCH.exec(place) ?? [];
    return index === undefined
      ? operations.find(({ operation: { path } }) => path === `/${place}`)
      : operations[Number(index)];
  });
}
