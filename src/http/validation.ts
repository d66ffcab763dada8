import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { TObject, TSchema } from 'typebox';
import { ValidationError, type FieldProblem, type ProblemCode } from './errors.ts';

const options = {
  allErrors: false,
  useDefaults: true,
  strict: false,
  // Formats only document a field; patterns are enforced, so no slow expression hides in a format.
  validateFormats: false,
  // The schemas are our own. Checking them against the schema of schemas would be a twentieth of the start.
  meta: false,
  validateSchema: false,
  // A field such as `type` decides which of several schemas a value has, so an error names a field of that one.
  discriminator: true,
  // Shorter code runs no faster, and making it is half of the time.
  code: { optimize: false },
} as const;

/**
 * Bodies come as JSON: a wrong type is the client's mistake and is named. JSON.parse turns 1e999 into Infinity, which
 * no column and no answer can hold: `strictNumbers` refuses it.
 */
const bodyAjv = new Ajv({ ...options, strictNumbers: true });

/**
 * Parameters come as text: "10" is a number, "true" a boolean. One that comes twice is a list, which is refused where
 * it is declared as anything else. Undeclared parameters are removed: no handler may ever see them, because nothing
 * has checked them.
 */
const parameterAjv = new Ajv({ ...options, coerceTypes: true, removeAdditional: 'all' });

export interface Validate {
  (value: unknown): boolean;
  /** Errors of the last call. */
  errors?: ErrorObject[] | null;
}

export const compileBody = compilerOf(bodyAjv);

const compileCoerced = compilerOf(parameterAjv);

/** "Infinity" is a word, not a number, although Ajv would coerce it to one. */
export function compileParameters(schema: TSchema): Validate {
  const coerce = compileCoerced(schema);
  const { properties = {} } = schema as Partial<TObject>;
  const numbers = Object.keys(properties).filter((name) => isNumeric(properties[name]!));
  if (numbers.length === 0) return coerce;
  const validate: Validate = (value) => {
    const parameters = value as Record<string, unknown>;
    for (const name of numbers) {
      if (String(parameters[name]).includes('Infinity')) parameters[name] = '';
    }
    const isValid = coerce(parameters);
    validate.errors = coerce.errors ?? null;
    return isValid;
  };
  return validate;
}

function isNumeric(schema: TSchema): boolean {
  const { type } = schema as { type?: unknown };
  return type === 'integer' || type === 'number';
}

/**
 * Compiles a schema at its first use: all of them together would take a fifth of a second of every start. Schemas with
 * the same text share a function, so a process with several apps compiles and keeps each of them once; their number is
 * a constant of the program.
 */
function compilerOf(ajv: Ajv): (schema: TSchema) => Validate {
  const compiledByText = new Map<string, ValidateFunction>();
  const compile = (schema: TSchema) => {
    const text = JSON.stringify(schema);
    const known = compiledByText.get(text);
    if (known) return known;
    const compiled = ajv.compile(schema);
    compiledByText.set(text, compiled);
    return compiled;
  };
  return (schema) => {
    let compiled: ValidateFunction | undefined;
    const validate: Validate = (value) => {
      compiled ??= compile(schema);
      const isValid = compiled(value);
      validate.errors = compiled.errors ?? null;
      return isValid;
    };
    return validate;
  };
}

/** Throws on a refused value; `at` names the place of the value, where it is not the body itself. */
export function check(validate: Validate, value: unknown, at?: string): void {
  if (!validate(value)) throw new ValidationError([fieldProblemOf(validate.errors![0]!, at)]);
}

const CODES: Record<string, ProblemCode> = {
  required: 'MISSING',
  type: 'WRONG_TYPE',
  minimum: 'OUT_OF_RANGE',
  maximum: 'OUT_OF_RANGE',
  exclusiveMinimum: 'OUT_OF_RANGE',
  multipleOf: 'OUT_OF_RANGE',
  minLength: 'STRING_EMPTY',
  maxLength: 'TOO_LONG',
  maxItems: 'TOO_LONG',
  minItems: 'LIST_EMPTY',
  minProperties: 'MISSING',
  pattern: 'WRONG_FORMAT',
  enum: 'UNKNOWN_VALUE',
  const: 'UNKNOWN_VALUE',
  discriminator: 'UNKNOWN_VALUE',
};

export function fieldProblemOf(error: ErrorObject, at?: string): FieldProblem {
  const steps = error.instancePath.split('/').slice(1).map(unescapePointer);
  if (error.keyword === 'required') steps.push(String(error.params['missingProperty']));
  if (error.keyword === 'discriminator') steps.push(String(error.params['tag']));
  if (at !== undefined) steps.unshift(at);
  return { code: CODES[error.keyword] ?? 'WRONG_FORMAT', field: steps.join('.') || 'body' };
}

function unescapePointer(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
