import { HttpError } from './errors.ts';

/** Maximum characters of a field without its own limit: the page offers one line for it. */
export const MAX_FIELD_LENGTH = 1_000;
/** Maximum values of a whole form; each ticked box is one. */
const MAX_VALUES = 1_000;
const MAX_NAME_LENGTH = 200;

/** A text whose lines are entries is bounded in both. */
export type TextLimit = number | { characters: number; lines: number };

/** The limits of a form. They are checked before its handler sees a field, so no handler receives more. */
export interface FormLimits {
  /**
   * Fields with a limit other than `MAX_FIELD_LENGTH` characters, by name. `*` stands for any part between two dots:
   * `description.*` is the description in each language.
   */
  texts?: Readonly<Record<string, TextLimit>> | undefined;
  /** Maximum number of values, where it is more than `MAX_VALUES`. */
  values?: number | undefined;
}

/** The fields of a submitted form. */
export interface FormFields {
  /** The trimmed value of a field; '' when it is missing. */
  field: (name: string) => string;
  /** All values of a field, for ticked boxes. */
  fieldList: (name: string) => string[];
  /** The names of all fields. */
  fieldNames: readonly string[];
}

/** A form exceeded its limits. The pages say so in the reader's language. */
export class FormLimitError extends HttpError {
  readonly limit: number;
  readonly unit: 'characters' | 'lines' | 'values';
  /** The field's name; undefined for the whole form. */
  readonly field: string | undefined;

  constructor(unit: FormLimitError['unit'], limit: number, field?: string) {
    super(413, `${field === undefined ? 'The form' : `The field ${field}`} has more than ${limit} ${unit}`);
    this.unit = unit;
    this.limit = limit;
    this.field = field;
  }
}

/** Reads the body of a form within these limits, or throws a FormLimitError. */
export function formReader({ texts = {}, values: maxValues = MAX_VALUES }: FormLimits = {}): (
  body: unknown,
) => FormFields {
  const limits = limitTree(texts);
  return (body) => {
    const fields = new Map(Object.entries((body ?? {}) as Record<string, unknown>).map(valuesOf));
    let count = 0;
    for (const [name, values] of fields) {
      count += values.length;
      if (count > maxValues) throw new FormLimitError('values', maxValues);
      if (name.length > MAX_NAME_LENGTH) {
        throw new FormLimitError('characters', MAX_NAME_LENGTH, `${name.slice(0, 20)}…`);
      }
      const limit = limitOf(limits, name);
      for (const value of values) requireWithin(name, value, limit);
    }
    const fieldList = (name: string) => fields.get(name) ?? [];
    return {
      field: (name) => fieldList(name)[0]?.trim() ?? '',
      fieldList,
      fieldNames: [...fields.keys()],
    };
  };
}

const valuesOf = ([name, value]: [string, unknown]): [string, string[]] => [
  name,
  [value].flat().filter((one): one is string => typeof one === 'string'),
];

/** Browsers count a line break as one character and send two. */
function requireWithin(name: string, value: string, limit: TextLimit): void {
  const characters = typeof limit === 'number' ? limit : limit.characters;
  if (value.length > characters && countOf(value, '\r\n', value.length) + characters < value.length) {
    throw new FormLimitError('characters', characters, name);
  }
  if (typeof limit !== 'number' && countOf(value, '\n', limit.lines) >= limit.lines) {
    throw new FormLimitError('lines', limit.lines, name);
  }
}

function countOf(text: string, part: string, max: number): number {
  let count = 0;
  for (let at = text.indexOf(part); at !== -1 && count < max; at = text.indexOf(part, at + 1)) count++;
  return count;
}

/** The limits by the steps of a name, so a lookup costs no more than the length of the name. */
interface LimitTree {
  limit?: TextLimit;
  steps: Map<string, LimitTree>;
}

function limitTree(texts: Readonly<Record<string, TextLimit>>): LimitTree {
  const root: LimitTree = { steps: new Map() };
  for (const [pattern, limit] of Object.entries(texts)) {
    let node = root;
    for (const step of pattern.split('.')) {
      let next = node.steps.get(step);
      if (!next) node.steps.set(step, (next = { steps: new Map() }));
      node = next;
    }
    node.limit = limit;
  }
  return root;
}

function limitOf(root: LimitTree, name: string): TextLimit {
  let node: LimitTree | undefined = root;
  for (const step of name.split('.')) node = node?.steps.get(step) ?? node?.steps.get('*');
  return node?.limit ?? MAX_FIELD_LENGTH;
}
