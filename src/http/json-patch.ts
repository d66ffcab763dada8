import { Type, type Static, type TSchema } from 'typebox';
import { invalid } from './errors.ts';
import { check, compileBody } from './validation.ts';

/**
 * The contract's dialect of JSON Patch: add sets or overwrites, remove unsets, replace overwrites. A module lists its
 * paths with their operations and value schemas; here they become checked changes, all or none.
 */

const OPERATIONS = ['add', 'remove', 'replace'] as const;
type PatchOperation = (typeof OPERATIONS)[number];

export const JsonPatch = Type.Array(
  Type.Object(
    {
      op: Type.String({ description: 'Operation.', enum: [...OPERATIONS], examples: ['add'] }),
      path: Type.String({ description: 'Attribute to change.', examples: ['/internalNote'] }),
      value: Type.Optional(
        Type.Unknown({
          description: 'The new value; not needed to remove.',
          examples: ['Long-standing customer'],
        }),
      ),
    },
    { title: 'JsonPatch operation' },
  ),
  { minItems: 1, maxItems: 500, description: 'Changes, made in this order, all or none.' },
);

export interface PatchPath<Value extends TSchema = TSchema> {
  ops: readonly PatchOperation[];
  value: Value;
  /** Only the listed operations are accepted: a replace does not count as an add. */
  isStrict?: boolean;
}

export type Changes<Paths extends Record<string, PatchPath>> = {
  [Path in keyof Paths]:
    | { op: 'add' | 'replace'; path: Path; value: Static<Paths[Path]['value']> }
    | { op: 'remove'; path: Path; value: unknown };
}[keyof Paths][];

/** Compiles the paths of a resource once; the returned function checks a request's body against them. */
export function patchOf<const Paths extends Record<string, PatchPath>>(paths: Paths) {
  const validators = new Map(Object.entries(paths).map(([path, { value }]) => [path, compileBody(value)]));

  return (body: Static<typeof JsonPatch>): Changes<Paths> =>
    body.map(({ op: asked, path, value }, index) => {
      const at = `[${index}] ${path}`;
      const allowed = Object.hasOwn(paths, path) ? paths[path]! : undefined;
      if (!allowed) throw invalid('UNKNOWN_PATH', at);
      const op = operationOf(asked as PatchOperation, value, allowed);
      if (!op) throw invalid('WRONG_OPERATION', at);
      if (op !== 'remove') {
        if (value === undefined) throw invalid('MISSING', `${at}.value`);
        check(validators.get(path)!, value, at);
      }
      return { op, path, value };
    }) as Changes<Paths>;
}

/** Existing clients send replace where add is documented, and null where they mean remove. */
function operationOf(
  asked: PatchOperation,
  value: unknown,
  { ops, isStrict = false }: PatchPath,
): PatchOperation | undefined {
  if (isStrict && !ops.includes(asked)) return undefined;
  if (asked !== 'remove' && value === null && ops.includes('remove')) return 'remove';
  if (ops.includes(asked)) return asked;
  return asked === 'replace' && ops.includes('add') ? 'add' : undefined;
}
